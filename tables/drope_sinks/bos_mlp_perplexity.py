"""Perplexity without a layer's output at the first token, beside the norm of that output."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, integer, printed

REMOVED = {
    "mlp at BOS": "Experiment 4: the MLP output at the first token",
    "both at BOS": "Experiment 6: MLP and attention output at the first token",
}


def table(bos_mlp_effects: pd.DataFrame) -> Table:
    """Return one row per model and experiment."""
    rows = bos_mlp_effects.assign(
        group=bos_mlp_effects["removed"].map(REMOVED),
        ratio_shown=[f"{ratio:,.1f}" if ratio >= 100 else f"{ratio:.3f}" for ratio in bos_mlp_effects["ratio"]],
        mark=["rounding" if agreement == "holds after rounding" else "" for agreement in bos_mlp_effects["agreement"]],
    )
    ablated_layers = rows[rows["experiment"] == 4].set_index("positional")["layer"]
    return Table(
        rows=rows,
        columns=[
            Column("positional", "Model"),
            Column("layer", "Layer", integer()),
            Column("baseline_printed", "baseline", printed(), group="Perplexity"),
            Column("ablated_printed", "removed", printed(), group="Perplexity"),
            Column("ratio_printed", "printed", printed(), group="Ratio", mark="mark"),
            Column("ratio_shown", "recomputed", printed(), group="Ratio"),
            Column("nats", "Nats", fixed(2), ci=("nats_low", "nats_high")),
            Column("mlp_write", "norm", fixed(1), group="MLP output"),
            Column("write_share", "% of state", fixed(1), group="MLP output"),
        ],
        groups="group",
        size="footnotesize",
        marks={"rounding": "Within what the rounding of both perplexities leaves open, but not the recomputed ratio."},
        caption=(
            "Perplexity when a layer's output at the first token is removed, Sections 5.3 and 7.3 of the report "
            "[@africa2026], with the published norm of that layer's MLP output at the first token, also in percent of "
            "the token's norm after the layer. Unit: one perplexity per cell."
        ),
        short="Perplexity without a layer's output at the first token",
        note=(
            "Nats: difference of mean log-perplexity per token; brackets are what the rounding of the perplexities "
            f"leaves open, not sampling error. Experiment 4 removes layer {ablated_layers['RoPE']} in RoPE and layer "
            f"{ablated_layers['DroPE']} in DroPE."
        ),
    )
