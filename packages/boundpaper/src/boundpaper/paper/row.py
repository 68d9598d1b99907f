r"""Print rows of artifacts in chapters: an estimate with interval and p-value in a fixed notation.

`r('height_tests', 'light', 'pearson')` is the row that contains these words, in any column. It is printed as its
estimate: `-0.67 [-0.95, 0.16], p = 0.067, Holm p = 0.49`. A format (`| percent(0)`) applies to the value and both ends
of the interval, `.bare` omits p, and an attribute such as `.ci_low` is the cell of that column. For an artifact that a
chapter reads often, `use('height_tests', test='pearson')` returns a function: after `<% set tests = use(...) %>`,
`<< tests('light') >>` is a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from boundpaper.errors import SpecError
from boundpaper.paper.bound import Origin, bound
from boundpaper.paper.lookup import cells_equal, is_empty, one_row
from boundpaper.suggestions import or_known

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from boundpaper.typeset.glyphs import Output

# Columns of an estimate, the ends of its interval, its p-value, and its p-value corrected for a family of tests.
SHAPES = (
    ("estimate", "ci_low", "ci_high", "p_value", "p_adjusted"),
    ("difference", "low", "high", "p", "p_holm"),
    ("rho", "low", "high", "p", "p_holm"),
    ("value", "low", "high", "p", "p_holm"),
)
DIGITS = 2


class Format(Protocol):
    """A number format of `boundpaper.typeset.numbers`."""

    def show(self, value: object, format: Output = "latex") -> str:
        """Return a number as text in an output format."""
        ...


@dataclass(frozen=True)
class Row:
    """One row of an artifact.

    Attributes
    ----------
    artifact : str
        Name of the artifact.
    cells : mapping of str to object
        The row's cells by column.
    where : tuple of (str, str)
        The cells that identify the row, by column.
    format : Format or None
        Format of value and interval; by default two digits after the point.
    with_p : bool
        Whether the p-value is printed.
    """

    artifact: str
    cells: Mapping[str, Any]
    where: tuple[tuple[str, str], ...] = ()
    format: Format | None = None
    with_p: bool = True

    @property
    def bare(self) -> Row:
        """Return the same row, printed without its p-value."""
        return replace(self, with_p=False)

    def formatted(self, form: Format) -> Row:
        """Return the same row with the number format `form`."""
        return replace(self, format=form)

    @property
    def origins(self) -> tuple[Origin, ...]:
        """Return the origin of the cell that is printed first."""
        column = next((shape[0] for shape in SHAPES if shape[0] in self.cells), "")
        return (Origin(self.artifact, column, self.where),)

    def latex(self) -> str:
        """Return the value in LaTeX, with interval and p-value if the artifact has them.

        Raises SpecError when the artifact has no column with an estimate, or the cell is empty.
        """
        from boundpaper.typeset.numbers import fixed, pvalue

        shapes = [shape for shape in SHAPES if shape[0] in self.cells]
        if not shapes:
            columns = ", ".join(shape[0] for shape in SHAPES)
            example = next(self._filled_columns())
            raise SpecError(f"{self.artifact} has no estimate (no column {columns}): name a column, as in .{example}")
        value, low, high, p, adjusted_p = shapes[0]
        form, p_form = self.format or fixed(DIGITS), pvalue(relation=True)
        text = form.show(self._require_cell(value), "latex")
        if not self._is_empty(low) and not self._is_empty(high):
            text += f" [{form.show(self._require_cell(low), 'latex')}, {form.show(self._require_cell(high), 'latex')}]"
        if self.with_p and not self._is_empty(p):
            text += f", $p$~{p_form.show(self._require_cell(p), 'latex')}"
            if not self._is_empty(adjusted_p) and self._require_cell(adjusted_p) != self._require_cell(p):
                text += f", Holm $p$~{p_form.show(self._require_cell(adjusted_p), 'latex')}"
        return text

    def __getattr__(self, column: str) -> Any:
        if column.startswith("__"):
            raise AttributeError(column)
        return self._require_cell(column)

    def _require_cell(self, column: str) -> Any:
        if column not in self.cells:
            raise SpecError(f"{self.artifact} has no column {column!r}{or_known(column, self.cells)}")
        if self._is_empty(column):
            reason = "" if self._is_empty("reason") else f" ({self.cells['reason']})"
            name = next(self._filled_columns())
            raise SpecError(f"{self.artifact}: {column} is empty for {name}={self.cells[name]!r}{reason}")
        cell = self.cells[column]
        return bound(cell.item() if hasattr(cell, "item") else cell, [Origin(self.artifact, column, self.where)])

    def _is_empty(self, column: str) -> bool:
        return is_empty(self.cells.get(column))

    def _filled_columns(self) -> Iterator[str]:
        return (column for column in self.cells if column != "study" and not self._is_empty(column))


def row(frame: pd.DataFrame, artifact: str, words: tuple[str, ...], where: dict[str, Any]) -> Row:
    """Return the only row that contains `words` and whose columns have the values of `where`.

    Raises SpecError when a word is in no column (the message suggests the nearest word) or in several columns, and when
    no row or several rows match.
    """
    keys = dict(where)
    for word in words:
        names = [name for name in frame.columns if name not in keys and name != "study" and _has_names(frame[name])]
        matches = [name for name in names if cells_equal(frame[name], word).any()]
        if not matches:
            known_words = dict.fromkeys(str(cell) for name in names for cell in frame[name])
            raise SpecError(f"{artifact} has no {word!r}{or_known(word, known_words)}")
        if len(matches) > 1:
            conditions = " or ".join(f"{name}={word!r}" for name in matches)
            raise SpecError(f"{artifact} has {word!r} in {len(matches)} columns: write {conditions}")
        keys[matches[0]] = word
    match = one_row(frame, artifact, keys)
    cells = {str(name): match[name].iloc[0] for name in match.columns}
    return Row(artifact, cells, tuple((name, str(cell)) for name, cell in keys.items()))


def row_reader(frame: pd.DataFrame, artifact: str, conditions: dict[str, Any]) -> Callable[..., Row]:
    """Return a function like `row` that searches only rows whose columns have the values in `conditions`.

    Raises SpecError at once if a column or its value does not exist.
    """
    for column, value in conditions.items():
        if column not in frame.columns:
            raise SpecError(f"{artifact} has no column {column!r}{or_known(column, frame.columns)}")
        if not cells_equal(frame[column], value).any():
            known_words = dict.fromkeys(str(cell) for cell in frame[column])
            raise SpecError(f"{artifact} has no {column} {str(value)!r}{or_known(str(value), known_words)}")
    return lambda *words, **where: row(frame, artifact, words, {**conditions, **where})


def _has_names(column: pd.Series[Any]) -> bool:
    """Return whether a column has names rather than numbers."""
    from pandas.api.types import is_numeric_dtype

    return not is_numeric_dtype(column)
