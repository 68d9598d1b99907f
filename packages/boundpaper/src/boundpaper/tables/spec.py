"""Define the specification of a table, two frozen dataclasses, and check specifications."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from dataclasses import field as member
from typing import TYPE_CHECKING, Any, Literal

from boundpaper.errors import SpecError
from boundpaper.suggestions import or_known
from boundpaper.typeset.numbers import (
    P_LEVELS,
    AsPrinted,
    Fixed,
    IntervalFormat,
    PValue,
    Scientific,
    Show,
    Uncertain,
    Words,
)
from boundpaper.typeset.text import prose

if TYPE_CHECKING:
    import pandas as pd

Align = Literal["left", "right", "center"]
Size = Literal["small", "footnotesize", "scriptsize"]
LENGTH = re.compile(r"\d+(\.\d+)?(mm|cm|in|pt|em)")
SIZES: tuple[Size, ...] = ("small", "footnotesize", "scriptsize")


@dataclass(frozen=True)
class Column:
    r"""A column of a table.

    Attributes
    ----------
    field : str
        The column of `rows` to show. A name that is not text, such as a year or a pair of names, may be given as it is
        or as text: `2019`, or `height mean` for the pair.
    title : str
        Heading of the column: prose with `$math$` and `*emphasis*`, in which `\n` breaks the line.
    show : format, optional
        Format from `boundpaper.typeset.numbers`; optional for text and whole numbers.
    digits : str, optional
        Field with each row's digits after the point, for rows of different units. They replace the digits of `fixed`.
    uncertainty : str, optional
        Field of standard deviations or errors, shown as `value ± uncertainty`.
    ci : (str, str), optional
        Fields of the interval's ends, shown as `value [low, high]`.
    p : str, optional
        Field of p-values, shown as stars, which the notes explain. An empty p-value has no star.
    mark : str, optional
        Field of footnote marks: names from the table's `marks`, separated by commas.
    title_mark : str, optional
        Footnote marks of the heading: names from the table's `marks`, separated by commas.
    reason : str, optional
        Field with the reasons why cells are empty; to give reasons for several fields, write `field: why; field: why`.
    missing : str, optional
        Reason for each empty cell of the column that has no other reason.
    blank : bool
        Whether a cell may be empty without a reason, as in a column of remarks.
    group : str, optional
        Heading above adjacent columns that have the same `group`.
    best : {"max", "min"}, optional
        Print the best value of each group of rows in bold if its interval (`ci`, or value ± 2 `uncertainty`) overlaps
        no other; needs `ci` or `uncertainty`.
    unit : str, optional
        Unit, printed in parentheses after the title.
    width : str or float, optional
        Width of a paragraph column: a length such as `30mm`, or a fraction of the line. Paragraph columns shrink by a
        common factor if the table would be too wide.
    align : {"left", "right", "center"}, optional
        By default, numbers are right-aligned on their decimal points and text is left-aligned.
    repeat : bool
        If False, a cell that repeats the cell above is blank.

    Examples
    --------
    >>> import boundpaper as bp
    >>> bp.Column("height", "Height", bp.fixed(1), ci=("low", "high"), unit="cm").fields
    ('height', 'low', 'high')
    """

    field: str
    title: str
    show: Show | None = None
    _: KW_ONLY
    digits: str | None = None
    uncertainty: str | None = None
    ci: tuple[str, str] | None = None
    p: str | None = None
    mark: str | None = None
    title_mark: str | None = None
    reason: str | None = None
    missing: str | None = None
    blank: bool = False
    group: str | None = None
    best: Literal["max", "min"] | None = None
    unit: str | None = None
    width: str | float | None = None
    align: Align | None = None
    repeat: bool = True

    @property
    def fields(self) -> tuple[str, ...]:
        """Return the names of all columns of `rows` that this column reads."""
        fields = (self.field, self.digits, self.uncertainty, *(self.ci or ()), self.p, self.mark, self.reason)
        return tuple(field for field in fields if field is not None)


NOTEBOOK_CSS = (
    ".exhibit {border-collapse: collapse; font-variant-numeric: tabular-nums} "
    ".exhibit caption {text-align: left; padding-bottom: .4em} "
    ".exhibit th, .exhibit td {padding: .15em .8em .15em 0; text-align: left; font-weight: normal} "
    ".exhibit thead th {font-weight: bold; vertical-align: bottom} "
    ".exhibit tbody, .exhibit tfoot {border-top: 1px solid} .exhibit tfoot {font-size: smaller} "
    ".exhibit .right {text-align: right} .exhibit .center {text-align: center} .exhibit td.right {white-space: nowrap}"
)
"""CSS of a table in a notebook, where the site's style sheet is absent."""


@dataclass(frozen=True, kw_only=True)
class Table:
    r"""A table: data, columns, caption and notes.

    Attributes
    ----------
    rows : DataFrame
        The rows of the table in order. A field is a column of `rows`.
    columns : sequence of Column
    caption : str
        Prose (`boundpaper.typeset.text.prose`): plain text, `$math$`, `*emphasis*`, `[@key]`.
    short : str, optional
        Caption for the list of tables; by default the caption's first sentence without citations.
    note : str or sequence of str
        Prose below the table: a paragraph, or a sequence of paragraphs.
    marks : mapping of str to str
        The text of each footnote (prose) by the name of its mark. Used footnotes get the letters a, b, c, ... in order
        of appearance; unused footnotes are not printed.
    reason : str, optional
        Field of reasons for columns without `reason`.
    groups : str, optional
        Field whose value names the group of a row; a group of rows starts where the value changes.
    group_style : {"row", "rule"}
        Whether a group begins with a row that shows its name, or only with a rule.
    rule_before : str, optional
        Boolean field: whether a rule precedes the row.
    levels : tuple of float
        Significance levels for one, two, ... stars.
    long : bool
        Whether the table may break across pages.
    landscape : bool
        Whether the table is rotated by 90 degrees.
    size : {"small", "footnotesize", "scriptsize"}, optional
        Font size; by default the largest at which the estimated width fits the page.
    column_space : float, optional
        Half the space between columns in pt; by default chosen with `size`.
    space : str or int, optional
        Small spaces between rows: 1 for spaces between all rows, 0 for none, or a field. Adjacent rows of equal value
        form a block, and a space separates two blocks if either has several rows. By default 1 for a table with
        paragraph columns, else the field of the first column with `repeat=False`, else 0.
    units : str, optional
        Field of each row's unit: numbers line up only in rows of equal unit. By default, they line up in all rows.
    entry : str, optional
        Field with the subjects of each row, `claim:NAME` or `artifact:NAME`, separated by blanks. In the thesis,
        verdicts and numbers link to this row; in LaTeX, a row about one claim ends with the page of the claim's first
        mark in the text.

    Examples
    --------
    >>> import boundpaper as bp
    >>> import pandas as pd
    >>> heights = pd.DataFrame({"lamp": ["sun", "shade"], "height": [18.42, 3.1]})
    >>> columns = [bp.Column("lamp", "Lamp"), bp.Column("height", "Height", bp.fixed(1), unit="cm")]
    >>> print(bp.Table(rows=heights, columns=columns, caption="Heights.").to_markdown("heights"))
    <!-- Table heights: made from table:heights; do not edit. -->
    <BLANKLINE>
    **Table heights.** Heights.
    <BLANKLINE>
    | Lamp  | Height (cm) |
    | ----- | ----------: |
    | sun   |        18.4 |
    | shade |         3.1 |
    <BLANKLINE>
    """

    rows: pd.DataFrame
    columns: Sequence[Column]
    caption: str
    short: str | None = None
    note: str | Sequence[str] = ()
    marks: Mapping[str, str] = member(default_factory=dict)
    reason: str | None = None
    groups: str | None = None
    group_style: Literal["row", "rule"] = "row"
    rule_before: str | None = None
    levels: tuple[float, ...] = P_LEVELS
    long: bool = False
    landscape: bool = False
    size: Size | None = None
    column_space: float | None = None
    space: str | int | None = None
    units: str | None = None
    entry: str | None = None

    @property
    def fields(self) -> tuple[str, ...]:
        """Return the names of the columns of `rows` that the table itself reads; each `Column` has its own `fields`."""
        space = self.space if isinstance(self.space, str) else None
        fields = (self.reason, self.groups, self.rule_before, space, self.units, self.entry)
        return tuple(field for field in fields if field is not None)

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the note's paragraphs."""
        return (self.note,) if isinstance(self.note, str) else tuple(self.note)

    def to_latex(self, name: str = "table") -> str:
        """Return the table in LaTeX, with the label `tab:NAME`; the second line names the required packages.

        Parameters
        ----------
        name : str
            Name of the table, for its label and for messages.
        """
        return self._rendered(name, "latex")

    def to_markdown(self, name: str = "table") -> str:
        """Return the table in Markdown.

        Parameters
        ----------
        name : str
            Name of the table, for its label and for messages.
        """
        return self._rendered(name, "markdown")

    def to_html(self, name: str = "table") -> str:
        """Return the table as an HTML element with the id `tab-NAME`.

        Parameters
        ----------
        name : str
            Name of the table, for its label and for messages.
        """
        return self._rendered(name, "html")

    def _repr_html_(self) -> str:
        return f"<style>{NOTEBOOK_CSS}</style>\n{self.to_html()}"

    def _rendered(self, name: str, format: str) -> str:
        from boundpaper.tables.render import render

        return render(self, name, format)


def mark_names(marks: str) -> tuple[str, ...]:
    """Return the names of footnote marks in a text, in which commas or semicolons separate them."""
    return tuple(name.strip() for name in marks.replace(";", ",").split(",") if name.strip())


def with_text_names(table: Table) -> Table:
    """Return the table with all column names as text, since a frame's names may be numbers, dates or pairs."""
    rows = table.rows.copy(deep=False)
    rows.columns = list(map(_as_text, table.rows.columns))
    columns = [_with_text_fields(column, _COLUMN_FIELDS) for column in table.columns]
    renamed: Table = _with_text_fields(table, _TABLE_FIELDS)
    return replace(renamed, rows=rows, columns=columns)


_COLUMN_FIELDS = ("field", "title", "digits", "uncertainty", "p", "mark", "reason", "ci")
_TABLE_FIELDS = ("reason", "groups", "rule_before", "units", "entry")


def _with_text_fields(spec: Any, fields: tuple[str, ...]) -> Any:
    text_fields: dict[str, Any] = {}
    for field in fields:
        value = getattr(spec, field)
        if field == "ci" and isinstance(value, tuple | list):
            text_fields[field] = tuple(map(_as_text, value))
        elif value is not None:
            text_fields[field] = _as_text(value)
    return replace(spec, **text_fields)


def _as_text(name: object) -> str:
    if isinstance(name, tuple):
        return " ".join(str(level) for level in name if str(level))
    return str(name)


def check(table: Table, name: str) -> None:
    """Raise SpecError, which names the table, if a Table cannot be rendered.

    Reasons are a table without rows or columns, a field that `rows` lacks, a field that two columns show, an
    unexplained mark, and contradictory options.
    """
    context = f"table {name}"
    if not table.columns:
        raise SpecError(f"{context} has no columns: give columns=")
    if not len(table.rows):
        raise SpecError(f"{context} has no rows: check the selection of rows")
    if not table.caption.strip():
        raise SpecError(f"{context} has no caption: describe the rows")
    columns = [str(column) for column in table.rows.columns]
    if repeated := sorted({field for field in columns if columns.count(field) > 1}):
        raise SpecError(f"{context}: rows has two columns named {repeated[0]!r}: rename one")
    for column in table.columns:
        _check_column(column, table, context)
    for subject, text in _author_texts(table):
        try:
            prose(text, "latex")
        except SpecError as error:
            raise SpecError(f"{context}, {subject}: {error}") from None
    needed_fields = [(field, f"column {column.title!r}") for column in table.columns for field in column.fields]
    needed_fields += [(field, "table") for field in table.fields]
    for field, reader in needed_fields:
        if field not in columns:
            raise SpecError(
                f"{context}: {reader} reads {field!r}, but rows has no such column{or_known(field, columns)}; "
                f"it has {', '.join(columns)}"
            )
    shown_fields = [column.field for column in table.columns]
    if repeated := sorted({field for field in shown_fields if shown_fields.count(field) > 1}):
        raise SpecError(
            f"{context} shows the field {repeated[0]!r} in two columns: copy it under a second name if this is intended"
        )
    if table.group_style not in ("row", "rule"):
        raise SpecError(f"{context}: group_style must be 'row' or 'rule', not {table.group_style!r}")
    if table.size is not None and table.size not in SIZES:
        raise SpecError(f"{context}: size must be one of {', '.join(SIZES)}, not {table.size!r}")
    if list(table.levels) != sorted(table.levels, reverse=True) or not all(0 < level < 1 for level in table.levels):
        raise SpecError(f"{context}: levels must be between 0 and 1, the largest (one star) first, not {table.levels}")
    if table.space not in (None, 0, 1) and not isinstance(table.space, str):
        raise SpecError(
            f"{context}: space must be 1 (between rows), 0 (nowhere) or a field (where its value changes), not "
            f"{table.space}"
        )


def _author_texts(table: Table) -> Iterator[tuple[str, str]]:
    """Yield the texts that the author wrote, each as a pair of a description, such as "caption", and the text."""
    yield "caption", table.caption
    yield "short caption", table.short or ""
    yield from (("note", note) for note in table.notes)
    yield from ((f"mark {mark!r}", text) for mark, text in table.marks.items())
    for column in table.columns:
        yield from ((f"title of {column.field!r}", line) for line in column.title.split("\n"))
        yield f"group of {column.field!r}", column.group or ""
        yield f"unit of {column.field!r}", column.unit or ""


def _check_column(column: Column, table: Table, context: str) -> None:
    show, width = column.show, column.width
    has_spread = column.uncertainty is not None or column.ci is not None
    fault = ""
    if column.best not in (None, "max", "min"):
        fault = f": best must be 'max' or 'min', not {column.best!r}"
    elif column.best and not has_spread:
        fault = ": best needs uncertainty= or ci=, since otherwise no value is distinguishable from the next"
    elif column.uncertainty is not None and column.ci is not None:
        fault = " has both uncertainty= and ci=: choose one, and show the other in a separate column"
    elif isinstance(show, Uncertain) and not has_spread:
        fault = " is shown as uncertain() but names neither uncertainty= nor ci="
    elif has_spread and isinstance(show, (Words, AsPrinted, PValue, IntervalFormat)):
        fault = f": {type(show).__name__.lower()} cannot have uncertainty= or ci=: use fixed(digits)"
    elif has_spread and isinstance(show, Scientific):
        fault = ": scientific() cannot have uncertainty= or ci=: scale the column and give the power in unit="
    elif isinstance(show, IntervalFormat):
        fault = ": interval() is for prose; in a table give the estimate and ci=(low, high)"
    elif column.digits is not None and not isinstance(show, Fixed):
        fault = ": digits=, the field of each row's digits, is only for fixed(digits)"
    elif width is not None and not isinstance(show, (Words, type(None))):
        fault = ": width= makes a paragraph column, which is only for text"
    elif isinstance(width, str) and not LENGTH.fullmatch(width):
        fault = f": width must be a number with mm, cm, in, pt or em, or a fraction of the line, not {width!r}"
    elif isinstance(width, (int, float)) and not 0 < width <= 1:
        fault = f": width must be a fraction of the line, above 0 and at most 1, not {width}"
    elif column.align not in (None, "left", "right", "center"):
        fault = f": align must be 'left', 'right' or 'center', not {column.align!r}"
    elif unknown := [name for name in mark_names(column.title_mark or "") if name not in table.marks]:
        fault = f": the mark {unknown[0]!r} is not explained in marks={or_known(unknown[0], table.marks)}"
    if fault:
        raise SpecError(f"{context}, column {column.title!r}{fault}")
