"""Units: what a table writes behind a column's title, against the unit that the data package gives the same column."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from boundpaper.store.descriptor import resource
from boundpaper.store.paths import SCHEMA
from boundpaper.tables.spec import Table

_SAME = {"%": "percent", "points": "percentage point"}
_NONE = ("1", "as ")  # beginnings of units that are none, or differ from row to row


def contradicted(root: Path, artifacts: Iterable[str], table: Table) -> str:
    """What is wrong with the first unit that contradicts the data package; empty when none does.

    A column is compared with those of its name in the artifacts that the table reads. One that the table converts has
    a name of its own.

    Parameters
    ----------
    root : Path
        The project.
    artifacts : iterable of str
        Names of the artifacts that the table reads.
    table : Table
    """
    declared: dict[str, dict[str, str]] = {}
    for name in artifacts:
        for field in (resource(root, name) or {"schema": {"fields": []}})["schema"]["fields"]:
            if field.get("unit"):
                declared.setdefault(field["name"], {})[field["unit"]] = name
    for column in table.columns:
        known = declared.get(column.field, {})
        if not column.unit or not known or any(unit.startswith(_NONE) for unit in known):
            continue
        if _plain(column.unit) not in map(_plain, known):
            unit, name = next(iter(known.items()))
            return (
                f"the column {column.field!r} has the unit {column.unit!r}, where {SCHEMA} says {unit!r} for it in "
                f"{name}; mend one of them, or give the converted column a name of its own"
            )
    return ""


def _plain(unit: str) -> str:
    """A unit without markup and plural, as units are compared."""
    bare = unit.replace("\\", "").strip("$ ").lower()
    return _SAME.get(bare, bare).removesuffix("s")
