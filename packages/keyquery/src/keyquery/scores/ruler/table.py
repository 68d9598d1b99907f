"""Store RULER scores as a measurement: rows of one model, a block for the benchmark and one for needles in noise."""

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
    """Write the scores into `artifacts/measurements/measured_ruler/NAME`; the file's other block stays.

    `scores` is what `tabulate` gives, `facts` are `data` (one of `DATA`), `checkpoint` and `role`, the same in all
    rows, and the manifest says what made them. With `replace` other scores of this block are overwritten. Raises
    DataError when the file holds other scores of this block and `replace` is not set.
    """
    path = path_of(root, TABLE, name)
    data = facts["data"]
    rows = _rows_as_text(scores[list(COLUMNS)].assign(**facts))
    manifests = {data: dict(manifest)}
    if path.is_file():
        whole = pd.read_csv(io.StringIO(table_text(path)), dtype=str, keep_default_na=False)
        old = whole[whole["data"] == data]
        if len(old) and not replace and not agree(_csv_bytes(old), _csv_bytes(rows)):
            raise DataError(
                f"{path.relative_to(root)}: holds other scores of this model on {data} already; give another --name to "
                "keep both, or --replace"
            )
        rows = pd.concat([whole[whole["data"] != data], rows], ignore_index=True)
        before = kept_manifest(root, path.relative_to(root).as_posix())
        manifests = {**before.get("blocks", {}), **manifests}
    rows = rows.sort_values("data", key=lambda each: each.map(DATA.index), kind="stable", ignore_index=True)
    note = {
        "command": "; ".join(manifests[each]["command"] for each in DATA if each in manifests),
        "versions": {library: version for each in manifests.values() for library, version in each["versions"].items()},
        "blocks": manifests,
    }
    return save(root, {TABLE: rows}, name, note)[0]


def _rows_as_text(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows as text, with the digits that a file keeps."""
    return pd.read_csv(io.StringIO(text(rows, TABLE)), dtype=str, keep_default_na=False)


def _csv_bytes(rows: pd.DataFrame) -> bytes:
    return rows.to_csv(index=False).encode()
