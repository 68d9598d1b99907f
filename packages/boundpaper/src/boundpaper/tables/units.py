"""Check that the unit after a column's title is the unit that the data package gives for the column."""

from collections.abc import Iterable
from pathlib import Path

from boundpaper.store import units
from boundpaper.store.paths import SCHEMA
from boundpaper.tables.spec import Table


def contradicted_unit(root: Path, artifacts: Iterable[str], table: Table) -> str:
    """Return an error message for the first column whose unit contradicts the data package; empty if there is none.

    A column is compared with the columns of the same name in the artifacts that the table reads, so a column of
    converted values needs another name.
    """
    all_units = units.declared_units(root, artifacts)
    for column in table.columns:
        by_name = all_units.get(column.field, {})
        if not column.unit or not by_name or any(unit.startswith(units.NONE) for unit in by_name.values()):
            continue
        if units.plain(column.unit) not in map(units.plain, by_name.values()):
            name, unit = next(iter(by_name.items()))
            return (
                f"the column {column.field!r} has the unit {column.unit!r}, but {SCHEMA} says {unit!r} for it in "
                f"{name}; correct one of them, or give the converted column another name"
            )
    return ""
