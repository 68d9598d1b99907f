"""Read the subjects: the role that each model has in the thesis (`subjects.csv`).

A model is reported, pretrained, a shipped small model, a control, or a user's model. Studies and exhibits select
models by this role, not by name.
"""

import functools
from collections.abc import Iterable
from dataclasses import dataclass, fields
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
        Name of the model's pair, and `rope` or `drope`; both are empty for a single model.
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
    """Return the subjects of `models` whose role is `role`, in the order of the table."""
    names = set(models)
    return {
        name: subject for name, subject in subjects(root or project()).items() if name in names and subject.role == role
    }


@functools.lru_cache(maxsize=8)
def _read_subjects(path: Path, stamp: tuple[int, int]) -> dict[str, SubjectRow]:
    """Read the table; `stamp` is the file's time and size, so that a changed file is read again."""
    by_name: dict[str, SubjectRow] = {}
    for _, row in rows(path):
        try:
            cells: dict[str, Any] = {column.name: row[column.name] or "" for column in fields(SubjectRow)}
        except KeyError as error:
            raise DataError(f"{SUBJECTS}: no column {error}; it has {', '.join(map(str, row))}") from None
        try:
            cells["seed"] = int(cells["seed"]) if cells["seed"] else None
        except ValueError:
            raise DataError(f"{SUBJECTS}: {cells['seed']!r} is not a whole number; correct the column `seed`") from None
        by_name[cells["model"]] = SubjectRow(**cells)
    return by_name
