"""Find the numbers that the ledger judges in a copy of a document, and the rows that judge them."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from boundpaper.paper.annotate.copies import DocumentCopy
from boundpaper.paper.annotate.placing import ALTERED, HEADING, PlacedRow
from boundpaper.paper.annotate.tokens import Token, magnitudes, tokens
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
        `data`: the sources have this value as printed under the same heading. `open`: none of these.
    rows : tuple of mapping
        The rows that name the number.
    """

    token: Token
    state: str
    rows: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class CoveredSentence:
    """A sentence of a copy, its start in the line, the rows that judge it, and its numbers."""

    sentence: DocumentSentence
    start: int
    rows: tuple[Mapping[str, Any], ...]
    marks: tuple[MarkedNumber, ...]


@dataclass(frozen=True)
class Section:
    """A heading with its level and line, and how many numbers of each state are directly below it."""

    heading: str
    level: int
    line: int
    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        """Return the count of all numbers directly below the heading."""
        return sum(self.counts.values())


@dataclass(frozen=True)
class Coverage:
    """All sentences of a copy with their marked numbers."""

    sentences: tuple[CoveredSentence, ...]

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """Return the count of numbers by state."""
        return Counter(mark.state for sentence in self.sentences for mark in sentence.marks)

    @property
    def total(self) -> int:
        """Return the count of all numbers."""
        return sum(self.counts.values())

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """Return a section for every heading in order; numbers before the first heading have an empty heading."""
        tallies: dict[tuple[str, ...], tuple[int, Counter[str]]] = {}
        for covered in self.sentences:
            _, counts = tallies.setdefault(covered.sentence.headings, (covered.sentence.line, Counter()))
            counts.update(mark.state for mark in covered.marks)
        return tuple(
            Section(names[-1] if names else "", len(names), line, counts) for names, (line, counts) in tallies.items()
        )


def coverage(
    copy: DocumentCopy,
    placed_rows: Sequence[PlacedRow],
    data: Mapping[str, frozenset[Decimal]],
    names: Sequence[re.Pattern[str]] = (),
) -> Coverage:
    """Return all sentences of a copy, with the numbers in them marked.

    A number is judged by the rows on its sentence whose statement or reported value names it, and by the checks that
    are located at this sentence or table row and report it. If there are none, it is judged by the checks that are
    located only by its heading and report the same value. A check judges only a cell, not the sentence. Signs, units
    and thousands separators are ignored. `placed_rows` are the ledger rows in the copy, and `data` has the absolute
    values in the sources by heading. Digits in `names` are not numbers.
    """
    rows_by_sentence: dict[DocumentSentence, list[Mapping[str, Any]]] = {}
    checks_by_sentence: dict[DocumentSentence, list[tuple[Mapping[str, Any], frozenset[Decimal]]]] = {}
    checks_by_heading: dict[str, list[tuple[Mapping[str, Any], frozenset[Decimal]]]] = {}
    for placed_row in placed_rows:
        row, sentence = placed_row.row, placed_row.sentence
        check = row, magnitudes([str(row["reported"] or "")])
        if sentence is not None and placed_row.state != ALTERED:
            if row["kind"] == "cell check":
                checks_by_sentence.setdefault(sentence, []).append(check)
            else:
                rows_by_sentence.setdefault(sentence, []).append(row)
        elif placed_row.state == HEADING:
            checks_by_heading.setdefault(row["heading"], []).append(check)
    judging_rows = [row for rows in rows_by_sentence.values() for row in rows]
    magnitudes_by_claim = {
        row["claim"]: magnitudes([row["statement"], str(row["reported"] or "")]) for row in judging_rows
    }
    covered_sentences, last_line, last_end = [], 0, 0
    for sentence in copy.sentences:
        line = copy.lines[sentence.line - 1]
        start = line.index(sentence.text, last_end if last_line == sentence.line else 0)
        last_line, last_end = sentence.line, start + len(sentence.text)
        sentence_rows = rows_by_sentence.get(sentence, [])
        distant_checks = [
            check for heading in reversed(sentence.headings) for check in checks_by_heading.get(heading, ())
        ]
        marks = []
        for token in tokens(sentence.text, names, at_line_start=not line[:start].strip()):
            rows = [row for row in sentence_rows if token.magnitude in magnitudes_by_claim[row["claim"]]]
            rows += [row for row, reported in checks_by_sentence.get(sentence, ()) if token.magnitude in reported]
            rows = rows or [row for row, reported in distant_checks if token.magnitude in reported]
            is_data = any(token.magnitude in data.get(heading, ()) for heading in sentence.headings)
            state = JUDGED if rows else BESIDE if sentence_rows else DATA if is_data else OPEN
            marks.append(MarkedNumber(token, state, tuple(rows)))
        covered_sentences.append(CoveredSentence(sentence, start, tuple(sentence_rows), tuple(marks)))
    return Coverage(tuple(covered_sentences))
