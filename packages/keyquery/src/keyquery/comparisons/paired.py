"""Test the differences between two models: paired by unit if both have the same units, else as two groups of heads."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
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


@dataclass(frozen=True, eq=False)
class TestedQuantity:
    """A compared quantity and its test.

    `models` are the reference and the compared model; `means` are their means over units. `row` is the test of their
    difference, compared model minus reference; its `study` is the experiment.
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
    """Return uncorrected tests of an experiment's quantities, and notes on the quantities without a test.

    Raises DataError if the two models' settings, texts or items differ.
    """
    tables = [model.tables[experiment] for model in models]
    manifests = (models[0].manifests[experiment], models[1].manifests[experiment])
    names = (models[0].name, models[1].name)
    tests: list[TestedQuantity] = []
    left_out: list[str] = []
    errors: list[DataError] = []
    for quantity in dict.fromkeys(chain.from_iterable(headlines(experiment, table, metrics) for table in tables)):
        label = f"{experiment}: {quantity.label}"
        first, second = (units_of(table, quantity, by) for table in tables)
        if first is None or second is None:
            missing_names = [name for name, units in zip(names, (first, second), strict=True) if units is None]
            left_out.append(f"{label}: no {by or 'single unit'} is kept of {' and '.join(missing_names)}; not compared")
            continue
        try:
            task = quantity.metric.removesuffix("_right")
            notes = check_comparable(experiment, names, manifests, first.kind, task)
        except DataError as error:
            errors.append(error)
            continue
        row, means = _test_quantity(first, second, experiment, quantity, names)
        if row is None:
            left_out.append(f"{label}: {first.reason or second.reason or 'no unit has a value in both'}; not compared")
            continue
        tests.append(TestedQuantity(attach(row, tuple(notes)), quantity, names, means))
    if errors and not tests:
        raise errors[0]
    return tests, [*left_out, *(f"left out: {error}" for error in dict.fromkeys(map(str, errors)))]


def _test_quantity(
    first: Units, second: Units, experiment: str, quantity: Headline, names: tuple[str, str]
) -> tuple[Estimate | None, tuple[float, float]]:
    """Return a test of the second model's values minus the first's (None without values), and the models' means."""
    base, other = first.values, second.values
    facts: dict[str, Any] = {
        "study": experiment,
        "comparison": f"{names[1]} minus {names[0]}: {quantity.label}",
        "unit": first.kind,
    }
    if set(base.index) != set(other.index):
        return _compare_as_groups(first, second, facts, names)
    other = other.reindex(base.index)
    valid = base.notna() & other.notna()
    missing = int((~valid).sum())
    base, other = base[valid], other[valid]
    if base.empty:
        return None, (0.0, 0.0)
    reason = f"{missing} of {len(valid)} units left out for lack of a value: {first.reason or second.reason}"
    if first.right is not None and second.right is not None:
        base_right, other_right = (
            right.reindex(base.index).astype(int).to_numpy() for right in (first.right, second.right)
        )
        row = _scaled_estimate(mcnemar(other_right, base_right, **facts), quantity.scale)
    else:
        row = sign_flips(other.to_numpy(), base.to_numpy(), names=(names[1], names[0]), **facts)
    if first.kind == "text":
        keys = [str(key) for key in base.index]
        texts = [key.partition("#")[0] if "#" in key else None for key in keys]
        row = attach(row, guards.dependent_units(keys, texts, "a text"))
    return with_note(row, *[reason] * bool(missing)), (float(base.mean()), float(other.mean()))


def _compare_as_groups(
    first: Units, second: Units, facts: dict[str, Any], names: tuple[str, str]
) -> tuple[Estimate | None, tuple[float, float]]:
    """Compare the heads of two differently shaped networks as two groups; return the test and the networks' means.

    The test is None if a group has fewer than two heads. Raises DataError if the units are not heads.
    """
    if first.kind != second.kind or first.kind not in ("head", "key head"):
        counts = f"{len(first.values)} {first.kind}s and {len(second.values)} {second.kind}s"
        equal = len(first.values) == len(second.values) and first.kind == second.kind
        raise DataError(
            f"{facts['study']}: {names[0]} and {names[1]} have {'different ' + first.kind + 's' if equal else counts}; "
            "measure both again with one command: run NAME --model A --against B"
        )
    base, other = first.defined.to_numpy(), second.defined.to_numpy()
    if len(base) < 2 or len(other) < 2:
        return None, (0.0, 0.0)
    note = f"{len(base)} and {len(other)} heads, not paired: the networks differ in shape"
    row = welch_t(other, base, names=(names[1], names[0]), note=note, **facts)
    return row, (float(base.mean()), float(other.mean()))


def _scaled_estimate(row: Estimate, scale: float) -> Estimate:
    value, low, high = (None if end is None else end * scale for end in (row.estimate, row.ci_low, row.ci_high))
    return replace(row, estimate=value, ci_low=low, ci_high=high)


def correct_tests(tests: Sequence[TestedQuantity], family: str) -> list[TestedQuantity]:
    """Return the tests with p values Holm-corrected as one family; a note marks a test that cannot reach .05.

    Raises DataError if no test has enough units for a p below .05.
    """
    flip_rows = [test.row for test in tests if _is_sign_flips(test.row)]
    if tests and len(flip_rows) == len(tests) and all(smallest_flip_p(row.n) > ALPHA for row in flip_rows):
        largest = max(row.n for row in flip_rows)
        raise DataError(
            f"{counted(largest, flip_rows[0].unit)} allow no p below {smallest_flip_p(largest):.3g}, whatever the "
            f"models do; measure {_units_needed(1)} or more (run --documents {_units_needed(1)}, or more --seeds)"
        )
    rows = holm([test.row for test in tests], [family] * len(tests))
    count = sum(row.p_value is not None for row in rows)
    guarded_rows = [
        attach(row, guards.smallest_p(smallest_flip_p(row.n), family=count)) if _is_sign_flips(row) else row
        for row in rows
    ]
    return [replace(test, row=row) for test, row in zip(tests, guarded_rows, strict=True)]


def note_on_units(tests: Sequence[TestedQuantity]) -> list[str]:
    """If some Holm-corrected p cannot fall below .05, return a note on how many units suffice; else an empty list."""
    count = sum(test.row.p_value is not None for test in tests)
    weak_rows = [test.row for test in tests if _is_sign_flips(test.row) and smallest_flip_p(test.row.n) * count > ALPHA]
    if not weak_rows:
        return []
    smallest = min(weak_rows, key=lambda row: row.n)
    best_p = min(1.0, smallest_flip_p(smallest.n) * count)
    return [
        f"{len(weak_rows)} of {counted(count, 'test')} cannot come below .05 after Holm "
        f"({counted(smallest.n, smallest.unit)} give {best_p:.2g} at best); measure {_units_needed(count)} units, or "
        "name an --experiment"
    ]


def _is_sign_flips(row: Estimate) -> bool:
    return row.test == "sign_flips"


def _units_needed(count: int) -> int:
    """Return the number of units with which sign flips can reach .05 after Holm's correction for `count` tests."""
    return math.ceil(math.log2(2 * count / ALPHA))


def smallest_flip_p(n: int) -> float:
    """Return the least p that a sign-flip test of n pairs can give: up to 15 pairs it uses all flips, else a sample."""
    return 2.0 / 2**n if n <= EXACT_SIGNS_UP_TO else 1.0 / (DRAWS + 1)
