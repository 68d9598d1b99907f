"""Keep the population's measurements in one table per topic, with the model in the first column."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from boundpaper.build.lock import lock
from boundpaper.store.files import write
from boundpaper.store.manifest import sealed_text
from boundpaper.store.measurement import path_of, put
from boundpaper.store.reader import read
from boundpaper.store.results import text

FILE = "population"  # of every table, below `artifacts/measurements/NAME`
MODELS = "retrained_models"
TABLES: dict[str, tuple[str, ...]] = {
    MODELS: ("model",),
    "retrained_curves": ("model", "step", "metric"),
    "population_prompts": ("seed", "multiple", "item"),
    "retrained_keys": ("model", "encoding", "multiple"),
    "retrained_extensions": ("model", "encoding", "temperature", "multiple"),
    "retrained_tasks": ("model", "task", "multiple"),
    "retrained_losses": ("model", "text", "words", "low"),
    "retrained_heads": ("model", "estimator", "layer", "head"),
    "retrained_reach": ("model", "estimator", "layer", "head", "low"),
    "retrained_aligned": ("model", "estimator", "width", "layer", "head", "low"),
    "retrained_exchange": (
        *("model", "width", "texts", "layer", "head", "low", "high", "apart_low", "apart_high", "away_low"),
        "away_high",
    ),
    "retrained_ablation": ("model", "layer", "head"),
    "retrained_quantities": ("model", "quantity"),
}
"""Tables, each with its key columns, which also give the order of rows.

`population_*` except prompts belong to the first run, whose models were trained with two arithmetics and measured
with captured queries. They are kept as a record and never written again.
"""
OF_SEEDS = "population_prompts"  # the only table by seed, not by model; shared by both runs


def table_path(root: Path, name: str) -> Path:
    """Return the path of a table."""
    return path_of(root, name, FILE)


def missing_tables(root: Path, model: str) -> list[str]:
    """Return the tables that have no row of a model."""
    return [name for name in TABLES if name != OF_SEEDS and model not in _models_in(root, name)]


def complete_models(root: Path) -> set[str]:
    """Return the models that have rows in every table."""
    return set.intersection(*(_models_in(root, name) for name in TABLES if name != OF_SEEDS))


def _models_in(root: Path, name: str) -> set[str]:
    return set(read(root, name)["model"]) if table_path(root, name).is_file() else set()


def add_rows(root: Path, tables: Mapping[str, Sequence[dict[str, Any]]], manifest: Mapping[str, Any]) -> list[Path]:
    """Replace one model's rows in the tables; return the files.

    The table of models is written last: a model counts as measured when all its rows are there.

    Raises
    ------
    DataError
        If a table violates the schema.
    """
    paths = []
    with lock(root / "out/population/lock", lambda holder: None):
        for name in sorted(tables, key=lambda name: name == MODELS):
            keys, path = list(TABLES[name]), table_path(root, name)
            fresh = pd.DataFrame(tables[name])
            fresh = fresh[[*keys, *(column for column in fresh.columns if column not in keys)]]
            if path.is_file():
                old = read(root, name)
                mark = "seed" if name == OF_SEEDS else "model"
                if name == OF_SEEDS and set(fresh[mark]) <= set(old[mark]):
                    continue  # determined by the seed, so existing rows are equal
                kept = old.loc[~old[mark].isin(set(fresh[mark])), list(fresh.columns)]
                fresh = pd.concat([kept, fresh], ignore_index=True)
            fresh = fresh.sort_values(keys, kind="stable", ignore_index=True)
            paths.append(put(root, name, FILE, text(fresh, name)))
        for path in paths:
            write(path.with_suffix(".json"), sealed_text(dict(manifest), path))
    return paths
