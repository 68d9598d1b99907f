"""Estimate how much of a metric's spread over models is capture noise, and its effect on the metric's correlations."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from analysis.studies._metrics import compared_metrics
from analysis.studies._weights import twins
from boundpaper.statistics.bootstrap import DRAWS, SEED, percentile_interval
from boundpaper.statistics.correlations.coefficient import coefficient, standardised
from boundpaper.statistics.rounding import Interval, difference
from boundpaper.statistics.sample import FloatArray

SCORES = {"lbp": "LongBench Pro score", "decline": "loss of score, without thinking"}


def capture_noise(
    captured_models: pd.DataFrame,
    matched_models: pd.DataFrame,
    length_decline: pd.DataFrame,
    published_facts: pd.DataFrame,
    reported_plasticity: pd.DataFrame,
) -> pd.DataFrame:
    """Return correlations of the metrics with two outcomes, over source 002's models, corrected for capture noise.

    Two captured models have the same text weights, so they differ by capture noise only: `twin_difference` is their
    difference. `noise_sd`, the standard deviation of one capture, is this difference over the square root of two. It is
    based on one difference only: `noise_low` and `noise_high` are its 95 % interval by chi-square with one degree of
    freedom, `noise_least` and `noise_most` the range allowed by rounding of the printed values. `reliability` is the
    share of variance over models that is not noise (0 if noise alone explains the variance), and `reliability_least`
    and `reliability_most` are its range allowed by rounding. `r` is Pearson's; `r_corrected` is r over the square root
    of the reliability (Spearman 1904), empty if the reliability is 0 or the result exceeds 1. `again_low` and
    `again_high` are the 95 % range of r when every model is captured again with such noise, and `turns` is the share of
    these r with the opposite sign.
    """
    source = matched_models[matched_models["in_source"].astype(bool)]
    declines = length_decline[length_decline["mode"] == "nonthinking"]
    source = source.assign(decline=source["model"].map(declines.set_index("model")["decline"]))
    table = captured_models.set_index("model")
    pair = twins(published_facts)
    rows = []
    for outcome, label in SCORES.items():
        for metric in compared_metrics(source):
            scored = source[source[metric].notna()]
            x, y = (scored[name].to_numpy(dtype=float) for name in (metric, outcome))
            row: dict[str, object] = {"outcome": outcome, "label": label, "metric": metric, "n": len(scored)}
            first, second = (float(table[metric].astype(float)[model]) for model in pair)
            rows.append({**row, **_noise(first - second, _rounding(metric, pair, table, reported_plasticity), x, y)})
    return pd.DataFrame(rows)


def _rounding(metric: str, pair: Sequence[str], models: pd.DataFrame, printed_values: pd.DataFrame) -> Interval | None:
    """Return the range that rounding allows for the absolute difference of two captures.

    It is None if a capture has no printed value. A bias is rounded to fewer digits than are printed (`bias_half` in
    `captured_models`).
    """
    ranges = []
    for model in pair:
        if metric == "bias_strength":
            value, half = (float(models[name].astype(float)[model]) for name in (metric, "bias_half"))
            ranges.append(Interval(value - half, value + half))
        else:
            rows = printed_values[(printed_values["model"] == model) & (printed_values["metric"] == metric)]
            ranges += [Interval(float(low), float(high)) for low, high in zip(rows["low"], rows["high"], strict=True)]
    if len(ranges) < 2:
        return None
    gap = difference(*ranges)
    least = 0.0 if gap.low <= 0 <= gap.high else min(abs(gap.low), abs(gap.high))
    return Interval(least, max(abs(gap.low), abs(gap.high)))


def _noise(gap: float, gap_range: Interval | None, x: FloatArray, y: FloatArray) -> dict[str, float | str | None]:
    r = coefficient(x, y)
    spread = float(x.std(ddof=1))
    row: dict[str, float | str | None] = {"twin_difference": gap, "spread_sd": spread, "r": r}
    if not math.isfinite(gap) or r is None:
        return {**row, "twin_difference": None, "note": "the pair of one network has no value of this metric"}
    noise = abs(gap) / math.sqrt(2)
    low, high = (noise / math.sqrt(float(stats.chi2.ppf(level, 1))) for level in (0.975, 0.025))
    reliability = _reliable_share(noise, spread)
    corrected_r = r / math.sqrt(reliability) if reliability else math.inf
    # normal draws as quantiles of uniform draws, which are the same in all numpy versions
    noises = stats.norm.ppf(np.random.default_rng(SEED).random((DRAWS, x.size))) * noise
    noisy = x + noises - (x + noises).mean(axis=1, keepdims=True)
    redrawn = noisy @ standardised(y) / np.linalg.norm(noisy, axis=1)
    ends = percentile_interval(redrawn)
    row |= {"noise_sd": noise, "noise_low": low, "noise_high": high}
    if gap_range is not None:
        least, most = (end / math.sqrt(2) for end in (gap_range.low, gap_range.high))
        row |= {"noise_least": least, "noise_most": most}
        row |= {"reliability_least": _reliable_share(most, spread), "reliability_most": _reliable_share(least, spread)}
    row["reliability"] = reliability
    row |= {"again_low": ends[0], "again_high": ends[1], "turns": float(np.mean(np.signbit(redrawn) != (r < 0)))}
    if abs(corrected_r) <= 1:
        return {**row, "r_corrected": corrected_r, "note": ""}
    because = "noise alone would spread the models as far" if not reliability else "it would pass 1"
    return {**row, "r_corrected": None, "note": f"no corrected r: {because}"}


def _reliable_share(noise: float, spread: float) -> float:
    """Return the share of the variance over models that is not noise."""
    return max(0.0, 1 - (noise / spread) ** 2)
