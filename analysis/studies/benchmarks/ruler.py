"""Compare RULER with plasticity length by length; compute effective lengths and weighted averages."""

import pandas as pd

from boundpaper.statistics.correlations.contrast import levels_and_differences
from boundpaper.statistics.estimate import Estimate, frame
from boundpaper.statistics.families import corrected
from boundpaper.store.frames import wide
from keyquery.scores.ruler.effective_length import LENGTHS, THRESHOLD


def ruler_summary(published_ruler: pd.DataFrame, models: pd.DataFrame) -> pd.DataFrame:
    """Return published RULER scores, the effective length by RULER's rule and as stated, and both weighted averages.

    `effective` is the longest length whose score is above `threshold`. The weights of `weighted_longer` rise linearly
    from 1 at 4k to 6 at 128k; the weights of `weighted_shorter` fall from 6 to 1.
    """
    table = published_ruler.pivot(index="model", columns="length", values="value")[list(LENGTHS)].reset_index()
    table.columns.name = None
    scores = table[list(LENGTHS)]
    weights = pd.Series(range(1, len(LENGTHS) + 1), index=list(LENGTHS), dtype=float)
    table["average"] = scores.mean(axis=1)
    table["weighted_longer"] = (scores * weights).sum(axis=1) / weights.sum()
    table["weighted_shorter"] = (scores * weights.to_numpy()[::-1]).sum(axis=1) / weights.sum()
    table["threshold"] = THRESHOLD
    table["effective"] = [_effective_length(row) for _, row in scores.iterrows()]
    stated_lengths = published_ruler.drop_duplicates("model")[["model", "effective_reported", "origin"]]
    facts = models[["model", "display_name", "family", "captured_context", "checkpoint_match"]]
    table = table.merge(stated_lengths, on="model").merge(facts, on="model")
    return table.sort_values("128k", ascending=False, ignore_index=True)


def _effective_length(scores: pd.Series) -> str:
    passing = [length for length in LENGTHS if scores[length] > THRESHOLD]
    return passing[-1] if passing else f"<{LENGTHS[0]}"


def ruler_lengths(
    reported_ruler_plasticity: pd.DataFrame, published_ruler: pd.DataFrame, models: pd.DataFrame
) -> pd.DataFrame:
    """Return RULER score and plasticity by length, with the change since 4k (percent) and the first difference.

    `ruler` is the published score, `ruler_printed` the score in source 002, and `differs` says whether they differ.
    """
    table = wide(reported_ruler_plasticity, by=["model", "length"]).rename(columns={"ruler": "ruler_printed"})
    scores = published_ruler[["model", "length", "value"]].rename(columns={"value": "ruler"})
    table = table.merge(scores, on=["model", "length"], how="left")
    table = table.merge(models[["model", "display_name", "captured_context"]], on="model")
    table["differs"] = (table["ruler"] - table["ruler_printed"]).abs() > 1e-9
    table["position"] = table["length"].map({length: position for position, length in enumerate(LENGTHS)})
    table["tokens"] = [1024 * int(length.removesuffix("k")) for length in table["length"]]
    table = table.sort_values(["model", "position"], ignore_index=True)
    for name in ("ruler", "plasticity"):
        by_model = table.groupby("model")[name]
        table[f"{name}_change"] = 100 * (table[name] / by_model.transform("first") - 1)
        table[f"{name}_step"] = by_model.diff()
    notes = []
    for _, row in table.iterrows():
        reasons = [f"{name}_step: the first length has none" for name in ("ruler", "plasticity") if not row["position"]]
        if pd.isna(row["plasticity"]):
            reason = "longer than the captured context"
            reasons += [f"{name}: {reason}" for name in ("plasticity", "plasticity_change", "plasticity_step")]
        notes.append("; ".join(reasons))
    return table.assign(note=notes)


def ruler_tests(ruler_lengths: pd.DataFrame, test_families: pd.DataFrame) -> pd.DataFrame:
    """Correlate RULER and plasticity over each model's lengths: levels and first differences."""
    tests: list[Estimate] = []
    for model, rows in ruler_lengths[ruler_lengths["plasticity"].notna()].groupby("model", sort=False):
        tests += levels_and_differences(
            rows["plasticity"], rows["ruler"], study="ruler_tests", comparison=str(model), unit="length"
        )
    return frame(corrected(tests, test_families, "ruler_tests"))
