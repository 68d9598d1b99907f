"""Perplexity without parts of layer 1: printed and recomputed ratios, and differences in nats."""

import pandas as pd

from analysis.vocabulary import PAIR
from boundpaper.tables import Column, Table, fixed, integer, printed
from tables._house import ends

NAMES = {
    "layer1_mlp": "MLP",
    "layer1_attn": "attention",
    "layer1_both": "both",
    "layer1_bos_only": "both, first token only",
}


def table(layer1_effects: pd.DataFrame, layer1_contrasts: pd.DataFrame) -> Table:
    """Return one row per model and ablation."""
    rows = layer1_effects.assign(
        name=layer1_effects["condition"].map(NAMES),
        mark=["rounding" if agreement == "holds after rounding" else "" for agreement in layer1_effects["agreement"]],
    ).sort_values("positional", key=lambda column: column.map({"RoPE": 0, "DroPE": 1}), kind="stable")
    contrasts = {(row["contrast"], row["positional"]): row for row in layer1_contrasts.to_dict("records")}
    contrast = contrasts["mlp_over_attention", "RoPE"]
    sums = {model: contrasts["additivity", model] for model in PAIR}
    baseline = layer1_effects.drop_duplicates("positional").set_index("positional")["baseline_ppl"]
    return Table(
        rows=rows,
        columns=[
            Column("name", "Removed in layer 1"),
            Column("ablated_printed", "Perplexity", printed()),
            Column("ratio_printed", "printed", printed(), group="Ratio to baseline", mark="mark"),
            Column("ratio", "recomputed", fixed(2, thousands=True), ci=ends("ratio"), group="Ratio to baseline"),
            Column("nats", "Nats", fixed(2)),
            Column("share_of_both", "% of both", integer()),
        ],
        groups="positional",
        space=0,
        marks={"rounding": "Within what the rounding of both perplexities leaves open, but not the recomputed ratio."},
        caption=(
            "Perplexity without parts of layer 1, Section 7.3 of the report [@africa2026]; baselines "
            f"{baseline['RoPE']:.2f} (RoPE) and {baseline['DroPE']:.2f} (DroPE). Unit: one perplexity per cell, over "
            "the same lines."
        ),
        short="Perplexity without parts of layer 1",
        note=(
            "Brackets: the range that rounding of the perplexities allows. Last column: effect in nats in percent "
            f"of that of removing both. RoPE's MLP over its attention: a ratio of ratios of {contrast['ratio']:.1f}, "
            f"{contrast['nats_ratio']:.1f} in nats. Removing both has {100 * sums['RoPE']['nats_ratio']:.0f} % of the "
            f"sum of the two single effects in RoPE and {100 * sums['DroPE']['nats_ratio']:.0f} % in DroPE."
        ),
    )
