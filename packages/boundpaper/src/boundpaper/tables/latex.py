r"""Write tables in LaTeX: booktabs rules, notes as wide as the table, decimals aligned without siunitx."""

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
from boundpaper.tables.template import PLACE, fill_template
from boundpaper.tables.width import HOUSE, ROOMY, PageWidths, TableFit, fit_table
from boundpaper.typeset.armour import guarded_latex, plain
from boundpaper.typeset.text import citations, escape, prose, without_citations

_ENTRY = re.compile(r"(?:claim|artifact):[\w.-]+", re.ASCII)
_SPEC = {"left": "l", "right": "r", "center": "c"}
_PARAGRAPH = {"left": r"\raggedright", "right": r"\raggedleft", "center": r"\centering"}
_BREAKS = re.compile(r"(\\_|(?<=\w)/)(?=[\w\\])")
_ABBREVIATIONS = ("vs", "e.g", "i.e", "cf", "al", "fig", "figs", "tab", "sec", "approx", "no", "resp")


@dataclass(frozen=True)
class LatexRow:
    """A row, with the heading, rule or space before it."""

    cells: tuple[str, ...]
    before: frozenset[Separator]
    group: str = ""


@dataclass(frozen=True)
class TablePlacement:
    """How a table is typeset: page widths, over one or both columns, as a float, a tabular or its rows.

    A long table is split into floats of `lines` lines, since a longtable needs a one-column page; 0 means a longtable.
    """

    page: PageWidths = HOUSE
    both: bool = False
    lines: float = 0.0
    part: Literal["float", "tabular", "rows"] = "float"


def latex(grid: Grid, setting: TablePlacement | None = None) -> str:
    """Return a table as a complete float (or a long table) with caption, label `tab:NAME` and notes."""
    setting = setting or TablePlacement()
    table, notes = grid.table, collect_notes(grid)
    fit = fit_table(grid, setting.page)
    count = len(grid.columns)
    paragraphs = any(column.width is not None for column in grid.columns)
    template = "longtable.tex.j2" if _breaks(grid, setting) else "table.tex.j2"
    is_stretched = not (table.long or paragraphs) and fit.width < setting.page.narrow
    lines = _lines(grid, notes, fit.space)
    text = fill_template(
        template,
        grid.name,
        source=f"table:{grid.name}",
        place=f"{PLACE}/{template}",
        packages=_package_lines(grid, setting),
        entries=table.entry is not None,
        landscape=table.landscape,
        short=_list_caption(table.caption, table.short),
        caption=prose(table.caption, "latex"),
        size=fit.size,
        small="footnotesize" if fit.size == "small" else "scriptsize",
        space=f"{fit.space:g}",
        width=f"{setting.page.narrow:g}pt" if is_stretched else "",
        columns=("@{\\extracolsep{\\fill}}" if is_stretched else "@{}") + _column_types(grid, fit) + "@{}",
        count=count,
        both=setting.both,
        part=setting.part,
        apart="[10pt]" if has_row_space(grid) else "",
        spanners=spanners(grid, "latex"),
        heads=_header_lines(grid, notes),
        lines=lines,
        pieces=_split_rows(lines, setting.lines if table.long else 0.0),
        notes=[(label_text(note), note_text(note, "latex")) for note in notes.notes],
    )
    return guarded_latex(text, f"table {grid.name}")


def _breaks(grid: Grid, setting: TablePlacement) -> bool:
    """Return whether LaTeX breaks the table across pages."""
    return grid.table.long and setting.part == "float" and not setting.lines


def _split_rows(lines: list[LatexRow], limit: float) -> list[list[LatexRow]]:
    """Return the rows of each float, at most `limit` lines per float; all rows in one if `limit` is 0.

    A float that begins within a group repeats the group's name.
    """
    pieces: list[list[LatexRow]] = [[]]
    heights = [1 + 1.5 * ("group" in line.before) + 0.5 * bool(line.before & {"rule", "space"}) for line in lines]
    if limit:
        limit = min(limit, sum(heights) / ceil(sum(heights) / limit) + 2.0)  # no float has only the last two rows
    lines_used, group = 0.0, ""
    for line, high in zip(lines, heights, strict=True):
        group = line.group or group
        if limit and pieces[-1] and lines_used + high > limit:
            first_row = replace(
                line, before=frozenset({"group"} if group else ()), group=line.group or f"{group}, continued"
            )
            pieces.append([first_row if group else replace(line, before=frozenset())])
            lines_used = high
        else:
            pieces[-1].append(line)
            lines_used += high
    return pieces


def _package_lines(grid: Grid, setting: TablePlacement) -> str:
    table = grid.table
    packages = ["booktabs", "array"]
    if _breaks(grid, setting):
        packages += ["longtable"] + (["pdflscape"] if table.landscape else [])
    elif table.landscape and setting.part == "float":
        packages.append("rotating")
    words = [table.caption, *table.notes, *table.marks.values()]
    words += [cell.words for row in grid.rows for cell in row if cell.words]
    if any("[@" in text for text in words):
        packages.append("natbib")
    return ", ".join(packages)


def _list_caption(caption: str, short: str | None) -> str:
    """Return the caption for the list of tables; empty if it equals the caption."""
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

    If there is no space between rows, the continuation lines of paragraphs are indented, so that the start of each row
    is visible; below group names, the whole first column is indented.
    """
    types, close = [], not has_row_space(grid)
    is_indented = grid.table.groups is not None and grid.table.group_style == "row"
    for index, column in enumerate(grid.columns):
        if index in fit.paragraphs:
            style = _PARAGRAPH[alignment(column)]
            if close and index == 0 and alignment(column) == "left":
                style += r"\leftskip=1em" * is_indented + r"\hangindent=1em\hangafter=1"
            types.append(f">{{{style}\\arraybackslash}}p{{{fit.paragraphs[index]:.1f}pt}}")
        else:
            types.append(_SPEC[alignment(column)])
    return "".join(types)


def _header_lines(grid: Grid, notes: Notes) -> list[list[str]]:
    """Return the lines of the header from the top; short headings are at the bottom."""
    heads = heading_lines(grid, "latex")
    depth = max(map(len, heads))
    lines = []
    for line in range(depth):
        cells = []
        for index, (column, title) in enumerate(zip(grid.columns, heads, strict=True)):
            at = line - (depth - len(title))
            text = title[at] if at >= 0 else ""
            if at == len(title) - 1 and (letters := notes.of_title(column)):
                text += _raised_marks(",".join(letters))
            if text and is_number(column) and (column.ci or column.uncertainty) and alignment(column) == "right":
                edge = ("@{}", "") if index == 0 else ("", "@{}") if index == len(grid.columns) - 1 else ("", "")
                text = f"\\multicolumn{{1}}{{{edge[0]}c{edge[1]}}}{{{text}}}"
            cells.append(text)
        lines.append(cells)
    return lines


def _lines(grid: Grid, notes: Notes, space: float) -> list[LatexRow]:
    hung = [[_superscript(cell.stars, notes.of_cell(cell)) for cell in row] for row in grid.rows]
    texts = body(grid, "latex", hung)
    reserved = [_widest_mark(grid, index, notes, space) for index in range(len(grid.columns))]
    indent = grid.table.groups is not None and grid.table.group_style == "row"
    lines = []
    for row, before in enumerate(separators(grid)):
        cells, claim = [], next(iter(_claims_of_row(grid, row)), "")
        for index, (column, cell) in enumerate(zip(grid.columns, grid.rows[row], strict=True)):
            text = texts[row][index]
            if column.width is not None:
                text = _breakable(text)
            if cell.pieces is None:
                text += f"\\rlap{{{hung[row][index]}}}" if reserved[index] and hung[row][index] else hung[row][index]
            text += f"\\phantom{{{reserved[index]}}}" if reserved[index] else ""
            if claim and text:
                text, claim = f"\\siterow{{{claim}}}{{{text}}}", ""  # the first cell that is not empty
            if index == 0:
                text = _link_targets(grid, row) + text
            cells.append(("\\quad " if indent and index == 0 and column.width is None else "") + text)
        cells[-1] += _verdict_page(grid, row)
        lines.append(LatexRow(tuple(cells), before, escape(grid.groups[row], "latex") if "group" in before else ""))
    return lines


def _link_targets(grid: Grid, row: int) -> str:
    """Return the LaTeX link targets of the claims and artifacts that a row is about."""
    if grid.table.entry is None:
        return ""
    names = plain(str(grid.table.rows[grid.table.entry].iloc[row])).split()
    invalid = [name for name in names if not _ENTRY.fullmatch(name)]
    if invalid:
        raise SpecError(f"table {grid.name}: {invalid[0]!r} is not a valid entry; write claim:NAME or artifact:NAME")
    return "".join(f"\\pressentry{{{name}}}" for name in names)


def _claims_of_row(grid: Grid, row: int) -> list[str]:
    """Return the claims that a row is about."""
    names = plain(str(grid.table.rows[grid.table.entry].iloc[row])).split() if grid.table.entry else []
    return [name.removeprefix("claim:") for name in names if name.startswith("claim:")]


def _verdict_page(grid: Grid, row: int) -> str:
    """Return the page that prints the verdict of a row's claim; empty unless the row is about exactly one claim."""
    claims = _claims_of_row(grid, row)
    return f"\\verdictpage{{{claims[0]}}}" if len(claims) == 1 else ""


def _superscript(stars: int, letters: tuple[str, ...]) -> str:
    inside = (f"${'{*}' * stars}$" if stars else "") + ",".join(letters)
    return _raised_marks(inside) if inside else ""


def _raised_marks(marks: str) -> str:
    r"""Return superscript marks with their width: `\tnote` takes no width in a table, so a phantom is added."""
    return f"\\textsuperscript{{{marks}}}"


def _widest_mark(grid: Grid, index: int, notes: Notes, space: float) -> str:
    """Return the widest mark of a number column that reserves space for marks, else an empty text.

    Space is reserved at the table's edge, between close columns, and for more than two characters.
    """
    if not is_number(grid.columns[index]):
        return ""
    cells = [(cell.stars, notes.of_cell(cell)) for row in grid.rows for cell in (row[index],)]
    lengths = [stars + 2 * len(letters) for stars, letters in cells]
    longest = max(lengths)
    if not longest or (longest <= 2 and index < len(grid.columns) - 1 and space >= ROOMY):
        return ""
    return _superscript(*cells[lengths.index(longest)])


def _breakable(text: str) -> str:
    """Return a text in which long names can break after underscores and slashes, except in mathematics."""
    parts = text.split("$")
    parts[::2] = [_BREAKS.sub(r"\1\\allowbreak{}", piece) for piece in parts[::2]]
    return "$".join(parts)
