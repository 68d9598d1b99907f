"""Document 002, its tables: derived columns follow from the printed ones, and cells that stand twice agree."""

from __future__ import annotations

import pandas as pd

from analysis.claims import Verdict, compare, judge, quote, untestable
from analysis.claims._verdicts.cells import copies
from analysis.statistics.rounding import mean, percent_change


def c002_t1_drop(reported_mechanistic: pd.DataFrame) -> list[Verdict]:
    """In Table 1, ap_drop is ap_first_20 less ap_last_20.

    Source: 002, Aggregate Scores and Mechanistic Metrics, Table 1.
    """
    return _drops(reported_mechanistic)


def c002_t1_all_models(reported_mechanistic: pd.DataFrame, reported_plasticity: pd.DataFrame) -> list[Verdict]:
    """Table 1 and the table of all models print the same values for the seven models that stand in both.

    Source: 002, Aggregate Scores and Mechanistic Metrics, Table 1.
    """
    return copies(reported_mechanistic, reported_plasticity, ["model", "metric"], label="the all-models table")


def c002_all_models_drop(reported_plasticity: pd.DataFrame) -> list[Verdict]:
    """In the table of all models, ap_drop is ap_first_20 less ap_last_20.

    Source: 002, All models with mechanistic data.
    """
    return _drops(reported_plasticity)


def _drops(table: pd.DataFrame) -> list[Verdict]:
    verdicts = []
    for model in dict.fromkeys(table["model"]):
        first, last = (quote(table, model=model, metric=metric) for metric in ("ap_first_20", "ap_last_20"))
        verdicts.append(
            compare(
                quote(table, model=model, metric="ap_drop"),
                first.number - last.number,
                first.interval - last.interval,
                reason=f"{first.printed} - {last.printed}.",
                places=4,
                key=str(model),
                statement=f"ap_drop of {model} is its ap_first_20 less its ap_last_20.",
                kind="cell check",
            )
        )
    return verdicts


def c002_all_models_scores(
    reported_plasticity: pd.DataFrame, published_lbp: pd.DataFrame, published_ruler: pd.DataFrame
) -> list[Verdict]:
    """The benchmark scores in the table of all models are the published ones.

    Source: 002, All models with mechanistic data.
    """
    overall = published_lbp[(published_lbp["length"] == "overall") & (published_lbp["mode"] == "nonthinking")]
    longest = published_ruler[published_ruler["length"] == "128k"]
    published = pd.concat([overall.assign(metric="lbp"), longest.assign(metric="ruler_128k")])
    return copies(reported_plasticity, published, ["model", "metric"], label="the benchmark's published table")


def c002_all_models_sorted(reported_plasticity: pd.DataFrame) -> Verdict:
    """The table of all models is sorted by aggregate plasticity, highest first.

    Source: 002, All models with mechanistic data.
    """
    column = reported_plasticity.loc[reported_plasticity["metric"] == "ap_overall", "value"]
    rises = int((column.diff() > 0).sum())
    return judge(
        rises == 0,
        f"The {len(column)} values run from {column.iloc[0]:.4f} to {column.iloc[-1]:.4f} with {rises} rises.",
        n=len(column),
    )


def c002_t2_total(reported_length_bins: pd.DataFrame) -> list[Verdict]:
    """In Table 2, the total drop is the last length bin less the first.

    Source: 002, Per-Length-Bin Plasticity Profile, Table 2.
    """
    verdicts = []
    for model in dict.fromkeys(reported_length_bins["model"]):
        first, last = (quote(reported_length_bins, model=model, bin=name) for name in ("0-8K", "64K-128K"))
        verdicts.append(
            compare(
                quote(reported_length_bins, model=model, bin="total"),
                last.number - first.number,
                last.interval - first.interval,
                reason=f"{last.printed} - {first.printed}.",
                places=4,
                key=str(model),
                statement=f"The total drop of {model} is its last length bin less its first.",
                kind="cell check",
            )
        )
    return verdicts


def c002_t3_scores(reported_lbp_lengths: pd.DataFrame, published_lbp: pd.DataFrame) -> list[Verdict]:
    """The scores by length of Ministral-3-14B in Table 3 are the published ones with thinking.

    Source: 002, Per-Length LongBench Pro Scores, Table 3.
    """
    scores = reported_lbp_lengths[reported_lbp_lengths["metric"] == "lbp"]
    return copies(scores, published_lbp, ["model", "mode", "length"], label="the benchmark's summary by length")


def c002_t3_bins(reported_lbp_lengths: pd.DataFrame, reported_length_bins: pd.DataFrame) -> list[Verdict]:
    """The plasticity beside these scores is that of the bin of Table 2 that ends at the length.

    Source: 002, Per-Length LongBench Pro Scores, Table 3.
    """
    bins = reported_length_bins[reported_length_bins["bin"] != "total"]
    ends = bins["bin"].str.partition("-")[2].str.lower()
    plasticity = reported_lbp_lengths[reported_lbp_lengths["metric"] == "plasticity"]
    return copies(plasticity, bins.assign(length=ends), ["model", "length"], label="Table 2")


def c002_t3_reference(reported_reference_models: pd.DataFrame) -> Verdict:
    """Nine models that were not captured serve as references, with scores by length read off a figure of the benchmark.

    Source: 002, Per-Length LongBench Pro Scores, Table 3, reference models.
    """
    names = reported_reference_models["name"].nunique()
    return untestable(
        f"The benchmark's summaries of these {names} models would decide on the {len(reported_reference_models)} "
        "cells; they are not among the sources, and no statement rests on them.",
        reported=f"{names} models",
    )


def c002_t4_ends(reported_deciles: pd.DataFrame, reported_plasticity: pd.DataFrame) -> list[Verdict]:
    """The deciles of Table 4 average to the first and last 20 % of the table of all models.

    Source: 002, Decile Plasticity Profile, Table 4.
    """
    verdicts = []
    for model in dict.fromkeys(reported_deciles["model"]):
        for metric, pair in (("ap_first_20", (0, 1)), ("ap_last_20", (8, 9))):
            ends = [quote(reported_deciles, model=model, decile=decile) for decile in pair]
            verdicts.append(
                compare(
                    quote(reported_plasticity, model=model, metric=metric),
                    sum(end.number for end in ends) / len(ends),
                    mean(end.interval for end in ends),
                    reason=f"The mean of the deciles {ends[0].printed} and {ends[1].printed}.",
                    places=4,
                    key=f"{model}-{metric}",
                    statement=f"{metric} of {model} is the mean of two deciles.",
                    kind="cell check",
                )
            )
    return verdicts


def c002_t10_t4(reported_ruler_deciles: pd.DataFrame, reported_deciles: pd.DataFrame) -> list[Verdict]:
    """Table 10 repeats the decile profiles of Table 4 for the two models of RULER.

    Source: 002, Benchmark: RULER, Table 10.
    """
    return copies(reported_ruler_deciles, reported_deciles, ["model", "decile"], label="Table 4")


def c002_observations_cells(reported_observations: pd.DataFrame, reported_mechanistic: pd.DataFrame) -> list[Verdict]:
    """The three tables of the observations repeat Table 1, rounded to three decimals.

    Source: 002, Observations.
    """
    verdicts = []
    for name, rows in reported_observations.groupby("table", sort=False):
        verdicts += copies(rows, reported_mechanistic, ["model", "metric"], label="Table 1", keep=f"{name}-")
    return verdicts


def c002_ruler_models_cells(
    reported_ruler_models: pd.DataFrame, reported_plasticity: pd.DataFrame, published_ruler: pd.DataFrame
) -> list[Verdict]:
    """The table of the models added for RULER agrees with the table of all models and with RULER's published scores.

    Source: 002, Benchmark: RULER, new models.
    """
    published = published_ruler.assign(metric="ruler_" + published_ruler["length"])
    metrics = reported_plasticity[~reported_plasticity["metric"].isin(["lbp", "ruler_128k"])]
    return copies(reported_ruler_models, published, ["model", "metric"], label="RULER's README") + copies(
        reported_ruler_models, metrics, ["model", "metric"], label="the all-models table"
    )


def c002_t8_scores(reported_ruler_plasticity: pd.DataFrame, published_ruler: pd.DataFrame) -> list[Verdict]:
    """The RULER scores of Table 8 are those of the benchmark's README.

    Source: 002, Benchmark: RULER, Table 8.
    """
    scores = reported_ruler_plasticity[reported_ruler_plasticity["metric"] == "ruler"]
    return copies(scores, published_ruler, ["model", "length"], label="RULER's README")


def c002_t9_bias(reported_rotation_ruler: pd.DataFrame, reported_plasticity: pd.DataFrame) -> list[Verdict]:
    """The bias of Table 9 is that of the table of all models.

    Source: 002, Benchmark: RULER, Table 9.
    """
    return copies(reported_rotation_ruler, reported_plasticity, ["model", "metric"], label="the all-models table")


def c002_generations_cells(
    reported_llama_generations: pd.DataFrame, reported_plasticity: pd.DataFrame
) -> list[Verdict]:
    """The comparison of two Llama generations repeats the table of all models.

    Source: 002, RULER analysis: generational comparison.
    """
    return copies(reported_llama_generations, reported_plasticity, ["model", "metric"], label="the all-models table")


def c002_predecessor_cells(
    reported_mistral_predecessor: pd.DataFrame,
    reported_plasticity: pd.DataFrame,
    reported_mechanistic: pd.DataFrame,
    reported_rotation_ruler: pd.DataFrame,
) -> list[Verdict]:
    """The comparison with Mistral-7B-Instruct-v0.2 repeats the table of all models, Table 1 and Table 9.

    Source: 002, RULER analysis: predecessor comparison.
    """
    spread = pd.concat([reported_mechanistic, reported_rotation_ruler])
    spread = spread[spread["metric"] == "plane_var"]
    both = ["model", "metric"]
    return copies(reported_mistral_predecessor, reported_plasticity, both, label="the all-models table") + copies(
        reported_mistral_predecessor, spread, both, label="the table of rotation metrics"
    )


def c002_declines_cells(
    reported_ruler_declines: pd.DataFrame, reported_ruler_plasticity: pd.DataFrame
) -> list[Verdict]:
    """The table of declines repeats Table 8, and its percentages are changes from the value at 4K.

    Source: 002, RULER analysis: per-length correlation.
    """
    on = ["model", "length", "metric"]
    scores = reported_ruler_plasticity[reported_ruler_plasticity["metric"] == "ruler"]
    places = [f"{row['model']}-{row['length']}" for _, row in scores.iterrows()]
    judged = {f"{place}-ruler": f"c002_t8_scores.{place}" for place in places}
    verdicts = copies(reported_ruler_declines, reported_ruler_plasticity, on, label="Table 8", judged=judged)
    changes = reported_ruler_declines[
        reported_ruler_declines["metric"].str.endswith("_change") & reported_ruler_declines["low"].notna()
    ]
    for _, row in changes.iterrows():
        metric = str(row["metric"]).removesuffix("_change")
        before, after = (
            quote(reported_ruler_declines, model=row["model"], length=length, metric=metric)
            for length in ("4k", row["length"])
        )
        verdicts.append(
            compare(
                quote(reported_ruler_declines, **{name: row[name] for name in on}),
                100 * (after.number / before.number - 1),
                percent_change(before.interval, after.interval),
                reason=f"From {before.printed} to {after.printed}.",
                places=2,
                key="-".join(str(row[name]) for name in on),
                statement=f"The change of {metric} from 4K to {row['length']}, in percent.",
                kind="cell check",
            )
        )
    return verdicts
