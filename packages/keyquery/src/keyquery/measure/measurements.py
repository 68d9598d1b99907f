"""Write measurements into `artifacts/measurements`: one table per experiment and model, each with a manifest."""

import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from boundpaper.errors import DataError
from boundpaper.store.canonical import agree, same_cells
from boundpaper.store.files import write
from boundpaper.store.manifest import SEAL, sealed_text
from boundpaper.store.measurement import path_of, put
from boundpaper.store.results import text
from boundpaper.store.table_file import table_text

NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
TOLERANCE = 1e-4  # relative difference of float32 sums between processors
NOISE = 1e-6  # relative to a metric's largest value: smaller float32 sums are rounding
WEIGHTS = ("fingerprint", "revision", "dtype", "quantization", "position", "load_as", "scaling", "bos")
OF_THE_MODEL = (
    *WEIGHTS,
    *("model", "architecture", "gguf", "positional", "training_length", "documents", "text_hash", "texts"),
)
"""Settings that may differ between models, or that have a message of their own."""
WORDS = {"texts": "--documents", "place": "--texts"}  # options with another name on the command line
OF_THE_RUN = ("command", "device", "seconds", "versions", SEAL)  # keys of a manifest that do not determine numbers
OF_THE_PROCESSOR = ("manifest", "vectors")  # hashes of a capture, which depend on its last bits


def slug(name: str) -> str:
    """Return the name of measurements for a model's id or folder: `org/My Model-7B` becomes `my-model-7b`."""
    return re.sub(r"[^a-z0-9._-]+", "-", name.rstrip("/").rpartition("/")[2].lower()).strip("-._") or "model"


def slug_of_texts(place: str) -> str:
    """Return a short name for texts from their path or id, without suffixes: `My Prose.jsonl.gz` becomes `my-prose`."""
    return re.sub(r"\.(txt|md|jsonl?|csv|tsv|gz)(\.gz)?$", "", slug(place)) or "texts"


def checked_name(model: str) -> str:
    """Return the name if it is valid as a file name.

    Raises DataError if it is not.
    """
    if not NAME.fullmatch(model):
        raise DataError(f"{model!r} cannot name measurements; use only lowercase letters, digits, '.', '_' and '-'")
    return model


def save(root: Path, tables: Mapping[str, pd.DataFrame], model: str, manifest: Mapping[str, Any]) -> list[Path]:
    """Write `artifacts/measurements/EXPERIMENT/MODEL.csv` and `.json` for each table; return the tables' paths.

    A large table is written as `.parquet`, see `boundpaper.store.measurement`. `tables` maps experiments to tables,
    and `model` is the file name (see `checked_name`). `manifest` records how the tables were measured. Raises DataError
    if a table violates the schema.
    """
    csv_by_name = {name: text(floor_noise(table), name).encode() for name, table in tables.items()}
    paths = []
    for name, csv in csv_by_name.items():
        path = path_of(root, name, model)
        old = _stored_csv(path)
        equal = old == csv or (bool(old) and _tables_agree(old, csv))
        if not equal:
            path = put(root, name, model, csv.decode())
        if not equal or _lasting_settings(manifest_beside(path)) != _lasting_settings(_through_json(manifest)):
            write(path.with_suffix(".json"), sealed_text(dict(manifest), path), lasting=True)
        paths.append(path)
    return paths


def floor_noise(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table in which values below `NOISE` times the largest value of their metric are 0.

    Each metric has its own floor: a floor for the whole column `value` would remove metrics with small values.
    """
    if not {"metric", "value"} <= set(table.columns):
        return table
    sizes = table["value"].astype(float).abs()
    return table.assign(value=table["value"].mask(sizes < NOISE * sizes.groupby(table["metric"]).transform("max"), 0.0))


def _tables_agree(old: bytes, new: bytes) -> bool:
    """Return whether two tables agree within `TOLERANCE` or each metric's `NOISE`, as results of two processors do."""
    if agree(old, new, TOLERANCE):
        return True
    tables = [pd.read_csv(io.BytesIO(table), dtype=str, keep_default_na=False) for table in (old, new)]
    first, second = tables
    if list(first.columns) != list(second.columns) or len(first) != len(second):
        return False
    if not {"metric", "value"} <= set(first.columns):
        return False
    other_columns = first.columns.drop("value")
    if not all(same_cells(str(name), first[name], second[name], TOLERANCE).all() for name in other_columns):
        return False
    old_values, new_values = (pd.to_numeric(table["value"], errors="coerce") for table in tables)
    sizes = pd.concat([old_values.abs(), new_values.abs()], axis=1).max(axis=1)
    allowed = np.maximum(TOLERANCE * sizes, 2 * NOISE * sizes.groupby(first["metric"]).transform("max"))
    within_noise = (old_values - new_values).abs() <= allowed
    return bool((within_noise | (first["value"] == second["value"])).all())


def manifest_beside(table: Path) -> dict[str, Any] | None:
    """Return the manifest beside a table; None if it is absent or cannot be read."""
    try:
        manifest = json.loads(table.with_suffix(".json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return manifest if isinstance(manifest, dict) else None


def conflicting_settings(table: Path, manifest: Mapping[str, Any]) -> list[str]:
    """Return the settings in which a table's stored manifest differs from `manifest`; empty if there is no table.

    The settings are the weights and how they are loaded, the position encoding, the texts and all options.
    """
    if not table.is_file():
        return []
    old = manifest_beside(table)
    if old is None:
        return ["no manifest says what it holds"]
    before, now = settings_in_words(old), settings_in_words(_through_json(manifest))
    return [f"{name} {before[name]}, now {now[name]}" for name in before if name in now and before[name] != now[name]]


def refuse_overwriting(root: Path, by_table: Mapping[Path, Sequence[str]]) -> None:
    """Raise DataError if measurements that were made with other settings would be overwritten.

    `by_table` maps tables to the result of `conflicting_settings`. The message names the first table with conflicts.
    """
    conflicts = {table.relative_to(root).as_posix(): settings for table, settings in by_table.items() if settings}
    if conflicts:
        file, settings = next(iter(conflicts.items()))
        tables = f"{file} and {len(conflicts) - 1} more hold" if len(conflicts) > 1 else f"{file} holds"
        raise DataError(
            f"{tables} another measurement ({'; '.join(settings)}); nothing is measured: give another --name, or "
            "--replace to overwrite"
        )


def settings_in_words(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that determine the numbers of a measurement, by their names on the command line."""
    model, capture = manifest.get("model"), manifest.get("capture")
    settings: dict[str, Any] = {name: model.get(name) for name in WEIGHTS} if isinstance(model, dict) else {}
    settings |= {name: manifest[name] for name in ("positional", "training_length") if name in manifest}
    for section in ("options", "settings"):
        settings |= {WORDS.get(name, name): value for name, value in manifest.get(section, {}).items()}
    if isinstance(capture, dict):
        settings |= {name: value for name, value in capture.items() if name not in OF_THE_PROCESSOR}
    return settings


def _stored_csv(path: Path) -> bytes:
    """Return a table's content as CSV; empty if the table is missing or damaged, since it will then be replaced."""
    try:
        return table_text(path).encode()
    except (FileNotFoundError, DataError):
        return b""


def _lasting_settings(manifest: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return a manifest without the facts that differ between equal runs."""
    if manifest is None:
        return None
    lasting = {name: value for name, value in manifest.items() if name not in (*OF_THE_RUN, SEAL)}
    if isinstance(lasting.get("capture"), dict):
        lasting["capture"] = {name: value for name, value in lasting["capture"].items() if name not in OF_THE_PROCESSOR}
    return lasting


def _through_json(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest as it is after writing and reading it as JSON, for example with lists instead of tuples."""
    read_back: dict[str, Any] = json.loads(json.dumps(manifest))
    return read_back
