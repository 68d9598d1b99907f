"""Test the mean difference of pairs by the paired t-test, with d_z as effect size."""

from functools import partial

import numpy as np
import numpy.typing as npt
from scipy import stats

from boundpaper.statistics import guards
from boundpaper.statistics.effects import d_z, d_z_interval
from boundpaper.statistics.estimate import Estimate, join_notes, no, one_sided_note
from boundpaper.statistics.locations.student import t_p
from boundpaper.statistics.power import SMALL_N, detectable_note, smallest_d_z
from boundpaper.statistics.sample import Alternative, check_alternative, check_confidence, is_constant, matched


def paired_t(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    study: str,
    comparison: str,
    unit: str,
    note: str = "",
    names: tuple[str, str] = ("first", "second"),
    alternative: Alternative = "two-sided",
    confidence: float = 0.95,
) -> Estimate:
    """Test whether the mean of `first - second` over paired units is zero.

    Parameters
    ----------
    first, second : array_like, shape (n,)
        Values of the two arms, unit by unit.
    study, comparison, unit, note : str
        Metadata of the row; `note` comes first in the row's note.
    names : tuple of str
        Names of the two arms in guards.
    alternative : {"two-sided", "greater", "less"}
        A one-sided p, which the note states, requires a direction chosen before seeing the data. Intervals are
        two-sided.
    confidence : float
        Level of both intervals.

    Returns
    -------
    Estimate
        `estimate` is the mean difference with its t interval; `statistic`, `df` = n - 1 and `p_value` are
        scipy's `ttest_rel`; `effect` is d_z = mean / sd (ddof 1) of the differences with its noncentral-t interval,
        which is empty when an arm has no variance. If the differences have no variance, only `estimate` is defined.

    Raises
    ------
    ValueError
        If the arms differ in length or have missing values, or `alternative` is unknown.

    Examples
    --------
    >>> from boundpaper.statistics import paired_t
    >>> row = paired_t([8.1, 9.0, 7.7], [2.2, 3.9, 2.4], study="beans", comparison="sun and shade", unit="plant")
    >>> round(row.estimate, 2), row.df
    (5.43, 2.0)
    """
    check_confidence(confidence)
    check_alternative(alternative, f"paired_t {study}/{comparison}")
    first_values, second_values = matched(first, second, names)
    arms = {names[0]: first_values, names[1]: second_values}
    n = first_values.size
    notes = [note, *guards.zero_variance(arms), *guards.few_distinct(arms)]
    if confidence != 0.95:
        notes.append(f"{100 * confidence:g} % intervals")
    make_row = partial(Estimate, study=study, comparison=comparison, test="paired_t", unit=unit, n=n, effect_name="d_z")
    all_fields = ("interval", "statistic", "df", "p", "d_z", "d_z interval")
    if n == 0:
        return make_row(note=join_notes(*notes, no("estimate", *all_fields, because="no pairs")))
    differences = first_values - second_values
    mean = float(differences.mean())
    if n == 1:
        return make_row(estimate=mean, note=join_notes(*notes, no(*all_fields, because="a single pair")))
    if is_constant(differences, float(np.max(np.abs([first_values, second_values])))):
        notes.append(no(*all_fields, because="the differences have no variance"))
        return make_row(estimate=mean, note=join_notes(*notes))

    test = stats.ttest_rel(first_values, second_values)
    interval = test.confidence_interval(confidence)
    notes.append("d_z = mean/sd of the differences with ddof 1")
    ends = d_z_interval(float(test.statistic), n, confidence)
    if is_constant(first_values) or is_constant(second_values):
        ends = None
        notes.append(no("d_z interval", because="an arm has no variance"))
    elif ends is None:
        notes.append(no("d_z interval", because="the noncentral t has no finite ends here"))
    notes += [*one_sided_note(alternative), *guards.few_units(n, unit)]
    if n <= SMALL_N:
        notes.append(detectable_note("|d_z|", smallest_d_z(n), n))
    return make_row(
        estimate=mean,
        ci_low=float(interval.low),
        ci_high=float(interval.high),
        statistic=float(test.statistic),
        df=n - 1,
        p_value=t_p(float(test.statistic), n - 1, alternative),
        effect=d_z(differences),
        effect_ci_low=ends[0] if ends else None,
        effect_ci_high=ends[1] if ends else None,
        note=join_notes(*notes),
    )
