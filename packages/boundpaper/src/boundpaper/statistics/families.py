"""Correct p-values within families of tests; `sources/test_families.csv` states which rows of a result are a family."""

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
CORRECTED_ROLES = (PRIMARY, "post hoc")
LEAST_INDEPENDENT = 0.5  # least fraction of independent units, as its guard counts them, for a corrected test


def corrected(
    tests: Iterable[Estimate],
    test_families: pd.DataFrame,
    result: str,
    split_by: Callable[[Estimate], str] = lambda row: "",
) -> list[Estimate]:
    """Return the tests of a result, corrected by Holm within their declared families.

    Raises DataError when a row with a p matches no declared family or several, when the guard of a corrected test says
    that fewer than half of its units are independent, or when a test with the role `dependent` has no guard.

    Parameters
    ----------
    tests : iterable of Estimate
        Rows of the result.
    test_families : DataFrame
        The artifact. Each of its rows selects tests by result, study, comparison, test and unit (`*` matches anything),
        and states their family, its hypothesis and their role.
    result : str
        Name of the result.
    split_by : callable, optional
        Function that returns the property of a row by which families are split, for example its model, so that
        measurements of a new model do not change the corrected p of another model. By default families are not split.

    Returns
    -------
    list of Estimate
        The tests in the order given. Tests with the role `sensitivity`, which repeat another test under other
        assumptions, and tests with the role `dependent`, whose units share a network, a run or a series, are not
        corrected. `adjustment` states the role of every test that is not primary.
    """
    rows = list(tests)
    family_rows = test_families[test_families["result"] == result].to_dict("records")
    families = [_declared_family(row, family_rows, result) if row.p_value is not None else None for row in rows]
    family_names = []
    for row, family in zip(rows, families, strict=True):
        suffix = f" ({split_by(row)})" if split_by(row) else ""
        family_names.append(f"{family['family']}{suffix}" if family and family["role"] in CORRECTED_ROLES else "")
    return [
        replace(row, adjustment=f"{row.adjustment}, {family['role']}") if family and family["role"] != PRIMARY else row
        for row, family in zip(holm(rows, family_names), families, strict=True)
    ]


def _declared_family(row: Estimate, declared: list[dict[Hashable, Any]], result: str) -> dict[Hashable, Any]:
    """Return the row of `test_families` that selects a test; check that the row's role fits the guard of the test."""
    location = f"artifacts/sources/test_families.csv, result {result}"
    fields = ("study", "comparison", "test", "unit")
    matches = [family for family in declared if all(fnmatchcase(getattr(row, name), family[name]) for name in fields)]
    test = " / ".join(repr(getattr(row, name)) for name in fields)
    if len(matches) != 1:
        raise DataError(
            f"{location}: {len(matches)} rows match the test {test}; change patterns so that one row matches"
        )
    role, share = matches[0]["role"], independent_share(row.note)
    if role in CORRECTED_ROLES and share is not None and share < LEAST_INDEPENDENT:
        raise DataError(
            f"{location}: the test {test} is {role}, but its units are dependent; give it the role {DEPENDENT!r}"
        )
    if role == DEPENDENT and share is None:
        raise DataError(f"{location}: the test {test} is {role} but has no guard; attach dependent_units in the study")
    return matches[0]
