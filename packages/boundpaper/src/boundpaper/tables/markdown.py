"""Write tables in Markdown, with caption and notes; columns are aligned in the source too."""

import unicodedata

from boundpaper.tables.cells import Cell, Grid
from boundpaper.tables.html import letters_html
from boundpaper.tables.layout import alignment, body, group_headings, heading_lines, label_text, note_text, separators
from boundpaper.tables.notes import Notes, collect_notes
from boundpaper.tables.template import fill_template
from boundpaper.typeset.text import escape, prose


def markdown(grid: Grid) -> str:
    """Return a table in GitHub's Markdown; rules become empty rows, and group headings become rows in italics."""
    notes = collect_notes(grid)
    rows = [_column_headings(grid, notes)]
    texts = body(grid, "markdown")
    empty = [""] * len(grid.columns)
    for row, before in enumerate(separators(grid)):
        if "rule" in before:
            rows.append(empty)
        if "group" in before:
            rows.append([f"*{escape(grid.groups[row], 'markdown')}*", *empty[1:]])
        cells = zip(texts[row], grid.rows[row], strict=True)
        rows.append([text + _superscript(cell, notes) for text, cell in cells])
    rows = [[cell.replace("\n", " ") for cell in row] for row in rows]
    widths = [max(3, *map(_display_width, column)) for column in zip(*rows, strict=True)]
    right_aligned = [alignment(column) == "right" for column in grid.columns]
    rules = [_separator_cell(alignment(column), width) for column, width in zip(grid.columns, widths, strict=True)]
    lines = [_padded_line(row, widths, right_aligned) for row in rows]
    lines.insert(1, "| " + " | ".join(rules) + " |")
    return fill_template(
        "table.md.j2",
        grid.name,
        source=f"table:{grid.name}",
        caption=prose(grid.table.caption, "markdown"),
        lines=lines,
        notes=[(label_text(note), note_text(note, "markdown")) for note in notes.notes],
    )


def _column_headings(grid: Grid, notes: Notes) -> list[str]:
    """Return each column's heading, with its group's heading before it, since Markdown has only one header line."""
    groups = group_headings(grid, "markdown")
    headings = []
    for index, (column, lines) in enumerate(zip(grid.columns, heading_lines(grid, "markdown"), strict=True)):
        title = " ".join(lines) + letters_html(notes.of_title(column))
        headings.append(f"{groups[index]}: {title}" if groups.get(index) else title)
    return headings


def _superscript(cell: Cell, notes: Notes) -> str:
    return "" if cell.is_hidden else "\\*" * cell.stars + letters_html(notes.of_cell(cell))


def _separator_cell(align: str, width: int) -> str:
    return {"left": "-" * width, "right": "-" * (width - 1) + ":", "center": ":" + "-" * (width - 2) + ":"}[align]


def _padded_line(cells: list[str], widths: list[int], right_aligned: list[bool]) -> str:
    padded_cells = []
    for cell, width, is_right in zip(cells, widths, right_aligned, strict=True):
        space = " " * (width - _display_width(cell))
        padded_cells.append(space + cell if is_right else cell + space)
    return "| " + " | ".join(padded_cells) + " |"


def _display_width(text: str) -> int:
    """Return the width of a text in an editor: combining characters count 0, wide characters 2."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )
