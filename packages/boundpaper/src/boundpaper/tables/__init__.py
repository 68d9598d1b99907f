"""Define tables: one file per table, `tables/STORY/NAME.py` with `def table(...) -> Table`.

The modules in this folder typeset them.

This module imports neither pandas nor Jinja2, so that importing a table file is fast.
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
