"""Find which numbers in a copy of a document the ledger judges, and the rows that judge them."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from boundpaper.paper.annotate.copies import DocumentCopy
from boundpaper.paper.annotate.placing import HEADING, PlacedRow
from boundpaper.paper.annotate.tokens import Token, sizes, tokens
from boundpaper.store.sentences import DocumentSentence

JUDGED, BESIDE, DATA, OPEN = "judged", "beside", "data", "open"


@dataclass(frozen=True)
class MarkedNumber:
    """A number in a copy, with the ledger rows about it.

    Attributes
    ----------
    token : Token
        Its extent in the sentence.
    state : str
        `judged`: a row states or checks this number. `beside`: the sentence is judged, but no row names the number.
        `data`: the sources have it as a value printed under this heading. `open`: none of these.
    rows : tuple of mapping
        The rows that name the number.
    """

    token: Token
    state: str
    rows: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class CoveredSentence:
    """A sentence of a copy: the extent of its text in the line, the rows that judge it, and its numbers."""

    sentence: DocumentSentence
    start: int
    rows: tuple[Mapping[str, Any], ...]
    marks: tuple[MarkedNumber, ...]


@dataclass(frozen=True)
class Section:
    """A heading, its level, and counts by state of the numbers directly below it."""

    heading: str
    level: int
    line: int
    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        """Return the number of numbers directly below the heading."""
        return sum(self.counts.values())


@dataclass(frozen=True)
class Coverage:
    """All sentences of a copy with their marked numbers."""

    stated: tuple[CoveredSentence, ...]

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """Count the numbers by state."""
        return Counter(mark.state for each in self.stated for mark in each.marks)

    @property
    def total(self) -> int:
        """Count all numbers."""
        return sum(self.counts.values())

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """Return every heading in order; numbers before the first heading are under an empty heading."""
        tallies: dict[tuple[str, ...], tuple[int, Counter[str]]] = {}
        for each in self.stated:
            _, counts = tallies.setdefault(each.sentence.headings, (each.sentence.line, Counter()))
            counts.update(mark.state for mark in each.marks)
        return tuple(
            Section(names[-1] if names else "", len(names), line, counts) for names, (line, counts) in tallies.items()
        )


def coverage(
    copy: DocumentCopy,
    placed: Sequence[PlacedRow],
    data: Mapping[str, frozenset[Decimal]],
    names: Sequence[re.Pattern[str]] = (),
) -> Coverage:
    """Return the sentences of a copy with marked numbers.

    A number is judged by a row of its sentence whose statement or reported value names it; else by a check located at
    this sentence or table row that reports it; else by a check located only by heading that reports the same value. A
    check judges only the cell, not the sentence. Signs, units and thousands separators are ignored. `placed` are the
    ledger rows in the copy, `data` the absolute values in the sources by heading, and `names` names with digits, which
    are not numbers.
    """
    at: dict[DocumentSentence, list[Mapping[str, Any]]] = {}
    within: dict[DocumentSentence, list[tuple[Mapping[str, Any], frozenset[Decimal]]]] = {}
    under: dict[str, list[tuple[Mapping[str, Any], frozenset[Decimal]]]] = {}
    for each in placed:
        if each.sentence is not None and each.state != "altered" and each.row["kind"] == "cell check":
            within.setdefault(each.sentence, []).append((each.row, sizes([str(each.row["reported"] or "")])))
        elif each.sentence is not None and each.state != "altered":
            at.setdefault(each.sentence, []).append(each.row)
        elif each.state == HEADING:
            under.setdefault(each.row["heading"], []).append((each.row, sizes([str(each.row["reported"] or "")])))
    named = {
        row["claim"]: sizes([row["statement"], str(row["reported"] or "")]) for rows in at.values() for row in rows
    }
    stated, cursor = [], (0, 0)
    for sentence in copy.sentences:
        line = copy.lines[sentence.line - 1]
        start = line.index(sentence.text, cursor[1] if cursor[0] == sentence.line else 0)
        begins = not line[:start].strip()
        cursor = (sentence.line, start + len(sentence.text))
        own = at.get(sentence, [])
        checks = [check for heading in reversed(sentence.headings) for check in under.get(heading, ())]
        marks = []
        for token in tokens(sentence.text, names, begins=begins):
            rows = [row for row in own if token.size in named[row["claim"]]]
            rows += [row for row, reported in within.get(sentence, ()) if token.size in reported]
            rows = rows or [row for row, reported in checks if token.size in reported]
            known_number = any(token.size in data.get(heading, ()) for heading in sentence.headings)
            marks.append(
                MarkedNumber(token, JUDGED if rows else BESIDE if own else DATA if known_number else OPEN, tuple(rows))
            )
        stated.append(CoveredSentence(sentence, start, tuple(own), tuple(marks)))
    return Coverage(tuple(stated))
