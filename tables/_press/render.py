"""From a specification to text, in any format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from artifacts.errors import SpecError
from artifacts.near import or_known
from tables._press.cells import Grid
from tables._press.data import csv, json
from tables._press.html import html
from tables._press.latex import latex
from tables._press.markdown import markdown
from tables._press.read import read

if TYPE_CHECKING:
    from tables._press.spec import Table

FORMATS: Mapping[str, Callable[[Grid], str]] = {
    "latex": latex,
    "markdown": markdown,
    "html": html,
    "csv": csv,
    "json": json,
}


def render(spec: Table, name: str, format: str = "latex") -> str:
    """Write a table.

    Parameters
    ----------
    spec : Table
    name : str
        Becomes the label `tab:NAME` and names the table in messages.
    format : {"latex", "markdown", "html", "csv", "json"}

    Raises
    ------
    SpecError, DataError
        See `tables._press.read.read`; also prose that is malformed and text that the format cannot hold.
    """
    try:
        renderer = FORMATS[format]
    except KeyError:
        known = ", ".join(FORMATS)
        raise SpecError(f"unknown table format {format!r}: it is one of {known}{or_known(format, FORMATS)}") from None
    return renderer(read(spec, name))
