"""Read families: the looks and order of related entities in figures.

A paper's vocabulary names the tables: the first has a row per family, the second has the members, and an optional third
has the members' names in figures and the entities whose looks they share.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boundpaper.errors import DataError
from boundpaper.store.looks import LOOK
from boundpaper.store.paper_vocabulary import Vocabulary, read
from boundpaper.store.paths import SOURCES, VOCABULARY
from boundpaper.store.table_file import rows
from boundpaper.suggestions import or_known

LOOKS = ("family", "order", "entity", "color", "mark", "dash", "hatch")
Stamp = tuple[int, int]


@dataclass(frozen=True)
class Member:
    """A member of a family.

    `label` is its name in figures, empty if the printed name is used; `like` is the vocabulary entity whose look it
    shares, empty for a separate look.
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
    """Return sizes and times of the tables that the vocabulary names; cached content is valid until they change."""
    stamps = []
    for path in read(root).tables():
        try:
            status = (root / path).stat()
        except FileNotFoundError:
            raise DataError(f"{path} is missing; {VOCABULARY} names it") from None
        stamps.append((status.st_mtime_ns, status.st_size))
    return tuple(stamps)


@functools.lru_cache(maxsize=8)
def _read_families(root: Path, stamp: tuple[Stamp, ...]) -> tuple[Family, ...]:
    vocabulary = read(root)
    settings = vocabulary.families
    named = next(table for table in vocabulary.named if table.table == settings["members"])
    column = settings["column"]
    member_rows = _rows(root, named.table, named.key, named.name, column)
    labels = _member_maker(root, vocabulary)
    found_families = []
    for words in _rows(root, settings["table"], *LOOKS):
        name = words.pop("family")
        members = tuple(labels(row[named.key], row[named.name]) for row in member_rows if row[column] == name)
        for look_key in ("color", "mark", "dash", "hatch"):
            if broken := LOOK[look_key](words[look_key]):
                raise DataError(f"{_table_path(settings['table'])}: {look_key} of {name!r}: {broken.words}")
        order = _whole_number(words.pop("order"), settings["table"])
        found_families.append(Family(name=name, order=order, members=members, **words))
    return tuple(sorted(found_families, key=lambda family: family.order))


def _member_maker(root: Path, vocabulary: Vocabulary) -> Callable[[str, str], Member]:
    """Return a function that makes a member from its key and its name."""
    label_table = vocabulary.families.get("labels")
    if not label_table:
        return Member
    like = label_table.get("like")
    by_key = {
        row[label_table["key"]]: row
        for row in _rows(root, label_table["table"], label_table["key"], label_table["label"], *filter(None, [like]))
    }

    def member(key: str, name: str) -> Member:
        row = by_key.get(key, {})
        entity = row.get(like, "") if like else ""
        if entity and entity not in vocabulary.entities:
            raise DataError(
                f"{_table_path(label_table['table'])}: {key!r} looks like {entity!r}, which is not an entity of "
                f"the vocabulary{or_known(entity, vocabulary.entities)}"
            )
        return Member(key, name, row.get(label_table["label"], ""), entity)

    return member


def _table_path(table: str) -> str:
    return f"{SOURCES}/{table}.csv"


def _rows(root: Path, table: str, *columns: str) -> list[dict[str, Any]]:
    """Return the rows of a source table, with the given columns."""
    selected = []
    for _, row in rows(root / _table_path(table)):
        try:
            selected.append({column: row[column] or "" for column in columns})
        except KeyError as error:
            raise DataError(
                f"{_table_path(table)}: no column {error}; it has {', '.join(str(name) for name in row)}"
            ) from None
    return selected


def _whole_number(cell: str, table: str) -> int:
    try:
        return int(cell or 0)
    except ValueError:
        raise DataError(f"{_table_path(table)}: {cell!r} is not a whole number") from None
