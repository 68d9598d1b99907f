"""Write tables in HTML, with a caption, header cells that have a scope, a `tbody` per group, and notes in `tfoot`."""

from dataclasses import dataclass, field

from boundpaper.tables.cells import Cell, Grid
from boundpaper.tables.layout import alignment, body, heading_lines, label_text, note_text, separators, spanners
from boundpaper.tables.notes import Notes, collect_notes
from boundpaper.tables.template import fill_template
from boundpaper.typeset.text import escape, prose


@dataclass
class _Block:
    group: str
    is_ruled: bool
    rows: list[list[tuple[str, str]]] = field(default_factory=list)


def html(grid: Grid) -> str:
    """Return a table in HTML; numbers line up if the page's style has `font-variant-numeric: tabular-nums`."""
    notes = collect_notes(grid)
    headings = []
    for column, lines in zip(grid.columns, heading_lines(grid, "html"), strict=True):
        headings.append(("<br>".join(lines) + letters_html(notes.of_title(column)), alignment(column)))
    return fill_template(
        "table.html.j2",
        grid.name,
        source=f"table:{grid.name}",
        caption=prose(grid.table.caption, "html"),
        count=len(grid.columns),
        spanners=spanners(grid, "html"),
        headings=headings,
        blocks=_row_blocks(grid, notes),
        notes=[(label_text(note), note_text(note, "html")) for note in notes.notes],
    )


def _row_blocks(grid: Grid, notes: Notes) -> list[_Block]:
    texts = body(grid, "html")
    blocks: list[_Block] = []
    for row, before in enumerate(separators(grid)):
        if not blocks or before & {"group", "rule"}:
            group = escape(grid.groups[row], "html") if "group" in before else ""
            blocks.append(_Block(group, "rule" in before))
        cells = zip(texts[row], grid.rows[row], grid.columns, strict=True)
        blocks[-1].rows.append([(text + _superscript(cell, notes), alignment(column)) for text, cell, column in cells])
    return blocks


def _superscript(cell: Cell, notes: Notes) -> str:
    return "" if cell.is_hidden else "*" * cell.stars + letters_html(notes.of_cell(cell))


def letters_html(letters: tuple[str, ...]) -> str:
    """Return letters of footnotes as a superscript, or an empty text if there are none."""
    return f"<sup>{','.join(letters)}</sup>" if letters else ""
