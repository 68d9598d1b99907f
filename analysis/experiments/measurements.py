"""Measurements on their way into the project: a table a model below `artifacts/measurements`, a manifest beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from artifacts.errors import DataError
from artifacts.files import write
from artifacts.manifest import sealed
from artifacts.results import settled, text

NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")


def slug(name: str) -> str:
    """A model's id or folder as a name of measurements: `org/My Model-7B` is `my-model-7b`."""
    return re.sub(r"[^a-z0-9._-]+", "-", name.rstrip("/").rpartition("/")[2].lower()).strip("-._") or "model"


def named(model: str) -> str:
    """The name, when it can be one of a file.

    Raises
    ------
    DataError
        When it cannot.
    """
    if not NAME.fullmatch(model):
        raise DataError(f"{model!r} is no name of measurements; give small letters, digits, '.', '_' and '-'")
    return model


def save(root: Path, tables: Mapping[str, pd.DataFrame], model: str, manifest: Mapping[str, Any]) -> list[Path]:
    """Write `artifacts/measurements/EXPERIMENT/MODEL.csv` and `.json` for each table; return the CSVs.

    Parameters
    ----------
    root : Path
        The project.
    tables : mapping of str to DataFrame
        Tables by experiment.
    model : str
        Name of the files, see `named`.
    manifest : mapping
        What made them: command, versions, settings; no times and no facts of the machine.

    Raises
    ------
    DataError
        When a table holds what the schema refuses.
    """
    written = {name: text(table, name).encode() for name, table in tables.items()}
    paths = []
    for name, content in written.items():
        path = root / "artifacts/measurements" / name / f"{model}.csv"
        write(path, settled(path, content))
        write(path.with_suffix(".json"), sealed(dict(manifest), path))
        paths.append(path)
    return paths
