"""Correct for many tests by Holm's method within a family."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from boundpaper.statistics.estimate import Estimate, join_notes


def holm_p(p_values: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p-values of one family (Holm 1979), in the given order.

    Parameters
    ----------
    p_values : sequence of float
        p-values of the tests of one family, without undefined ones.

    Raises
    ------
    ValueError
        If a p is not in [0, 1].

    Examples
    --------
    >>> from boundpaper.statistics import holm_p
    >>> holm_p([0.01, 0.04, 0.5])
    [0.03, 0.08, 0.5]
    """
    if not p_values:
        return []
    if not all(0 <= p <= 1 for p in p_values):
        raise ValueError(f"holm_p: {list(p_values)}; every p must be between 0 and 1; omit undefined ones")
    # statsmodels collects garbage at every call, which takes a third of a second with a thesis in memory
    values = np.asarray(p_values, dtype=float)
    order = np.argsort(values, kind="stable")
    monotone = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    adjusted_p = np.empty_like(values)
    adjusted_p[order] = np.minimum(monotone, 1.0)
    return [float(p) for p in adjusted_p]


def holm(estimates: Iterable[Estimate], families: Sequence[str] | None = None) -> list[Estimate]:
    """Return the estimates with `p_adjusted` and `adjustment` by Holm within families.

    Parameters
    ----------
    estimates : iterable of Estimate
        Rows. A row without a p is neither corrected nor counted; if it has a family, its note says so.
    families : sequence of str, optional
        The family of each row, empty for a row outside all families. By default all rows are one family, named after
        their study.

    Returns
    -------
    list of Estimate
        In the order given; `adjustment` states the method, the family and its number of tests.

    Raises
    ------
    ValueError
        If `families` and rows differ in number, or a row has already been adjusted.

    Examples
    --------
    >>> from boundpaper.statistics import holm, welch_t
    >>> shade = [2.2, 3.9, 2.4, 3.0]
    >>> lights = {"sun": [8.1, 9.0, 7.7], "lamp": [3.1, 4.2, 2.9]}
    >>> rows = [welch_t(lights[name], shade, study="beans", comparison=name, unit="plant") for name in lights]
    >>> [row.adjustment for row in holm(rows)]
    ['Holm over 2 tests of beans', 'Holm over 2 tests of beans']
    """
    rows = list(estimates)
    family_names = [row.study for row in rows] if families is None else list(families)
    if len(family_names) != len(rows):
        raise ValueError(f"holm: {len(rows)} rows but {len(family_names)} families; give one per row")
    members: dict[str, list[int]] = {}
    for position, (row, family) in enumerate(zip(rows, family_names, strict=True)):
        if row.p_adjusted is not None:
            raise ValueError(f"holm: {row.study}/{row.comparison}/{row.test} is already adjusted; correct a row once")
        if row.p_value is not None and family:
            members.setdefault(family, []).append(position)
        elif family:
            rows[position] = replace(row, note=join_notes(row.note, "not in the Holm family, no p"))
    for family, positions in members.items():
        adjusted_p = holm_p([p for p in (rows[position].p_value for position in positions) if p is not None])
        correction = f"Holm over {len(positions)} test{'s' * (len(positions) != 1)} of {family}"
        for position, value in zip(positions, adjusted_p, strict=True):
            rows[position] = replace(rows[position], p_adjusted=value, adjustment=correction)
    return rows
