"""Correction for many tests: Holm within a family."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from analysis.statistics.estimate import COLUMNS, Estimate, join_notes


def holm_p(p_values: Sequence[float]) -> list[float]:
    """Give Holm's adjusted p of one family (Holm 1979), in the order given.

    Raises
    ------
    ValueError
        If a p is not within [0, 1].
    """
    # imported here, as statsmodels costs most of a second and only corrections need it
    from statsmodels.stats.multitest import multipletests

    if not p_values:
        return []
    if not all(0 <= p <= 1 for p in p_values):
        raise ValueError(f"holm_p: {list(p_values)}; every p lies between 0 and 1, leave undefined ones out")
    return [min(1.0, float(p)) for p in multipletests(list(p_values), method="holm")[1]]


def holm(estimates: Iterable[Estimate], *, by: Sequence[str] = ("study",)) -> list[Estimate]:
    """Fill `p_adjusted` and `adjustment` by Holm within families.

    Parameters
    ----------
    estimates : iterable of Estimate
        Rows; those without a p stay as they are and are not counted.
    by : sequence of str
        Text fields whose values together name a family: one family per study by default, `("study", "test")` keeps
        the tests of a study apart.

    Returns
    -------
    list of Estimate
        In the order given; `adjustment` states the method, the family and its number of tests.

    Raises
    ------
    ValueError
        If `by` names no field, or a row has been adjusted before.
    """
    rows = list(estimates)
    unknown = [name for name in by if name not in COLUMNS]
    if unknown or not by:
        raise ValueError(f"holm: no fields {unknown} in a row; name some of study, comparison, test, unit")
    families: dict[tuple[str, ...], list[int]] = {}
    for position, row in enumerate(rows):
        if row.p_adjusted is not None:
            raise ValueError(f"holm: {row.study}/{row.comparison}/{row.test} is adjusted already; correct a row once")
        if row.p_value is not None:
            families.setdefault(tuple(str(getattr(row, name)) for name in by), []).append(position)
    for family, positions in families.items():
        adjusted = holm_p([p for p in (rows[position].p_value for position in positions) if p is not None])
        stated = f"Holm over {len(positions)} tests of {'/'.join(family)}"
        for position, value in zip(positions, adjusted, strict=True):
            rows[position] = replace(rows[position], p_adjusted=value, adjustment=stated)
    return [
        row if row.p_value is not None else replace(row, note=join_notes(row.note, "not in the Holm family, no p"))
        for row in rows
    ]
