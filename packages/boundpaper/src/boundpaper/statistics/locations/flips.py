"""Test pairs by flips of the differences' signs, with Student's interval and d_z."""

from dataclasses import replace

import numpy.typing as npt

from boundpaper.statistics import guards
from boundpaper.statistics.estimate import Estimate, join_notes, no
from boundpaper.statistics.locations.paired import paired_t
from boundpaper.statistics.locations.permutation import sign_flip_p
from boundpaper.statistics.sample import matched


def sign_flips(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    study: str,
    comparison: str,
    unit: str,
    note: str = "",
    names: tuple[str, str] = ("first", "second"),
) -> Estimate:
    """Test whether the mean of `first - second` over paired units is zero, by all flips of the differences' signs.

    Parameters
    ----------
    first, second : array_like, shape (n,)
        Values of the two arms, unit by unit.
    study, comparison, unit, note : str
        Metadata of the row; `note` comes first in the row's note.
    names : tuple of str
        Names of the two arms in guards.

    Returns
    -------
    Estimate
        The mean difference with its interval and d_z as in `paired_t`; `p_value` is two-sided, over all 2^n flips up to
        n = 15 and over seeded random flips above. The only assumption is that, if the arms do not differ, a difference
        is as likely as its negative.

    Raises
    ------
    ValueError
        If the arms differ in length or have missing values.

    Examples
    --------
    >>> from boundpaper.statistics import sign_flips
    >>> named = {"study": "beans", "comparison": "sun and shade", "unit": "plant"}
    >>> row = sign_flips([8.1, 9.0, 7.7, 8.8], [2.2, 3.9, 2.4, 3.0], **named)
    >>> round(row.estimate, 2), row.p_value
    (5.53, 0.125)
    """
    first_values, second_values = matched(first, second, names)
    row = paired_t(first_values, second_values, study=study, comparison=comparison, unit=unit, note=note, names=names)
    row = replace(row, test="sign_flips", statistic=None, df=None)
    if row.n == 0:
        return row
    size = float(max(abs(first_values).max(), abs(second_values).max()))
    flips = sign_flip_p(first_values - second_values, size=size)
    notes = [flips.note, no("statistic", "df", because="p by sign flips"), *guards.smallest_p(2.0 / 2**row.n)]
    # if the differences have no variance, the note of `paired_t` says that there is no p, but sign flips give one
    paired_note = row.note.replace("interval, statistic, df, p, d_z", "interval, d_z")
    return replace(row, p_value=flips.p_value, note=join_notes(paired_note, *notes))
