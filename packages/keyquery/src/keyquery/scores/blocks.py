"""Store scores of a model in a table that has several blocks of rows, such as one block per prompt mode."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from boundpaper.errors import DataError
from boundpaper.store.canonical import agree
from boundpaper.store.manifest import manifest as stored_manifest
from boundpaper.store.measurement import path_of
from boundpaper.store.results import text
from boundpaper.store.table_file import table_text
from keyquery.measure.measurements import save
from keyquery.measure.units import as_text

ROLES = ("model", "null reference")


def write_block(
    root: Path,
    table: str,
    name: str,
    rows: pd.DataFrame,
    manifest: Mapping[str, Any],
    *,
    column: str,
    blocks: Sequence[str],
    section: str,
    replace: bool,
) -> Path:
    """Write one block of rows into the measurement `artifacts/measurements/TABLE/NAME`, and return its path.

    `column` has the block of each row. `blocks` are all blocks in the table's order; rows of other blocks are kept.
    `manifest` records how `rows` were made; `section` is the part of the file's manifest that has the manifests by
    block. Raises DataError if the file has other rows of the block, unless `replace` is set, or has other columns.
    """
    path = path_of(root, table, name)
    block = rows[column].iloc[0]
    rows = as_text(text(rows, table))  # rounded as in a file
    manifests = {block: dict(manifest)}
    if path.is_file():
        stored = as_text(table_text(path))
        if list(stored.columns) != list(rows.columns):
            raise DataError(f"{path.relative_to(root)}: its columns are not those of {table}; restore or remove it")
        old = stored[stored[column] == block]
        old_csv, new_csv = (frame.to_csv(index=False).encode() for frame in (old, rows))
        if len(old) and not replace and not agree(old_csv, new_csv):
            raise DataError(
                f"{path.relative_to(root)}: already has other scores of the {column} {block}; give another --name to "
                "keep both, or --replace"
            )
        rows = pd.concat([stored[stored[column] != block], rows], ignore_index=True)
        manifests = {**stored_manifest(root, path.relative_to(root).as_posix()).get(section, {}), **manifests}
    rows = rows.sort_values(column, key=lambda names: names.map(blocks.index), kind="stable", ignore_index=True)
    file_manifest = {
        "command": "; ".join(manifests[key]["command"] for key in blocks if key in manifests),
        "versions": {library: version for each in manifests.values() for library, version in each["versions"].items()},
        section: manifests,
    }
    return save(root, {table: rows.assign(value=pd.to_numeric(rows["value"]))}, name, file_manifest)[0]
