"""Test two models against each other: paired by unit if both have the same units, else as two groups of heads."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from boundpaper.errors import DataError
from boundpaper.statistics import Estimate, attach, guards, holm, mcnemar, sign_flips, welch_t, with_note
from boundpaper.statistics.bootstrap import DRAWS
from boundpaper.statistics.locations.permutation import EXACT_SIGNS_UP_TO
from boundpaper.typeset.plural import counted
from keyquery.comparisons.comparable import check_comparable
from keyquery.comparisons.measured import ModelMeasurements
from keyquery.measure.headlines import Headline, headlines
from keyquery.measure.units import Units, units_of

ALPHA = 0.05
GROUP_UNITS = {"head": "heads", "key head": "heads"}


@dataclass(frozen=True, eq=False)
class TestedQuantity:
    """A compared quantity and its test.

    `row` is the test of second minus first model, with the experiment as study. `models` are the reference and the
    compared model; `means` are their means over units.
    """

    row: Estimate
    quantity: Headline
    models: tuple[str, str]
    means: tuple[float, float]


def pair_tests(
    models: tuple[ModelMeasurements, ModelMeasurements],
    experiment: str,
    by: str | None = None,
    metrics: Sequence[str] = (),
) -> tuple[list[TestedQuantity], list[str]]:
    """Return uncorrected tests of an experiment's quantities, and notes on quantities that could not be tested.

    Raises DataError if the two models' settings, texts or items differ.
    """
    one, two = models
    tables, manifests = [each.tables[experiment] for each in models], [each.manifests[experiment] for each in models]
    tested: list[TestedQuantity] = []
    left_out: list[str] = []
    errors: list[DataError] = []
    names = (one.name, two.name)
    values_by_table = [headlines(experiment, table, metrics) for table in tables]
    for quantity in dict.fromkeys((*values_by_table[0], *values_by_table[1])):
        label = f"{experiment}: {quantity.label}"
        first, second = (units_of(table, quantity, by) for table in tables)
        if first is None or second is None:
            absent = [name for name, units in zip(names, (first, second), strict=True) if units is None]
            left_out.append(f"{label}: no {by or 'single unit'} is kept of {' and '.join(absent)}; not compared")
            continue
        try:
            task = quantity.metric.removesuffix("_right")
            notes = check_comparable(experiment, names, (manifests[0], manifests[1]), first.kind, task)
        except DataError as error:
            errors.append(error)
            continue
        row, means = _test_quantity(first, second, experiment, quantity, names)
        if row is None:
            left_out.append(f"{label}: {first.reason or second.reason or 'no unit has a value in both'}; not compared")
            continue
        tested.append(TestedQuantity(attach(row, tuple(notes)), quantity, names, means))
    if errors and not tested:
        raise errors[0]
    return tested, [*left_out, *(f"left out: {error}" for error in dict.fromkeys(map(str, errors)))]


def _test_quantity(
    first: Units, second: Units, experiment: str, quantity: Headline, names: tuple[str, str]
) -> tuple[Estimate | None, tuple[float, float]]:
    """Test the difference of a quantity: the second model's values minus the first's."""
    one, two = first.values, second.values
    facts: dict[str, Any] = {
        "study": experiment,
        "comparison": f"{names[1]} minus {names[0]}: {quantity.label}",
        "unit": first.kind,
    }
    if set(one.index) != set(two.index):
        return _compare_as_groups(first, second, facts, names)
    two = two.reindex(one.index)
    valid = one.notna() & two.notna()
    gaps = int((~valid).sum())
    one, two = one[valid], two[valid]
    means = (float(one.mean()), float(two.mean())) if len(one) else (0.0, 0.0)
    if one.empty:
        return None, means
    notes = [f"{gaps} of {len(valid)} units left out for lack of a value: {first.reason or second.reason}"] * bool(gaps)
    right = [units.right for units in (first, second)]
    if right[0] is not None and right[1] is not None:
        base, other = (answers.reindex(one.index).astype(int).to_numpy() for answers in right if answers is not None)
        row = _scaled_estimate(mcnemar(other, base, **facts), quantity.scale)
    else:
        row = sign_flips(two.to_numpy(), one.to_numpy(), names=(names[1], names[0]), **facts)
    keys = [str(key) for key in one.index]
    parts = guards.dependent_units(keys, [key.partition("#")[0] if "#" in key else None for key in keys], "a text")
    return with_note(attach(row, parts if first.kind == "text" else ()), *notes), means


def _compare_as_groups(
    first: Units, second: Units, facts: dict[str, Any], names: tuple[str, str]
) -> tuple[Estimate | None, tuple[float, float]]:
    """Compare heads of two networks of different shapes as two groups; refuse if texts, items or seeds differ."""
    if first.kind != second.kind or first.kind not in GROUP_UNITS:
        counts = f"{len(first.values)} {first.kind}s and {len(second.values)} {second.kind}s"
        equal = len(first.values) == len(second.values) and first.kind == second.kind
        raise DataError(
            f"{facts['study']}: {names[0]} and {names[1]} have {'different ' + first.kind + 's' if equal else counts}; "
            "measure both again with one command: run NAME --model A --against B"
        )
    one, two = first.defined.to_numpy(), second.defined.to_numpy()
    if len(one) < 2 or len(two) < 2:
        return None, (0.0, 0.0)
    note = f"{len(one)} and {len(two)} heads, not paired: the networks differ in shape"
    row = welch_t(two, one, names=(names[1], names[0]), note=note, **facts)
    return row, (float(one.mean()), float(two.mean()))


def _scaled_estimate(row: Estimate, scale: float) -> Estimate:
    value, low, high = (None if end is None else end * scale for end in (row.estimate, row.ci_low, row.ci_high))
    return replace(row, estimate=value, ci_low=low, ci_high=high)


def correct_tests(tests: Sequence[TestedQuantity], family: str) -> list[TestedQuantity]:
    """Return the tests with Holm-corrected p values (one family), marked where these cannot fall below .05.

    Raises DataError if no test has enough units for a p below .05.
    """
    flips = [test.row for test in tests if test.row.test == "sign_flips"]
    if tests and len(flips) == len(tests) and all(least_p(flip.n) > ALPHA for flip in flips):
        largest = max(flip.n for flip in flips)
        raise DataError(
            f"{counted(largest, flips[0].unit)} allow no p below {least_p(largest):.3g}, whatever the models do; "
            f"measure {_needed(1)} or more (run --documents {_needed(1)}, or more --seeds)"
        )
    rows = holm([test.row for test in tests], [family] * len(tests))
    count = sum(row.p_value is not None for row in rows)
    return [
        replace(test, row=attach(row, guards.smallest_p(least_p(row.n), family=count)) if _flipped(row) else row)
        for test, row in zip(tests, rows, strict=True)
    ]


def note_on_units(tests: Sequence[TestedQuantity]) -> list[str]:
    """If a test's Holm-corrected p cannot fall below .05, return a note on how many units would suffice."""
    count = sum(test.row.p_value is not None for test in tests)
    few = [test.row for test in tests if _flipped(test.row) and least_p(test.row.n) * count > ALPHA]
    if not few:
        return []
    least = min(few, key=lambda row: row.n)
    return [
        f"{len(few)} of {counted(count, 'test')} cannot come below .05 after Holm ({counted(least.n, least.unit)} give "
        f"{min(1.0, least_p(least.n) * count):.2g} at best); measure {_needed(count)} units, or name an --experiment"
    ]


def _flipped(row: Estimate) -> bool:
    return row.test == "sign_flips"


def _needed(count: int) -> int:
    """Return the number of units with which sign flips can reach .05 after Holm's correction for `count` tests."""
    return math.ceil(math.log2(2 * count / ALPHA))


def least_p(n: int) -> float:
    """Return the smallest p of a sign-flip test of n pairs: all flips are counted up to 15 pairs, else sampled."""
    return 2.0 / 2**n if n <= EXACT_SIGNS_UP_TO else 1.0 / (DRAWS + 1)
