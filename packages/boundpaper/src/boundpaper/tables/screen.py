"""Write tables for a terminal, with aligned numbers, superscript letters, best values in bold, and notes."""

import io

from boundpaper.tables.cells import Cell, Grid
from boundpaper.tables.layout import alignment, body, group_headings, heading_lines, label_text, note_text, separators
from boundpaper.tables.notes import Notes, collect_notes
from boundpaper.typeset.armour import plain
from boundpaper.typeset.text import prose
from boundpaper.typeset.words_of import words_of_html

MIN_TEXT_WIDTH = 16
"""Minimum width of a text column in characters."""
_SPACES = dict.fromkeys(map(ord, "\u00a0\u2007\u202f"), " ")
_SUPERSCRIPTS = str.maketrans("abcdefghijklmnoprstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ")


def terminal_table(grid: Grid, width: int = 0, *, colour: bool = False) -> str:
    """Return a table for a terminal of `width` characters (0: unlimited), with escape codes if `colour`."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    notes = collect_notes(grid)
    groups = group_headings(grid, "html")
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    texts = [
        [
            Text(words_of_html(text) + _marks(cell, notes), "bold" * cell.is_best)
            for text, cell in zip(row_texts, cells, strict=True)
        ]
        for row_texts, cells in zip(body(grid, "html"), grid.rows, strict=True)
    ]
    for index, (column, lines) in enumerate(zip(grid.columns, heading_lines(grid, "html"), strict=True)):
        title = [words_of_html(line) for line in [groups.get(index, ""), *lines] if line]
        heading = Text("\n".join(title) + _superscript(notes.of_title(column)), style="bold")
        min_width = MIN_TEXT_WIDTH
        if column.width is None:
            min_width = max(text.cell_len for text in [*heading.split(), *(row[index] for row in texts)])
        table.add_column(heading, justify=alignment(column), vertical="top", min_width=min_width)
    for row, before in enumerate(separators(grid)):
        if row and before & {"rule", "group"}:
            table.add_section()
        if "group" in before:
            table.add_row(Text(plain(grid.groups[row]), style="italic"))
        table.add_row(*texts[row])
    widths = Console(file=io.StringIO(), width=10_000).measure(table)
    width = max(width or widths.maximum, widths.minimum)
    console = Console(file=io.StringIO(), width=width, force_terminal=colour, no_color=not colour, highlight=False)
    console.print(Text(words_of_html(prose(grid.table.caption, "html"))), Text(), table, Text(), sep="\n")
    for note in notes.notes:
        letter = _superscript((label_text(note),))
        console.print(Text(f"{letter} " * bool(letter) + words_of_html(note_text(note, "html"))))
    output = console.file.getvalue().translate(_SPACES)  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in output.split("\n"))


def _marks(cell: Cell, notes: Notes) -> str:
    return "" if cell.is_hidden else "*" * cell.stars + _superscript(notes.of_cell(cell))


def _superscript(letters: tuple[str, ...]) -> str:
    return " ".join(letters).translate(_SUPERSCRIPTS)
