"""The ledger: all verdicts gathered into the artifact `claims`."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

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
    frame = pd.DataFrame(gathered(job), columns=list(COLUMNS))
    frame["n"] = frame["n"].astype("Int64")
    path = "artifacts/results/claims.csv"
    return {path: settled(job.root / path, text(frame, "claims").encode())}


def gathered(job: Job) -> list[dict[str, Any]]:
    """The rows of all claims, ordered by source document, file and line.

    Raises
    ------
    SpecError
        When there is no claim.
    """
    files = [path for path in job.inputs if path.startswith("out/claims/")]
    rows = [row for path in files for row in json.loads((job.root / path).read_text(encoding="utf-8"))]
    if not rows:
        raise SpecError("analysis/claims holds no claim; write one function with its statement as docstring")
    return [row for _, row in sorted(enumerate(rows), key=lambda item: (*item[1]["order"], item[0]))]
