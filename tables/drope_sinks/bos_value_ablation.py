"""Perplexity after removing the first token's values, in one layer and in all layers."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, printed

NAMES = {"bos_value_spike_layer": "one layer", "bos_value_all_layers": "all layers"}


def table(
    bos_ablations: pd.DataFrame, drope_bos_value_ablation: pd.DataFrame, baseline_perplexities: pd.DataFrame
) -> Table:
    """Return one row per condition and model."""
    rows = bos_ablations[bos_ablations["ablation"].isin(NAMES)]
    rows = rows.assign(name=rows["ablation"].map(NAMES))
    conditions = len(set(drope_bos_value_ablation["condition"]))
    baselines = [
        f"{model} " + ", ".join(cells["printed_text"])
        for model, cells in baseline_perplexities.groupby("positional", sort=False)
    ]
    experiments = ", ".join(map(str, baseline_perplexities["experiment"].drop_duplicates()))
    return Table(
        rows=rows,
        columns=[
            Column("name", "Values removed in", repeat=False),
            Column("positional", "Model"),
            Column("layers", "Layer", align="right"),
            Column("baseline_printed", "Baseline", printed()),
            Column("ratio_printed", "Ratio", printed()),
            Column("nats", "Nats", fixed(3), ci=("nats_low", "nats_high")),
        ],
        caption=(
            "Perplexity when the value vectors of the first token are removed, Section 6.3 of the report "
            f"[@africa2026], as ratio to the baseline and in nats per token. Unit: one ratio per cell, {conditions} "
            "conditions."
        ),
        short="Perplexity without the first token's values",
        note=(
            "Brackets: the range that the rounding of the printed ratio allows; no spread over texts is published. "
            f"Baseline perplexities of the same models in Experiments {experiments}: {'; '.join(baselines)}."
        ),
    )
