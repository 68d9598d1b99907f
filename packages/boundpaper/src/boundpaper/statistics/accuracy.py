"""Measure the fraction of the accuracy above chance that a disruption removes."""

from functools import partial

import numpy as np
from scipy import stats

from boundpaper.statistics.bootstrap import DRAWS, SEED, percentile_interval
from boundpaper.statistics.estimate import Estimate, join_notes, no
from boundpaper.statistics.proportion import check_count, wilson_interval


def degradation(
    base_right: int,
    base_n: int,
    disrupted_right: int,
    disrupted_n: int,
    chance: float,
    *,
    study: str,
    comparison: str,
    unit: str,
    note: str = "",
    draws: int = DRAWS,
    seed: int = SEED,
    confidence: float = 0.95,
) -> Estimate:
    """Return the fraction of accuracy above chance that a disruption removes, (base - disrupted) / (base - chance).

    Parameters
    ----------
    base_right, base_n, disrupted_right, disrupted_n : int
        Correct answers and all items, without and with the disruption.
    chance : float
        Accuracy of random guesses, in [0, 1).
    study, comparison, unit, note : str
        Metadata of the row.
    draws, seed, confidence
        Number of draws, random seed and level of the interval. The ends of the interval are quantiles of the ratio
        over independent Jeffreys posteriors Beta(right + 1/2, wrong + 1/2) (Brown, Cai & DasGupta 2001). The arms are
        treated as unpaired, which makes the interval wider than a paired one.

    Returns
    -------
    Estimate
        Test `degradation`. The estimate is 1 if accuracy falls to chance, above 1 if it falls below chance, and
        negative if it rises. It is empty with a reason if the base's Wilson interval includes chance.

    Raises
    ------
    ValueError
        If counts or chance are out of range.

    Examples
    --------
    >>> from boundpaper.statistics import degradation
    >>> row = degradation(90, 100, 60, 100, 0.5, study="beans", comparison="dry", unit="item")
    >>> round(row.estimate, 2)
    0.75
    """
    caller = f"degradation {study}/{comparison}"
    check_count(base_right, base_n, caller)
    check_count(disrupted_right, disrupted_n, caller)
    if not 0 <= chance < 1:
        raise ValueError(f"{caller}: chance is {chance}; give the accuracy of random guesses, at least 0 and below 1")
    base_share, disrupted_share = base_right / base_n, disrupted_right / disrupted_n
    make_row = partial(
        Estimate, study=study, comparison=comparison, test="degradation", unit=unit, n=base_n + disrupted_n
    )
    notes = [note, f"base {base_right} of {base_n}, disrupted {disrupted_right} of {disrupted_n}, chance {chance:.4g}"]
    notes.append(no("statistic", "df", "p", "effect", because="a ratio; another row has the test"))
    base_low, _ = wilson_interval(base_right, base_n, confidence)
    if base_low <= chance:
        because = f"the base's Wilson interval starts at {base_low:.3g} and reaches chance"
        return make_row(note=join_notes(*notes, no("degradation", "interval", because=because)))
    # quantiles of uniforms, whose stream is the same in all numpy versions
    uniforms = np.random.default_rng(seed).random((2, draws))
    base_draws = stats.beta.ppf(uniforms[0], base_right + 0.5, base_n - base_right + 0.5)
    disrupted_draws = stats.beta.ppf(uniforms[1], disrupted_right + 0.5, disrupted_n - disrupted_right + 0.5)
    is_above_chance = base_draws > chance
    ratios = (base_draws[is_above_chance] - disrupted_draws[is_above_chance]) / (base_draws[is_above_chance] - chance)
    low, high = percentile_interval(ratios, confidence)
    if not is_above_chance.all():
        notes.append(f"{draws - int(is_above_chance.sum())} of {draws} draws at or below chance dropped")
    estimate = (base_share - disrupted_share) / (base_share - chance)
    # with 0 or n right answers the estimate may lie outside all quantiles of the posterior
    return make_row(estimate=estimate, ci_low=min(low, estimate), ci_high=max(high, estimate), note=join_notes(*notes))
