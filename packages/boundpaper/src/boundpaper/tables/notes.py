"""Collect the notes below a table: general notes, lettered footnotes, and reasons for empty cells."""

from dataclasses import dataclass
from string import ascii_lowercase

from boundpaper.tables.align import DASH
from boundpaper.tables.cells import Cell, Grid
from boundpaper.tables.spec import Column, mark_names


@dataclass(frozen=True)
class Note:
    """A note with its label (a letter, a dash or nothing); `is_prose` is False if the text comes from data."""

    label: str
    text: str
    is_prose: bool = True


@dataclass(frozen=True)
class Notes:
    """A table's notes in order, and their letters by ("mark", name of the mark) or ("reason", text of the reason)."""

    notes: tuple[Note, ...]
    letters: dict[tuple[str, str], str]

    def of_cell(self, cell: Cell) -> tuple[str, ...]:
        """Return the letters of a cell's footnotes."""
        if cell.is_hidden:
            return ()
        keys = [("reason", cell.reason)] if cell.reason else []
        keys += [("mark", mark) for mark in cell.marks]
        return tuple(self.letters[key] for key in keys if key in self.letters)

    def of_title(self, column: Column) -> tuple[str, ...]:
        """Return the letters of a heading's footnotes."""
        return tuple(self.letters[("mark", mark)] for mark in mark_names(column.title_mark or ""))


def collect_notes(grid: Grid) -> Notes:
    """Return the notes of a grid.

    Letters follow the order of appearance: headings first, then cells row by row. If all empty cells have the same
    reason, its note begins with the dash that these cells show; if there are several reasons, each has a letter.
    """
    table = grid.table
    keys: dict[tuple[str, str], None] = {}
    for column in grid.columns:
        keys |= dict.fromkeys(("mark", mark) for mark in mark_names(column.title_mark or ""))
    for cell in [cell for row in grid.rows for cell in row if not cell.is_hidden]:
        if cell.reason:
            keys[("reason", cell.reason)] = None
        keys |= dict.fromkeys(("mark", mark) for mark in cell.marks)
    reasons = [key for key in keys if key[0] == "reason"]
    only_empty = all(cell.value is None for row in grid.rows for cell in row if cell.reason)
    has_dash_note = len(reasons) == 1 and only_empty
    lettered_keys = [key for key in keys if not (has_dash_note and key[0] == "reason")]
    letters = {key: _note_letter(index) for index, key in enumerate(lettered_keys)}
    notes = [Note("", note) for note in table.notes]
    if has_dash_note:
        notes.append(Note(DASH, reasons[0][1], is_prose=False))
    for (kind, text), letter in letters.items():
        notes.append(Note(letter, table.marks[text]) if kind == "mark" else Note(letter, text, is_prose=False))
    if any(column.p for column in grid.columns):
        levels = ("\\*" * (count + 1) + f" $p < {level:g}$" for count, level in enumerate(table.levels))
        notes.append(Note("", "; ".join(levels) + "."))
    return Notes(tuple(notes), letters)


def _note_letter(index: int) -> str:
    prefix_count, letter_index = divmod(index, len(ascii_lowercase))
    return (_note_letter(prefix_count - 1) if prefix_count else "") + ascii_lowercase[letter_index]
