"""Provenance: where every artifact comes from, what made it, and its content hash."""

import pandas as pd

from tables import Column, Table, verbatim

KINDS = {"source": "Sources", "measurement": "Measurements", "result": "Results"}
USUAL = {"source": "transcribed", "result": "python build.py analyze {artifact}"}


def table(provenance: pd.DataFrame) -> Table:
    """Return the table."""
    order = {kind: place for place, kind in enumerate(KINDS)}
    rows = provenance.assign(order=provenance["kind"].map(order))
    rows = rows.sort_values(["order", "file"], ignore_index=True)
    rows = rows.assign(
        part=[
            f"{KINDS[kind]}, in {file.partition('/')[0]}" for kind, file in zip(rows["kind"], rows["file"], strict=True)
        ],
        name=[str(file).partition("/")[2] for file in rows["file"]],
        from_=[_origin(row) for _, row in rows.iterrows()],
    )
    counted = ", ".join(f"{int((rows['kind'] == kind).sum())} {words.lower()}" for kind, words in KINDS.items())
    return Table(
        rows=rows,
        columns=[
            Column("name", "File", verbatim, width=0.34),
            Column("rows", "Rows"),
            Column("from_", "Origin", verbatim, width=0.46),
            Column("hash", "Hash", verbatim),
        ],
        groups="part",
        long=True,
        size="scriptsize",
        space=0,
        caption=(
            f"Provenance of the {len(rows)} artifacts ({counted}): file, rows, origin, and the first twelve digits of "
            "the hash of its content."
        ),
        short="Provenance of the artifacts",
        note=(
            "Sources are transcribed, by document and section or from the data published with it; a result NAME.csv is "
            f"made by {USUAL['result'].format(artifact='NAME')}; what was made otherwise names its command and the "
            "versions that measured it."
        ),
    )


def _origin(row: pd.Series) -> str:
    """The origin, and the command where it is not the usual one of its kind, with the versions."""
    usual = USUAL.get(row["kind"], "").format(artifact=row["artifact"])
    made = "" if row["command"] == usual else str(row["command"])
    return ". ".join(part for part in (_condensed(str(row["origin"])), made, str(row["versions"])) if part)


def _condensed(origin: str) -> str:
    """Say what neighbouring places share, `004, Figures, A; 004, Figures, B`, only once: `004, Figures, A; B`."""
    said, shared = [], ""
    for place in origin.split("; "):
        head, comma, tail = place.rpartition(", ")
        said.append(tail if comma and head == shared else place)
        shared = head
    return "; ".join(said)
