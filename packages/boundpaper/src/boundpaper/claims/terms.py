"""Define terms: the cells that a declared check names, and formulas on these cells.

    HEIGHTS = Artifact("bean_heights", "the table of heights")
    sun = HEIGHTS(day="{day}", lamp="sun", metric="mean")

Calling an `Artifact` with column values gives the printed cell of one row; `-`, `+`, `/` and the functions of this
module combine cells into terms. A name in braces is replaced by the key of that name; `!w` replaces underscores by
blanks, `!l` lower-cases, `!c` capitalises, and `!i`, alone, converts to int. A term computed from printed cells also
has the range that their rounding allows.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from boundpaper.claims.judge import QuotedCell, quoted
from boundpaper.errors import SpecError
from boundpaper.statistics import rounding
from boundpaper.statistics.rounding import Interval
from boundpaper.store.frames import pick

Frames = Mapping[str, pd.DataFrame]
Keys = Mapping[str, Any]
_PRINTED = object()


class _KeyFormatter(string.Formatter):
    def convert_field(self, value: Any, conversion: str | None) -> Any:
        if conversion == "w":
            return str(value).replace("_", " ")
        if conversion == "l":
            return str(value).lower()
        return str(value).capitalize() if conversion == "c" else super().convert_field(value, conversion)


_FILLING = _KeyFormatter()


def fill(text: Any, keys: Keys, *cell_values: Any) -> Any:
    """Return `text` with names in braces replaced by their keys.

    `"{day}"` alone gives the key itself, of any type; a key that is a text with braces is filled in too. Raises
    SpecError for an unknown key.
    """
    if not isinstance(text, str) or "{" not in text:
        return text
    if text[1:-1] in keys and text == f"{{{text[1:-1]}}}":
        return fill(keys[text[1:-1]], keys, *cell_values)
    if text.endswith("!i}") and text[1:-3] in keys:
        return int(keys[text[1:-3]])
    try:
        return _FILLING.vformat(text, cell_values, keys)
    except (KeyError, IndexError, AttributeError, ValueError) as error:
        raise SpecError(
            f"{text!r} cannot be filled in: {error}; known are {', '.join(keys)} and {len(cell_values)} cells"
        ) from None


@dataclass(frozen=True)
class TermValue:
    """The value of a cell or term: printed text, number, range (None if exact), decimals and row."""

    printed: str
    value: float | None
    interval: Interval | None
    decimals: int | None = None
    row: Any = None

    @property
    def quoted(self) -> QuotedCell:
        """Return this value as a printed cell."""
        interval = self.interval or rounding.exact(self.number)
        return QuotedCell(self.printed, self.value, self.decimals, interval)

    @property
    def number(self) -> float:
        """Return the number; raise DataError for a word or a range."""
        return QuotedCell(self.printed, self.value, self.decimals, self.interval or Interval(0, 0)).number

    def __format__(self, spec: str) -> str:
        return format(self.number, spec) if spec else self.printed


class Term:
    """A quantity with one number per set of keys."""

    def read(self, frames: Frames, keys: Keys) -> TermValue:
        """Return the value for these keys."""
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

    of: tuple[Term, ...]
    number: Callable[..., float]
    interval: Callable[..., Interval]

    def read(self, frames: Frames, keys: Keys) -> TermValue:
        """Return the value, with a range unless all inputs are exact, and with decimals if there is only one input."""
        parts = [term.read(frames, keys) for term in self.of]
        value = self.number(*(part.number for part in parts))
        if all(part.interval is None for part in parts):
            return TermValue(f"{value:g}", value, None)
        interval = self.interval(*(part.interval or rounding.exact(part.number) for part in parts))
        return TermValue(f"{value:g}", value, interval, parts[0].decimals if len(parts) == 1 else None)

    def cells(self) -> Iterator[ArtifactCell]:
        """Yield the cells of its terms."""
        for term in self.of:
            yield from term.cells()


@dataclass(frozen=True)
class ArtifactCell(Term):
    """A cell of one row of an artifact: the printed cell, or the number in `column`, whose range may be in columns
    `ends`.

    Attributes
    ----------
    artifact : Artifact
        The table.
    where : mapping
        Columns and their values, with keys in braces.
    column : str
        A column of numbers, with keys in braces; empty for the printed cell.
    ends : tuple of str
        The two columns with the ends of the number's range; empty if the number is exact.
    judged : tuple of str
        The ledger rows that judge the number, with keys in braces; a repeat of the number gets their verdict.
    """

    artifact: Artifact
    where: Mapping[str, object]
    column: str = ""
    ends: tuple[str, ...] = ()
    judged: tuple[str, ...] = ()

    def by(self, *claims: str) -> ArtifactCell:
        """Return the same cell, marked as judged by the ledger rows `claims`."""
        return replace(self, judged=claims)

    def at(self, **where: object) -> ArtifactCell:
        """Return the cell with further columns that select its row."""
        return replace(self, where={**self.where, **where})

    def filled(self, keys: Keys) -> dict[str, Any]:
        """Return the columns and values that select the row."""
        return {name: fill(value, keys) for name, value in self.where.items()}

    def read(self, frames: Frames, keys: Keys) -> TermValue:
        """Return the printed cell, or the number in the column."""
        frame, selection = self.artifact.frame(frames), self.filled(keys)
        row = pick(frame, **selection)
        if not self.column:
            words = pd.isna(row["low"]) and pd.notna(row.get("as_number"))
            cell = _number_in_words(row) if words else quoted(row, selection)
            return TermValue(cell.printed, cell.value, cell.interval, cell.decimals, row)
        value = float(row[fill(self.column, keys)])
        interval = Interval(*(float(row[end]) for end in self.ends)) if self.ends else None
        return TermValue(f"{value:g}", value, interval, row=row)

    def cells(self) -> Iterator[ArtifactCell]:
        """Yield this cell."""
        yield self


def _number_in_words(row: pd.Series) -> QuotedCell:
    """Return the whole number that a cell prints in words; its range is half a unit to each side."""
    number = float(row["as_number"])
    return QuotedCell(str(row["printed"]), number, 0, Interval(number - 0.5, number + 0.5))


@dataclass(frozen=True)
class Artifact:
    """A named artifact, with its name in reasons, a selection of rows, and added columns.

    The build reads the name from the source text, so write it as a literal in the file of the claim.

    Attributes
    ----------
    name : str
        Name of the artifact.
    label : str
        Its name in reasons; by default the cell's section.
    only : tuple of pairs
        Columns and the selected values, which `where` and `printed` add.
    added : tuple of pairs
        Text columns and their templates, which `assign` adds.

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
        """Return the number in `column` of the selected row, with the range in the columns `ends`, if any.

        Parameters
        ----------
        column : str
            A column of numbers, with keys in braces.
        ends : pair of str
            Columns with the ends of the number's range; empty if the number is exact.
        where
            Columns, and their values in the row.
        """
        return ArtifactCell(self, where, column, ends)

    def where(self, **columns: object) -> Artifact:
        """Return the artifact limited to rows with these values in the columns (a tuple: any of its values).

        Parameters
        ----------
        columns
            Columns, each with a value or a tuple of values.
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
        """Return the artifact limited to rows whose printed cell is not empty."""
        return replace(self, only=(*self.only, ("low", _PRINTED)))

    def rows(self, *columns: str) -> Rows:
        """Return sets of keys for a relation: the distinct values of these columns (by default all columns), in order.

        Parameters
        ----------
        columns : str
            Columns of the artifact.
        """
        return Rows(self, columns)

    def frame(self, frames: Frames) -> pd.DataFrame:
        """Return the selected rows, with the added columns.

        Parameters
        ----------
        frames : mapping of str to DataFrame
            Artifacts by name.
        """
        rows = frames[self.name]
        for name, value in self.only:
            if value is _PRINTED:
                rows = rows[rows[name].notna()]
            else:
                rows = rows[rows[name].isin(value) if isinstance(value, tuple) else rows[name] == value]
        for name, text in self.added:
            rows = rows.assign(
                **{name: [fill(text, {str(key): cell for key, cell in row.items()}) for row in rows.to_dict("records")]}
            )
        return rows


@dataclass(frozen=True)
class Rows:
    """The distinct values of some columns of an artifact."""

    artifact: Artifact
    columns: tuple[str, ...]

    def keys(self, frames: Frames) -> list[dict[str, Any]]:
        """Return one set of keys per distinct row."""
        rows = self.artifact.frame(frames)
        distinct = rows[list(self.columns)].drop_duplicates() if self.columns else rows
        return [{str(name): value for name, value in row.items()} for _, row in distinct.iterrows()]


def mean(*terms: Term) -> Term:
    """Return the mean of several terms."""
    return CombinedTerm(terms, lambda *each: sum(each) / len(each), lambda *each: rounding.mean(each))


def percent_change(before: Term, after: Term) -> Term:
    """Return 100 (after / before - 1)."""
    return CombinedTerm((before, after), lambda a, b: 100 * (b / a - 1), rounding.percent_change)


def percent_lost(before: Term, after: Term) -> Term:
    """Return 100 (1 - after / before)."""
    return CombinedTerm(
        (before, after), lambda a, b: 100 * (1 - b / a), lambda a, b: rounding.relative_decline(a, b) * 100
    )


def percent_share(part: Term, rest: Term) -> Term:
    """Return 100 part / (part + rest); the range uses 100 / (1 + rest / part), in which each term occurs once."""

    def within(part: Interval, rest: Interval) -> Interval:
        quotient = rounding.ratio(rest, part)
        return Interval(100 / (1 + quotient.high), 100 / (1 + quotient.low))

    return CombinedTerm((part, rest), lambda a, b: 100 * a / (a + b), within)
