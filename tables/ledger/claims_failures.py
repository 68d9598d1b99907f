"""Main statements of the documents that fail in the ledger, by kind of failure."""

import pandas as pd

from boundpaper.tables import Column, Table, markup, sentences
from tables.ledger._failing import SIGNS, display_names, failing


def table(
    claims: pd.DataFrame, hypotheses: pd.DataFrame, models: pd.DataFrame, training_trajectory: pd.DataFrame
) -> Table:
    """Return one row per headline statement that fails."""
    names = display_names(models, training_trajectory)
    rows = failing(claims, "headline", names, set(hypotheses["claim"]))
    return Table(
        rows=rows,
        columns=[
            Column("place", "Document,\nsection", width=0.125, repeat=False),
            Column("statement", "The document says", sentences, width=0.28),
            Column("sign", "Verdict", markup),
            Column("reason", "What the numbers say", sentences, width=0.48, repeat=False),
        ],
        groups="part",
        entry="entry",
        long=True,
        size="scriptsize",
        column_space=3,
        caption=(
            f"The {len(rows)} headline statements of the documents that are contradicted "
            f"({SIGNS['contradicted']}) or not supported ({SIGNS['not supported']}), by kind of failure. A blank "
            "reason is the one above it; the page is that on which the verdict is first used."
        ),
        short="Headline statements that fail, by kind of failure",
    )
