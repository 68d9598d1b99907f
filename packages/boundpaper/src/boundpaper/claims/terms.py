"""Define terms of declared claims: the cells that a claim names, and formulas on these cells.

    HEIGHTS = Artifact("bean_heights", "the table of heights")
    sun = HEIGHTS(day="{day}", lamp="sun", metric="mean")

Calling an `Artifact` with column values gives the printed cell of one row; `-`, `+`, `/` and the functions of this
module combine cells into terms. A term computed from printed cells also has the range that their rounding allows. A
name in braces is replaced by the key of that name. A conversion changes the key: `{day!w}` writes blanks for
underscores, `!l` writes small letters, and `!c` a capital at the start; a text that is only `{day!i}` becomes an int.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import pandas as pd

from boundpaper.claims.judge import QuotedCell, quote_row
from boundpaper.errors import SpecError
from boundpaper.statistics import rounding
from boundpaper.statistics.rounding import Interval
from boundpaper.store.frames import pick

Frames = Mapping[str, pd.DataFrame]
Keys = Mapping[str, Any]
_NOT_EMPTY = object()  # selects all numbers of a column in `Artifact.only`


class _KeyFormatter(string.Formatter):
    def convert_field(self, value: Any, conversion: str | None) -> Any:
        if conversion == "w":
            return str(value).replace("_", " ")
        if conversion == "l":
            return str(value).lower()
        return str(value).capitalize() if conversion == "c" else super().convert_field(value, conversion)


_FORMATTER = _KeyFormatter()


def fill(text: Any, keys: Keys, *cell_values: Any) -> Any:
    """Return a text in which `{name}` is replaced by the key of this name, and `{0}` by the first of `cell_values`.

    A text that is only `"{day}"` becomes the key itself, of any type; names in a key are replaced too. Any other value
    is returned unchanged. Raises SpecError for an unknown key.
    """
    if not isinstance(text, str) or "{" not in text:
        return text
    if text[1:-1] in keys and text == f"{{{text[1:-1]}}}":
        return fill(keys[text[1:-1]], keys, *cell_values)
    if text.endswith("!i}") and text[1:-3] in keys:
        return int(keys[text[1:-3]])
    try:
        return _FORMATTER.vformat(text, cell_values, keys)
    except (KeyError, IndexError, AttributeError, ValueError) as error:
        raise SpecError(
            f"{text!r} cannot be filled in: {error}; known are {', '.join(keys)} and {len(cell_values)} cells"
        ) from None


@dataclass(frozen=True)
class TermValue:
    """The value of a cell or term: its printed text, number, range (None if exact), decimals and row."""

    printed: str
    value: float | None
    interval: Interval | None
    decimals: int | None = None
    row: Any = None

    @property
    def quoted_cell(self) -> QuotedCell:
        """Return this value as a printed cell."""
        interval = self.interval or rounding.exact(self.number)
        return QuotedCell(self.printed, self.value, self.decimals, interval)

    @property
    def number(self) -> float:
        """Return the number; raise DataError for a word or a range."""
        return QuotedCell(self.printed, self.value, self.decimals, Interval(0, 0)).number

    def __format__(self, spec: str) -> str:
        return format(self.number, spec) if spec else self.printed


class Term:
    """A quantity with one number per set of keys."""

    def read(self, frames: Frames, keys: Keys) -> TermValue:
        """Return the value for these keys, read from the artifacts in `frames`."""
        raise NotImplementedError

    def cells(self) -> Iterator[ArtifactCell]:
        """Yield the cells of the term, in order."""
        raise NotImplementedError

    def __sub__(self, other: Term) -> Term:
        return CombinedTerm((self, other), lambda a, b: a - b, lambda a, b: a - b)

    def __add__(self, other: Term) -> Term:
        return CombinedTerm((self, other), lambda a, b: a + b, lambda a, b: a + b)

    def __truediv__(self, other: Term) -> Term:
        return CombinedTerm((self, other), lambda a, b: a / b, rounding.ratio)

    def __neg__(self) -> Term:
        return CombinedTerm((self,), lambda a: 0 - a, lambda a: -a)


@dataclass(frozen=True)
class CombinedTerm(Term):
    """A number computed from other terms, with one formula for numbers and another for ranges."""

    terms: tuple[Term, ...]
    number: Callable[..., float]
    interval: Callable[..., Interval]

    def read(self, frames: Frames, keys: Keys) -> TermValue:
        """Return the value, with a range unless all inputs are exact; a single input passes on its decimals."""
        inputs = [term.read(frames, keys) for term in self.terms]
        number = self.number(*(value.number for value in inputs))
        if all(value.interval is None for value in inputs):
            return TermValue(f"{number:g}", number, None)
        interval = self.interval(*(value.interval or rounding.exact(value.number) for value in inputs))
        return TermValue(f"{number:g}", number, interval, inputs[0].decimals if len(inputs) == 1 else None)

    def cells(self) -> Iterator[ArtifactCell]:
        """Yield the cells of the terms, in order."""
        for term in self.terms:
            yield from term.cells()


@dataclass(frozen=True)
class ArtifactCell(Term):
    """A cell of one row of an artifact: the printed cell, or a number in another column.

    Attributes
    ----------
    artifact : Artifact
        The table.
    where : mapping
        The columns, and their values, that select the row; values may have names in braces.
    column : str
        The column of the number, perhaps with names in braces; empty for the printed cell.
    ends : tuple of str
        The two columns with the ends of the number's range; empty if the number is exact.
    judged : tuple of str
        The ledger rows that judge the number, perhaps with names in braces; a repeat of the number gets their verdict.
    """

    artifact: Artifact
    where: Mapping[str, object]
    column: str = ""
    ends: tuple[str, ...] = ()
    judged: tuple[str, ...] = ()

    def by(self, *claims: str) -> ArtifactCell:
        """Return a copy of the cell with the names of the ledger rows that judge its number."""
        return replace(self, judged=claims)

    def at(self, **where: object) -> ArtifactCell:
        """Return a copy of the cell with more conditions on its row: columns and their values."""
        return replace(self, where={**self.where, **where})

    def read(self, frames: Frames, keys: Keys) -> TermValue:
        """Return the printed cell, or the number in the column."""
        selection = {name: fill(value, keys) for name, value in self.where.items()}
        row = pick(self.artifact.frame(frames), **selection)
        if not self.column:
            if pd.isna(row["low"]) and pd.notna(row.get("as_number")):
                cell = cell_in_words(str(row["printed"]), float(row["as_number"]))
            else:
                cell = quote_row(row, selection)
            return TermValue(cell.printed, cell.value, cell.interval, cell.decimals, row)
        value = float(row[fill(self.column, keys)])
        interval = Interval(*(float(row[end]) for end in self.ends)) if self.ends else None
        return TermValue(f"{value:g}", value, interval, row=row)

    def cells(self) -> Iterator[ArtifactCell]:
        """Yield this cell."""
        yield self


def cell_in_words(printed: str, number: float) -> QuotedCell:
    """Return a cell that prints a whole number as words; its range is half a unit to each side."""
    return QuotedCell(printed, number, 0, Interval(number - 0.5, number + 0.5))


@dataclass(frozen=True)
class Artifact:
    """An artifact that a declared claim reads, with a label, a selection of rows, and added columns.

    The build reads the name from the source text, so write it as a literal in the file of the claim.

    Attributes
    ----------
    name : str
        Name of the artifact.
    label : str
        What reasons call the artifact; by default the cell's section.
    only : tuple of pairs
        Columns and their selected values; use `where` and `printed` to add a pair.
    added : tuple of pairs
        New text columns and their templates; use `assign` to add a pair.

    Examples
    --------
    >>> from boundpaper.claims import Artifact
    >>> HEIGHTS = Artifact("bean_heights", "the table of heights")
    >>> dict(HEIGHTS(day=14, lamp="sun").where)
    {'day': 14, 'lamp': 'sun'}
    """

    name: str
    label: str = ""
    only: tuple[tuple[str, object], ...] = ()
    added: tuple[tuple[str, str], ...] = ()

    def __call__(self, **where: object) -> ArtifactCell:
        """Return the printed cell of the row that `where` selects."""
        return ArtifactCell(self, where)

    def value(self, column: str, ends: tuple[str, str] | tuple[()] = (), /, **where: object) -> ArtifactCell:
        """Return the cell with the number in `column` of the row that `where` selects.

        Parameters
        ----------
        column : str
            A column of numbers, perhaps with names in braces.
        ends : pair of str
            Columns with the ends of the number's range; empty if the number is exact.
        where
            Columns, and their values in the row.
        """
        return ArtifactCell(self, where, column, ends)

    def where(self, **columns: object) -> Artifact:
        """Return the artifact limited to the rows that have these values in these columns.

        Parameters
        ----------
        columns
            Columns, each with a value or a tuple of allowed values.
        """
        return replace(self, only=(*self.only, *columns.items()))

    def assign(self, **columns: str) -> Artifact:
        """Return the artifact with added text columns, in which names in braces are replaced by the values of each row.

        Parameters
        ----------
        columns
            New columns, each with its template.
        """
        return replace(self, added=(*self.added, *columns.items()))

    def printed(self) -> Artifact:
        """Return the artifact limited to rows whose printed cell is a number or a range."""
        return replace(self, only=(*self.only, ("low", _NOT_EMPTY)))

    def rows(self, *columns: str) -> Rows:
        """Return the distinct rows of these columns, in order, as sets of keys for a relation.

        Parameters
        ----------
        columns : str
            Columns of the artifact; by default all rows with all columns.
        """
        return Rows(self, columns)

    def frame(self, frames: Frames) -> pd.DataFrame:
        """Return the selected rows of the artifact, with the added columns.

        Parameters
        ----------
        frames : mapping of str to DataFrame
            Artifacts by name.
        """
        rows = frames[self.name]
        for name, value in self.only:
            if value is _NOT_EMPTY:
                rows = rows[rows[name].notna()]
            else:
                rows = rows[rows[name].isin(value) if isinstance(value, tuple) else rows[name] == value]
        for name, template in self.added:
            keys_by_row = cast("list[dict[str, Any]]", rows.rename(columns=str).to_dict("records"))
            rows = rows.assign(**{name: [fill(template, keys) for keys in keys_by_row]})
        return rows


@dataclass(frozen=True)
class Rows:
    """The distinct combinations of values in some columns of an artifact; without columns, all rows."""

    artifact: Artifact
    columns: tuple[str, ...]

    def keys(self, frames: Frames) -> list[dict[str, Any]]:
        """Return the set of keys of each distinct row."""
        rows = self.artifact.frame(frames)
        distinct_rows = rows[list(self.columns)].drop_duplicates() if self.columns else rows
        return [{str(name): value for name, value in row.items()} for _, row in distinct_rows.iterrows()]


def mean(*terms: Term) -> Term:
    """Return the mean of several terms."""
    return CombinedTerm(
        terms, lambda *numbers: sum(numbers) / len(numbers), lambda *intervals: rounding.mean(intervals)
    )


def percent_change(before: Term, after: Term) -> Term:
    """Return the change from `before` to `after` in percent, 100 (after / before - 1)."""
    return CombinedTerm((before, after), lambda a, b: 100 * (b / a - 1), rounding.percent_change)


def percent_lost(before: Term, after: Term) -> Term:
    """Return the decline from `before` to `after` in percent, 100 (1 - after / before)."""
    return CombinedTerm(
        (before, after), lambda a, b: 100 * (1 - b / a), lambda a, b: rounding.relative_decline(a, b) * 100
    )


def percent_share(part: Term, rest: Term) -> Term:
    """Return the share of `part` in the sum of both terms in percent, 100 part / (part + rest)."""

    def share(part: Interval, rest: Interval) -> Interval:
        quotient = rounding.ratio(rest, part)  # in 100 / (1 + rest / part), each interval occurs once
        return Interval(100 / (1 + quotient.high), 100 / (1 + quotient.low))

    return CombinedTerm((part, rest), lambda a, b: 100 * a / (a + b), share)
