"""List each number typed into the text, with the cells that have its value, and mark stale numbers."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fnmatch import fnmatch
from typing import NamedTuple

from boundpaper.adopt.cells import Data, DataCell
from boundpaper.adopt.formats import parse_format
from boundpaper.adopt.generate import AdoptedPaper
from boundpaper.adopt.numerals import TypedNumber, typed_numbers
from boundpaper.adopt.source import LatexFile
from boundpaper.typeset.rounding import round_half_up

SAFE_DIGITS = 3
"""Fewest significant digits of a number that is bound to its only matching cell without asking; a whole number needs
one more, since 512 and 784 are sizes of many things."""
SHOWN = 3
"""Largest number of cells that a message names."""


class Candidate(NamedTuple):
    """A cell that may be the source of a typed number, and the format that prints it as typed.

    `exact`: the number is not rounded. `plain`: neither a factor of 100 nor a changed sign is assumed.
    """

    cell: DataCell
    form: str
    exact: bool
    plain: bool

    @property
    def in_list(self) -> bool:
        """Whether the cell is an item of a JSON list, whose position does not say what the number means."""
        return self.cell.place.rpartition(".")[2].isdigit()

    @property
    def key(self) -> str:
        """Return the text between the braces of the macro that binds the number."""
        return f"{self.cell.address}:{self.form}"


@dataclass(frozen=True)
class NumberFinding:
    """A typed number, its candidate cells, and the cell that formerly had its value."""

    numeral: TypedNumber
    candidates: tuple[Candidate, ...]
    stale: tuple[DataCell, str] | None = None
    revision: str = ""
    macro: str = "val"

    @property
    def is_certain(self) -> bool:
        """Whether the number can be bound without asking: it has one candidate and enough digits."""
        if self.stale or len(self.candidates) != 1:
            return False
        only, decimals = self.candidates[0], self.numeral.decimals > 0
        enough = self.numeral.significant >= (SAFE_DIGITS if decimals else SAFE_DIGITS + 1)
        return enough and only.plain and not only.in_list and (only.exact or decimals)

    def __str__(self) -> str:
        typed, place = self.numeral.text, self.numeral.place
        if self.stale:
            cell, now = self.stale
            return (
                f"{place}: {typed} is typed; {cell.address} was {cell.text} at {self.revision} and is {now} now (stale)"
            )
        if not self.candidates:
            return f"{place}: {typed} is typed; no cell has this value"
        first = self.candidates[0]
        if self.is_certain:
            note = f"({first.cell.text}, the only cell; --fix binds it)"
            if self.numeral.text.startswith("-") and not self._in_mathematics:
                note += "; its minus is set as a hyphen outside of $...$"
            return f"{place}: {typed} is typed: \\{self.macro}{{{first.key}}} {note}"
        if len(self.candidates) == 1:
            return f"{place}: {typed} is typed: perhaps \\{self.macro}{{{first.key}}} ({first.cell.text}); -i asks"
        names = ", ".join(each.cell.address for each in self.candidates[:SHOWN])
        more = ", ..." if len(self.candidates) > SHOWN else ""
        return f"{place}: {typed} is typed: {len(self.candidates)} cells ({names}{more}); -i asks, or `% bound: ok`"

    @property
    def _in_mathematics(self) -> bool:
        line = self.numeral.source.text[: self.numeral.start].rpartition("\n\n")[2]
        return len(re.findall(r"(?<!\\)\$", line)) % 2 == 1 or bool(re.search(r"\\(?:num|SI|qty)\{$", line))


@dataclass(frozen=True)
class NumberIndex:
    """Numeric cells in ascending order, to look up those that round to a typed number."""

    values: list[float] = field(default_factory=list)
    cells: list[DataCell] = field(default_factory=list)

    @classmethod
    def of(cls, cells: Iterable[DataCell]) -> NumberIndex:
        """Make an index of the cells that are numbers."""
        numbers = ((float(cell.number), cell) for cell in cells if cell.number is not None)
        pairs = sorted(numbers, key=lambda pair: pair[0])
        return cls([value for value, _ in pairs], [cell for _, cell in pairs])

    def near(self, low: Decimal, high: Decimal) -> list[DataCell]:
        """Return cells with values from `low` to `high`, a range widened by the rounding error of floats."""
        slack = 1e-12 * max(abs(float(low)), abs(float(high)))
        return self.cells[bisect_left(self.values, float(low) - slack) : bisect_right(self.values, float(high) + slack)]


def bindable_cells(data: Data) -> list[DataCell]:
    """Return the cells to which a number may be bound: all except row keys."""
    names = {
        row[column].address
        for grid in data.grids.values()
        for row in grid.rows.values()
        for column in grid.key
        if column in row
    }
    return [cell for cell in data.cells.values() if cell.address not in names]


def candidates(numeral: TypedNumber, index: NumberIndex) -> list[Candidate]:
    """Return cells whose value prints as the typed number: unchanged, as a percentage, or without the minus sign."""
    half = Decimal(5).scaleb(-numeral.decimals - 1)
    by_address: dict[str, Candidate] = {}
    share = re.sub(r"(?:\.(\d+)[fn]|d)$", rf".{numeral.decimals}p", numeral.form)
    variants = [(1, numeral.value, numeral.form, True), (100, numeral.value, share, numeral.percent)]
    if numeral.value > 0 and "+" not in numeral.form:
        variants += [(scale, -value, f"!{form}", False) for scale, value, form, _ in variants]
    for scale, value, form, is_plain in variants:
        for cell in index.near((value - half) / scale, (value + half) / scale):
            assert cell.number is not None
            number = cell.number * scale
            if cell.address in by_address or not number or round_half_up(number, numeral.decimals) != value:
                continue
            if parse_format(form).show(cell.number) == numeral.text:
                by_address[cell.address] = Candidate(cell, form, number == value, is_plain)
    return list(by_address.values())


def rank_candidates(numeral: TypedNumber, matches: list[Candidate]) -> list[Candidate]:
    """Sort candidates: first the cells whose address shares words with the text near the number."""
    if len(matches) < 2 or len(matches) > 200:
        return matches
    text = numeral.source.text
    nearby = set(re.findall(r"[a-z]{3,}|\d[\w.]+", text[max(0, numeral.start - 400) : numeral.end + 200].lower()))

    def likeness(candidate: Candidate) -> tuple[int, bool, int]:
        words = set(re.findall(r"[a-z]{3,}|\d[\w.]+", candidate.cell.address.lower()))
        return -len(words & nearby), not candidate.exact, len(candidate.cell.address)

    return sorted(matches, key=likeness)


def lint(paper: AdoptedPaper, former: Mapping[str, DataCell] | None = None, revision: str = "") -> list[NumberFinding]:
    """Return a finding for each number typed into a paper.

    `former` has the cells at `revision`: a number is stale if only the former value of a changed cell matches it.
    """
    folder = paper.folder
    index = NumberIndex.of(bindable_cells(paper.data))
    moved = [
        cell
        for address, cell in (former or {}).items()
        if address in paper.data.cells and paper.data.cells[address].number != cell.number
    ]
    old_index = NumberIndex.of(moved)
    findings = []
    for file in paper.sources:
        if any(fnmatch(file.shown, pattern) for pattern in folder.ignored):
            continue
        for numeral in typed_numbers(file, folder.macro, folder.names):
            now = candidates(numeral, index)
            stale = None
            enough_digits = numeral.significant >= SAFE_DIGITS - 1
            if not now and moved and enough_digits and (matches := candidates(numeral, old_index)):
                cell = rank_candidates(numeral, matches)[0].cell
                stale = cell, paper.data.cells[cell.address].text or "empty"
            findings.append(NumberFinding(numeral, tuple(rank_candidates(numeral, now)), stale, revision, folder.macro))
    return findings


def bind_numbers(paper: AdoptedPaper, bindings: Iterable[tuple[TypedNumber, Candidate]]) -> dict[LatexFile, str]:
    """Return the files with the chosen numbers bound, each printed as it was typed."""
    by_file: dict[int, list[tuple[TypedNumber, Candidate]]] = {}
    for numeral, candidate in bindings:
        by_file.setdefault(id(numeral.source), []).append((numeral, candidate))
    new_texts = {}
    for file in paper.sources:
        text = file.text
        for numeral, candidate in sorted(by_file.get(id(file), []), key=lambda binding: -binding[0].start):
            text = f"{text[: numeral.start]}\\{paper.folder.macro}{{{candidate.key}}}{text[numeral.end :]}"
        if text != file.text:
            new_texts[file] = text
    return new_texts
