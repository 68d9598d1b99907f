"""Store RULER scores of a model as a measurement, with blocks of rows for the benchmark and for needles in noise."""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from boundpaper.errors import DataError
from boundpaper.store.canonical import agree
from boundpaper.store.manifest import manifest as kept_manifest
from boundpaper.store.measurement import path_of
from boundpaper.store.results import text
from boundpaper.store.table_file import table_text
from keyquery.measure.measurements import save
from keyquery.scores.ruler.scores import COLUMNS

TABLE = "measured_ruler"
BENCHMARK, NOISE = "RULER", "needles in noise"
DATA = (BENCHMARK, NOISE)
ROLES = ("model", "null reference")


def write_scores(
    root: Path, name: str, scores: pd.DataFrame, facts: Mapping[str, str], manifest: Mapping[str, Any], *, replace: bool
) -> Path:
    """Write scores into `artifacts/measurements/measured_ruler/NAME`; keep the file's other block.

    `scores` is the result of `tabulate`; `facts` are `data` (one of `DATA`), `checkpoint` and `role`, equal in all
    rows; `manifest` records how the scores were made. Raises DataError if the file has other scores of this block,
    unless `replace` is set.
    """
    path = path_of(root, TABLE, name)
    data = facts["data"]
    rows = _rows_as_text(scores[list(COLUMNS)].assign(**facts))
    manifests = {data: dict(manifest)}
    if path.is_file():
        stored = pd.read_csv(io.StringIO(table_text(path)), dtype=str, keep_default_na=False)
        old = stored[stored["data"] == data]
        if len(old) and not replace and not agree(_csv_bytes(old), _csv_bytes(rows)):
            raise DataError(
                f"{path.relative_to(root)}: already has other scores of this model on {data}; give another --name to "
                "keep both, or --replace"
            )
        rows = pd.concat([stored[stored["data"] != data], rows], ignore_index=True)
        earlier = kept_manifest(root, path.relative_to(root).as_posix())
        manifests = {**earlier.get("blocks", {}), **manifests}
    rows = rows.sort_values("data", key=lambda column: column.map(DATA.index), kind="stable", ignore_index=True)
    file_manifest = {
        "command": "; ".join(manifests[key]["command"] for key in DATA if key in manifests),
        "versions": {library: version for each in manifests.values() for library, version in each["versions"].items()},
        "blocks": manifests,
    }
    return save(root, {TABLE: rows}, name, file_manifest)[0]


def _rows_as_text(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows as text, rounded as in a file."""
    return pd.read_csv(io.StringIO(text(rows, TABLE)), dtype=str, keep_default_na=False)


def _csv_bytes(rows: pd.DataFrame) -> bytes:
    return rows.to_csv(index=False).encode()
