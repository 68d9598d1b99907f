"""The ledger: all verdicts gathered into the artifact `claims`."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from analysis.claims._repeats import inherited
from artifacts.errors import SpecError
from artifacts.job import Job
from artifacts.results import settled, text

COLUMNS = (
    "claim",
    "kind",
    "source",
    "section",
    "statement",
    "reported",
    "recomputed",
    "n",
    "ci_low",
    "ci_high",
    "p_value",
    "p_adjusted",
    "verdict",
    "failure",
    "severity",
    "reason",
)


def build(job: Job) -> dict[str, bytes]:
    """Builder of the ledger: one row a verdict, ordered by source document, file and line."""
    files = [path for path in job.inputs if path.startswith("out/claims/")]
    rows = [row for path in files for row in json.loads((job.root / path).read_text(encoding="utf-8"))]
    if not rows:
        raise SpecError("analysis/claims holds no claim; write one function with its statement as docstring")
    path = "artifacts/results/claims.csv"
    return {path: settled(job.root / path, text(table(rows), "claims").encode())}


def table(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """The ledger's rows in their order, as a frame of `COLUMNS`."""
    ordered = sorted(enumerate(inherited(rows)), key=lambda item: (*item[1]["order"], item[0]))
    frame = pd.DataFrame([row for _, row in ordered], columns=list(COLUMNS))
    frame["n"] = frame["n"].astype("Int64")
    return frame
