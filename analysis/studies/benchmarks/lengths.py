"""Compare LongBench Pro scores with plasticity over input length: by matching bins, and by each model's decline."""

from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from analysis.studies._metrics import METHODS, caveat
from analysis.studies._recomputed import recomputed_difference
from boundpaper.statistics.correlations.contrast import levels_and_differences
from boundpaper.statistics.estimate import SEPARATOR, Estimate, frame, no
from boundpaper.statistics.families import corrected
from boundpaper.statistics.locations.permutation import permutation_p
from boundpaper.statistics.sample import FloatArray, IntArray
from boundpaper.store.frames import wide

LENGTHS = ("8k", "16k", "32k", "64k", "128k", "256k")
BINS = {"8k": "0-8K", "16k": "8K-16K", "32k": "16K-32K", "64k": "32K-64K", "128k": "64K-128K"}
MODES = ("nonthinking", "thinking")


def bin_profiles(reported_length_bins: pd.DataFrame, models: pd.DataFrame) -> pd.DataFrame:
    """Return plasticity per length bin, and the total drop (last bin minus first), printed and recomputed.

    `total_rounded` is the recomputed drop to the printed digits (halves away from zero); `total_low` and `total_high`
    are the range allowed by rounding of both bins; `total_agreement` compares printed and recomputed.
    """
    table = wide(reported_length_bins, metric="bin", by=["model"]).rename(columns={"total": "total_drop"})
    cells = reported_length_bins.set_index(["model", "bin"])
    rows = []
    for model in table["model"]:
        ends_and_drop = (cells.loc[(model, name)] for name in (BINS["128k"], BINS["8k"], "total"))
        rows.append({"model": model, **recomputed_difference("total", *ends_and_drop)})
    return models[["model", "display_name", "family"]].merge(table, on="model").merge(pd.DataFrame(rows), on="model")


def lbp_lengths(published_lbp: pd.DataFrame, reported_length_bins: pd.DataFrame, models: pd.DataFrame) -> pd.DataFrame:
    """Return the LongBench Pro score by model, mode and length, with the plasticity of the bin up to this length."""
    scores = published_lbp[published_lbp["length"].isin(LENGTHS)]
    scores = scores[["model", "mode", "length", "questions", "value"]].rename(columns={"value": "lbp"})
    bins = reported_length_bins[["model", "bin", "value"]].rename(columns={"value": "plasticity"})
    scores = scores.assign(bin=scores["length"].map(BINS).fillna(""))
    table = scores.merge(bins, on=["model", "bin"], how="left")
    table = table.merge(models[["model", "display_name", "family"]], on="model")
    binned = set(bins["model"])
    table["note"] = [_bin_note(row, row["model"] in binned) for _, row in table.iterrows()]
    order = {length: position for position, length in enumerate(LENGTHS)}
    table["position"] = table["length"].map(order)
    table["tokens"] = [1024 * int(length.removesuffix("k")) for length in table["length"]]
    return table.sort_values(["model", "mode", "position"], ignore_index=True)


def _bin_note(row: pd.Series, binned: bool) -> str:
    if pd.notna(row["plasticity"]):
        return ""
    return "longer than the captured context" if binned else "no length bins are reported for this model"


def length_decline(lbp_lengths: pd.DataFrame, matched_models: pd.DataFrame) -> pd.DataFrame:
    """Return the relative decline 1 - s(128k)/s(8k) of each matched model in both modes, with both plasticity drops."""
    ends = lbp_lengths[lbp_lengths["length"].isin(["8k", "128k"])]
    table = ends.pivot(index=["model", "mode"], columns="length", values="lbp").reset_index()
    table.columns.name = None
    table = table.rename(columns={"8k": "lbp_8k", "128k": "lbp_128k"})
    table["decline"] = 1 - table["lbp_128k"] / table["lbp_8k"]
    facts = ["model", "display_name", "family", "captured_context", "checkpoint_match", "lbp", "ap_drop", "total_drop"]
    table = matched_models[[*facts, "in_source"]].merge(table, on="model")
    table["note"] = ["" if pd.notna(drop) else "total_drop: not given for this model" for drop in table["total_drop"]]
    return table.sort_values(["mode", "lbp"], ascending=[True, False], ignore_index=True)


def length_decline_tests(length_decline: pd.DataFrame, test_families: pd.DataFrame) -> pd.DataFrame:
    """Test hypothesis H3: is a steeper plasticity drop related to a steeper relative decline of the score?

    The tests correlate `ap_drop` in both modes over 7 and 8 models, and the negated total drop over the 7 models that
    have it, by three coefficients, with Holm over all eighteen.
    """
    tests: list[Estimate] = []
    for method, mode in product(METHODS, MODES):
        rows = length_decline[length_decline["mode"] == mode]
        source_rows = rows[rows["in_source"].astype(bool)]
        for models, metric in ((source_rows, "ap_drop"), (rows, "ap_drop"), (source_rows, "total_drop")):
            tests.append(
                method(
                    models[metric] * (-1 if metric == "total_drop" else 1),
                    models["decline"],
                    study="length_decline_tests",
                    comparison=f"{metric}, {mode}, n = {len(models)}",
                    unit="model",
                    note=caveat(models, "decline"),
                    names=(metric, "decline"),
                )
            )
    return frame(corrected(tests, test_families, "length_decline_tests"))


def length_ordering_tests(
    lbp_lengths: pd.DataFrame, matched_models: pd.DataFrame, test_families: pd.DataFrame
) -> pd.DataFrame:
    """Test hypothesis H3 at each length: do models with more plasticity in a bin score higher at that length?

    The tests run over the models with length bins, at each of the five shared lengths and in both modes, by three
    coefficients, with Holm over all thirty. All lengths have the same models, so the tests are not independent.
    """
    binned = lbp_lengths[lbp_lengths["plasticity"].notna()].drop(columns=["display_name", "family"])
    binned = binned.merge(matched_models.drop(columns=["lbp", "note"]), on="model")
    labels: dict[str, Any] = {"study": "length_ordering_tests", "unit": "model", "names": ("plasticity", "lbp")}
    tests: list[Estimate] = []
    for method, mode, length in product(METHODS, MODES, BINS):
        rows = binned[(binned["mode"] == mode) & (binned["length"] == length)]
        note = caveat(rows, "lbp")
        tests.append(method(rows["plasticity"], rows["lbp"], comparison=f"{length}, {mode}", note=note, **labels))
    return frame(corrected(tests, test_families, "length_ordering_tests"))


def lbp_length_tests(lbp_lengths: pd.DataFrame, test_families: pd.DataFrame) -> pd.DataFrame:
    """Correlate score and plasticity over the lengths of each model that have both: levels and first differences.

    Holm corrects the tests of first differences. Levels of two falling series correlate anyway and are not tested.
    """
    tests: list[Estimate] = []
    binned = lbp_lengths[lbp_lengths["plasticity"].notna()]
    for (model, mode), rows in binned.groupby(["model", "mode"], sort=False):
        tests += levels_and_differences(
            rows["plasticity"], rows["lbp"], study="lbp_length_tests", comparison=f"{model}, {mode}", unit="length"
        )
    return frame(corrected(tests, test_families, "lbp_length_tests"))


def lbp_length_steps(lbp_lengths: pd.DataFrame, test_families: pd.DataFrame) -> pd.DataFrame:
    """Correlate changes of score and of plasticity from one length to the next, over all models at once.

    The mean change of all models at a step is subtracted from each change. The remainder shows whether a model
    that loses more plasticity than others at a step also loses more score, which a common trend cannot cause. Changes
    of one model are dependent, so whole models are permuted for p.
    """
    binned = lbp_lengths[lbp_lengths["plasticity"].notna()]
    tests: list[Estimate] = []
    for mode in MODES:
        rows = binned[binned["mode"] == mode]
        plasticity, scores = (_centred_steps(rows, name) for name in ("plasticity", "lbp"))
        norm = float(np.linalg.norm(plasticity) * np.linalg.norm(scores))
        observed = float(np.sum(plasticity * scores)) / norm

        def statistic(
            index: IntArray, plasticity: FloatArray = plasticity, scores: FloatArray = scores, norm: float = norm
        ) -> FloatArray:
            return np.asarray(np.einsum("mij,ij->m", plasticity[index], scores) / norm, dtype=np.float64)

        outcome = permutation_p(observed, statistic, [np.arange(len(plasticity))])
        notes = [
            f"{plasticity.size} changes of {len(plasticity)} models, the mean change at each step taken off",
            f"{outcome.note} of whole models",
            no("interval", "statistic", "df", "effect interval", because="changes of one model depend on each other"),
        ]
        tests.append(
            Estimate(
                study="lbp_length_steps",
                comparison=mode,
                test="pearson_steps",
                unit="model",
                n=len(plasticity),
                estimate=observed,
                p_value=outcome.p_value,
                effect_name="r",
                effect=observed,
                note=SEPARATOR.join(notes),
            )
        )
    return frame(corrected(tests, test_families, "lbp_length_steps"))


def _centred_steps(rows: pd.DataFrame, name: str) -> FloatArray:
    """Return each model's changes (models, steps) minus the mean over models at each step."""
    series = rows.pivot(index="model", columns="position", values=name).to_numpy(dtype=np.float64)
    steps = np.diff(series, axis=1)
    return np.asarray(steps - steps.mean(axis=0), dtype=np.float64)
