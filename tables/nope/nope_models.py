"""Dip and recovery of the two Llama models, of which only one has layers without position encoding."""

import pandas as pd

from boundpaper.store.frames import wide
from boundpaper.tables import Column, Table, fixed, integer, signed
from tables._house import ends


def table(nope_models: pd.DataFrame, nope_recovery_recomputed: pd.DataFrame) -> Table:
    """Return one row per model."""
    metrics = ["nope_layers", "dip", "recovery_level", "recovery"]
    source = wide(nope_models[nope_models["metric"].isin(metrics)], by=["model"])
    facts = ["model", "display_name", "text_layers", "network", "draw_up", "draw_up_low", "draw_up_high"]
    recomputed = nope_recovery_recomputed[[*facts, "dip", "level", "recovery", "recovery_low", "recovery_high"]]
    rows = source.merge(recomputed, on="model", suffixes=("", "_recomputed"))
    names = rows.set_index("model")["display_name"]
    owners = rows["network"].map(names)
    rows["mark"] = ["twin" if name != owner else "" for name, owner in zip(rows["display_name"], owners, strict=True)]
    return Table(
        rows=rows,
        columns=[
            Column("display_name", "Model", mark="mark"),
            Column("text_layers", "self", integer(), group="Layers"),
            Column("nope_layers", "cross", integer(), group="Layers"),
            Column("dip", "dip", fixed(3), group="Printed"),
            Column("recovery_level", "level after", fixed(3), group="Printed"),
            Column("recovery", "recovery", signed(3), group="Printed"),
            Column("recovery_recomputed", "recovery", signed(3), ci=ends("recovery"), group="From the deciles"),
            Column("draw_up", "draw-up", signed(3), ci=ends("draw_up"), group="From the deciles"),
        ],
        caption=(
            "Dip and recovery of plasticity with and without cross-attention layers, which have no position encoding: "
            f"{len(rows)} models, Finding 1 of the layer study [@shcherb2026]. Unit: one model, mean over heads."
        ),
        short="Recovery with and without layers that lack position encoding",
        marks={
            "twin": (
                f"Runs the text weights of {owners.iloc[0]} and skips its cross-attention layers on text: the rows are "
                "two captures of one text network."
            )
        },
        note=(
            "Dip: mean of deciles 4 and 5 of the context, counted from 0; level after: of deciles 6 and 7; recovery: "
            "their difference. Draw-up: the largest rise from a decile to a later one. In brackets what the rounding "
            "of the printed deciles leaves open, no confidence interval."
        ),
    )
