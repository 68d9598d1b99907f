"""Dip and level after it, recovery in the fixed window, and the largest rise anywhere, by model."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Panel, Points, Rule, display


def figure(nope_recovery_recomputed: pd.DataFrame, families: pd.DataFrame) -> Figure:
    """Return the figure."""
    rows = nope_recovery_recomputed
    own = rows.loc[rows["network"] != rows["model"], "family"]  # that of the layer study comes first
    order = rows["family"].map(families.set_index("family")["order"]).mask(rows["family"].isin(own), 0)
    rows = rows.assign(order=order, name=[display(model) for model in rows["model"]])
    rows = rows.sort_values(["order", "recovery"], ascending=[True, False], ignore_index=True)
    names = list(rows["name"])
    models = Axis(categories=names, reverse=True, grid=True)
    gained = Axis(label="recovery", ticks=[-0.1, -0.05, 0])
    printed = rows[rows["reported"].notna()]
    window = Points(x=rows["recovery"], y=rows["name"], entity="recomputed", legend=False)
    apart = (printed["reported"] - printed["recovery"]).abs().max()
    draw_up = Points(x=rows["draw_up"], y=rows["name"], entity="recomputed", legend=False)
    off = max((rows[f"{name}_high"] - rows[name]).max() for name in ("recovery", "draw_up"))
    zero = (Rule(at=0, axis="x", dash="solid"),)
    short = rows.loc[rows["captured_context"] < rows["captured_context"].max(), "name"]
    return Figure(
        panels=[
            Panel(
                series=[
                    Points(x=rows["dip"], y=rows["name"], entity="series-2", label="40–60% of the context"),
                    Points(x=rows["level"], y=rows["name"], entity="series-1", label="60–80%"),
                ],
                x=Axis(label="plasticity", ticks=[0.5, 0.55, 0.6]),
                y=models,
                title="Two windows",
            ),
            Panel(series=[window], x=gained, y=models, rules=zero, title="Their difference"),
            Panel(series=[draw_up], x=Axis(label="draw-up"), y=models, rules=zero, title="Largest rise anywhere"),
        ],
        columns=3,
        height=62,
        share_y=True,
        letters=True,
        caption=(
            "Recovery of plasticity by model: (a) the levels in the two fixed windows, (b) the second less the first, "
            f"(c) the largest rise from a decile to a later one [@shcherb2026]. $n = {len(rows)}$ models, mean over "
            f"heads; {display('llama3.1-8b')} and {display('llama3.2-11b')} run the same text weights."
        ),
        note=(
            f"The rounding of the deciles leaves up to {off:.3f} open, less than the marks cover; the differences that "
            f"the layer study prints for {len(printed)} models lie within {apart:.4f} of (b). "
            f"{' and '.join(short)} was captured over a quarter of the context."
        ),
        short="Recovery and draw-up by model",
    )
