"""Read families: groups of related subjects, with the order and look of each group in figures.

A paper's vocabulary names the tables. The first has a row per family and the second a row per member. An optional third
table has the names of members in figures, and the entities whose looks they share.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boundpaper.errors import DataError
from boundpaper.store.files import stamp_of
from boundpaper.store.looks import LOOK
from boundpaper.store.paper_vocabulary import Vocabulary, read
from boundpaper.store.paths import SOURCES, VOCABULARY
from boundpaper.store.table_file import rows
from boundpaper.suggestions import or_known

COLUMNS = ("family", "order", "entity", "color", "mark", "dash", "hatch")
Stamp = tuple[int, int]


@dataclass(frozen=True)
class Member:
    """A member of a family.

    `label` is its name in figures, or empty if figures show the printed name. `like` is the entity of the vocabulary
    whose look the member shares, or empty if it has its own look.
    """

    key: str
    name: str
    label: str = ""
    like: str = ""


@dataclass(frozen=True)
class Family:
    """A row of the table of families, with its members in the order of their table.

    Attributes
    ----------
    name : str
        Name of the family in the table of members.
    order : int
        Position among the families.
    entity : str
        Name of the entity in figures.
    color, mark, dash, hatch : str
        The look, as in `boundpaper.figures.style.Style`.
    members : tuple of Member
    """

    name: str
    order: int
    entity: str
    color: str
    mark: str
    dash: str
    hatch: str
    members: tuple[Member, ...]


def families(root: Path) -> tuple[Family, ...]:
    """Return the families of a project in order; empty if the vocabulary names no table of families.

    Raises DataError when a table is absent or lacks a column, an order is not a number, a look has an unknown value, or
    a member shares the look of an unknown entity.
    """
    vocabulary = read(root)
    return _read_families(root, vocabulary_stamps(root)) if vocabulary.families else ()


def vocabulary_stamps(root: Path) -> tuple[Stamp, ...]:
    """Return (time of change, size) of each table that the vocabulary names, by which a cache notices changes."""
    stamps = []
    for path in read(root).tables():
        try:
            stamps.append(stamp_of(root / path))
        except FileNotFoundError:
            raise DataError(f"{path} is missing; {VOCABULARY} names it") from None
    return tuple(stamps)


@functools.lru_cache(maxsize=8)
def _read_families(root: Path, stamps: tuple[Stamp, ...]) -> tuple[Family, ...]:
    vocabulary = read(root)
    settings = vocabulary.families
    table = next(table for table in vocabulary.named if table.table == settings["members"])
    column = settings["column"]
    member_rows = _rows(root, table.table, table.key, table.name, column)
    make_member = _member_maker(root, vocabulary)
    found_families = []
    for row_of_family in _rows(root, settings["table"], *COLUMNS):
        name = row_of_family.pop("family")
        members = tuple(make_member(row[table.key], row[table.name]) for row in member_rows if row[column] == name)
        for look_key in ("color", "mark", "dash", "hatch"):
            if broken := LOOK[look_key](row_of_family[look_key]):
                raise DataError(f"{_table_path(settings['table'])}: {look_key} of {name!r}: {broken.words}")
        cell = row_of_family.pop("order")
        try:
            order = int(cell or 0)
        except ValueError:
            raise DataError(f"{_table_path(settings['table'])}: the order {cell!r} is not a whole number") from None
        found_families.append(Family(name=name, order=order, members=members, **row_of_family))
    return tuple(sorted(found_families, key=lambda family: family.order))


def _member_maker(root: Path, vocabulary: Vocabulary) -> Callable[[str, str], Member]:
    """Return a function that makes a member from its key and its name."""
    settings = vocabulary.families.get("labels")
    if not settings:
        return Member
    like_column = settings.get("like")
    row_by_key = {
        row[settings["key"]]: row
        for row in _rows(root, settings["table"], settings["key"], settings["label"], *filter(None, [like_column]))
    }

    def member(key: str, name: str) -> Member:
        row = row_by_key.get(key, {})
        entity = row.get(like_column, "") if like_column else ""
        if entity and entity not in vocabulary.entities:
            raise DataError(
                f"{_table_path(settings['table'])}: {key!r} has the look of {entity!r}, which is not an entity of "
                f"the vocabulary{or_known(entity, vocabulary.entities)}"
            )
        return Member(key, name, row.get(settings["label"], ""), entity)

    return member


def _table_path(table: str) -> str:
    return f"{SOURCES}/{table}.csv"


def _rows(root: Path, table: str, *columns: str) -> list[dict[str, Any]]:
    """Return the rows of a source table, reduced to `columns`; a missing cell is an empty text."""
    selected_rows = []
    for _, row in rows(root / _table_path(table)):
        try:
            selected_rows.append({column: row[column] or "" for column in columns})
        except KeyError as error:
            raise DataError(f"{_table_path(table)}: no column {error}; it has {', '.join(map(str, row))}") from None
    return selected_rows
