"""Correct families of tests; `sources/test_families.csv` declares which rows of a result are corrected together."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import pandas as pd

from boundpaper.errors import DataError
from boundpaper.statistics.estimate import Estimate
from boundpaper.statistics.guards import independent_share
from boundpaper.statistics.multiplicity import holm

PRIMARY, DEPENDENT = "primary", "dependent"
COUNTED = (PRIMARY, "post hoc")
ENOUGH = 0.5  # least fraction of independent units, according to its guard, of a test that is corrected
ALL = ""  # the default: families are not split


def corrected(
    tests: Iterable[Estimate],
    test_families: pd.DataFrame,
    result: str,
    apart: Callable[[Estimate], str] = lambda row: ALL,
) -> list[Estimate]:
    """Return the tests of a result, corrected by Holm within their declared families.

    Raises DataError when a row with a p matches no declared family or several, when the guard of a corrected test says
    that fewer than half of its units are independent, or when a test with the role `dependent` has no guard.

    Parameters
    ----------
    tests : iterable of Estimate
        Rows of the result.
    test_families : DataFrame
        The artifact: a row selects tests by result, study, comparison, test (`*` matches anything) and unit, and states
        their family, its hypothesis and their role.
    result : str
        Name of the result.
    apart : callable, optional
        Function that splits families by a property of a row, such as the model, so that adding the measurements of one
        model does not change the corrected p of another.

    Returns
    -------
    list of Estimate
        In the order given. Tests with the role `sensitivity` repeat another test under other assumptions; tests with
        the role `dependent` have units that share a network, a run or a series. Neither is corrected. Except for
        primary tests, `adjustment` states the role.
    """
    rows = list(tests)
    family_rows = test_families[test_families["result"] == result].to_dict("records")
    homes = [_declared_family(row, family_rows, result) if row.p_value is not None else None for row in rows]
    family_names = []
    for row, home in zip(rows, homes, strict=True):
        of = apart(row)
        is_counted = home is not None and home["role"] in COUNTED
        family_names.append(f"{home['family']}{f' ({of})' if of else ''}" if home is not None and is_counted else "")
    adjusted_rows = holm(rows, family_names)
    return [
        row if home is None or home["role"] == PRIMARY else replace(row, adjustment=f"{row.adjustment}, {home['role']}")
        for row, home in zip(adjusted_rows, homes, strict=True)
    ]


def _declared_family(row: Estimate, declared: list[dict[Hashable, Any]], result: str) -> dict[Hashable, Any]:
    """Return the declared family, role and so on of a row."""
    place = f"artifacts/sources/test_families.csv, result {result}"
    fields = ("study", "comparison", "test", "unit")
    fitting = [family for family in declared if all(fnmatchcase(getattr(row, name), family[name]) for name in fields)]
    test = " / ".join(repr(getattr(row, name)) for name in fields)
    if len(fitting) != 1:
        raise DataError(f"{place}: {len(fitting)} rows match the test {test}; exactly one must: change their patterns")
    role, share = fitting[0]["role"], independent_share(row.note)
    if role in COUNTED and share is not None and share < ENOUGH:
        raise DataError(
            f"{place}: the test {test} is {role}, but its units are dependent; give it the role {DEPENDENT!r}"
        )
    if role == DEPENDENT and share is None:
        raise DataError(f"{place}: the test {test} is {role} without a guard; attach dependent_units in the study")
    return fitting[0]
