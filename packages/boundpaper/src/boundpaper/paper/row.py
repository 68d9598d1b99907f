r"""Print rows of artifacts in chapters: an estimate with interval and p-value in a fixed notation.

`r('height_tests', 'light', 'pearson')` is the row that contains these words, in any column. It is printed as its
estimate: `-0.67 [-0.95, 0.16], p = 0.067, Holm p = 0.49`; a format applies to the value and both ends (`| percent(0)`),
`.bare` omits p, and `.ci_low` and so on are cells. `use('height_tests', test='pearson')` returns a function for an
artifact that a chapter reads often: `<% set tests = use(...) %>`, then `<< tests('light') >>`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from boundpaper.errors import SpecError
from boundpaper.paper.bound import Origin, bound
from boundpaper.paper.lookup import cells_equal, one_row
from boundpaper.suggestions import or_known

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from boundpaper.typeset.glyphs import Output

# Columns in results of a value, the ends of its interval, its p-value, and the p-value corrected for its family.
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
        """Return a number as LaTeX."""
        ...


@dataclass(frozen=True)
class Row:
    """One row of an artifact.

    Attributes
    ----------
    artifact : str
        Name of the artifact, for messages.
    cells : mapping of str to object
        The row's cells by column.
    where : tuple of (str, str)
        The cells that identify the row, by column.
    format : Format or None
        Format of value and interval; by default two digits after the point.
    p : bool
        Whether the p-value follows.
    """

    artifact: str
    cells: Mapping[str, Any]
    where: tuple[tuple[str, str], ...] = ()
    format: Format | None = None
    p: bool = True

    @property
    def bare(self) -> Row:
        """Return the estimate and its interval without the p-value."""
        return replace(self, p=False)

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
            wanted = ", ".join(shape[0] for shape in SHAPES)
            raise SpecError(f"{self.artifact} has no estimate (a column {wanted}): name the cell, as in .{self._any()}")
        value, low, high, p, adjusted = shapes[0]
        form, show_p = self.format or fixed(DIGITS), pvalue(relation=True)
        text = form.show(self._require_cell(value), "latex")
        if not self._empty(low) and not self._empty(high):
            text += f" [{form.show(self._require_cell(low), 'latex')}, {form.show(self._require_cell(high), 'latex')}]"
        if self.p and not self._empty(p):
            text += f", $p$~{show_p.show(self._require_cell(p), 'latex')}"
            if not self._empty(adjusted) and self._require_cell(adjusted) != self._require_cell(p):
                text += f", Holm $p$~{show_p.show(self._require_cell(adjusted), 'latex')}"
        return text

    def __getattr__(self, column: str) -> Any:
        if column.startswith("__"):
            raise AttributeError(column)
        return self._require_cell(column)

    def _require_cell(self, column: str) -> Any:
        if column not in self.cells:
            raise SpecError(f"{self.artifact} has no column {column!r}{or_known(column, self.cells)}")
        if self._empty(column):
            why = "" if self._empty("reason") else f" ({self.cells['reason']})"
            raise SpecError(f"{self.artifact}: {column} is empty for {self._any(shown=True)}{why}")
        cell = self.cells[column]
        return bound(cell.item() if hasattr(cell, "item") else cell, [Origin(self.artifact, column, self.where)])

    def _empty(self, column: str) -> bool:
        cell = self.cells.get(column)
        return cell is None or cell != cell or str(cell) in ("", "<NA>")

    def _any(self, *, shown: bool = False) -> str:
        """Return the first column that is not empty, as an example for a message; with `shown`, also its value."""
        column = next(name for name, cell in self.cells.items() if name != "study" and not self._empty(name))
        return f"{column}={self.cells[column]!r}" if shown else column


def row(frame: pd.DataFrame, artifact: str, words: tuple[str, ...], where: dict[str, Any]) -> Row:
    """Return the only row that contains `words` and whose columns have the values of `where`.

    Raises SpecError for a word in no column (it suggests the nearest) or in several columns, for no row, or for several
    rows.
    """
    keys = dict(where)
    for word in words:
        columns = [name for name in frame.columns if name not in keys and name != "study" and _holds_names(frame[name])]
        holding = [name for name in columns if cells_equal(frame[name], word).any()]
        if not holding:
            known = dict.fromkeys(str(cell) for name in columns for cell in frame[name])
            raise SpecError(f"{artifact} has no {word!r}{or_known(word, known)}")
        if len(holding) > 1:
            shown = " or ".join(f"{name}={word!r}" for name in holding)
            raise SpecError(f"{artifact} has {word!r} in {len(holding)} columns: write {shown}")
        keys[holding[0]] = word
    only = one_row(frame, artifact, keys)
    cells = {str(name): only[name].iloc[0] for name in only.columns}
    return Row(artifact, cells, tuple((name, str(wanted)) for name, wanted in keys.items()))


def row_reader(frame: pd.DataFrame, artifact: str, fixed: dict[str, Any]) -> Callable[..., Row]:
    """Return a function that returns rows of one artifact, with some columns fixed.

    Raises SpecError at once if a fixed column or its value does not exist.
    """
    for column, wanted in fixed.items():
        if column not in frame.columns:
            raise SpecError(f"{artifact} has no column {column!r}{or_known(column, frame.columns)}")
        if not cells_equal(frame[column], wanted).any():
            known = dict.fromkeys(str(cell) for cell in frame[column])
            raise SpecError(f"{artifact} has no {column} {str(wanted)!r}{or_known(str(wanted), known)}")

    def rows(*words: str, **where: Any) -> Row:
        return row(frame, artifact, words, {**fixed, **where})

    return rows


def _holds_names(column: pd.Series[Any]) -> bool:
    """Return whether a column holds names rather than numbers."""
    from pandas.api.types import is_numeric_dtype

    return not is_numeric_dtype(column)
