"""Comparison of ablations at the first token: layers, perplexity ratios, and differences between the models."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, printed

NAMES = {
    "bos_value_spike_layer": "values",
    "bos_value_all_layers": "values",
    "bos_mlp_spike_layer": "MLP output",
    "layer1_bos_only": "MLP and attention output",
}


def table(bos_ablations: pd.DataFrame, bos_ablation_contrasts: pd.DataFrame) -> Table:
    """Return one row per ablation; ablations with matched layers come last."""
    printed_ratio = bos_ablations.pivot(index="ablation", columns="positional", values="ratio_printed")
    is_compared = bos_ablations.groupby("ablation")["in_comparison"].all()
    rows = bos_ablation_contrasts.assign(
        name=bos_ablation_contrasts["ablation"].map(NAMES),
        printed_rope=bos_ablation_contrasts["ablation"].map(printed_ratio["RoPE"]),
        printed_drope=bos_ablation_contrasts["ablation"].map(printed_ratio["DroPE"]),
        mark=["compared" if is_compared[name] else "" for name in bos_ablation_contrasts["ablation"]],
        group=bos_ablation_contrasts["matched"].map({True: "Same layers in both models", False: "Other layers"}),
    ).sort_values("matched", kind="stable")
    return Table(
        rows=rows,
        columns=[
            Column("name", "Removed at the first token", mark="mark"),
            Column("rope_layers", "RoPE", group="Layer", align="right"),
            Column("drope_layers", "DroPE", group="Layer", align="right"),
            Column("printed_rope", "RoPE", printed(), group="Ratio, printed"),
            Column("printed_drope", "DroPE", printed(), group="Ratio, printed"),
            Column("rope_nats", "RoPE", fixed(2), group="Nats"),
            Column("drope_nats", "DroPE", fixed(2), group="Nats"),
            Column("gap_nats", "gap", fixed(2), group="Nats"),
        ],
        groups="group",
        space=0,
        marks={"compared": "The two rows that the report sets against each other (Section 6.4)."},
        caption=(
            "Ablations at the first token, Sections 5.3, 6.3 and 7.3 of the report [@africa2026]: layers removed, "
            "ratio of perplexities as printed, and effect in nats per token. Unit: one perplexity per cell."
        ),
        short="Ablations at the first token and their layers",
        note=(
            "Only rows with the same layers in both models compare the models. The gap is RoPE's effect minus DroPE's. "
            "Perplexities come from one run each; no spread is published."
        ),
    )
