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
        For the interval: quantiles of the ratio over independent Jeffreys posteriors Beta(right + 1/2, wrong + 1/2)
        (Brown, Cai & DasGupta 2001). The arms are treated as unpaired, so it is wider than a paired interval.

    Returns
    -------
    Estimate
        Test `degradation`. An estimate of 1 means chance level, above 1 below chance, negative an improvement. Empty
        with a reason if the Wilson interval of the base includes chance, so that there may be nothing to lose.

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
    place = f"degradation {study}/{comparison}"
    check_count(base_right, base_n, place)
    check_count(disrupted_right, disrupted_n, place)
    if not 0 <= chance < 1:
        raise ValueError(f"{place}: chance is {chance}; give the accuracy of random guesses, at least 0 and below 1")
    base_share, disrupted_share = base_right / base_n, disrupted_right / disrupted_n
    make_row = partial(
        Estimate, study=study, comparison=comparison, test="degradation", unit=unit, n=base_n + disrupted_n
    )
    notes = [note, f"base {base_right} of {base_n}, disrupted {disrupted_right} of {disrupted_n}, chance {chance:.4g}"]
    notes.append(no("statistic", "df", "p", "effect", because="a ratio; another row has the test"))
    floor, _ = wilson_interval(base_right, base_n, confidence)
    if floor <= chance:
        because = f"the base's Wilson interval starts at {floor:.3g} and reaches chance"
        return make_row(note=join_notes(*notes, no("degradation", "interval", because=because)))
    # quantiles of uniforms, whose stream is the same in all numpy versions
    uniform = np.random.default_rng(seed).random((2, draws))
    base_drawn = stats.beta.ppf(uniform[0], base_right + 0.5, base_n - base_right + 0.5)
    disrupted_drawn = stats.beta.ppf(uniform[1], disrupted_right + 0.5, disrupted_n - disrupted_right + 0.5)
    is_above_chance = base_drawn > chance
    ratios = (base_drawn[is_above_chance] - disrupted_drawn[is_above_chance]) / (base_drawn[is_above_chance] - chance)
    low, high = percentile_interval(ratios, confidence)
    if not is_above_chance.all():
        notes.append(f"{draws - int(is_above_chance.sum())} of {draws} draws at or below chance dropped")
    value = (base_share - disrupted_share) / (base_share - chance)
    # with 0 or n right the posterior excludes the edge, which is the estimate
    return make_row(estimate=value, ci_low=min(low, value), ci_high=max(high, value), note=join_notes(*notes))
