"""Test pairs by Wilcoxon's signed-rank test."""

from functools import partial

import numpy as np
import numpy.typing as npt
from scipy import stats

from boundpaper.statistics import guards
from boundpaper.statistics.estimate import Estimate, join_notes, no, one_sided_note
from boundpaper.statistics.sample import Alternative, at_unit_scale, check_alternative, levels, matched

EXACT_UP_TO = 50
"""Maximum number of pairs, without ties or zeros, for which p is exact; scipy's default is the same."""


def wilcoxon(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    study: str,
    comparison: str,
    unit: str,
    note: str = "",
    names: tuple[str, str] = ("first", "second"),
    alternative: Alternative = "two-sided",
) -> Estimate:
    """Test whether the differences of pairs are symmetric about zero (Wilcoxon 1945).

    Parameters
    ----------
    first, second : array_like, shape (n,)
        Values of the two arms, unit by unit.
    study, comparison, unit, note : str
        Metadata of the row.
    names : tuple of str
        Names of the two arms in guards.
    alternative : {"two-sided", "greater", "less"}
        A one-sided p, which the note states, requires a direction chosen before seeing the data.

    Returns
    -------
    Estimate
        `estimate` is the Hodges-Lehmann estimate, the median of the Walsh averages of the differences; `statistic` is
        the sum of the positive ranks. The p is exact up to 50 pairs. Differences of zero are excluded and counted; with
        zeros or ties, p is exact over all sign flips of the ranks up to 13 pairs, else by a normal approximation
        (scipy). `effect` is the matched-pairs rank-biserial correlation: the positive ranks' share of the sum of all
        ranks minus the negative ranks' share.

    Raises
    ------
    ValueError
        If the arms differ in length, values are missing, or `alternative` is unknown.

    Examples
    --------
    >>> from boundpaper.statistics import wilcoxon
    >>> named = {"study": "beans", "comparison": "sun and shade", "unit": "plant"}
    >>> row = wilcoxon([8.1, 9.0, 7.7, 8.8], [2.2, 3.9, 2.4, 3.0], **named)
    >>> row.p_value
    0.125
    """
    check_alternative(alternative, f"wilcoxon {study}/{comparison}")
    a, b = matched(first, second, names)
    arms = {names[0]: a, names[1]: b}
    differences = at_unit_scale(np.concatenate([a, b]))
    differences = differences[: a.size] - differences[a.size :]
    # values are scaled to 1, so differences below the noise are zeros, and those that differ only by noise are ties
    ranked = levels(np.concatenate([np.abs(differences), [0.0, 1.0]]))
    magnitudes, zero = ranked[:-2], ranked[-2]
    is_nonzero = magnitudes > zero
    zeros = int(np.count_nonzero(~is_nonzero))
    make_row = partial(Estimate, study=study, comparison=comparison, test="wilcoxon_signed_rank", unit=unit, n=a.size)
    make_row = partial(make_row, effect_name="rank_biserial")
    notes = [note, *guards.zero_variance(arms), *guards.few_distinct(arms)]
    notes += [f"{zeros} pairs without a difference left out"] if zeros else []
    if not is_nonzero.any():
        reason = no("estimate", "interval", "statistic", "df", "p", "effect", because="no pair differs")
        return make_row(note=join_notes(*notes, reason))
    signed = np.sign(differences[is_nonzero]) * magnitudes[is_nonzero].astype(np.float64)
    pairs = signed.size
    has_ties = np.unique(magnitudes[is_nonzero]).size < pairs
    is_exact = pairs <= (13 if has_ties else EXACT_UP_TO)
    if is_exact and has_ties:
        test = stats.wilcoxon(signed, alternative=alternative, method=stats.PermutationMethod(n_resamples=2**pairs))
    else:
        test = stats.wilcoxon(signed, alternative=alternative, method="exact" if is_exact else "approx")
    ranks = stats.rankdata(np.abs(signed))
    positive_sum = float(ranks[signed > 0].sum())
    walsh_averages = np.add.outer(a - b, a - b)[np.triu_indices(a.size)] / 2
    notes.append("exact p of the signed ranks" if is_exact else "normal p of the signed ranks")
    notes += [*one_sided_note(alternative), no("interval", "df", "effect interval", because="the test is of ranks")]
    if is_exact:
        notes += guards.smallest_p(min(1.0, (2 if alternative == "two-sided" else 1) * 0.5**pairs))
    return make_row(
        estimate=float(np.median(walsh_averages)),
        statistic=positive_sum,
        p_value=min(1.0, float(test.pvalue)),
        effect=2 * positive_sum / float(ranks.sum()) - 1,
        note=join_notes(*notes),
    )
