"""Three questions that source 001 leaves open, asked of the tiny pair: heads, texts, and the whole softmax."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.statistics import Estimate, frame, holm, paired_t, pearson, spearman
from analysis.studies._pair import of_pair, over_seeds

RANKS = ("highest", "lowest")


def lab_head_ablations(head_ablation: pd.DataFrame) -> pd.DataFrame:
    """Retrieval and likelihood without the heads of highest or lowest late plasticity, against random heads.

    One row a model, metric, rank and number of heads: the value without the ranked heads, the mean without as many
    random ones, their difference, and `place`, the share of random draws with a value at most the ranked one's (ties
    count half). For the accuracy a low place, for the loss a high one, means that the ranked heads matter more.
    """
    rows = []
    for (model, side, seed), part in of_pair(head_ablation).groupby(["model", "side", "training_seed"], sort=True):
        parts = part["condition"].str.extract(r"(?P<rank>highest|lowest|random):(?P<heads>\d+)")
        part = part.assign(rank=parts["rank"], heads=parts["heads"].astype(float))
        for metric in ("passkey_accuracy", "delta_nats"):
            chosen = part[(part["metric"] == metric)]
            usual = float(chosen.loc[chosen["condition"] == "baseline", "value"].iloc[0])
            for heads in sorted(chosen["heads"].dropna().unique()):
                of_size = chosen[chosen["heads"] == heads]
                draws = of_size.loc[of_size["rank"] == "random", "value"].to_numpy(dtype=float)
                for rank in RANKS:
                    value = float(of_size.loc[of_size["rank"] == rank, "value"].iloc[0])
                    rows.append(
                        {
                            "model": model,
                            "side": side,
                            "training_seed": seed,
                            "metric": metric,
                            "rank": rank,
                            "heads": int(heads),
                            "baseline": usual,
                            "value": value,
                            "random": float(draws.mean()),
                            "random_sd": float(draws.std(ddof=1)),
                            "difference": value - float(draws.mean()),
                            "place": float((draws < value).mean() + (draws == value).mean() / 2),
                            "draws": len(draws),
                        }
                    )
    return pd.DataFrame(rows)


def lab_head_tests(lab_head_ablations: pd.DataFrame) -> pd.DataFrame:
    """Ranked heads against random ones over training seeds: a paired t test per model, metric, rank and number.

    Holm over all rows.
    """
    tests = []
    for (side, metric, rank, heads), part in lab_head_ablations.groupby(["side", "metric", "rank", "heads"], sort=True):
        tests.append(
            paired_t(
                part["value"].to_numpy(),
                part["random"].to_numpy(),
                study="lab_head_tests",
                comparison=f"{side}, {metric}, {rank} {heads} heads - random",
                unit="training seed",
            )
        )
    return frame(holm(tests))


def lab_text_tests(text_kinds: pd.DataFrame) -> pd.DataFrame:
    """The two kinds of text against each other: a paired t test over heads within each model, Holm over rows.

    Heads of one model are not independent; the test says whether its heads move together, not whether models do.
    """
    heads = of_pair(text_kinds).dropna(subset=["layer", "value"])
    first, second = heads["condition"].drop_duplicates().tolist()[:2]
    tests: list[Estimate] = []
    for (metric, model), part in heads.groupby(["metric", "model"], sort=True):
        table = part.pivot(index=["layer", "head"], columns="condition", values="value").dropna()
        tests.append(
            paired_t(
                table[first].to_numpy(),
                table[second].to_numpy(),
                study="lab_text_tests",
                comparison=f"{model}, {metric}, {first} - {second}",
                unit="head",
            )
        )
    return frame(holm(tests))


def lab_globality(softmax_globality: pd.DataFrame) -> pd.DataFrame:
    """Over the heads of each model: how often the heaviest key changes, against the plasticity of pairs.

    Pearson and Spearman correlations with their intervals, per model; Holm over rows.
    """
    rows = of_pair(softmax_globality).dropna(subset=["value"])
    tests: list[Estimate] = []
    for model, part in rows.groupby("model", sort=True):
        table = part.pivot(index=["layer", "head"], columns="metric", values="value").dropna()
        for method in (pearson, spearman):
            tests.append(
                method(
                    table["ap_overall"].to_numpy(),
                    table["top_changes"].to_numpy(),
                    study="lab_globality",
                    comparison=f"{model}, plasticity - changes of the heaviest key ({method.__name__})",
                    unit="head",
                )
            )
    return frame(holm(tests))


def lab_globality_means(softmax_globality: pd.DataFrame) -> pd.DataFrame:
    """Pearson's correlation over heads of plasticity with changes of the heaviest key, averaged over training seeds."""
    rows = of_pair(softmax_globality).dropna(subset=["value"])
    found = []
    for (model, side, seed), part in rows.groupby(["model", "side", "training_seed"], sort=True):
        table = part.pivot(index=["layer", "head"], columns="metric", values="value").dropna()
        found.append(
            {
                "model": model,
                "side": side,
                "training_seed": seed,
                "metric": "correlation",
                "value": float(np.corrcoef(table["ap_overall"], table["top_changes"])[0, 1]),
            }
        )
        for metric in ("top_changes", "top_first"):
            mean = float(table[metric].mean())
            found.append({"model": model, "side": side, "training_seed": seed, "metric": metric, "value": mean})
    return over_seeds(pd.DataFrame(found), ["metric"])


def lab_text_differences(text_kinds: pd.DataFrame) -> pd.DataFrame:
    """First kind of text minus the second, in each metric's mean over heads: means over training seeds by side.

    `comparison` names the two kinds; `difference` is DroPE's difference minus RoPE's.
    """
    means = of_pair(text_kinds)
    means = means[means["layer"].isna()]
    first, second = means["condition"].drop_duplicates().tolist()[:2]
    table = means.pivot(index=["side", "training_seed", "metric"], columns="condition", values="value").reset_index()
    found = over_seeds(table.assign(value=table[first] - table[second]), ["metric"])
    found.insert(1, "comparison", f"{first} minus {second}")
    return found
