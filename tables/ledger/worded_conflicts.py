"""Subjects on which two sections of one document disagree."""

import pandas as pd

from boundpaper.tables import Column, Table, text


def table(worded_conflicts: pd.DataFrame) -> Table:
    """Return one row per subject on which sections of one document disagree."""
    documents = worded_conflicts[worded_conflicts["document"] != "thesis"]
    rows = documents[documents["conflict"]].copy()
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
            f"Subjects on which two sections of one document differ in words, {len(rows)} of "
            f"{len(documents)} that are declared to occur more than once. Unit: one subject."
        ),
        short="Contradictions in words",
        note=(
            "One reader declared, while reading, which statements are on one subject, and what each says; "
            "others may be missing. In the ledger: verdicts of the statements in their order."
        ),
    )
