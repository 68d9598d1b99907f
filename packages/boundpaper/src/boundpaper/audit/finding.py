"""A finding: what is printed, what it should be, why, and the other place; and the relation of cells behind it."""

import hashlib
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from boundpaper.audit.documents import Place
from boundpaper.audit.number import Number
from boundpaper.statistics.rounding import Interval

Level = Literal["error", "warning", "note"]
LEVELS: tuple[Level, ...] = ("error", "warning", "note")


@dataclass(frozen=True)
class Formula:
    """How one number follows from others: in text, with the operands in braces, and as a function.

    The function computes numbers and intervals alike; a text without braces joins any count of operands.
    """

    text: str
    apply: Callable[..., Any]

    def of(self, operands: Sequence[str]) -> str:
        """The text with the operands filled in."""
        if "{" in self.text:
            return self.text.format(*operands)
        return f"({' + '.join(operands)}) / {len(operands)}" if self.text == "mean" else self.text.join(operands)


@dataclass(frozen=True)
class Relation:
    """A relation between printed cells: its formula, the names of result and operands, and their numbers by row."""

    formula: Formula
    names: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Number, ...]], ...]


@dataclass(frozen=True)
class Finding:
    """A contradiction of a document with itself.

    Attributes
    ----------
    kind, level : str
    place : Place
    what, expected : str
        What is printed, by its name (`gain = 3.1`), and what it should be (`2.9 to 3.0`).
    why : str
        The relation and its operands in words, with the rows that keep it.
    values : tuple of str
        Numbers as printed, and labels, of which the id is made.
    other : Place or None
        The second place.
    relation : Relation or None
        What can become a check of a ledger.
    """

    kind: str
    level: Level
    place: Place
    what: str
    expected: str
    why: str
    values: tuple[str, ...]
    other: Place | None = None
    relation: Relation | None = None

    @property
    def id(self) -> str:
        """Eight characters made of kind, numbers and labels: they outlive a moved line, and no changed number."""
        plain = [re.sub(r"[^\w.%-]+", " ", value).strip().lower() for value in (self.kind, *self.values)]
        return hashlib.sha256("\0".join(plain).encode()).hexdigest()[:8]

    @property
    def told(self) -> str:
        """What is printed and what it should be."""
        return self.what + (f", expected {self.expected}" if self.expected else "")

    def __str__(self) -> str:
        seen = f"\n    also {self.other}" if self.other else ""
        return f"{self.place}: {self.level} [{self.kind}] {self.told}\n    {self.why} ({self.id}){seen}"


def spread(interval: Interval) -> str:
    """Write an interval with just enough digits to distinguish its ends."""
    low, high = interval.low, interval.high
    digits = 3 if high == low else min(12, max(0, 1 - math.floor(math.log10(high - low))))
    first, second = (f"{end:.{digits}f}" for end in (low, high))
    if "." in first:
        first, second = (text.rstrip("0").rstrip(".") for text in (first, second))
    return first if first == second else f"{first} to {second}"
