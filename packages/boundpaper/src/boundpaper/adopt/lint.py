"""Find the cells that may be the source of each number typed into a paper, and numbers that have become stale."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
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
"""Fewest significant digits of a number that is bound to its only matching cell without asking. A whole number needs
one more digit, since 512 and 784 are sizes of many things."""
SHOWN = 3
"""Most cells that a message names."""


class Candidate(NamedTuple):
    """A cell that may be the source of a typed number, and the format that prints the cell as typed.

    `exact`: the typed number is not rounded. `plain`: it is the cell's number, or its percentage with a percent sign.
    """

    cell: DataCell
    format: str
    exact: bool
    plain: bool

    @property
    def key(self) -> str:
        """Return the argument of the macro that binds the number."""
        return f"{self.cell.address}:{self.format}"


@dataclass(frozen=True)
class NumberFinding:
    """A typed number and its candidates; for a stale number, the cell that had the number, and its present text."""

    numeral: TypedNumber
    candidates: tuple[Candidate, ...]
    stale_cell: tuple[DataCell, str] | None = None
    revision: str = ""
    macro: str = "val"

    @property
    def is_certain(self) -> bool:
        """Return whether the number can be bound without asking: it has one candidate, unlikely to match by chance."""
        if self.stale_cell or len(self.candidates) != 1:
            return False
        candidate, has_decimals = self.candidates[0], self.numeral.decimals > 0
        has_enough_digits = self.numeral.significant >= (SAFE_DIGITS if has_decimals else SAFE_DIGITS + 1)
        in_list = candidate.cell.position.rpartition(".")[2].isdigit()  # its address says little
        return has_enough_digits and candidate.plain and not in_list and (candidate.exact or has_decimals)

    def __str__(self) -> str:
        prefix = f"{self.numeral.place}: {self.numeral.text} is typed"
        if self.stale_cell:
            cell, present_text = self.stale_cell
            return f"{prefix}; {cell.address} was {cell.text} at {self.revision} and is {present_text} now (stale)"
        if not self.candidates:
            return f"{prefix}; no cell has this value"
        first = self.candidates[0]
        if self.is_certain:
            note = f"({first.cell.text}, the only cell; --fix binds it)"
            if self.numeral.text.startswith("-") and not self._in_mathematics:
                note += "; its minus is set as a hyphen outside of $...$"
            return f"{prefix}: \\{self.macro}{{{first.key}}} {note}"
        if len(self.candidates) == 1:
            return f"{prefix}: perhaps \\{self.macro}{{{first.key}}} ({first.cell.text}); -i asks"
        addresses = ", ".join(candidate.cell.address for candidate in self.candidates[:SHOWN])
        more = ", ..." if len(self.candidates) > SHOWN else ""
        return f"{prefix}: {len(self.candidates)} cells ({addresses}{more}); -i asks, `% bound: ok` keeps it"

    @property
    def _in_mathematics(self) -> bool:
        before = self.numeral.source.text[: self.numeral.start].rpartition("\n\n")[2]
        return len(re.findall(r"(?<!\\)\$", before)) % 2 == 1 or bool(re.search(r"\\(?:num|SI|qty)\{$", before))


@dataclass(frozen=True)
class NumberIndex:
    """Numeric cells in ascending order, to look up those that round to a typed number."""

    values: list[float] = field(default_factory=list)
    cells: list[DataCell] = field(default_factory=list)

    @classmethod
    def of(cls, cells: Iterable[DataCell]) -> NumberIndex:
        """Return an index of the cells that are numbers."""
        numbers = ((float(cell.number), cell) for cell in cells if cell.number is not None)
        pairs = sorted(numbers, key=lambda pair: pair[0])
        return cls([value for value, _ in pairs], [cell for _, cell in pairs])

    def between(self, low: Decimal, high: Decimal) -> list[DataCell]:
        """Return the cells with values from `low` to `high`; each bound is widened by the rounding error of floats."""
        error = 1e-12 * max(abs(float(low)), abs(float(high)))
        return self.cells[bisect_left(self.values, float(low) - error) : bisect_right(self.values, float(high) + error)]


def bindable_cells(data: Data) -> list[DataCell]:
    """Return the cells to which a number may be bound: all except row keys."""
    row_keys = {
        row[column].address
        for table in data.tables.values()
        for row in table.rows.values()
        for column in table.key
        if column in row
    }
    return [cell for cell in data.cells.values() if cell.address not in row_keys]


def candidates(numeral: TypedNumber, index: NumberIndex) -> list[Candidate]:
    """Return cells whose value prints as the typed number: unchanged, as a percentage, or without the minus sign."""
    half_unit = Decimal(5).scaleb(-numeral.decimals - 1)
    candidate_by_address: dict[str, Candidate] = {}
    percent_format = re.sub(r"(?:\.(\d+)[fn]|d)$", rf".{numeral.decimals}p", numeral.format)
    variants = [(1, numeral.value, numeral.format, True), (100, numeral.value, percent_format, numeral.percent)]
    if numeral.value > 0 and "+" not in numeral.format:
        variants += [(scale, -value, f"!{format}", False) for scale, value, format, _ in variants]
    for scale, value, format, is_plain in variants:
        for cell in index.between((value - half_unit) / scale, (value + half_unit) / scale):
            assert cell.number is not None
            number = cell.number * scale
            if cell.address in candidate_by_address or not number or round_half_up(number, numeral.decimals) != value:
                continue
            if parse_format(format).show(cell.number) == numeral.text:
                candidate_by_address[cell.address] = Candidate(cell, format, number == value, is_plain)
    return list(candidate_by_address.values())


def rank_candidates(numeral: TypedNumber, matches: list[Candidate]) -> list[Candidate]:
    """Return candidates sorted by how many words their address shares with the text near the number, most first."""
    if len(matches) < 2 or len(matches) > 200:
        return matches
    text = numeral.source.text
    nearby_words = set(re.findall(r"[a-z]{3,}|\d[\w.]+", text[max(0, numeral.start - 400) : numeral.end + 200].lower()))

    def rank(candidate: Candidate) -> tuple[int, bool, int]:
        words = set(re.findall(r"[a-z]{3,}|\d[\w.]+", candidate.cell.address.lower()))
        return -len(words & nearby_words), not candidate.exact, len(candidate.cell.address)

    return sorted(matches, key=rank)


def number_findings(paper: AdoptedPaper, old_cells: Mapping[str, DataCell], revision: str) -> list[NumberFinding]:
    """Return a finding for each typed number; a number is stale if it only matches the old value of a changed cell."""
    folder = paper.folder
    index = NumberIndex.of(bindable_cells(paper.data))
    changed_cells = [
        cell
        for address, cell in old_cells.items()
        if address in paper.data.cells and paper.data.cells[address].number != cell.number
    ]
    old_index = NumberIndex.of(changed_cells)
    findings = []
    for file in paper.sources:
        if any(fnmatch(file.shown, pattern) for pattern in folder.ignored):
            continue
        for numeral in typed_numbers(file, folder.macro, folder.names):
            matches = rank_candidates(numeral, candidates(numeral, index))
            stale_cell = None
            may_be_stale = not matches and numeral.significant >= SAFE_DIGITS - 1
            if may_be_stale and (old_matches := rank_candidates(numeral, candidates(numeral, old_index))):
                cell = old_matches[0].cell
                stale_cell = cell, paper.data.cells[cell.address].text or "empty"
            findings.append(NumberFinding(numeral, tuple(matches), stale_cell, revision, folder.macro))
    return findings


def bind_numbers(paper: AdoptedPaper, bindings: Iterable[tuple[TypedNumber, Candidate]]) -> dict[LatexFile, str]:
    """Return the new texts of the files in which numbers are bound, so that each number prints as it was typed."""
    bindings_by_file: dict[int, list[tuple[TypedNumber, Candidate]]] = defaultdict(list)
    for numeral, candidate in bindings:
        bindings_by_file[id(numeral.source)].append((numeral, candidate))
    new_texts = {}
    for file in paper.sources:
        text = file.text
        for numeral, candidate in sorted(bindings_by_file[id(file)], key=lambda binding: -binding[0].start):
            text = f"{text[: numeral.start]}\\{paper.folder.macro}{{{candidate.key}}}{text[numeral.end :]}"
        if text != file.text:
            new_texts[file] = text
    return new_texts
