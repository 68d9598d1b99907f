"""Sink rates by layer (Figure 12 of the report), and the sink score of uniform attention at the prompt lengths."""

import pandas as pd

from boundpaper.figures import Annotation, Axis, Figure, Line, Panel, Rule, Shade

SEPARATE_LAYERS = 4  # later layers are drawn together: nearly all their heads are sinks, in both models
MIDDLE, LAST = 4.5, 5.5  # positions on the x axis, right of the axis break


def figure(sink_rate_layers: pd.DataFrame, uniform_sink: pd.DataFrame, drope_protocols: pd.DataFrame) -> Figure:
    """Plot two panels: the published series, and the sink score of uniform attention."""
    threshold = float(uniform_sink["threshold"].iloc[0])
    prompts = {name: rows["tokens"] for name, rows in uniform_sink.groupby("used_in")}
    longest = uniform_sink.loc[uniform_sink["sink"].astype(bool), "tokens"].max()
    first, later = (
        sink_rate_layers[(sink_rate_layers["layer"] >= SEPARATE_LAYERS) == is_later] for is_later in (False, True)
    )
    middle, end = later.iloc[:-1], later.iloc[-1]
    series = []
    for model, offset in (("rope", -0.16), ("drope", 0.16)):
        rates, last = first[model], end[model]
        sd, sd_last = first[f"{model}_sd"], end[f"{model}_sd"]
        segments = (
            (first["layer"] + offset / 2, rates, rates - sd, rates + sd),
            ([MIDDLE + offset], [middle[model].mean()], [middle[model].min()], [middle[model].max()]),
            ([LAST + offset], [last], [last - sd_last], [last + sd_last]),
        )
        for number, (x, y, low, high) in enumerate(segments):
            series.append(
                Line(entity=model, x=x, y=y, low=low, high=pd.Series(high).clip(upper=100), legend=not number)
            )
    ticks = {float(layer): str(layer) for layer in first["layer"]}
    ticks |= {MIDDLE: f"{middle['layer'].min()}–{middle['layer'].max()}", LAST: str(int(end["layer"]))}
    return Figure(
        panels=[
            Panel(
                title="heads that are sinks",
                series=series,
                x=Axis(label="layer", low=-0.4, high=LAST + 0.4, ticks=ticks),
                annotations=[Annotation(x=(SEPARATE_LAYERS - 1 + MIDDLE) / 2, y=0, text="$/\\!/$", anchor="center")],
                y=Axis(label="sink heads, %", low=0, high=104, ticks=[0, 25, 50, 75, 100]),
            ),
            Panel(
                title="score of even attention",
                series=[Line(entity="neutral", x=uniform_sink["tokens"], y=uniform_sink["score"], legend=False)],
                shades=[
                    Shade(low=int(lengths.min()), high=int(lengths.max()), label=name, entity="neutral")
                    for name, lengths in (("Exp. 4", prompts["sink rates"]), ("Exp. 7", prompts["attention patterns"]))
                ],
                rules=[Rule(at=threshold, label=f"threshold {threshold:g}")],
                x=Axis(label="tokens in the prompt", low=0),
                y=Axis(label="sink score", zero=True),
            ),
        ],
        letters=True,
        height=39,
        caption=(
            f"In prompts of up to {longest} tokens evenly spread attention passes for a sink. (a) Share of heads whose "
            "mean attention to the first token reaches the threshold, published series of both models with one "
            "standard deviation over prompts, cut at 100 % "
            f"({drope_protocols.set_index('section')['items']['5 (sinks)']}); behind the break the mean of layers "
            f"{ticks[MIDDLE]} with their range, and the last layer. (b) The score $H_T / T$ of attention spread evenly "
            "over T tokens [@africa2026]. Shaded: prompts of Experiments 4 (as in a) and 7."
        ),
        short="Sink rates by layer and evenly spread attention",
        note=(
            "The report's Figure 12 says that both models converge to one rate. That rate is lower than the published "
            "series, which is drawn here, from layer 2 on."
        ),
    )
