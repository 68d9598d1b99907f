"""The hypotheses of the source with the evidence of the ledger and its verdicts."""

import pandas as pd

from tables import Column, Table


def table(hypotheses: pd.DataFrame) -> Table:
    """Return the table."""
    rows = hypotheses.assign(
        part=[
            f"{row['hypothesis']} ({row['status'] or 'no status given'}): {row['statement']}."
            for _, row in hypotheses.iterrows()
        ]
    )
    counted = rows["verdict"].value_counts()
    said = ", ".join(f"{verdict} {count}" for verdict, count in counted.items())
    return Table(
        rows=rows,
        columns=[
            Column("evidence", "Statement of the source", width=0.3),
            Column("verdict", "Verdict", width=0.15),
            Column("reason", "Reason", width=0.55),
        ],
        groups="part",
        long=True,
        size="footnotesize",
        caption=(
            f"The {rows['hypothesis'].nunique()} hypotheses of the source with their status there [@shcherb2026], and "
            f"the ledger's verdicts on the {len(rows)} statements that they make."
        ),
        short="Hypotheses with evidence and verdicts",
        note=f"Verdicts: {said}. Values that a hypothesis only repeats from tables are checked in the ledger.",
    )
