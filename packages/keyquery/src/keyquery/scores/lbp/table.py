"""Store the scores of a model as a measurement, with one block of rows per prompt mode."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from boundpaper.errors import DataError
from boundpaper.store.manifest import manifest as kept_manifest
from boundpaper.store.measurement import path_of
from boundpaper.store.reader import read
from keyquery.measure.measurements import save
from keyquery.scores.lbp.tasks import MODES

TABLE = "measured_lbp"
ROLES = ("model", "null reference")
COLUMNS = tuple("mode slice key metric value ci_low ci_high n samples data checkpoint role reason".split())


def write_scores(
    root: Path,
    name: str,
    mode: str,
    scores: pd.DataFrame,
    facts: Mapping[str, str],
    manifest: Mapping[str, Any],
    *,
    replace: bool,
) -> Path:
    """Write the scores of one mode into `artifacts/measurements/measured_lbp/NAME`; keep those of the other mode.

    `scores` is the result of `aggregate`; `facts` are `data`, `checkpoint` and `role`, equal in all rows; `manifest`
    records how the scores of this mode were made. Raises DataError if the file has other scores of this mode, unless
    `replace` is set.
    """
    path = path_of(root, TABLE, name)
    rows = scores.assign(mode=mode, **facts)[list(COLUMNS)]
    manifests = {mode: dict(manifest)}
    if path.is_file():
        stored = read(root, TABLE)
        stored = stored[stored["model"] == name].drop(columns="model")
        old = stored[stored["mode"] == mode]
        if len(old) and not replace and not _tables_equal(old, rows):
            raise DataError(
                f"{path.relative_to(root)}: already has other scores of the mode {mode}; give another --name to keep "
                "both, or --replace"
            )
        rows = pd.concat([stored[stored["mode"] != mode], rows], ignore_index=True)
        earlier = kept_manifest(root, path.relative_to(root).as_posix())
        manifests = {**earlier.get("modes", {}), **manifests}
    rows = rows.sort_values("mode", key=lambda modes: modes.map(MODES.index), kind="stable", ignore_index=True)
    file_manifest = {
        "command": "; ".join(manifests[mode]["command"] for mode in MODES if mode in manifests),
        "versions": manifest["versions"],
        "modes": manifests,
    }
    return save(root, {TABLE: rows}, name, file_manifest)[0]


def _tables_equal(first: pd.DataFrame, second: pd.DataFrame) -> bool:
    """Return whether two tables have equal rows; numbers are compared to the precision stored in CSV."""
    try:
        pd.testing.assert_frame_equal(
            first.reset_index(drop=True), second.reset_index(drop=True), check_dtype=False, rtol=1e-6, atol=1e-9
        )
    except AssertionError:
        return False
    return True
