"""Perplexity with massive or random dimensions zeroed: printed values beside the published trials."""

from typing import Any

import pandas as pd

from analysis.vocabulary import PAIR
from boundpaper.tables import Column, Table, markup, printed

ROWS = (  # metric of the report, column of the recomputed values, name, unit
    ("baseline_ppl", "baseline_ppl", "perplexity, baseline", "perplexity"),
    ("massive_zeroed_ppl", "massive_ppl", "perplexity, massive zeroed", "perplexity"),
    ("random_zeroed_ppl", "random_ppl", "perplexity, random zeroed", "perplexity"),
    ("massive_increase", "massive_increase", "increase, massive (%)", "%"),
    ("random_increase_mean", "random_increase", "increase, random (%)", "%"),
    ("random_increase_sd", "random_sd_n", "its deviation, divisor $n$", "%"),
    ("", "random_sd_n1", "its deviation, divisor $n - 1$", "%"),
    ("mr_difference", "mr_difference", "massive minus random (%)", "%"),
    ("", "massive_nats", "increase, massive (nats)", "nats"),
    ("", "random_nats", "increase, random (nats)", "nats"),
)


def table(disruption_trials: pd.DataFrame, drope_disruption: pd.DataFrame) -> Table:
    """Return the printed cells beside the recomputed cells."""
    trials = {str(row["positional"]): row for row in disruption_trials.to_dict("records")}
    cells = drope_disruption.set_index(["positional", "metric"])["printed"]
    rows = []
    for metric, column, name, unit in ROWS:
        row: dict[str, Any] = {"name": name, "unit": unit}
        for model in PAIR:
            row[f"printed_{model}"] = cells[(model, metric)] if metric else None
            value = trials[model][column]
            row[f"trials_{model}"] = f"{value:,.1f}" if value >= 1000 else f"{value:.3f}"
        rows.append(row)
    seeds = int(trials["RoPE"]["seeds"])
    copies = " and ".join(f"{int(trials[model]['massive_values'])} ({model})" for model in PAIR)
    unprinted = "The report prints none."
    return Table(
        rows=pd.DataFrame(rows),
        columns=[
            Column("name", "Quantity", markup),
            Column("printed_RoPE", "printed", printed(), group="RoPE", missing=unprinted),
            Column("trials_RoPE", "trials", printed(), group="RoPE"),
            Column("printed_DroPE", "printed", printed(), group="DroPE", missing=unprinted),
            Column("trials_DroPE", "trials", printed(), group="DroPE"),
        ],
        space="unit",
        units="unit",
        caption=(
            "Perplexity when massive or as many random dimensions of queries and keys are zeroed, on the literary text "
            f"set: the cells of the report's Section 3.2 and the {seeds} published trials [@africa2026]. Random: mean "
            "over the seeds. Increases are relative to the baseline."
        ),
        short="Perplexity with massive or random dimensions zeroed",
        note=(
            f"Unit: seed, n = {seeds} a model. A seed draws the random dimensions only: the distinct values in the "
            f"massive arm are {copies}, so it has no deviation over seeds. The massive dimensions were chosen on the "
            "text set on which they are judged here."
        ),
    )
