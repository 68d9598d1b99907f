"""Describe findings (what is printed, what is expected, and why), and read the reasons for suppressing findings."""

import hashlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from boundpaper.audit.documents import FileLine
from boundpaper.audit.number import Number
from boundpaper.errors import DataError
from boundpaper.statistics.rounding import Interval
from boundpaper.store.text_file import yaml_of

Level = Literal["error", "warning", "note"]
LEVELS: tuple[Level, ...] = ("error", "warning", "note")
FIELDS = ("id", "kind", "printed", "reason")
"""The fields of an entry in a file of suppressions."""
FEWEST_WORDS = 5
"""The fewest words of a reason in a file of suppressions."""
Entries = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Formula:
    """A function of numbers or intervals, and its text: a template (`{0} / {1}`), a joining operator, or `mean`."""

    text: str
    apply: Callable[..., Any]

    def of_intervals(self, operands: Sequence[Interval]) -> Interval | None:
        """Return the interval of the formula's value; None if a divisor may be 0."""
        with suppress(ValueError):
            return cast(Interval, self.apply(*operands))
        return None

    def with_names(self, operands: Sequence[str]) -> str:
        """Return the text of the formula with these operands."""
        if "{" in self.text:
            return self.text.format(*operands)
        return f"({' + '.join(operands)}) / {len(operands)}" if self.text == "mean" else self.text.join(operands)


@dataclass(frozen=True)
class CellRelation:
    """A formula that gives one printed cell of a row from other cells, and the rows to which the formula applies."""

    formula: Formula
    names: tuple[str, ...]  # names of the result and the operands
    rows: tuple[tuple[str, tuple[Number, ...]], ...]  # the name of each row, with its result and operands


@dataclass(frozen=True)
class Finding:
    """A contradiction of a document with itself."""

    kind: str
    level: Level
    place: FileLine
    printed: str  # the printed value with its name: `gain = 3.1`
    explanation: str  # such as a relation with its operands, and how many rows satisfy it
    expected: str = ""  # the expected value: `2.9 to 3.0`
    values: tuple[str, ...] = ()  # printed numbers and labels from which the id is made; if empty, from `printed`
    other_place: FileLine | None = None  # the line that contradicts the line `place`
    relation: CellRelation | None = None  # the relation that is not satisfied, from which a claim can be made

    @property
    def id(self) -> str:
        """Return eight characters that stay the same when a line moves, and differ when a number changes."""
        values = (self.kind, *(self.values or (self.printed,)))
        normalized = [re.sub(r"[^\w.%-]+", " ", value).strip().lower() for value in values]
        return hashlib.sha256("\0".join(normalized).encode()).hexdigest()[:8]

    @property
    def summary(self) -> str:
        """Return what is printed and what is expected, as one phrase."""
        return self.printed + (f", expected {self.expected}" if self.expected else "")

    def __str__(self) -> str:
        first_line = f"{self.place}: {self.level} [{self.kind}] {self.summary}"
        other_line = f"\n    also {self.other_place}" if self.other_place else ""
        return f"{first_line}\n    {self.explanation} ({self.id}){other_line}"


def format_interval(interval: Interval) -> str:
    """Return an interval as text, with just enough digits to distinguish its ends."""
    low, high = interval.low, interval.high
    digits = 3 if high == low else min(12, max(0, 1 - math.floor(math.log10(high - low))))
    low_text, high_text = (f"{end:.{digits}f}" for end in (low, high))
    if "." in low_text:
        low_text, high_text = (text.rstrip("0").rstrip(".") for text in (low_text, high_text))
    return low_text if low_text == high_text else f"{low_text} to {high_text}"


def suppressions(file: str) -> Entries:
    """Return a suppression file's entries by id; raise DataError if the file or an entry is not valid."""
    try:
        parsed = yaml_of(Path(), file)
    except FileNotFoundError:
        raise DataError(f"{file}: no such file; give the file of suppressions, or leave --baseline out") from None
    if not isinstance(parsed, list | type(None)):
        raise DataError(f"{file}: expected a list of entries, each with {', '.join(FIELDS)}")
    entries: dict[str, Mapping[str, str]] = {}
    for number, parsed_entry in enumerate(parsed or (), 1):
        fields = parsed_entry if isinstance(parsed_entry, dict) else {}
        entry = {name: str(value).strip() for name, value in fields.items()}
        fault = "" if set(entry) == set(FIELDS) else f"give {', '.join(FIELDS)}, and nothing else"
        if not fault and len(entry["reason"].split()) < FEWEST_WORDS:
            fault = f"the reason {entry['reason']!r} is too short; write at least {FEWEST_WORDS} words"
        if not fault and entry["id"] in entries:
            fault = f"{entry['id']} appears twice; keep one entry"
        if fault:
            raise DataError(f"{file}: entry {number}: {fault}")
        entries[entry["id"]] = entry
    return entries


def reasons(findings: Sequence[Finding], entries: Entries, file: str) -> list[str | None]:
    """Return the reason that suppresses each finding, or None; raise DataError if an entry matches no finding."""
    finding_by_id = {finding.id: finding for finding in findings}
    for entry_id, entry in entries.items():
        finding = finding_by_id.get(entry_id)
        if finding is None:
            raise DataError(f"{file}: {entry_id} ({entry['printed']}) is no longer found; remove the entry")
        if (entry["kind"], entry["printed"]) != (finding.kind, finding.printed):
            fault = f"differs from the finding, [{finding.kind}] {finding.printed}; copy kind and printed from it"
            raise DataError(f"{file}: {entry_id} {fault}")
    return [entries[finding.id]["reason"] if finding.id in entries else None for finding in findings]
