"""Describe findings (the printed and the expected value, and why), and the reasons that suppress them."""

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
FEWEST_WORDS = 5  # of a reason
Entries = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Formula:
    """A formula: a function of numbers or intervals, and its text, a template in braces or a joining operator."""

    text: str
    apply: Callable[..., Any]

    def of_intervals(self, operands: Sequence[Interval]) -> Interval | None:
        """Apply the formula to intervals; None if a divisor may be 0."""
        with suppress(ValueError):
            return cast(Interval, self.apply(*operands))
        return None

    def of(self, operands: Sequence[str]) -> str:
        """Return the formula's text with operands filled in."""
        if "{" in self.text:
            return self.text.format(*operands)
        return f"({' + '.join(operands)}) / {len(operands)}" if self.text == "mean" else self.text.join(operands)


@dataclass(frozen=True)
class CellRelation:
    """A relation between printed cells: a formula, the names of its result and operands, and their numbers by row."""

    formula: Formula
    names: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Number, ...]], ...]


@dataclass(frozen=True)
class Finding:
    """A contradiction of a document with itself."""

    kind: str
    level: Level
    place: FileLine
    what: str  # the printed value with its name: `gain = 3.1`
    why: str  # the relation and its operands in words, and how many rows satisfy it
    expected: str = ""  # the expected value: `2.9 to 3.0`
    values: tuple[str, ...] = ()  # printed numbers and labels from which the id is made; if empty, `what` is used
    other: FileLine | None = None  # the place that contradicts `place`
    relation: CellRelation | None = None  # can become a check of a ledger

    @property
    def id(self) -> str:
        """Return eight characters that stay the same when a line moves, and differ when a number changes."""
        values = (self.kind, *(self.values or (self.what,)))
        normal = [re.sub(r"[^\w.%-]+", " ", value).strip().lower() for value in values]
        return hashlib.sha256("\0".join(normal).encode()).hexdigest()[:8]

    @property
    def told(self) -> str:
        """Return one sentence on what is printed and what is expected."""
        return self.what + (f", expected {self.expected}" if self.expected else "")

    def __str__(self) -> str:
        second_place = f"\n    also {self.other}" if self.other else ""
        return f"{self.place}: {self.level} [{self.kind}] {self.told}\n    {self.why} ({self.id}){second_place}"


def format_interval(interval: Interval) -> str:
    """Write an interval with just enough digits to distinguish its ends."""
    low, high = interval.low, interval.high
    digits = 3 if high == low else min(12, max(0, 1 - math.floor(math.log10(high - low))))
    low_text, high_text = (f"{end:.{digits}f}" for end in (low, high))
    if "." in low_text:
        low_text, high_text = (text.rstrip("0").rstrip(".") for text in (low_text, high_text))
    return low_text if low_text == high_text else f"{low_text} to {high_text}"


def suppressions(file: str) -> Entries:
    """Return a suppression file's entries by id; DataError if it is absent or malformed, or a reason too short."""
    try:
        items = yaml_of(Path(), file)
    except FileNotFoundError:
        raise DataError(f"{file}: no such file; give the file of suppressions, or leave --baseline out") from None
    if not isinstance(items, list | type(None)):
        raise DataError(f"{file}: expected a list of entries, each with {', '.join(FIELDS)}")
    entries: dict[str, Mapping[str, str]] = {}
    for place, entry in enumerate(items or (), 1):
        words = {key: str(value).strip() for key, value in (entry if isinstance(entry, dict) else {}).items()}
        fault = "" if set(words) == set(FIELDS) else f"give {', '.join(FIELDS)}, and nothing else"
        if not fault and len(words["reason"].split()) < FEWEST_WORDS:
            fault = f"the reason {words['reason']!r} is too short; write at least {FEWEST_WORDS} words"
        if not fault and words["id"] in entries:
            fault = f"{words['id']} appears twice; keep one entry"
        if fault:
            raise DataError(f"{file}: entry {place}: {fault}")
        entries[words["id"]] = words
    return entries


def reasons(findings: Sequence[Finding], entries: Entries, file: str) -> list[str | None]:
    """Return the reason that suppresses each finding, or None; raise DataError if an entry matches no finding."""
    by_id = {finding.id: finding for finding in findings}
    for key, entry in entries.items():
        match = by_id.get(key)
        if match is None:
            raise DataError(f"{file}: {key} ({entry['printed']}) is no longer found; remove the entry")
        if (entry["kind"], entry["printed"]) != (match.kind, match.what):
            raise DataError(f"{file}: {key} differs from the finding, [{match.kind}] {match.what}; copy both from it")
    return [entries[finding.id]["reason"] if finding.id in entries else None for finding in findings]
