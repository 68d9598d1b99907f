"""Render a Table to text in any format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from boundpaper.errors import SpecError
from boundpaper.suggestions import or_known
from boundpaper.tables.cells import Grid
from boundpaper.tables.data import csv, json
from boundpaper.tables.html import html
from boundpaper.tables.latex import latex
from boundpaper.tables.markdown import markdown
from boundpaper.tables.read import read
from boundpaper.tables.screen import terminal_table

if TYPE_CHECKING:
    from boundpaper.tables.spec import Table

FORMATS: Mapping[str, Callable[[Grid], str]] = {
    "latex": latex,
    "markdown": markdown,
    "html": html,
    "csv": csv,
    "json": json,
    "text": terminal_table,
}


def render(spec: Table, name: str, format: str = "latex") -> str:
    """Return a table as text in a format, one of `FORMATS`.

    `name` is the table's name, for the label `tab:NAME` and for messages. Raises SpecError and DataError as
    `boundpaper.tables.read.read` does, and for malformed prose and text that the format cannot represent.
    """
    if format not in FORMATS:
        formats = ", ".join(FORMATS)
        raise SpecError(f"unknown table format {format!r}: use one of {formats}{or_known(format, FORMATS)}")
    return FORMATS[format](read(spec, name))
