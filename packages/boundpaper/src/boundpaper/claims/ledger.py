"""Gather all verdicts into the ledger, the artifact `claims`."""

import json
from typing import Any

import pandas as pd

from boundpaper.build.job import Job
from boundpaper.claims.repeats import with_origins
from boundpaper.errors import SpecError
from boundpaper.store.results import bytes_to_keep, text

COLUMNS = tuple(
    """
    claim kind source section statement reported recomputed n ci_low ci_high p_value p_adjusted verdict failure
    severity reason
    """.split()
)


def build(job: Job) -> dict[str, bytes]:
    """Return the ledger: one row per verdict, sorted by source document, file and line."""
    path = "artifacts/results/claims.csv"
    return {path: bytes_to_keep(job.root / path, text(ledger_frame(all_rows(job)), "claims").encode())}


def all_rows(job: Job) -> list[dict[str, Any]]:
    """Return the rows of all claims in the order of the ledger; raise SpecError when there are no claims."""
    files = [path for path in job.inputs if path.startswith("out/claims/")]
    rows = [row for path in files for row in json.loads((job.root / path).read_text(encoding="utf-8"))]
    if not rows:
        raise SpecError("analysis/claims contains no claim; write a function with the statement as its docstring")
    return order_rows(rows)


def order_rows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows sorted by document, file and line; each repeat of a number has the worst verdict of its origins."""
    return sorted(with_origins(rows), key=lambda row: tuple(row["order"]))


def ledger_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return the ledger's rows as a DataFrame with the columns `COLUMNS`."""
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    frame["n"] = frame["n"].astype("Int64")
    return frame
