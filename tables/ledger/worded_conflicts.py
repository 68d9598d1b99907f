"""Things of which a document says one thing in one section and another in a second."""

import pandas as pd

from boundpaper.tables import Column, Table, text


def table(worded_conflicts: pd.DataFrame) -> Table:
    """One row per thing on which the words of a document differ."""
    rows = worded_conflicts[worded_conflicts["conflict"]].copy()
    rows["part"] = [f"Document {document}" for document in rows["document"]]
    return Table(
        rows=rows,
        columns=[
            Column("about", "Of", text, width=0.22),
            Column("said", "It is said", text, width=0.46),
            Column("verdicts", "In the ledger", text, width=0.22),
        ],
        groups="part",
        long=True,
        size="footnotesize",
        caption=(
            f"Things on which two sections of one document differ in words, {len(rows)} of "
            f"{len(worded_conflicts)} that are declared as spoken of more than once. Unit: one thing."
        ),
        short="Contradictions in words",
        note=(
            "Which statements are of one thing, and what each says of it, was declared while reading, by one reader; "
            "others may be missing. In the ledger: verdicts of the statements in their order."
        ),
    )
