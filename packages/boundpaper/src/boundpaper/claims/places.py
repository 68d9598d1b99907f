"""Collect where each ledger row is stated, computed and printed, in the artifact `claim_places`."""

import csv
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from boundpaper.build.job import Job
from boundpaper.claims.ledger import all_rows
from boundpaper.store.results import bytes_to_keep

ANCHORS = "artifacts/sources/claim_anchors.csv"
CHAPTERS = "paper/chapters"
COLUMNS = ("claim", "source", "heading", "line", "anchor", "function", "inputs", "chapters")
_CALL = re.compile(r"""\b(?:claim|mark)\(\s*['"]([^'"]+)['"]""")


def build(job: Job) -> dict[str, bytes]:
    """Return the table of places: one row per verdict, in the order of the ledger."""
    rows = places_of_rows(job.root, all_rows(job))
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    path = "artifacts/results/claim_places.csv"
    return {path: bytes_to_keep(job.root / path, frame.to_csv(index=False, lineterminator="\n").encode())}


def places_of_rows(root: Path, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return for each ledger row where it is stated, the function that computes it, and the chapters that print it."""
    anchors = _anchors_by_claim(root / ANCHORS)
    chapters_by_claim = _chapters_by_claim(sorted((root / CHAPTERS).glob("*.tex.j2")))
    places = []
    for row in rows:
        source, file, line = row["order"]
        anchor = anchors.get(row["claim"], {})
        places.append(
            {
                "claim": row["claim"],
                "source": source,
                **{name: anchor.get(name, "") for name in ("heading", "line", "anchor")},
                "function": f"{file}:{line}",
                "inputs": "; ".join(row["inputs"]),
                "chapters": "; ".join(chapters_by_claim.get(row["claim"], ())),
            }
        )
    return places


def _anchors_by_claim(path: Path) -> dict[str, dict[str, str]]:
    """Return the rows of the table of anchors by claim; empty if the table does not exist."""
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as stream:
        return {row["claim"]: row for row in csv.DictReader(stream)}


def _chapters_by_claim(paths: Iterable[Path]) -> dict[str, list[str]]:
    """Return the chapters that print each verdict; invalid UTF-8 is ignored, since the chapter's step reports it."""
    chapters_by_claim: dict[str, list[str]] = {}
    for path in paths:
        for claim in dict.fromkeys(_CALL.findall(path.read_text(encoding="utf-8", errors="replace"))):
            chapters_by_claim.setdefault(claim, []).append(path.name.removesuffix(".tex.j2"))
    return chapters_by_claim
