"""Hypotheses of the metrics study, with the ledger's evidence and verdicts."""

import pandas as pd

from boundpaper.tables import Column, Table, sentences


def table(hypotheses: pd.DataFrame) -> Table:
    """Return one row per statement of a hypothesis."""
    rows = hypotheses.assign(
        part=[
            f"{row['hypothesis']} ({row['status'] or 'no status given'}): {row['statement']}."
            for _, row in hypotheses.iterrows()
        ]
    )
    rows["entry"] = "claim:" + rows["claim"].astype(str)
    tally = rows["verdict"].value_counts()
    counts = ", ".join(f"{verdict} {count}" for verdict, count in tally.items())
    return Table(
        rows=rows,
        columns=[
            Column("evidence", "What the study says", sentences, width=0.3),
            Column("verdict", "Verdict", width=0.15),
            Column("reason", "Reason", sentences, width=0.55),
        ],
        groups="part",
        entry="entry",
        long=True,
        size="scriptsize",
        column_space=3,
        caption=(
            f"The {rows['hypothesis'].nunique()} hypotheses of the metrics study with its own status [@shcherb2026], "
            f"and the ledger's verdicts on the {len(rows)} statements that they make."
        ),
        short="Hypotheses with evidence and verdicts",
        note=f"Verdicts: {counts}. Values that a hypothesis only repeats from tables are cell checks of the ledger.",
    )
