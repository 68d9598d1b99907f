"""A finding: what is printed, what it should be, why, and the other place."""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass
from typing import Literal

from boundpaper.audit.documents import Place, Table
from boundpaper.statistics.rounding import Interval

__all__ = ["LEVELS", "ColumnRelation", "Finding", "Level", "Place", "spread"]
Level = Literal["error", "warning", "note"]
LEVELS: tuple[Level, ...] = ("error", "warning", "note")


@dataclass(frozen=True)
class ColumnRelation:
    """A relation that most rows of a table satisfy: an arithmetic sign, and the columns of target and operands."""

    table: Table
    formula: str
    target: str
    operands: tuple[str, ...]


@dataclass(frozen=True)
class Finding:
    """A contradiction of a document with itself.

    Attributes
    ----------
    kind : str
    level : {"error", "warning", "note"}
    place : Place
    what : str
        What is printed, by its name: `gain = 3.1`.
    expected : str
        What it should be: `2.9 to 3.0`.
    why : str
        The relation and its operands, in words, with the rows that hold.
    values : tuple of str
        The numbers as printed, and labels: what the id is made of, so that it outlives a moved line and no changed
        number.
    other : Place or None
        The second place.
    relation : ColumnRelation or None
        What can be declared for a ledger.
    """

    kind: str
    level: Level
    place: Place
    what: str
    expected: str
    why: str
    values: tuple[str, ...]
    other: Place | None = None
    relation: ColumnRelation | None = None

    @property
    def id(self) -> str:
        """An id of eight characters that depends only on kind, numbers and labels."""
        plain = [re.sub(r"[^\w.%-]+", " ", value).strip().lower() for value in (self.kind, *self.values)]
        return hashlib.sha256("\0".join(plain).encode()).hexdigest()[:8]

    def __str__(self) -> str:
        seen = f"\n    also {self.other}" if self.other else ""
        should = f", expected {self.expected}" if self.expected else ""
        return f"{self.place}: {self.level} [{self.kind}] {self.what}{should}\n    {self.why} ({self.id}){seen}"


def spread(interval: Interval) -> str:
    """Write an interval with just enough digits to distinguish its ends."""
    low, high = interval.low, interval.high
    digits = 3 if high == low else max(0, 1 - math.floor(math.log10(high - low)))
    digits = min(digits, 12)
    first, second = f"{low:.{digits}f}", f"{high:.{digits}f}"
    if "." in first:
        first, second = (text.rstrip("0").rstrip(".") for text in (first, second))
    return first if first == second else f"{first} to {second}"
