"""Locate each claim in the documents, by a heading, a line and a hash of the sentence.

    python -m boundpaper.claims.anchor FOLDER

FOLDER has the documents as Markdown files `CODE*.md`, in which CODE is the key of the document in
`artifacts/sources/documents.csv`. Only this command reads the documents. It writes
`artifacts/sources/claim_anchors.csv`: with this table, a reader who has the documents finds each judged sentence and
sees whether it has changed.

A statement is searched for under the headings that its section names, by the numbers and words that it shares with each
sentence; if no sentence shares enough, only the heading is recorded. A cell check is located in the table row that the
check names, if the row prints the value, else in the only sentence under its heading that prints the value. The value
that a claim reports is searched for in the whole document; its hash is recorded if every part of it is printed.
"""

import csv
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from boundpaper import places
from boundpaper.errors import DataError
from boundpaper.store.files import write
from boundpaper.store.sentences import anchor_of, sentences

LEDGER = "artifacts/results/claims.csv"
ANCHORS = "artifacts/sources/claim_anchors.csv"
COLUMNS = ("claim", "document", "heading", "line", "anchor", "match", "reported")


def main(arguments: Sequence[str]) -> int:
    """Write a table of claims' anchors in the documents of a folder, print counts by kind, and return the exit code."""
    root = places.project()
    if len(arguments) != 1:
        print("usage: python -m boundpaper.claims.anchor FOLDER", file=sys.stderr)
        return 2
    with (root / LEDGER).open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["source"] != "thesis"]
    texts = {source: _read_document(Path(arguments[0]), source) for source in sorted({row["source"] for row in rows})}
    documents = {source: sentences(text) for source, text in texts.items()}
    anchors = [anchor_of(row, documents[row["source"]], texts[row["source"]]) for row in rows]
    table = pd.DataFrame(anchors, columns=list(COLUMNS), dtype=object)
    write(root / ANCHORS, table.to_csv(index=False, lineterminator="\n").encode())
    for kind in ("statement", "cell check"):
        anchors_of_kind = [anchor for anchor, row in zip(anchors, rows, strict=True) if row["kind"] == kind]
        n_located = sum(bool(anchor["line"]) for anchor in anchors_of_kind)
        print(f"{kind}: {n_located} of {len(anchors_of_kind)} with a line, the rest with a heading")
    for anchor, row in zip(anchors, rows, strict=True):
        if row["reported"] and not anchor["reported"]:
            print(f"{row['claim']} reports {row['reported']!r}, which document {row['source']} does not print")
    return 0


def _read_document(folder: Path, source: str) -> str:
    """Return the text of a document, which must have exactly one file in the folder."""
    paths = sorted(folder.glob(f"{source}*.md"))
    if len(paths) != 1:
        raise DataError(f"{folder} has {len(paths)} files {source}*.md; give the folder with one file per document")
    return paths[0].read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
