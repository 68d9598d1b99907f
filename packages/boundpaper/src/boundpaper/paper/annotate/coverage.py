"""Coverage: the numbers in the copy of a document that the ledger judges, each with the rows that judge it."""

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
    """A number of a copy, and what the ledger says about it.

    Attributes
    ----------
    token : Token
        Where it stands in its sentence.
    state : str
        `judged` where a row states or checks this number; `beside` where its sentence is judged, but no row names the
        number; `data` where the sources hold it as a value printed under this heading, for rows to rest on; `open`
        where nothing covers it.
    rows : tuple of mapping
        The rows that name it.
    """

    token: Token
    state: str
    rows: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class CoveredSentence:
    """A sentence of a copy: the place of its text in the line, the rows that judge it, and its numbers."""

    sentence: DocumentSentence
    start: int
    rows: tuple[Mapping[str, Any], ...]
    marks: tuple[MarkedNumber, ...]


@dataclass(frozen=True)
class Section:
    """A heading with its level, and counts of the numbers directly below it by state."""

    heading: str
    level: int
    line: int
    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        """Return the count of numbers directly below the heading."""
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
        """Return every heading in order; numbers before the first heading are below an empty one."""
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
    """Mark the numbers of a copy.

    A number is judged by a row of its own sentence that names it in its statement or its reported value, by a check
    whose place is this sentence or row of a table and that reports it, or, where none does, by a check of which only
    the heading is known and that reports this very value. A check judges the cell alone, not the sentence. Signs, units
    and thousands' commas are passed over. `placed` are the rows of the ledger in the copy, `data` the sizes of the
    values that the sources hold, by heading, and `names` those that hold digits and are no numbers.
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
            held = any(token.size in data.get(heading, ()) for heading in sentence.headings)
            marks.append(
                MarkedNumber(token, JUDGED if rows else BESIDE if own else DATA if held else OPEN, tuple(rows))
            )
        stated.append(CoveredSentence(sentence, start, tuple(own), tuple(marks)))
    return Coverage(tuple(stated))
