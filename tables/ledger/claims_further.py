"""Supporting statements that fail in the ledger, one line each."""

import pandas as pd

from boundpaper.tables import Column, Table, markup, sentences
from tables.ledger._failing import display_names, failing

LONGEST = 32
"""Largest number of characters of the values in a row; longer values are left to the supplement."""


def table(
    claims: pd.DataFrame, hypotheses: pd.DataFrame, models: pd.DataFrame, training_trajectory: pd.DataFrame
) -> Table:
    """Return one row per supporting statement that fails."""
    names = display_names(models, training_trajectory)
    rows = failing(claims, "supporting", names, set(hypotheses["claim"]))
    rows["values"] = [text if len(text) <= LONGEST else "" for text in rows["values"]]
    return Table(
        rows=rows,
        columns=[
            Column("source", "Doc."),
            Column("statement", "The document says", sentences, width=0.66),
            Column("sign", "Verdict", markup),
            Column("values", "Printed; found", sentences, width=0.25, blank=True),
        ],
        groups="part",
        entry="entry",
        long=True,
        size="scriptsize",
        column_space=3,
        space=0,
        caption=(
            f"The {len(rows)} supporting statements of the documents that are contradicted or not supported, by kind "
            "of failure. If they fit the line, the printed value and, after a semicolon, the value found are given."
        ),
        short="Supporting statements that fail, by kind of failure",
    )
