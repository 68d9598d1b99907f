"""Guard against misreading: note conditions under which a number means less than it seems to.

A guard is a function that returns the notes it raises, none when all is well. A raised note reads
`guard NAME: what was seen`, so a table can mark the row by looking for the name (`fired`).
"""

import re
from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence

import numpy.typing as npt

from boundpaper.statistics.estimate import SEPARATOR, Estimate, with_note
from boundpaper.statistics.sample import distinct, is_constant, sample

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
    ZERO_VARIANCE,
    FEW_DISTINCT,
    FEW_UNITS,
    COPIED_REPLICATES,
    SMALLEST_P,
    DEPENDENT_UNITS,
    SAME_DATA,
    MIXED_PROTOCOL,
)


def raised(name: str, seen: str) -> Notes:
    """Word a guard's note; a semicolon in `seen` becomes a comma, since it separates notes."""
    return (f"{PREFIX}{name}: {seen.replace(';', ',')}",)


def fired(note: str) -> tuple[str, ...]:
    """Name the guards that a row's note carries, in order of appearance and each once.

    Parameters
    ----------
    note : str
        Of an estimate.

    Examples
    --------
    >>> from boundpaper.statistics import fired
    >>> fired("exact p; no interval: one unit")
    ()
    """
    names = (
        name for part in note.split(SEPARATOR.strip()) for name in NAMES if part.strip().startswith(f"{PREFIX}{name}:")
    )
    return tuple(dict.fromkeys(names))


def independent_share(note: str) -> float | None:
    """Return the share of independent units in a row with `dependent_units`; 0 if the note gives no count.

    None for a row without that guard.
    """
    if DEPENDENT_UNITS not in fired(note):
        return None
    counted = re.search(r"so (\d+) units are (\d+) independent ones?\b", note)
    return int(counted[2]) / int(counted[1]) if counted else 0.0


def attach(estimate: Estimate, *notes: Notes) -> Estimate:
    """Return the estimate with the notes of guards: `attach(row, zero_variance(...), same_data(...))`.

    Parameters
    ----------
    estimate : Estimate
        Left as it is.
    notes : tuple of str
        What guards returned; empty where one did not fire.

    Examples
    --------
    >>> from boundpaper.statistics import attach, fired, wilson
    >>> from boundpaper.statistics.guards import zero_variance
    >>> row = wilson(3, 8, study="beans", comparison="sprouted", unit="bean")
    >>> fired(attach(row, zero_variance({"sun": [2.0, 2.0, 2.0]})).note)
    ('zero variance',)
    """
    return with_note(estimate, *(note for group in notes for note in group))


def zero_variance(arms: Mapping[str, npt.ArrayLike]) -> Notes:
    """Fire for every arm of two or more values that are all equal.

    `arms` has the values by name of the arm.
    """
    notes: Notes = ()
    for name, values in arms.items():
        array = sample(values, name)
        if array.size > 1 and is_constant(array):
            notes += raised(ZERO_VARIANCE, f"{name} is {array[0]:.6g} in all {array.size} units")
    return notes


def zero_sd(arms: Mapping[str, tuple[float, int]]) -> Notes:
    """Fire for every arm whose printed standard deviation is zero; `arms` maps a name to (sd, n)."""
    notes: Notes = ()
    for name, (sd, n) in arms.items():
        if sd == 0 and n > 1:
            notes += raised(ZERO_VARIANCE, f"{name} has a standard deviation of 0 over {n} units")
    return notes


def few_distinct(arms: Mapping[str, npt.ArrayLike], minimum: int = 3) -> Notes:
    """Fire for every arm with at least `minimum` units but fewer than `minimum` distinct values.

    Smaller samples cannot have more distinct values than units; their size says enough.
    """
    notes: Notes = ()
    for name, values in arms.items():
        array = sample(values, name)
        kinds = distinct(array)
        if array.size >= minimum and kinds < minimum:
            notes += raised(
                FEW_DISTINCT, f"{name} has {kinds} distinct value{'s' * (kinds != 1)} in {array.size} units"
            )
    return notes


def few_units(n: int, unit: str, at_most: int = 10) -> Notes:
    """Fire for an interval of a mean over 2 to `at_most` units: it assumes a normal distribution that so few cannot
    show.

    `unit` says what a unit is, in the singular.
    """
    if not 2 <= n <= at_most:
        return ()
    return raised(FEW_UNITS, f"Student's interval over {n} units ({unit}) takes them for normal")


def copied_replicates(values: npt.ArrayLike, condition: Sequence[Hashable]) -> Notes:
    """Fire when a condition's replicates are one number copied (pseudo-replication).

    `condition` says what each of the `values`, one per replicate, is a replicate of; a condition with one value cannot
    fire. Raises ValueError if the lengths differ.
    """
    array = sample(values, "values")
    if len(condition) != array.size:
        raise ValueError(f"copied_replicates: {array.size} values but {len(condition)} conditions; give one per value")
    groups: dict[Hashable, list[float]] = defaultdict(list)
    for key, value in zip(condition, array, strict=True):
        groups[key].append(float(value))
    copied = [str(key) for key, group in groups.items() if len(group) > 1 and is_constant(sample(group, str(key)))]
    if not copied:
        return ()
    return raised(
        COPIED_REPLICATES,
        f"one number stands for all replicates of {', '.join(copied)} ({len(copied)} of {len(groups)} conditions)",
    )


def smallest_p(smallest: float, alpha: float = 0.05, family: int = 1) -> Notes:
    """Fire when no outcome of an exact test could have reached alpha.

    `smallest` is the smallest p that the test can give with these values; it is multiplied by `family`, the number of
    tests that Holm corrects together.
    """
    if family < 1:
        raise ValueError(f"smallest_p: family is {family}; give the number of tests, at least 1")
    least = min(1.0, smallest * family)
    if least <= alpha:
        return ()
    what = "no outcome" if family == 1 else f"after Holm over {family} tests no outcome"
    return raised(SMALLEST_P, f"{what} could give a p below {least:.4g}")


def dependent_units(units: Sequence[str], shared: Sequence[Hashable | None], what: str) -> Notes:
    """Fire when units are not independent because several of them share something.

    `shared` is what each unit shares (its training run, its key head, its text weights), None for nothing; `what` names
    it in the note, as in "one training run", "keys" or "weights". Raises ValueError if the lengths differ.
    """
    if len(units) != len(shared):
        raise ValueError(f"dependent_units: {len(units)} units but {len(shared)} groups; give one per unit")
    groups: dict[Hashable, list[str]] = defaultdict(list)
    for unit, key in zip(units, shared, strict=True):
        if key is not None:
            groups[key].append(unit)
    clusters = [members for members in groups.values() if len(members) > 1]
    if not clusters:
        return ()
    independent = len(units) - sum(len(members) - 1 for members in clusters)
    shown = ["+".join(members) if len(members) <= 4 else f"{len(members)} units" for members in clusters[:3]]
    if len(clusters) > 3:
        shown.append(f"{len(clusters) - 3} more group{'s' * (len(clusters) > 4)}")
    return raised(
        DEPENDENT_UNITS,
        f"{', '.join(shown)} share {what}, "
        f"so {len(units)} units are {independent} independent one{'s' * (independent > 1)}",
    )


def same_data(selected_on: Collection[str], evaluated_on: Collection[str]) -> Notes:
    """Fire when the items that chose a layer, head or threshold also judge it; name the shared items."""
    common = sorted(set(selected_on) & set(evaluated_on))
    if not common:
        return ()
    items = ", ".join(common[:4]) + (f" and {len(common) - 4} more" if len(common) > 4 else "")
    return raised(SAME_DATA, items)


def _disagreement(values: Mapping[str, str]) -> str:
    """Word which groups have each value; empty if there is only one value."""
    groups: dict[str, list[str]] = defaultdict(list)
    for group, value in values.items():
        groups[value].append(group)
    if len(groups) < 2:
        return ""
    return " against ".join(f"{value} ({', '.join(members)})" for value, members in groups.items())


def mixed_protocol(protocols: Mapping[str, Mapping[str, str]]) -> Notes:
    """Fire, once per setting, when groups were run under different protocols.

    `protocols` has the settings of each group: instrument, version, precision. A setting that a group does not state
    counts as "not stated", which differs from every stated one.
    """
    settings = dict.fromkeys(setting for protocol in protocols.values() for setting in protocol)
    notes: Notes = ()
    for setting in settings:
        seen = _disagreement({group: protocol.get(setting, "not stated") for group, protocol in protocols.items()})
        if seen:
            notes += raised(MIXED_PROTOCOL, f"{setting} {seen}")
    return notes
