"""Tables: one file per table, `tables/STORY/NAME.py` with `def table(...) -> Table`; the machinery is in `_press`.

This module stays light: it imports neither pandas nor Jinja2, so that a table file costs nothing to read.
"""

from artifacts.typeset.numbers import (
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
from tables._press.spec import Column, Table

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
