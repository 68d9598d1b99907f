"""Offer what a table file needs: each table is a file `tables/STORY/NAME.py` with `def table(...) -> Table`.

The other modules of this package read, round and typeset tables. This module imports neither pandas nor Jinja2, so that
importing a table file is fast.
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
