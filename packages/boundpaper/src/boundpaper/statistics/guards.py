"""Guard against misinterpretation: note conditions under which a number means less than it seems to.

A guard is a function that returns notes, or an empty tuple if its condition is not met. A note has the form `guard
NAME: OBSERVATION`, so that a table can mark the row by the name (`fired`).
"""

import re
from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence

import numpy.typing as npt

from boundpaper.statistics.estimate import SEPARATOR, Estimate, with_note
from boundpaper.statistics.sample import distinct_count, is_constant, sample

Notes = tuple[str, ...]

PREFIX = "guard "

ZERO_VARIANCE = "zero variance"
FEW_DISTINCT = "few distinct values"
FEW_UNITS = "few units"
COPIED_REPLICATES = "copied replicates"
SMALLEST_P = "smallest attainable p"
DEPENDENT_UNITS = "dependent units"
SAME_DATA = "selected and evaluated on the same data"
MIXED_PROTOCOL = "mixed protocol"

NAMES = (
    ZERO_VARIANCE, FEW_DISTINCT, FEW_UNITS, COPIED_REPLICATES, SMALLEST_P, DEPENDENT_UNITS, SAME_DATA, MIXED_PROTOCOL,
)  # fmt: skip


def guard_note(name: str, observation: str) -> Notes:
    """Return a guard's note; a semicolon in `observation` becomes a comma, since semicolons separate notes."""
    return (f"{PREFIX}{name}: {observation.replace(';', ',')}",)


def fired(note: str) -> tuple[str, ...]:
    """Return the distinct names of the guards in a row's note, in order of appearance.

    Parameters
    ----------
    note : str
        Note of an estimate.

    Examples
    --------
    >>> from boundpaper.statistics import fired
    >>> fired("exact p; no interval: one unit")
    ()
    """
    sentences = [sentence.strip() for sentence in note.split(SEPARATOR.strip())]
    names = (name for sentence in sentences for name in NAMES if sentence.startswith(f"{PREFIX}{name}:"))
    return tuple(dict.fromkeys(names))


def independent_share(note: str) -> float | None:
    """Return the share of independent units in a note of `dependent_units`: 0 if uncounted, None if no note exists."""
    if DEPENDENT_UNITS not in fired(note):
        return None
    match = re.search(r"so (\d+) units are (\d+) independent ones?\b", note)
    return int(match[2]) / int(match[1]) if match else 0.0


def attach(estimate: Estimate, *notes: Notes) -> Estimate:
    """Return the estimate with the notes of guards: `attach(row, zero_variance(...), same_data(...))`.

    Parameters
    ----------
    estimate : Estimate
        The estimate, which is not changed.
    notes : tuple of str
        The notes that guards returned, perhaps empty.

    Examples
    --------
    >>> from boundpaper.statistics import attach, fired, wilson
    >>> from boundpaper.statistics.guards import zero_variance
    >>> row = wilson(3, 8, study="beans", comparison="sprouted", unit="bean")
    >>> fired(attach(row, zero_variance({"sun": [2.0, 2.0, 2.0]})).note)
    ('zero variance',)
    """
    return with_note(estimate, *(note for guard_notes in notes for note in guard_notes))


def zero_variance(arms: Mapping[str, npt.ArrayLike]) -> Notes:
    """Return notes on arms with several values that are all equal; `arms` maps the name of each arm to its values."""
    notes: Notes = ()
    for name, values in arms.items():
        array = sample(values, name)
        if array.size > 1 and is_constant(array):
            notes += guard_note(ZERO_VARIANCE, f"{name} is {array[0]:.6g} in all {array.size} units")
    return notes


def zero_sd(arms: Mapping[str, tuple[float, int]]) -> Notes:
    """Return notes on arms whose printed standard deviation is zero; `arms` maps a name to (sd, n)."""
    notes: Notes = ()
    for name, (sd, n) in arms.items():
        if sd == 0 and n > 1:
            notes += guard_note(ZERO_VARIANCE, f"{name} has a standard deviation of 0 over {n} units")
    return notes


def few_distinct(arms: Mapping[str, npt.ArrayLike], minimum: int = 3) -> Notes:
    """Return notes on arms with at least `minimum` units but fewer than `minimum` distinct values."""
    notes: Notes = ()
    for name, values in arms.items():
        array = sample(values, name)
        count = distinct_count(array)
        if array.size >= minimum and count < minimum:
            values_word = f"distinct value{'s' * (count != 1)}"
            notes += guard_note(FEW_DISTINCT, f"{name} has {count} {values_word} in {array.size} units")
    return notes


def few_units(n: int, unit: str, at_most: int = 10) -> Notes:
    """Return a note on an interval of a mean over 2 to `at_most` units, too few to show that values are normal."""
    if not 2 <= n <= at_most:
        return ()
    return guard_note(FEW_UNITS, f"Student's interval over {n} units ({unit}) takes them for normal")


def copied_replicates(values: npt.ArrayLike, condition: Sequence[Hashable]) -> Notes:
    """Return a note on conditions whose replicates are copies of one number (pseudo-replication).

    `values` has one value per replicate, and `condition` names the condition of each replicate. Conditions with one
    replicate are ignored. Raises ValueError if the lengths differ.
    """
    array = sample(values, "values")
    if len(condition) != array.size:
        raise ValueError(f"copied_replicates: {array.size} values but {len(condition)} conditions; give one per value")
    groups: dict[Hashable, list[float]] = defaultdict(list)
    for key, value in zip(condition, array, strict=True):
        groups[key].append(float(value))
    constant = [str(key) for key, group in groups.items() if len(group) > 1 and is_constant(sample(group, str(key)))]
    if not constant:
        return ()
    return guard_note(
        COPIED_REPLICATES,
        f"one number stands for all replicates of {', '.join(constant)} ({len(constant)} of {len(groups)} conditions)",
    )


def smallest_p(smallest: float, alpha: float = 0.05, family: int = 1) -> Notes:
    """Return a note if no outcome of an exact test could have reached alpha.

    `smallest` is the smallest possible p of the test with these values; it is multiplied by `family`, the number of
    tests that Holm corrects together.
    """
    if family < 1:
        raise ValueError(f"smallest_p: family is {family}; give the number of tests, at least 1")
    smallest_adjusted = min(1.0, smallest * family)
    if smallest_adjusted <= alpha:
        return ()
    outcomes = "no outcome" if family == 1 else f"after Holm over {family} tests no outcome"
    return guard_note(SMALLEST_P, f"{outcomes} could give a p below {smallest_adjusted:.4g}")


def dependent_units(units: Sequence[str], shared: Sequence[Hashable | None], what: str) -> Notes:
    """Return a note if units are dependent because several of them share something.

    `shared` identifies what each unit shares with others (its training run, its key head, its text weights), or is None
    for a unit that shares nothing. `what` is the noun in the note for what is shared, such as "one training run",
    "keys" or "weights". Raises ValueError if the lengths differ.
    """
    if len(units) != len(shared):
        raise ValueError(f"dependent_units: {len(units)} units but {len(shared)} keys in `shared`; give one per unit")
    groups: dict[Hashable, list[str]] = defaultdict(list)
    for unit, key in zip(units, shared, strict=True):
        if key is not None:
            groups[key].append(unit)
    clusters = [members for members in groups.values() if len(members) > 1]
    if not clusters:
        return ()
    independent = len(units) - sum(len(members) - 1 for members in clusters)
    cluster_names = ["+".join(members) if len(members) <= 4 else f"{len(members)} units" for members in clusters[:3]]
    if len(clusters) > 3:
        cluster_names.append(f"{len(clusters) - 3} more group{'s' * (len(clusters) > 4)}")
    return guard_note(
        DEPENDENT_UNITS,
        f"{', '.join(cluster_names)} share {what}, "
        f"so {len(units)} units are {independent} independent one{'s' * (independent > 1)}",
    )


def same_data(selected_on: Collection[str], evaluated_on: Collection[str]) -> Notes:
    """Return a note with the items that were used both to select a layer, head or threshold and to evaluate it."""
    common = sorted(set(selected_on) & set(evaluated_on))
    if not common:
        return ()
    items = ", ".join(common[:4]) + (f" and {len(common) - 4} more" if len(common) > 4 else "")
    return guard_note(SAME_DATA, items)


def _disagreement(values: Mapping[str, str]) -> str:
    """Return each value with the names of the groups that have it; empty if all groups have the same value."""
    groups: dict[str, list[str]] = defaultdict(list)
    for group, value in values.items():
        groups[value].append(group)
    if len(groups) < 2:
        return ""
    return " against ".join(f"{value} ({', '.join(members)})" for value, members in groups.items())


def mixed_protocol(protocols: Mapping[str, Mapping[str, str]]) -> Notes:
    """Return a note per setting that differs between the protocols of groups.

    `protocols` has the settings of each group: instrument, version, precision. A missing setting counts as "not
    stated", which differs from every stated value.
    """
    settings = dict.fromkeys(setting for protocol in protocols.values() for setting in protocol)
    notes: Notes = ()
    for setting in settings:
        differing = _disagreement({group: protocol.get(setting, "not stated") for group, protocol in protocols.items()})
        if differing:
            notes += guard_note(MIXED_PROTOCOL, f"{setting} {differing}")
    return notes
