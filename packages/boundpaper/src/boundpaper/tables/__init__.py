"""Tables: one file per table, `tables/STORY/NAME.py` with `def table(...) -> Table`.

The modules beside this file typeset them.

This module stays light: it imports neither pandas nor Jinja2, so that a table file costs nothing to read.
"""

from boundpaper.tables.spec import Column, Table
from boundpaper.typeset.numbers import (
    fixed,
    integer,
    interval,
    markup,
    percent,
    printed,
    pvalue,
    scientific,
    sentences,
    signed,
    significant,
    text,
    times,
    uncertain,
)

__all__ = [
    "Column",
    "Table",
    "fixed",
    "integer",
    "interval",
    "markup",
    "percent",
    "printed",
    "pvalue",
    "scientific",
    "sentences",
    "signed",
    "significant",
    "text",
    "times",
    "uncertain",
]
