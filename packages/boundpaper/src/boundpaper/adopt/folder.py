"""Read the settings of an adopted paper from the `boundpaper.toml` in its folder."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from boundpaper.errors import SpecError
from boundpaper.places import ADOPTED
from boundpaper.store.pattern import pattern_fault
from boundpaper.store.rules import at_least, mapping, one_of, positive, require, text
from boundpaper.store.text_file import parse_text, text_of
from boundpaper.suggestions import or_known

GENERATED = "bound"
"""The folder of generated files, beside the main file."""
BY_ROW = "row"
"""The key of a table whose rows are identified by their number."""
MOST_CELLS = 5_000
"""Most cells in a table of which `bound/` contains all cells."""
_TYPES: Mapping[str, tuple[type, ...]] = {
    "main": (str, list), "macro": (str,), "data": (list,), "cells": (int,), "tables": (dict,), "values": (dict,),
    "rows": (dict,), "page": (dict,), "lint": (dict,),
}  # fmt: skip
_WORDS: Mapping[type, str] = {str: "a text", list: "a list of texts", int: "a number", dict: "a table of its own"}
_TABLE_KEYS: Mapping[str, frozenset[str]] = {
    "tables": frozenset({"key"}),
    "rows": frozenset({"table", "columns", "where", "sort"}),
}
_CITE = one_of("natbib", "biblatex", "cite")
_PAGE = mapping(
    {"column": positive, "text": positive, "height": positive, "font": text, "size": positive, "cite": _CITE}
)
_LINT = frozenset({"names", "ignore"})


@dataclass(frozen=True)
class TabularRows:
    """Settings of the rows in an author's own tabular: a data table, columns with formats, a row filter, an order."""

    table: str
    columns: tuple[str, ...]
    where: Mapping[str, str] = field(default_factory=dict)
    sort: str = ""


@dataclass(frozen=True)
class PageMeasures:
    """Measures of the page under the author's preamble.

    Attributes
    ----------
    column, text, height : float
        Column width, text width and text height, in pt.
    font, size : str, float
        TeX's name of the font family, and the text size in pt.
    cite : {"natbib", "biblatex", "cite"}
        The package whose citation commands the paper uses.
    """

    column: float = 345.0
    text: float = 345.0
    height: float = 550.0
    font: str = "cmr"
    size: float = 10.0
    cite: str = "cite"


@dataclass(frozen=True)
class Folder:
    """An adopted paper: its folder `root`, and the settings in `boundpaper.toml`; file names are relative to `root`.

    `names` are patterns of names that contain digits; `ignored` are patterns of LaTeX files that `lint` skips.
    """

    root: Path
    mains: tuple[str, ...]
    data: tuple[str, ...]
    macro: str = "val"
    cells: int = MOST_CELLS
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    rows: Mapping[str, TabularRows] = field(default_factory=dict)
    page: PageMeasures = PageMeasures()
    names: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    @property
    def paper(self) -> Path:
        """Return the folder in which LaTeX runs."""
        return self.root / PurePosixPath(self.mains[0]).parent

    @property
    def generated(self) -> Path:
        """Return the folder of generated files."""
        return self.paper / GENERATED

    def shown(self, path: Path) -> str:
        """Return a path as messages name it, relative to `root` if it is inside."""
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else str(path)


def read(root: Path) -> Folder:
    """Return the settings in the `boundpaper.toml` of a folder.

    Raises SpecError when the file is not valid TOML, has an unknown key or invalid value, or names no main file or no
    data.
    """
    settings = parse_text(text_of(root, ADOPTED, SpecError), ADOPTED, SpecError)
    _require_keys(settings, _TYPES, "")
    for name, kinds in _TYPES.items():
        if name in settings and (not isinstance(settings[name], kinds) or isinstance(settings[name], bool)):
            words = " or ".join(_WORDS[kind] for kind in kinds)
            raise SpecError(f"{ADOPTED}: {name} is {settings[name]!r}; give {words}")
    for name, known_keys in _TABLE_KEYS.items():
        for key, table in settings.get(name, {}).items():
            if not isinstance(table, dict):
                raise SpecError(f"{ADOPTED}: {name}.{key} is {table!r}; write a table [{name}.{key}]")
            _require_keys(table, known_keys, f"{name}.{key}: ")
    page, lint = settings.get("page", {}), settings.get("lint", {})
    require(page, _PAGE, f"{ADOPTED}: page", SpecError)
    require(settings.get("cells", MOST_CELLS), at_least(1), f"{ADOPTED}: cells", SpecError)
    _require_keys(lint, _LINT, "lint: ")
    mains = _string_list(settings.get("main", []), "main")
    if not mains or not _string_list(settings.get("data", []), "data"):
        raise SpecError(f"{ADOPTED}: set `main` to the main file, and `data` to patterns of the data files")
    for main in mains:
        if not (root / main).is_file():
            raise SpecError(f"{ADOPTED}: main names {main}, which is not there; name the file with \\documentclass")
    if len({PurePosixPath(main).parent for main in mains}) > 1:
        raise SpecError(f"{ADOPTED}: main names files in two folders; write a {ADOPTED} in each folder")
    macro = settings.get("macro", "val")
    if not (macro.isascii() and macro.isalpha()):
        raise SpecError(f"{ADOPTED}: macro is {macro!r}; give the name of a LaTeX command, letters only")
    return Folder(
        root=root,
        mains=mains,
        data=_string_list(settings["data"], "data"),
        macro=macro,
        cells=settings.get("cells", MOST_CELLS),
        keys={
            name: _string_list(table.get("key", []), f"tables.{name}.key")
            for name, table in settings.get("tables", {}).items()
        },
        values={name: _read_text(value, f"values.{name}") for name, value in settings.get("values", {}).items()},
        rows={name: _read_rows(name, table) for name, table in settings.get("rows", {}).items()},
        page=PageMeasures(**page),
        names=_read_patterns(lint.get("names", []), "lint.names"),
        ignored=_string_list(lint.get("ignore", []), "lint.ignore"),
    )


def _read_rows(name: str, settings: Mapping[str, Any]) -> TabularRows:
    where = settings.get("where", {})
    if not isinstance(where, dict) or "table" not in settings or not settings.get("columns"):
        raise SpecError(
            f"{ADOPTED}: rows.{name}: give `table` and `columns`; `where = {{column = value}}` and `sort` are optional"
        )
    return TabularRows(
        _read_text(settings["table"], f"rows.{name}.table"),
        _string_list(settings["columns"], f"rows.{name}.columns"),
        {column: str(value) for column, value in where.items()},
        _read_text(settings.get("sort", ""), f"rows.{name}.sort"),
    )


def _require_keys(settings: Mapping[str, Any], known: Collection[str], prefix: str) -> None:
    for name in settings:
        if name not in known:
            raise SpecError(f"{ADOPTED}: {prefix}{name!r} has no meaning here{or_known(name, known)}")


def _string_list(value: Any, name: str) -> tuple[str, ...]:
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list):
        raise SpecError(f"{ADOPTED}: {name} is {value!r}; give a string or a list of strings")
    return tuple(_read_text(text, name) for text in values)


def _read_patterns(value: Any, name: str) -> tuple[str, ...]:
    for pattern in (patterns := _string_list(value, name)):
        if problem := pattern_fault(pattern):
            raise SpecError(f"{ADOPTED}: {pattern!r} in {name} {problem}")
    return patterns


def _read_text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise SpecError(f"{ADOPTED}: {name} contains {value!r}; give a string, in quotes")
    return value
