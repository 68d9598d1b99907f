r"""Write tables in LaTeX, with booktabs rules, notes as wide as the table, and decimals aligned without siunitx."""

import re
from dataclasses import dataclass, replace
from math import ceil
from typing import Literal

from boundpaper.errors import SpecError
from boundpaper.tables.cells import Grid, is_number
from boundpaper.tables.layout import (
    Separator,
    alignment,
    body,
    has_row_space,
    heading_lines,
    label_text,
    note_text,
    separators,
    spanners,
)
from boundpaper.tables.notes import Notes, collect_notes
from boundpaper.tables.template import FOLDER_NAME, fill_template
from boundpaper.tables.width import DEFAULT_PAGE, ROOMY_SPACE, PageWidths, TableFit, fit_table
from boundpaper.typeset.armour import guarded_latex, plain
from boundpaper.typeset.text import citations, escape, prose, without_citations

_ENTRY_NAME = re.compile(r"(?:claim|artifact):[\w.-]+", re.ASCII)
_COLUMN_TYPES = {"left": "l", "right": "r", "center": "c"}
_PARAGRAPH_STYLES = {"left": r"\raggedright", "right": r"\raggedleft", "center": r"\centering"}
_BREAK_POINTS = re.compile(r"(\\_|(?<=\w)/)(?=[\w\\])")
_ABBREVIATIONS = ("vs", "e.g", "i.e", "cf", "al", "fig", "figs", "tab", "sec", "approx", "no", "resp")


@dataclass(frozen=True)
class LatexRow:
    """The cells of a row in LaTeX, its separators from the row above, and the name of the group that it begins."""

    cells: tuple[str, ...]
    before: frozenset[Separator]
    group: str = ""


@dataclass(frozen=True)
class TablePlacement:
    """The page on which a table is placed, and the part of the table to write.

    `spans_both` says whether the table spans both columns of a two-column page. `lines_per_float` is the number of
    lines in each float of a long table on a two-column page, where LaTeX allows no longtable; else it is 0.
    """

    page: PageWidths = DEFAULT_PAGE
    spans_both: bool = False
    lines_per_float: float = 0.0
    part: Literal["float", "tabular", "rows"] = "float"


def latex(grid: Grid, placement: TablePlacement | None = None) -> str:
    """Return a table in LaTeX, by default as a float or longtable with caption, label `tab:NAME` and notes."""
    placement = placement or TablePlacement()
    table, notes = grid.table, collect_notes(grid)
    fit = fit_table(grid, placement.page)
    has_paragraphs = any(column.width is not None for column in grid.columns)
    template = "longtable.tex.j2" if _is_longtable(grid, placement) else "table.tex.j2"
    is_stretched = not (table.long or has_paragraphs) and fit.width < placement.page.narrow
    lines = _latex_rows(grid, notes, fit.space)
    text = fill_template(
        template,
        grid.name,
        source=f"table:{grid.name}",
        place=f"{FOLDER_NAME}/{template}",
        packages=_packages(grid, placement),
        has_entries=table.entry is not None,
        landscape=table.landscape,
        short=_list_caption(table.caption, table.short),
        caption=prose(table.caption, "latex"),
        size=fit.size,
        small="footnotesize" if fit.size == "small" else "scriptsize",
        space=f"{fit.space:g}",
        width=f"{placement.page.narrow:g}pt" if is_stretched else "",
        columns=("@{\\extracolsep{\\fill}}" if is_stretched else "@{}") + _column_types(grid, fit) + "@{}",
        count=len(grid.columns),
        both=placement.spans_both,
        part=placement.part,
        group_space="[10pt]" if has_row_space(grid) else "",
        spanners=spanners(grid, "latex"),
        headings=_header_lines(grid, notes),
        lines=lines,
        floats=_split_rows(lines, placement.lines_per_float if table.long else 0.0),
        notes=[(label_text(note), note_text(note, "latex")) for note in notes.notes],
    )
    return guarded_latex(text, f"table {grid.name}")


def _is_longtable(grid: Grid, placement: TablePlacement) -> bool:
    """Return whether the table is a longtable, which LaTeX breaks across pages."""
    return grid.table.long and placement.part == "float" and not placement.lines_per_float


def _split_rows(rows: list[LatexRow], limit: float) -> list[list[LatexRow]]:
    """Return the rows of each float, with at most `limit` lines per float; if `limit` is 0, all rows are in one float.

    A float that begins within a group repeats the group's name.
    """
    floats: list[list[LatexRow]] = [[]]
    heights = [1 + 1.5 * ("group" in row.before) + 0.5 * bool(row.before & {"rule", "space"}) for row in rows]
    if limit:
        limit = min(limit, sum(heights) / ceil(sum(heights) / limit) + 2.0)  # no float has only the last two rows
    lines_used, group = 0.0, ""
    for row, height in zip(rows, heights, strict=True):
        group = row.group or group
        if limit and floats[-1] and lines_used + height > limit:
            name = row.group or (f"{group}, continued" if group else "")
            floats.append([replace(row, before=frozenset({"group"} if group else ()), group=name)])
            lines_used = height
        else:
            floats[-1].append(row)
            lines_used += height
    return floats


def _packages(grid: Grid, placement: TablePlacement) -> str:
    """Return the names of the LaTeX packages that the table needs, separated by commas."""
    table = grid.table
    packages = ["booktabs", "array"]
    if _is_longtable(grid, placement):
        packages += ["longtable"] + (["pdflscape"] if table.landscape else [])
    elif table.landscape and placement.part == "float":
        packages.append("rotating")
    texts = [table.caption, *table.notes, *table.marks.values()]
    texts += [cell.words for row in grid.rows for cell in row]
    if any("[@" in text for text in texts):
        packages.append("natbib")
    return ", ".join(packages)


def _list_caption(caption: str, short: str | None) -> str:
    """Return the LaTeX of the caption for the list of tables; empty if it is the same as the caption."""
    if short is not None:
        return prose(short, "latex")
    sentence = caption
    for end in re.finditer(r"(?<!\S)(\S+)[.?!]\s+(?=[A-Z$*])", caption):
        if caption[: end.end()].count("$") % 2 == 0 and end[1].lower() not in _ABBREVIATIONS:
            sentence = caption[: end.end()].rstrip()
            break
    if sentence == caption and not citations(caption):
        return ""
    return prose(without_citations(sentence).rstrip("."), "latex")


def _column_types(grid: Grid, fit: TableFit) -> str:
    r"""Return the column types of the tabular.

    If there is no space between rows, a paragraph in the first column is indented from its second line, so that the
    start of each row is visible. In a table with group headings, the first line is indented too.
    """
    types = []
    is_indented = grid.table.groups is not None and grid.table.group_style == "row"
    for index, column in enumerate(grid.columns):
        if index in fit.paragraphs:
            style = _PARAGRAPH_STYLES[alignment(column)]
            if index == 0 and alignment(column) == "left" and not has_row_space(grid):
                style += r"\leftskip=1em" * is_indented + r"\hangindent=1em\hangafter=1"
            types.append(f">{{{style}\\arraybackslash}}p{{{fit.paragraphs[index]:.1f}pt}}")
        else:
            types.append(_COLUMN_TYPES[alignment(column)])
    return "".join(types)


def _header_lines(grid: Grid, notes: Notes) -> list[list[str]]:
    """Return the lines of the header, each with a text per column; headings with fewer lines are at the bottom."""
    headings = heading_lines(grid, "latex")
    depth = max(map(len, headings))
    header = []
    for line in range(depth):
        cells = []
        for index, (column, title) in enumerate(zip(grid.columns, headings, strict=True)):
            title_line = line - (depth - len(title))
            text = title[title_line] if title_line >= 0 else ""
            if title_line == len(title) - 1 and (letters := notes.of_title(column)):
                text += _superscript(0, letters)
            if text and is_number(column) and (column.ci or column.uncertainty) and alignment(column) == "right":
                left, right = "@{}" * (index == 0), "@{}" * (0 < index == len(grid.columns) - 1)
                text = f"\\multicolumn{{1}}{{{left}c{right}}}{{{text}}}"
            cells.append(text)
        header.append(cells)
    return header


def _latex_rows(grid: Grid, notes: Notes, space: float) -> list[LatexRow]:
    marks = [[_superscript(cell.stars, notes.of_cell(cell)) for cell in row] for row in grid.rows]
    texts = body(grid, "latex", marks)
    widest_marks = [_widest_mark(grid, index, notes, space) for index in range(len(grid.columns))]
    is_indented = grid.table.groups is not None and grid.table.group_style == "row"
    rows = []
    for row, before in enumerate(separators(grid)):
        entries = _entries(grid, row)
        claims = [entry.removeprefix("claim:") for entry in entries if entry.startswith("claim:")]
        cells, linked_claim = [], claims[0] if claims else ""
        for index, (column, cell) in enumerate(zip(grid.columns, grid.rows[row], strict=True)):
            text, mark, widest_mark = texts[row][index], marks[row][index], widest_marks[index]
            if column.width is not None:
                text = _breakable(text)
            if cell.pieces is None:
                text += f"\\rlap{{{mark}}}" if widest_mark and mark else mark
            text += f"\\phantom{{{widest_mark}}}" if widest_mark else ""
            if linked_claim and text:
                text, linked_claim = f"\\siterow{{{linked_claim}}}{{{text}}}", ""  # the first cell that is not empty
            if index == 0:
                text = "".join(f"\\pressentry{{{entry}}}" for entry in entries) + text
            cells.append(("\\quad " if is_indented and index == 0 and column.width is None else "") + text)
        if len(claims) == 1:
            cells[-1] += f"\\verdictpage{{{claims[0]}}}"
        rows.append(LatexRow(tuple(cells), before, escape(grid.groups[row], "latex") if "group" in before else ""))
    return rows


def _entries(grid: Grid, row: int) -> list[str]:
    """Return the claims and artifacts that a row is about, each as `claim:NAME` or `artifact:NAME`."""
    entries = plain(str(grid.table.rows[grid.table.entry].iloc[row])).split() if grid.table.entry else []
    if invalid := [entry for entry in entries if not _ENTRY_NAME.fullmatch(entry)]:
        raise SpecError(f"table {grid.name}: {invalid[0]!r} is not a valid entry; write claim:NAME or artifact:NAME")
    return entries


def _superscript(stars: int, letters: tuple[str, ...]) -> str:
    marks = (f"${'{*}' * stars}$" if stars else "") + ",".join(letters)
    return f"\\textsuperscript{{{marks}}}" if marks else ""


def _widest_mark(grid: Grid, index: int, notes: Notes, space: float) -> str:
    """Return the widest mark of a number column if the column needs space for marks, else an empty text.

    Space is needed for marks of more than two characters, at the table's right edge, and if columns are close.
    """
    if not is_number(grid.columns[index]):
        return ""
    marks = [(row[index].stars, notes.of_cell(row[index])) for row in grid.rows]
    lengths = [stars + 2 * len(letters) for stars, letters in marks]
    longest = max(lengths)
    if not longest or (longest <= 2 and index < len(grid.columns) - 1 and space >= ROOMY_SPACE):
        return ""
    return _superscript(*marks[lengths.index(longest)])


def _breakable(text: str) -> str:
    """Return a LaTeX text in which long names can break after underscores and slashes, except in mathematics."""
    spans = text.split("$")  # alternately text and mathematics
    spans[::2] = [_BREAK_POINTS.sub(r"\1\\allowbreak{}", span) for span in spans[::2]]
    return "$".join(spans)
