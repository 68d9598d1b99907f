"""The most and the least plastic layers of Llama-3.2-11B-Vision, with the same text layers of Llama-3.1-8B."""

import pandas as pd

from boundpaper.store.frames import wide
from boundpaper.tables import Column, Table, fixed, integer
from tables._house import ends

SLOPE_UNIT = 1e-6  # one step of the last printed digit


def table(
    nope_extremes: pd.DataFrame, nope_layer_pairs: pd.DataFrame, nope_groups: pd.DataFrame, models: pd.DataFrame
) -> Table:
    """Return one row per layer that the study calls extreme."""
    rows = wide(nope_extremes, by=["layer", "category"])
    groups = nope_groups.set_index("layer")
    names = models.set_index("model")["display_name"]
    rows = rows.assign(text_layer=rows["layer"].map(groups["text_layer"]), group=rows["layer"].map(groups["group"]))
    pairs = nope_layer_pairs.set_index("layer")
    for end in ("overall_low", "overall_high"):
        rows[end] = rows["layer"].map(pairs[end])
    rows["beta_scaled"] = (rows["beta_norm"] / SLOPE_UNIT).round(6)
    rows["twin"] = (rows["overall_low"] + rows["overall_high"]) / 2
    rows["twin_reason"] = ["not printed" if pd.isna(value) else "" for value in rows["twin"]]
    return Table(
        rows=rows,
        columns=[
            Column("layer", "Layer", integer()),
            Column("text_layer", "Text\nlayer", integer()),
            Column("group", "Cross\nlayer"),
            Column("ap_overall", "Plasticity", fixed(3)),
            Column("beta_scaled", "$\\|\\beta\\|$", integer(), unit="$10^{-6}$"),
            Column("r2_pos", "$R^2$ of\nposition", fixed(3)),
            Column(
                "twin", f"Same layer in\n{names['llama3.1-8b']}", fixed(3), ci=ends("overall"), reason="twin_reason"
            ),
            Column("category", "The study's category", width=0.26),
        ],
        caption=(
            f"The {len(rows)} layers of {names['llama3.2-11b']} that the layer study calls extreme [@shcherb2026]. "
            "Unit: one layer, mean over its captured heads."
        ),
        short="Most and least plastic layers",
        note=(
            f"Text layer: the number among the self-attention layers, which is the layer of {names['llama3.1-8b']} "
            "with the same weights; its plasticity follows from the four printed pairs of deciles, in brackets the "
            "range when the fifth lies between the least and the largest of them. Cross layer: whether the layer "
            "follows (after) or precedes (before) a cross-attention layer. $\\|\\beta\\|$: slope of the queries on "
            "position, per token. The layers were chosen by their plasticity; the other "
            f"{len(nope_groups) - len(rows)} are not printed."
        ),
    )
