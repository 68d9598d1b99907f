"""Three questions that source 001 leaves open, asked of the tiny pair: heads, texts, and the whole softmax."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from analysis.statistics import Estimate, attach, frame, paired_t, pearson, spearman, within_family
from analysis.statistics.guards import Notes, dependent_units
from analysis.studies._families import corrected
from analysis.studies.lab._pair import of_pair, over_seeds

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


def lab_head_tests(lab_head_ablations: pd.DataFrame, test_families: pd.DataFrame) -> pd.DataFrame:
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
    return frame(corrected(tests, test_families, "lab_head_tests"))


def lab_text_tests(text_kinds: pd.DataFrame, test_families: pd.DataFrame) -> pd.DataFrame:
    """The two kinds of text against each other: a paired t test per metric, over training seeds and within each model.

    Over seeds the unit is a model, by its mean over heads; Holm over sides and metrics. Within a model heads share what
    their layer reads, so the unit is a layer, by its mean over heads; layers of one network are not independent
    either, and these rows are not corrected: they show whether the layers of a model move together.
    """
    heads = of_pair(text_kinds).dropna(subset=["layer", "value"])
    first, second = heads["condition"].drop_duplicates().tolist()[:2]
    kinds = f"{first} - {second}"
    keys = ["metric", "side", "model", "training_seed", "layer", "head"]
    table = heads.pivot(index=keys, columns="condition", values="value").dropna().reset_index()
    tests: list[Estimate] = []
    about: dict[str, Any] = {"study": "lab_text_tests", "names": (str(first), str(second))}
    models = table.groupby(["metric", "side", "training_seed"], as_index=False)[[first, second]].mean()
    for (metric, side), part in models.groupby(["metric", "side"], sort=True):
        comparison = f"{side}, {metric}, {kinds}"
        tests.append(paired_t(part[first], part[second], comparison=comparison, unit="training seed", **about))
    layers = table.groupby(["metric", "model", "layer"], as_index=False)[[first, second]].mean()
    for (metric, model), part in layers.groupby(["metric", "model"], sort=True):
        test = paired_t(part[first], part[second], comparison=f"{model}, {metric}, {kinds}", unit="layer", **about)
        tests.append(attach(test, _one_network(part["layer"], "layer")))
    return frame(corrected(tests, test_families, "lab_text_tests"))


def lab_globality(softmax_globality: pd.DataFrame, test_families: pd.DataFrame) -> pd.DataFrame:
    """Over the heads of each model: how often the heaviest key changes, against the plasticity of pairs.

    Heads of a layer read the same input, so that layers are clusters: the tested correlation is that inside layers,
    both series centred by layer and heads exchanged inside their layer only; Holm over models. Pearson's and
    Spearman's over all heads stand beside it, with the guard of dependent units and uncorrected.
    """
    rows = of_pair(softmax_globality).dropna(subset=["value"])
    tests: list[Estimate] = []
    for model, part in rows.groupby("model", sort=True):
        table = part.pivot(index=["layer", "head"], columns="metric", values="value").dropna().reset_index()
        pair = table["ap_overall"].to_numpy(), table["top_changes"].to_numpy()
        words = f"{model}, plasticity - changes of the heaviest key"
        about: dict[str, Any] = {"study": "lab_globality", "unit": "head"}
        inside = within_family(*pair, list(table["layer"]), comparison=f"{words} (inside layers)", **about)
        tests.append(replace(inside, test="pearson_within_layer", note=inside.note.replace("families", "layers")))
        shared = _one_network(table["layer"], "head")
        for method in (pearson, spearman):
            tests.append(attach(method(*pair, comparison=f"{words} ({method.__name__})", **about), shared))
    return frame(corrected(tests, test_families, "lab_globality"))


def _one_network(layers: pd.Series, unit: str) -> Notes:
    """The guard of units of one network: layers share its residual stream, heads of a layer their input."""
    names = [f"{unit} {number}" for number in range(len(layers))]
    if unit == "layer":
        return dependent_units(names, ["net"] * len(names), "one residual stream")
    return dependent_units(names, list(layers), "the input of their layer")


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
