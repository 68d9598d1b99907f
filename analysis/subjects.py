"""Read the subjects: the role that each model has in the thesis (`subjects.csv`).

A model is reported, pretrained, a shipped small model, a control, or a user's model; studies and exhibits select
models by role, never by the form of a name.
"""

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boundpaper.errors import DataError
from boundpaper.places import project
from boundpaper.store.table_file import rows

SUBJECTS = "artifacts/sources/subjects.csv"
LAB = "lab"  # role of the shipped small models


@dataclass(frozen=True)
class SubjectRow:
    """A row of `subjects.csv`.

    Attributes
    ----------
    model, role : str
        The model's key and role.
    pair, side : str
        Name of the pair and side in it (`rope`, `drope`); empty for a single model.
    seed : int or None
        Seed of the model's training.
    label : str
        Name on figures; if empty, the printed name is used.
    """

    model: str
    role: str
    pair: str
    side: str
    seed: int | None
    label: str


def subjects(root: Path | None = None) -> dict[str, SubjectRow]:
    """Return the subjects of a project by model; empty for a project without the table.

    Raises DataError if the table lacks a column, or a seed is not a number.
    """
    path = (root or project()) / SUBJECTS
    if not path.is_file():
        return {}
    status = path.stat()
    return _read_subjects(path, (status.st_mtime_ns, status.st_size))


def subjects_of_role(models: Iterable[str], role: str = LAB, root: Path | None = None) -> dict[str, SubjectRow]:
    """Return the subjects among `models` that have a role, in the order of the table."""
    names = set(models)
    return {
        name: subject for name, subject in subjects(root or project()).items() if name in names and subject.role == role
    }


@functools.lru_cache(maxsize=8)
def _read_subjects(path: Path, stamp: tuple[int, int]) -> dict[str, SubjectRow]:
    by_name: dict[str, SubjectRow] = {}
    for _, row in rows(path):
        cells = _pick_columns(row, SUBJECTS, "model", "role", "pair", "side", "label", "seed")
        seed = _whole_number(cells.pop("seed"), SUBJECTS)
        by_name[cells["model"]] = SubjectRow(**cells, seed=seed)
    return by_name


def _pick_columns(row: dict[str, str], where: str, *names: str) -> dict[str, Any]:
    try:
        return {name: row[name] or "" for name in names}
    except KeyError as error:
        raise DataError(f"{where}: no column {error}; it has {', '.join(str(name) for name in row)}") from None


def _whole_number(text: str, where: str) -> int | None:
    try:
        return int(text) if text else None
    except ValueError:
        raise DataError(f"{where}: {text!r} is not a whole number; correct the column `seed`") from None
