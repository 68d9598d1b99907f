"""Document 004, Experiment 2: cells against the published perplexities, and what captions and Figure C repeat."""

from __future__ import annotations

import pandas as pd

from analysis.claims import Verdict, compare, pick, quote
from analysis.claims._verdicts.cells import Cell, restated
from analysis.claims._verdicts.repeats import repeating
from analysis.statistics.rounding import percent_change

MODELS = ("RoPE", "DroPE")
CELLS = {  # metric of the source, column of the recomputed values
    "baseline_ppl": "baseline_ppl",
    "massive_zeroed_ppl": "massive_ppl",
    "random_zeroed_ppl": "random_ppl",
    "massive_increase": "massive_increase",
    "random_increase_mean": "random_increase",
    "random_increase_sd": "random_sd_n",
    "mr_difference": "mr_difference",
}


def c004_disruption_cells(drope_disruption: pd.DataFrame, disruption_trials: pd.DataFrame) -> list[Verdict]:
    """The perplexities, increases and deviations of the tables are those of the published trials.

    Source: 004, 3.2 Results.
    """
    verdicts = []
    for model in MODELS:
        trials = pick(disruption_trials, positional=model)
        for metric, column in CELLS.items():
            spread = f" with divisor n ({trials['random_sd_n1']:.2f} with n - 1)" if metric.endswith("_sd") else ""
            verdicts.append(
                compare(
                    quote(drope_disruption, positional=model, metric=metric),
                    float(trials[column]),
                    reason=f"{trials['seeds']} published trials on the literary set{spread}.",
                    n=int(trials["seeds"]),
                    key=f"{model}-{metric}",
                    statement=f"{metric} of {model} as the trials give it.",
                    kind="cell check",
                )
            )
    return verdicts


def c004_difference_cells(drope_disruption: pd.DataFrame) -> list[Verdict]:
    """The difference between massive and random disruption follows from the two columns beside it.

    Source: 004, 3.2 Results.
    """
    verdicts = []
    for model in MODELS:
        massive, random = (
            quote(drope_disruption, positional=model, metric=metric)
            for metric in ("massive_increase", "random_increase_mean")
        )
        verdicts.append(
            compare(
                quote(drope_disruption, positional=model, metric="mr_difference"),
                massive.number - random.number,
                massive.interval - random.interval,
                reason=f"{massive.printed} less {random.printed}.",
                key=model,
                statement=f"The difference of {model} is its massive less its random disruption.",
                kind="cell check",
            )
        )
    return verdicts


def c004_increase_cells(drope_disruption: pd.DataFrame) -> list[Verdict]:
    """The increases in percent follow from the perplexities that the table above them prints.

    Source: 004, 3.2 Results.
    """
    verdicts = []
    for model in MODELS:
        before = quote(drope_disruption, positional=model, metric="baseline_ppl")
        for arm, metric in (("massive", "massive_increase"), ("random", "random_increase_mean")):
            after = quote(drope_disruption, positional=model, metric=f"{arm}_zeroed_ppl")
            change = percent_change(before.interval, after.interval)
            verdicts.append(
                compare(
                    quote(drope_disruption, positional=model, metric=metric),
                    100 * (after.number / before.number - 1),
                    change,
                    reason=f"From {before.printed} to {after.printed}, which rounding leaves between {change.low:,.1f} "
                    f"and {change.high:,.1f} %.",
                    key=f"{model}-{arm}",
                    statement=f"The increase of {model} with {arm} dimensions zeroed follows from its perplexities.",
                    kind="cell check",
                )
            )
    return verdicts


def c004_text_cells(drope_disruption_texts_reported: pd.DataFrame, disruption_by_text: pd.DataFrame) -> list[Verdict]:
    """The increases by text type are those of the published perplexities.

    Source: 004, 3.3 Consistency.
    """
    verdicts = []
    for _, row in disruption_by_text.iterrows():
        reported = quote(drope_disruption_texts_reported, text=row["text"], positional=row["positional"])
        digits = reported.printed.strip("+%").replace(",", "")
        unit = 10.0 ** (len(digits) - len(digits.rstrip("0")))
        near = abs(row["massive_increase"] - reported.number) <= unit / 2
        verdicts.append(
            Verdict(
                verdict="holds" if near else "contradicted",
                reason=f"Published: {row['baseline_ppl']:.3f} to {row['massive_ppl']:,.1f}, "
                f"{row['massive_ratio']:,.0f} times; the printed value is taken as rounded to {unit:,.0f}.",
                reported=reported.printed,
                recomputed=f"{row['massive_increase']:,.0f}",
                key=f"{row['positional']}-{row['text']}",
                statement=f"The increase of {row['positional']} on {row['text']} text.",
                kind="cell check",
            )
        )
    return verdicts


def c004_figure_c(drope_figures: pd.DataFrame, drope_disruption: pd.DataFrame) -> list[Verdict]:
    """The coordinates of Figure C are the increases of the table.

    Source: 004, 15 Publication Figures, Figure C.
    """
    verdicts = []
    for model in MODELS:
        cell = quote(drope_disruption, positional=model, metric="massive_increase")
        made = compare(
            quote(drope_figures, figure="C", series=model),
            cell.number,
            cell.interval,
            reason=f"The table prints {cell.printed}.",
            places=cell.decimals,
            key=model,
            statement=f"Figure C draws the increase of {model} as in the table.",
            kind="cell check",
        )
        verdicts.append(repeating(made, f"c004_disruption_cells.{model}-massive_increase"))
    return verdicts


def c004_disruption_captions(
    drope_captions: pd.DataFrame, drope_disruption: pd.DataFrame, drope_disruption_statistics: pd.DataFrame
) -> list[Verdict]:
    """The captions of Figures 4 and C repeat the results.

    Source: 004, Figures 4 and C.
    """
    ratio = Cell(drope_disruption_statistics, "the list of tests", {"statistic": "reliance_ratio"})
    ratio = ratio.by("c004_reliance.reliance")
    table = "the table of disruption"
    return restated(
        drope_captions,
        {
            "fig_4_reliance_ratio": ratio,
            "fig_c_reliance_ratio": ratio,
            **{
                f"fig_c_legend_{model.lower()}": Cell(
                    drope_disruption, table, {"positional": model, "metric": "massive_increase"}
                ).by(f"c004_disruption_cells.{model}-massive_increase")
                for model in MODELS
            },
        },
    )
