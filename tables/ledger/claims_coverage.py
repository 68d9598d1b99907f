"""Coverage of the ledger: sections of the documents, their statements, and the statements left out, with reasons."""

import pandas as pd

from boundpaper.tables import Column, Table

NO_TEXT = "no text of its own"


def table(ledger_coverage: pd.DataFrame) -> Table:
    """Return one row per section that has text of its own or whose cells are checked."""
    is_empty = (ledger_coverage["left_out"] == NO_TEXT) & (ledger_coverage["cells"] == 0)
    rows = ledger_coverage[~is_empty].copy()
    rows["part"] = [f"Document {document}" for document in rows["document"]]
    sums = rows[["statements", "judged", "cells"]].sum()
    return Table(
        rows=rows,
        columns=[
            Column("section", "Section", width=0.29),
            Column("statements", "stated", group="Statements"),
            Column("judged", "judged", group="Statements"),
            Column("holding", "holding", group="Statements"),
            Column("cells", "Cell\nchecks"),
            Column("left_out", "Left out here, and why", width=0.45, blank=True),
        ],
        groups="part",
        long=True,
        size="scriptsize",
        column_space=3,
        caption=(
            f"Coverage of the documents by the ledger, section by section: {sums['statements']} sentences, tables and "
            f"plots that state a quantity, an order or a relation, {sums['judged']} statements judged, and "
            f"{sums['cells']:,} cell checks. Unit of the first column: one sentence, table or plot; of the others: one "
            "claim."
        ),
        short="Coverage of the documents by the ledger",
        note=(
            "A sentence that asserts several things counts as several statements; one that repeats another place "
            "counts there as a cell check, or not at all. A claim on several sections counts in the first. "
            f"{int(is_empty.sum())} headings and titles without text of their own are not listed."
        ),
    )
