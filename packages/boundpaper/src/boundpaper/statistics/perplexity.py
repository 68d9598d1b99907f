"""Measure effects on perplexity as differences of log-perplexity in nats, averaged over texts.

Percent changes of perplexity do not add, and the ratio of two percent changes depends on the baseline. This ratio is
therefore only an effect size beside the difference.
"""

import math
from dataclasses import asdict, dataclass

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
        Number and random seed of the sign flips, which are drawn above 15 texts.
    confidence : float
        Level of the interval.

    Returns
    -------
    Estimate
        `estimate` is in nats, with Student's interval over texts; `statistic`, `df` and `p_value` are of the same
        t-test, so that interval and p agree. The note has the p by flips of the changes' signs, which assumes no
        normality but cannot be small for few texts. `effect` is the percent increase of the geometric-mean perplexity,
        100 (exp(estimate) - 1). A single text has no interval and no p; if all change equally, p is by sign flips.

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
    caller = f"log_perplexity_difference {study}/{comparison}"
    logs = [_checked_log(disrupted, "disrupted", caller), _checked_log(base, "base", caller)]
    _require_same_texts(caller, *logs)
    change = logs[0] - logs[1]
    test, notes = _test_mean(change, _largest_magnitude(logs), unit, draws, seed, confidence)
    mean = float(change.mean())
    increase = finite(_percent_increase(mean))
    if increase is None:
        notes.append(no("percent increase", because="it exceeds the largest number"))
    return Estimate(
        study=study,
        comparison=comparison,
        test="log_perplexity_difference",
        unit=unit,
        n=change.size,
        estimate=mean,
        **asdict(test),
        effect_name="percent_increase",
        effect=increase,
        effect_ci_low=None if test.ci_low is None else finite(_percent_increase(test.ci_low)),
        effect_ci_high=None if test.ci_high is None else finite(_percent_increase(test.ci_high)),
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
        two percent increases (of geometric means) with a percentile bootstrap interval over texts. This interval needs
        at least 20 texts, and an increase of the second model whose bootstrap interval is above zero.

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
    caller = f"disruption_contrast {study}/{comparison}"
    logs = [
        _checked_log(disrupted_first, "disrupted_first", caller),
        _checked_log(base_first, "base_first", caller),
        _checked_log(disrupted_second, "disrupted_second", caller),
        _checked_log(base_second, "base_second", caller),
    ]
    _require_same_texts(caller, *logs)
    first, second = logs[0] - logs[1], logs[2] - logs[3]
    test, notes = _test_mean(first - second, _largest_magnitude(logs), unit, draws, seed, confidence)
    ratio, ratio_low, ratio_high = None, None, None
    if float(second.mean()) <= 0:
        notes.append(no("ratio of percentages", "its interval", because="the second model does not get worse"))
    else:
        ratio = finite(_percent_increase(float(first.mean())) / _percent_increase(float(second.mean())))
        if test.ci_low is not None and first.size < LEAST_BOOTSTRAPPED:
            because = f"a bootstrap over {first.size} texts covers less than it says"
            notes.append(no("interval of the ratio", because=because))
        elif test.ci_low is not None:
            # both sides are averaged over the same resampled texts
            means = [
                (first[index].mean(axis=1), second[index].mean(axis=1)) for index in resamples(first.size, draws, seed)
            ]
            increase_first, increase_second = (np.concatenate(chunks) for chunks in zip(*means, strict=True))
            if percentile_interval(increase_second, confidence)[0] > 0:
                is_increase = increase_second > 0
                ratios = np.expm1(increase_first[is_increase]) / np.expm1(increase_second[is_increase])
                ratio_low, ratio_high = map(finite, percentile_interval(ratios, confidence))
            else:
                notes.append(no("interval of the ratio", because="the second model's increase may be zero"))
    return Estimate(
        study=study,
        comparison=comparison,
        test="log_perplexity_contrast",
        unit=unit,
        n=first.size,
        estimate=float((first - second).mean()),
        **asdict(test),
        effect_name="ratio_of_percentages",
        effect=ratio,
        effect_ci_low=ratio_low,
        effect_ci_high=ratio_high,
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


def _largest_magnitude(logs: list[FloatArray]) -> float:
    return float(np.max(np.abs(logs)))


def _percent_increase(nats: float) -> float:
    try:
        return 100 * math.expm1(nats)
    except OverflowError:
        return math.inf


@dataclass(frozen=True)
class _MeanTest:
    """Interval and test of a mean change over texts, in the fields of an Estimate; an undefined number is None."""

    ci_low: float | None = None
    ci_high: float | None = None
    statistic: float | None = None
    df: float | None = None
    p_value: float | None = None


def _test_mean(
    change: FloatArray, magnitude: float, unit: str, draws: int, seed: int, confidence: float
) -> tuple[_MeanTest, list[str]]:
    """Return Student's test of the mean change, and notes; `magnitude` is the largest |logarithm| in the changes."""
    check_confidence(confidence)
    if change.size == 1:
        return _MeanTest(), [no("interval", "statistic", "df", "p", "interval of the effect", because="a single text")]
    outcome = sign_flip_p(change, size=magnitude, draws=draws, seed=seed)
    if is_constant(change, magnitude):
        notes = [*guards.zero_variance({"the change": change}), outcome.note, *guards.smallest_p(outcome.smallest)]
        notes.append(no("interval", "statistic", "df", "interval of the effect", because="all texts change alike"))
        return _MeanTest(p_value=outcome.p_value), notes
    test = stats.ttest_1samp(change, 0.0)
    notes = ["Student's interval and p over texts", *guards.few_units(change.size, unit)]
    notes.append(
        f"by sign flips p is {outcome.p_value:.3g} ({outcome.note}) and cannot be below {outcome.smallest:.2g}"
    )
    low, high = student_interval(change, confidence) or (None, None)
    return _MeanTest(low, high, float(test.statistic), change.size - 1, float(test.pvalue)), notes
