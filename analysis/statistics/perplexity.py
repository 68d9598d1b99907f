"""Effects on perplexity, as differences of mean log-perplexity in nats over texts.

Percentages of perplexity do not add and their ratio depends on the baseline; it is shown beside the difference only.
"""

import math
from functools import partial as bind

import numpy as np
import numpy.typing as npt

from analysis.statistics import guards
from analysis.statistics.bootstrap import DRAWS, SEED, percentile_interval, resamples
from analysis.statistics.estimate import Estimate, finite, join_notes, no
from analysis.statistics.permutation import sign_flip_p
from analysis.statistics.sample import FloatArray, check_confidence, is_constant, sample


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
    """Give the mean over texts of log(disrupted perplexity) - log(base perplexity), in nats per token.

    Parameters
    ----------
    base, disrupted : array_like, shape (n,)
        Perplexities (not logarithms) of the same texts, each above 0.
    study, comparison, unit, note : str
        Metadata of the row.
    draws, seed : int
        Bootstrap resamples of texts, seed of the generator.
    confidence : float
        Level of the percentile interval.

    Returns
    -------
    Estimate
        `estimate` in nats with its percentile bootstrap interval over texts; `p_value` by flips of the differences'
        signs (exact up to 15 texts); `effect` is the percent increase of the geometric-mean perplexity,
        100 (exp(estimate) - 1). One text has no interval and no p.

    Raises
    ------
    ValueError
        If lengths differ or a perplexity is missing or not positive.
    """
    place = f"log_perplexity_difference {study}/{comparison}"
    change = _log(disrupted, "disrupted", place)
    before = _log(base, "base", place)
    _same_texts(place, change, before)
    change = change - before
    row = bind(Estimate, study=study, comparison=comparison, test="log_perplexity_difference", unit=unit)
    row = bind(row, n=change.size, effect_name="percent_increase")
    estimate, ends, p_value, notes = _mean_over_texts(change, draws, seed, confidence)
    increase = finite(_percent(estimate))
    effect_ends = (finite(_percent(ends[0])), finite(_percent(ends[1]))) if ends else (None, None)
    if increase is None:
        notes.append(no("percent increase", because="it exceeds the largest number"))
    return row(
        estimate=estimate,
        ci_low=ends[0] if ends else None,
        ci_high=ends[1] if ends else None,
        p_value=p_value,
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
    """Give by how many nats a disruption hurts the first model more than the second, over the same texts.

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
        two percent increases (of geometric means) with its bootstrap interval, empty when the second increase, or its
        bootstrap interval, reaches zero.

    Raises
    ------
    ValueError
        As `log_perplexity_difference`.
    """
    place = f"disruption_contrast {study}/{comparison}"
    logs = [
        _log(values, name, place)
        for values, name in (
            (disrupted_first, "disrupted_first"),
            (base_first, "base_first"),
            (disrupted_second, "disrupted_second"),
            (base_second, "base_second"),
        )
    ]
    _same_texts(place, *logs)
    first, second = logs[0] - logs[1], logs[2] - logs[3]
    estimate, ends, p_value, notes = _mean_over_texts(first - second, draws, seed, confidence)
    ratio, ratio_ends = None, None
    if float(second.mean()) <= 0:
        notes.append(no("ratio of percentages", "its interval", because="the second model does not get worse"))
    else:
        ratio = finite(_percent(float(first.mean())) / _percent(float(second.mean())))
        if ends:
            # the same seed draws the same texts as for the difference
            drawn = [
                (first[index].mean(axis=1), second[index].mean(axis=1)) for index in resamples(first.size, draws, seed)
            ]
            increase_first, increase_second = (np.concatenate(means) for means in zip(*drawn, strict=True))
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
        estimate=estimate,
        ci_low=ends[0] if ends else None,
        ci_high=ends[1] if ends else None,
        p_value=p_value,
        effect_name="ratio_of_percentages",
        effect=ratio,
        effect_ci_low=finite(ratio_ends[0]) if ratio_ends else None,
        effect_ci_high=finite(ratio_ends[1]) if ratio_ends else None,
        note=join_notes(note, "nats per token", *notes),
    )


def _log(values: npt.ArrayLike, name: str, place: str) -> FloatArray:
    array = sample(values, f"{place}: {name}")
    if array.size == 0 or array.min() <= 0:
        raise ValueError(f"{place}: {name} must hold perplexities above 0, one per text, not logarithms")
    return np.asarray(np.log(array), dtype=np.float64)


def _same_texts(place: str, *logs: FloatArray) -> None:
    sizes = [array.size for array in logs]
    if len(set(sizes)) > 1:
        raise ValueError(f"{place}: perplexities of {sizes} texts; give the same texts in all arms")


def _percent(nats: float) -> float:
    try:
        return 100 * math.expm1(nats)
    except OverflowError:
        return math.inf


def _mean_over_texts(
    change: FloatArray, draws: int, seed: int, confidence: float
) -> tuple[float, tuple[float, float] | None, float | None, list[str]]:
    """Give the mean with its bootstrap interval, sign-flip p and notes."""
    check_confidence(confidence)
    estimate = float(change.mean())
    notes = [no("statistic", "df", because="bootstrap over texts")]
    if change.size == 1:
        notes.append(no("interval", "p", "interval of the effect", because="a single text"))
        return estimate, None, None, notes
    notes += guards.zero_variance({"the change": change})
    outcome = sign_flip_p(change)
    notes += [outcome.note, *guards.smallest_p(outcome.smallest)]
    if is_constant(change):
        notes.append(no("interval", "interval of the effect", because="all texts change alike"))
        return estimate, None, outcome.p_value, notes
    means = np.concatenate([change[index].mean(axis=1) for index in resamples(change.size, draws, seed)])
    notes.append(f"percentile bootstrap, {draws} resamples of texts with seed {seed}")
    return estimate, percentile_interval(means, confidence), outcome.p_value, notes
