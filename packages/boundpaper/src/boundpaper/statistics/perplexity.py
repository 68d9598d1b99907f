"""Measure effects on perplexity, as differences of mean log-perplexity in nats over texts.

Percent changes of perplexity do not add, and their ratio depends on the baseline, so the ratio only accompanies the
difference.
"""

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
from scipy import stats

from boundpaper.statistics import guards
from boundpaper.statistics.bootstrap import DRAWS, LEAST_BOOTSTRAPPED, SEED, percentile_interval, resamples
from boundpaper.statistics.estimate import Estimate, finite, join_notes, no
from boundpaper.statistics.locations.permutation import sign_flip_p
from boundpaper.statistics.locations.student import student_interval
from boundpaper.statistics.sample import FloatArray, check_confidence, is_constant, sample


def log_perplexity_difference(
    base: npt.ArrayLike,
    disrupted: npt.ArrayLike,
    *,
    study: str,
    comparison: str,
    unit: str = "text",
    note: str = "",
    draws: int = DRAWS,
    seed: int = SEED,
    confidence: float = 0.95,
) -> Estimate:
    """Return the mean over texts of log(disrupted perplexity) - log(base perplexity), in nats per token.

    Parameters
    ----------
    base, disrupted : array_like, shape (n,)
        Perplexities (not logarithms) of the same texts, each above 0.
    study, comparison, unit, note : str
        Metadata of the row.
    draws, seed : int
        For the sign flips above 15 texts.
    confidence : float
        Level of the interval.

    Returns
    -------
    Estimate
        `estimate` in nats with Student's interval over texts, and `statistic`, `df` and `p_value` of the same t-test,
        so that interval and p agree; the note has the p by flips of the changes' signs, which does not assume normality
        but cannot be small for few texts. `effect` is the percent increase of the geometric-mean perplexity, 100
        (exp(estimate) - 1). One text has no interval and no p; if all texts change equally, the only p is by sign
        flips.

    Raises
    ------
    ValueError
        If lengths differ or a perplexity is missing or not positive.

    Examples
    --------
    >>> from boundpaper.statistics import log_perplexity_difference
    >>> row = log_perplexity_difference([10.0, 12.0, 9.0], [11.0, 13.0, 10.5], study="beans", comparison="dry")
    >>> round(row.effect, 1)
    11.6
    """
    place = f"log_perplexity_difference {study}/{comparison}"
    change = _checked_log(disrupted, "disrupted", place)
    base_log = _checked_log(base, "base", place)
    _require_same_texts(place, change, base_log)
    size = max(float(np.max(np.abs(logs))) for logs in (change, base_log))
    change = change - base_log
    make_row = partial(Estimate, study=study, comparison=comparison, test="log_perplexity_difference", unit=unit)
    make_row = partial(make_row, n=change.size, effect_name="percent_increase")
    test, notes = _mean_over_texts(change, size, unit, draws, seed, confidence)
    estimate, ends = float(change.mean()), test.ends
    increase = finite(_percent_increase(estimate))
    effect_ends = (finite(_percent_increase(ends[0])), finite(_percent_increase(ends[1]))) if ends else (None, None)
    if increase is None:
        notes.append(no("percent increase", because="it exceeds the largest number"))
    return make_row(
        estimate=estimate,
        ci_low=ends[0] if ends else None,
        ci_high=ends[1] if ends else None,
        statistic=test.statistic,
        df=test.df,
        p_value=test.p_value,
        effect=increase,
        effect_ci_low=effect_ends[0],
        effect_ci_high=effect_ends[1],
        note=join_notes(note, "nats per token", *notes),
    )


def disruption_contrast(
    base_first: npt.ArrayLike,
    disrupted_first: npt.ArrayLike,
    base_second: npt.ArrayLike,
    disrupted_second: npt.ArrayLike,
    *,
    study: str,
    comparison: str,
    unit: str = "text",
    note: str = "",
    draws: int = DRAWS,
    seed: int = SEED,
    confidence: float = 0.95,
) -> Estimate:
    """Return how many more nats a disruption costs the first model than the second, over the same texts.

    Parameters
    ----------
    base_first, disrupted_first, base_second, disrupted_second : array_like, shape (n,)
        Perplexities per text, each above 0.
    study, comparison, unit, note, draws, seed, confidence
        As in `log_perplexity_difference`.

    Returns
    -------
    Estimate
        `estimate` is the first model's mean log-perplexity increase minus the second's; `effect` is the ratio of the
        two percent increases (of geometric means) with a percentile bootstrap interval over texts. The interval is
        empty below 20 texts, where it would cover too little, and when the second increase or its bootstrap interval
        includes zero.

    Raises
    ------
    ValueError
        As in `log_perplexity_difference`.

    Examples
    --------
    >>> from boundpaper.statistics import disruption_contrast
    >>> row = disruption_contrast([10, 12, 9], [20, 25, 18], [10, 12, 9], [11, 13, 10], study="beans", comparison="dry")
    >>> round(row.estimate, 3)
    0.613
    """
    place = f"disruption_contrast {study}/{comparison}"
    logs = [
        _checked_log(values, name, place)
        for values, name in (
            (disrupted_first, "disrupted_first"),
            (base_first, "base_first"),
            (disrupted_second, "disrupted_second"),
            (base_second, "base_second"),
        )
    ]
    _require_same_texts(place, *logs)
    first, second = logs[0] - logs[1], logs[2] - logs[3]
    size = max(float(np.max(np.abs(values))) for values in logs)
    estimate, notes = _mean_over_texts(first - second, size, unit, draws, seed, confidence)
    ends = estimate.ends
    ratio, ratio_ends = None, None
    if float(second.mean()) <= 0:
        notes.append(no("ratio of percentages", "its interval", because="the second model does not get worse"))
    else:
        ratio = finite(_percent_increase(float(first.mean())) / _percent_increase(float(second.mean())))
        if ends and first.size < LEAST_BOOTSTRAPPED:
            because = f"a bootstrap over {first.size} texts covers less than it says"
            notes.append(no("interval of the ratio", because=because))
        elif ends:
            # the same seed draws the same texts as for the difference
            samples = [
                (first[index].mean(axis=1), second[index].mean(axis=1)) for index in resamples(first.size, draws, seed)
            ]
            increase_first, increase_second = (np.concatenate(means) for means in zip(*samples, strict=True))
            if percentile_interval(increase_second, confidence)[0] > 0:
                worse = increase_second > 0
                ratios = np.expm1(increase_first[worse]) / np.expm1(increase_second[worse])
                ratio_ends = percentile_interval(ratios, confidence)
            else:
                notes.append(no("interval of the ratio", because="the second model's increase may be zero"))
    return Estimate(
        study=study,
        comparison=comparison,
        test="log_perplexity_contrast",
        unit=unit,
        n=first.size,
        estimate=float((first - second).mean()),
        ci_low=ends[0] if ends else None,
        ci_high=ends[1] if ends else None,
        statistic=estimate.statistic,
        df=estimate.df,
        p_value=estimate.p_value,
        effect_name="ratio_of_percentages",
        effect=ratio,
        effect_ci_low=finite(ratio_ends[0]) if ratio_ends else None,
        effect_ci_high=finite(ratio_ends[1]) if ratio_ends else None,
        note=join_notes(note, "nats per token", *notes),
    )


def _checked_log(values: npt.ArrayLike, name: str, caller: str) -> FloatArray:
    array = sample(values, f"{caller}: {name}")
    if array.size == 0 or array.min() <= 0:
        raise ValueError(f"{caller}: {name} must be perplexities above 0, one per text, not logarithms")
    return np.asarray(np.log(array), dtype=np.float64)


def _require_same_texts(caller: str, *logs: FloatArray) -> None:
    sizes = [array.size for array in logs]
    if len(set(sizes)) > 1:
        raise ValueError(f"{caller}: perplexities of {sizes} texts; give the same texts in all arms")


def _percent_increase(nats: float) -> float:
    try:
        return 100 * math.expm1(nats)
    except OverflowError:
        return math.inf


@dataclass(frozen=True)
class _Mean:
    """Interval and test of a mean change over texts; undefined parts are None."""

    ends: tuple[float, float] | None = None
    statistic: float | None = None
    df: float | None = None
    p_value: float | None = None


def _mean_over_texts(
    change: FloatArray, size: float, unit: str, draws: int, seed: int, confidence: float
) -> tuple[_Mean, list[str]]:
    """Return Student's test of the mean change and notes on it; `size` is the magnitude of the logarithms."""
    check_confidence(confidence)
    if change.size == 1:
        return _Mean(), [no("interval", "statistic", "df", "p", "interval of the effect", because="a single text")]
    outcome = sign_flip_p(change, size=size, draws=draws, seed=seed)
    if is_constant(change, size):
        notes = [*guards.zero_variance({"the change": change}), outcome.note, *guards.smallest_p(outcome.smallest)]
        notes.append(no("interval", "statistic", "df", "interval of the effect", because="all texts change alike"))
        return _Mean(p_value=outcome.p_value), notes
    test = stats.ttest_1samp(change, 0.0)
    notes = ["Student's interval and p over texts", *guards.few_units(change.size, unit)]
    notes.append(
        f"by sign flips p is {outcome.p_value:.3g} ({outcome.note}) and cannot be below {outcome.smallest:.2g}"
    )
    return _Mean(
        student_interval(change, confidence), float(test.statistic), change.size - 1, float(test.pvalue)
    ), notes
