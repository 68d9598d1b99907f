"""Provenance: where every artifact comes from, what made it, and its content hash."""

import pandas as pd

from tables import Column, Table

KINDS = {"source": "Sources", "measurement": "Measurements", "result": "Results"}


def table(provenance: pd.DataFrame) -> Table:
    """Return the table."""
    order = {kind: place for place, kind in enumerate(KINDS)}
    rows = provenance.assign(part=provenance["kind"].map(KINDS), order=provenance["kind"].map(order))
    rows = rows.sort_values(["order", "file"], ignore_index=True)
    rows = rows.assign(made=[_made(row) for _, row in rows.iterrows()])
    counted = ", ".join(f"{int((rows['kind'] == kind).sum())} {words.lower()}" for kind, words in KINDS.items())
    return Table(
        rows=rows,
        columns=[
            Column("file", "File", width=0.28),
            Column("rows", "Rows"),
            Column("origin", "Origin", width=0.34),
            Column("made", "Made by", width=0.24),
            Column("hash", "Hash"),
        ],
        groups="part",
        long=True,
        landscape=True,
        size="scriptsize",
        caption=(
            f"Provenance of the {len(rows)} artifacts ({counted}): file below the folder of artifacts, rows, origin, "
            "the command that makes it with the versions that measured it, and the first twelve digits of its "
            "content hash."
        ),
        short="Provenance of the artifacts",
    )


def _made(row: pd.Series) -> str:
    return "; ".join(part for part in (str(row["command"]), str(row["versions"])) if part)
