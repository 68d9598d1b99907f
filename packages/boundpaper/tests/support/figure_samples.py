"""Small figures of every kind, with known LaTeX."""

from boundpaper.figures import (
    Annotation,
    Axis,
    Bars,
    Bundle,
    Figure,
    Fit,
    Forest,
    Heatmap,
    Line,
    Panel,
    Points,
    Rule,
    Shade,
    Stacked,
)

NAN = float("nan")
X = ["base", "zeroed"]


def panel(*series, **more):
    return Figure(panels=[Panel(series=series, **more)], caption="A caption.", width=80, height=40)


SAMPLES = {
    "line": panel(
        Line(x=[0, 1, 2], y=[0.5, 0.4, 0.45], low=[0.4, 0.3, 0.4], high=[0.6, 0.5, 0.5], entity="beans"),
        Line(
            x=[0, 1, 2], y=[0.2, 0.1, 0.3], low=[0.1, 0, 0.2], high=[0.3, 0.2, 0.4], uncertainty="band", entity="peas"
        ),
        x=Axis(label="layer"),
        y=Axis(label="share $p$"),
        shades=[Shade(low=0, high=1, label="early")],
        rules=[Rule(at=0.25, label="chance")],
        annotations=[Annotation(x=1, y=0.4, text="dip", target=(2, 0.45))],
    ),
    "points": panel(
        Fit(x=[0, 1], y=[0, 2], low=[-0.5, 1.5], high=[0.5, 2.5], entity="neutral", label="fit"),
        Points(
            x=[0.2, 0.9], y=[0.5, 1.5], labels=["A & B", ""], entities=["leaf", "stem"], y_low=[0, 1], y_high=[1, 2]
        ),
    ),
    "bars": panel(
        Bars(x=X, y=[5.2, 1500], low=[5, 1400], high=[5.5, 1600], entity="beans", values=True),
        Bars(x=X, y=[6.1, 18], entity="peas", reported=[None, 20]),
        y=Axis(label="perplexity", scale="log"),
    ),
    "horizontal": panel(Bars(y=X, x=[-1, 3], entity="beans", values=["a", "b"], horizontal=True)),
    "stacked": panel(
        Stacked(x=X, y=[70, 20], entity="series-1", label="right", values=True),
        Stacked(x=X, y=[30, 80], entity="series-2", label="wrong"),
    ),
    "heatmap": panel(Heatmap(values=[[-1, 0], [0.5, 2]], colors="signed", bar="logit")),
    "bundle": panel(Bundle(x=[1, 2, 3], lines=[[0, 1, 2], [1, NAN, 3], [2, 3, 4]], entity="stem")),
    "forest": panel(
        Forest(
            rows=["r", "s"],
            groups=["G", "H"],
            estimate=[0.5, -0.2],
            low=[0.1, -0.6],
            high=[0.8, 0.3],
            entity="holds",
            texts=["0.50", "-0.20"],
        ),
        rules=[Rule(at=0, axis="x", dash="solid")],
    ),
    "symlog": panel(
        Points(x=[-100, 0, 50], y=[1, 2, 3], entity="measured"), x=Axis(scale="symlog"), y=Axis(reverse=True)
    ),
}
