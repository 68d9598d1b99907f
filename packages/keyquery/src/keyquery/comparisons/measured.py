"""Read a model's measurements and their manifests from a project or a folder."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from boundpaper.errors import DataError
from boundpaper.store.manifest import contradiction
from boundpaper.store.measurement import FOLDER
from boundpaper.store.paths import SUFFIXES
from boundpaper.store.table_file import table_text
from boundpaper.suggestions import or_known
from keyquery.measure.headlines import HEADLINES
from keyquery.measure.measurements import OF_THE_PROCESSOR, manifest_beside, slug
from keyquery.measure.units import as_text, as_tidy, is_tidy

OF_HEADS = "head_metrics"
TABLES_OF_HEADS = ("model_metrics", OF_HEADS, *("head_profile", "head_pairs", "head_competition", "head_components"))
"""Names of the tables that one call of `heads` writes."""


@dataclass(frozen=True, eq=False)
class ModelMeasurements:
    """The measurements of a model.

    By experiment, `tables` has tidy rows (`keyquery.measure.units.as_tidy`) and `manifests` has the record of how they
    were measured. `copy` writes the measurements of some experiments into a paper's folder.
    """

    name: str
    tables: Mapping[str, pd.DataFrame]
    manifests: Mapping[str, Mapping[str, Any]]
    copy: Callable[[Path, Sequence[str]], None]

    def __post_init__(self) -> None:
        for experiment in self.tables:
            if not self.manifests.get(experiment):
                raise DataError(
                    f"{experiment} of {self.name}: no manifest says how it was made; measure it again, or restore the "
                    ".json beside the table"
                )


def read(root: Path, name: str, experiments: Sequence[str] = ()) -> ModelMeasurements:
    """Read the measurements stored under one name in `artifacts/measurements` of a folder.

    `root` is a project, or any folder with measurements; `name` may be shortened, see `full_name`. If `experiments` is
    empty, all are read. Raises DataError if there are no measurements, the name fits several, one of `experiments`
    is missing, or a table was truncated or changed.
    """
    name = full_name(root, name)
    paths = {path.parent.name: path for suffix in SUFFIXES for path in (root / FOLDER).glob(f"*/{name}{suffix}")}
    for experiment in experiments:
        if experiment not in paths:
            measure_it = f"; measure it: run {experiment} --model MODEL --name {name}"
            advice = measure_it if experiment in HEADLINES else or_known(experiment, sorted(paths))
            raise DataError(f"{name} has no {experiment}{advice}")
    tables: dict[str, pd.DataFrame] = {}
    for experiment, path in sorted(paths.items()):
        if experiments and experiment not in experiments:
            continue
        if fault := contradiction(root, path.relative_to(root).as_posix()):
            raise DataError(f"{path.relative_to(root)}: {fault}")
        if experiment == OF_HEADS:
            _require_one_capture(name, paths)
        table = as_text(table_text(path))
        if experiment == OF_HEADS or is_tidy(table):
            tables[experiment] = as_tidy(experiment, table)

    def copy(paper: Path, names: Sequence[str]) -> None:
        for path in (paths[table_name] for table_name in names):
            target = paper / path.relative_to(root)
            target.parent.mkdir(parents=True, exist_ok=True)
            for file in (path, path.with_suffix(".json")):
                shutil.copyfile(file, target.with_name(file.name))

    return ModelMeasurements(name, tables, {table: manifest_beside(paths[table]) or {} for table in tables}, copy)


def measurement_names(root: Path) -> list[str]:
    """Return the names of all measurements in `artifacts/measurements` of a folder; raise DataError if it has none."""
    names = sorted({path.stem for suffix in SUFFIXES for path in (root / FOLDER).glob(f"*/*{suffix}")})
    if not names:
        raise DataError(f"no measurements in {root / FOLDER}; make some: `run NAME --model MODEL` or `heads CAPTURE`")
    return names


def full_name(root: Path, name: str) -> str:
    """Return the full name of measurements, given the full name, its beginning, or the model's name.

    Raises DataError if no name fits, or several.
    """
    names = measurement_names(root)
    if name in names:
        return name
    start = slug(name)
    candidates = [each for each in names if each.startswith(start) or start in _models_in_manifests(root, each)]
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        raise DataError(f"{name!r} may be any of {', '.join(candidates)}; give one of these names in full")
    raise DataError(f"no measurements of {name!r}{or_known(name, names)}")


def _models_in_manifests(root: Path, name: str) -> set[str]:
    """Return the slugs of the models in the manifests of the measurements with this name."""
    manifests = [manifest_beside(path.with_suffix(".csv")) or {} for path in (root / FOLDER).glob(f"*/{name}.json")]
    records = (manifest.get(field) for manifest in manifests for field in ("model", "capture"))
    return {slug(str(record["model"])) for record in records if isinstance(record, dict) and record.get("model")}


def _require_one_capture(name: str, paths: Mapping[str, Path]) -> None:
    """Raise DataError if the tables of heads come from two captures, as when `heads` stopped while replacing tables."""
    manifests = {table: manifest_beside(paths[table]) or {} for table in TABLES_OF_HEADS if table in paths}
    captures = {
        table: {key: value for key, value in manifest.get("capture", {}).items() if key not in OF_THE_PROCESSOR}
        for table, manifest in manifests.items()
    }
    conflicting_tables = [table for table, capture in captures.items() if capture != captures[OF_HEADS]]
    if conflicting_tables:
        raise DataError(
            f"{name}: {OF_HEADS} and {', '.join(conflicting_tables)} come from different captures, as after a stopped "
            f"`heads`; run `heads CAPTURE --name {name} --replace` again"
        )


def common_experiments(
    models: Sequence[ModelMeasurements], experiments: Sequence[str] = ()
) -> tuple[list[str], list[str]]:
    """Return the experiments to compare, in the order of `HEADLINES`, and notes on experiments that some models lack.

    Without `experiments`, all that were run on every model are compared. Raises DataError if the models have
    no experiment in common.
    """
    names = dict.fromkeys([*HEADLINES, *(name for model in models for name in model.tables)])
    measured = [name for name in names if any(name in model.tables for model in models)]
    shared = [name for name in measured if all(name in model.tables for model in models)]
    left_out = [
        f"{name}: not of {', '.join(model.name for model in models if name not in model.tables)}; left out"
        for name in measured
        if name not in shared
    ]
    if not shared:
        measured_by = "; ".join(f"{model.name} has {', '.join(model.tables) or 'none'}" for model in models)
        raise DataError(f"no experiment was measured on all models ({measured_by}); run one with --model and --against")
    return [name for name in shared if not experiments or name in experiments], left_out
