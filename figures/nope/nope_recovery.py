"""Dip and recovered level of each model, joined by a line, and the largest rise anywhere in the context."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Line, Panel, Points, Rule, Shade, Style, display
from boundpaper.typeset.wording import listed


def figure(nope_recovery_recomputed: pd.DataFrame, families: pd.DataFrame) -> Figure:
    """Plot one row per model: levels in two windows, and the largest rise."""
    rows = nope_recovery_recomputed
    twins = rows.loc[rows["network"] != rows["model"], "family"]  # the family of the layer study comes first
    order = rows["family"].map(families.set_index("family")["order"]).mask(rows["family"].isin(twins), 0)
    rows = rows.assign(order=order, name=[display(model) for model in rows["model"]])
    rows = rows.sort_values(["order", "recovery"], ascending=[True, False], ignore_index=True)
    names, risen = list(rows["name"]), list(rows.loc[rows["recovery"] > 0, "name"])
    models = Axis(categories=names, reverse=True, grid=True)
    printed = rows[rows["reported"].notna()]
    joins = [
        Line(x=list(ends), y=[name, name], entity="neutral", marks=False, legend=False)
        for name, *ends in rows[["name", "dip", "level"]].itertuples(index=False)
    ]
    gap = (printed["reported"] - printed["recovery"]).abs().max()
    widest = max((rows[f"{name}_high"] - rows[name]).max() for name in ("recovery", "draw_up"))
    short_names = rows.loc[rows["captured_context"] < rows["captured_context"].max(), "name"]
    return Figure(
        panels=[
            Panel(
                series=[
                    *joins,
                    Points(x=rows["dip"], y=rows["name"], entity="dip", label="40–60% of the context"),
                    Points(x=rows["level"], y=rows["name"], entity="total", label="60–80%"),
                ],
                x=Axis(label="plasticity", ticks=[0.5, 0.55, 0.6]),
                y=models,
                shades=[Shade(low=len(risen) - 0.5, high=-0.5, axis="y")] if risen == names[: len(risen)] else [],
                title="levels in two windows",
            ),
            Panel(
                series=[Points(x=rows["draw_up"], y=rows["name"], entity="rise", legend=False)],
                x=Axis(label="rise (below 0: it only falls)", ticks=[-0.01, 0, 0.01, 0.02, 0.03, 0.04], high=0.041),
                y=models,
                rules=[Rule(at=0, axis="x", dash="solid")],
                title="largest rise anywhere",
            ),
        ],
        height=44,
        share_y=True,
        letters=True,
        entities={"dip": Style(color="okgrey", mark="square"), "rise": Style(color="okgrey", mark="diamond*")},
        caption=(
            f"From the first window to the second plasticity recovers in {len(risen)} of {len(rows)} models, "
            f"{listed(risen)}, which run the same text weights: (a) the levels in both windows, joined by the recovery "
            "(circle right of square, grey); (b) the largest rise from a decile to a later one [@shcherb2026]. Unit: "
            "one model, mean over heads."
        ),
        note=(
            f"The rounding of the deciles leaves up to {widest:.3f} open, less than the marks cover; the differences "
            f"that the layer study prints for {len(printed)} models lie within {gap:.4f} of those in (a). "
            f"{' and '.join(short_names)} was captured over a quarter of the context."
        ),
        short="Recovery and largest rise by model",
    )
