"""Validate a table's cells against the fields, constraints and keys of its schema, as defined by Table Schema.

https://datapackage.org/standard/table-schema/ defines the types and constraints. Only the types in `TYPES` and the
constraints in `LIMITS` are supported; any other is an error. Beyond the standard, a word must not have two spellings
that look alike (`boundpaper.store.spelling`).
"""

import csv
import math
import operator
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from boundpaper.errors import DataError
from boundpaper.store.descriptor import as_list
from boundpaper.store.missing import missing_markers
from boundpaper.store.pattern import pattern_fault
from boundpaper.store.spelling import appearance, clean, spelled_out, spelling_fault
from boundpaper.store.standard_words import SPELLINGS
from boundpaper.store.table_file import records
from boundpaper.typeset.plural import counted

QUOTES = "a comma in a cell needs quotes around it"
Check = Callable[[Any, str], str]  # returns the fault of a cell, from its value and its text
Limit = Callable[[Any, str], Check]  # makes a check from a constraint's value and the type of the column

_INTEGER = re.compile(r"[+-]?\d{1,4000}")
_NUMBERS = re.compile(r"(?:[+-]?\d++(?:\.\d*+)?(?:[eE][+-]?\d++)?\n)*+")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?(nan|inf|infinity)", re.IGNORECASE)


def _parse_integer(cell: str) -> int | None:
    return int(cell) if _INTEGER.fullmatch(cell) else None


def _parse_number(cell: str) -> float | None:
    return float(cell) if _NUMBER.fullmatch(cell) else None


def _parse_boolean(cell: str) -> bool | None:
    return True if cell in SPELLINGS["true"] else False if cell in SPELLINGS["false"] else None


TYPES: Mapping[str, Callable[[str], Any]] = {
    "string": str,
    "integer": _parse_integer,
    "number": _parse_number,
    "boolean": _parse_boolean,
}
"""Parsers of cells by type; each returns None for a cell that is not of its type."""


def _check_enum(allowed_values: Sequence[Any], kind: str) -> Check:
    words = cut_to_line(", ".join(map(str, allowed_values)))
    allowed = {TYPES[kind](str(value)) for value in allowed_values}
    return lambda value, cell: "" if value in allowed else f"{short(cell)} is not one of {words}"


def _check_pattern(pattern: str, kind: str) -> Check:
    if problem := pattern_fault(pattern):
        raise ValueError(f"{pattern!r} {problem}")
    regex = re.compile(pattern)
    return lambda value, cell: "" if regex.fullmatch(cell) else f"{short(cell)} does not match the pattern {pattern}"


def _check_bound(compare: Callable[[float, float], bool], words: str, of_length: bool = False) -> Limit:
    """Return a function that makes a check, which compares a number (if `of_length`, a text's length) with a bound."""

    def make_check(bound: Any, kind: str) -> Check:
        if of_length != (kind == "string") or kind == "boolean":
            raise TypeError(f"a column of type {kind} has no {'length' if of_length else 'minimum or maximum'}")
        limit = float(bound)
        fault = words.format(bound)
        return lambda value, cell: "" if compare(len(cell) if of_length else value, limit) else f"{short(cell)} {fault}"

    return make_check


_BOUNDS: Mapping[str, Limit] = {
    "minimum": _check_bound(operator.ge, "is not {} or more"),
    "maximum": _check_bound(operator.le, "is not {} or less"),
    "exclusiveMinimum": _check_bound(operator.gt, "is not more than {}"),
    "exclusiveMaximum": _check_bound(operator.lt, "is not less than {}"),
}
LIMITS: Mapping[str, Limit] = {  # constraints of single cells, except `required`; `unique` is a constraint of a column
    "enum": _check_enum,
    "pattern": _check_pattern,
    **_BOUNDS,
    "minLength": _check_bound(operator.ge, "has fewer than {} letters", of_length=True),
    "maxLength": _check_bound(operator.le, "has more than {} letters", of_length=True),
}


class CheckedField:
    """A field of a schema, with the checks of its cells.

    `schema` lists the cells that mean a missing value, if `field` does not. Raises DataError for an invalid constraint,
    and for a type or constraint that is not supported.
    """

    def __init__(self, field: Mapping[str, Any], schema: Mapping[str, Any] = MappingProxyType({})) -> None:
        self.name, self.kind = str(field["name"]), str(field["type"])
        constraints = field.get("constraints", {})
        if self.kind not in TYPES or field.get("format", "default") != "default":
            raise DataError(
                f"{self.name}: `type` {self.kind!r} or its format is not supported; types are {', '.join(TYPES)}"
            )
        self.missing = missing_markers(field, schema)
        if unknown := [name for name in constraints if name not in (*LIMITS, "required", "unique")]:
            raise DataError(
                f"{self.name}: unknown constraint {unknown[0]!r}; constraints are required, unique, {', '.join(LIMITS)}"
            )
        self._has_only_bounds = self.kind == "number" and _BOUNDS.keys() | {"required", "unique"} >= set(constraints)
        self.required, self.unique = bool(constraints.get("required")), bool(constraints.get("unique"))
        self._known: dict[str, tuple[Any, str]] = {}
        self._spellings: dict[str, tuple[str, int]] = {}
        try:
            self.checks = [LIMITS[name](value, self.kind) for name, value in constraints.items() if name in LIMITS]
        except (TypeError, ValueError, ArithmeticError, re.error) as error:
            raise DataError(f"{self.name}: a constraint is invalid ({error})") from None

    def read(self, cell: str) -> tuple[Any, str]:
        """Return the value of a cell (None if missing) and its fault; cached, since most cells occur many times."""
        value = self._known.get(cell)
        if value is None:
            value = self._known[cell] = self._parse(cell)
        return value

    def _parse(self, cell: str) -> tuple[Any, str]:
        if cell in self.missing:
            problem = f"{short(cell)} means a missing value, but a value is required" if cell else "empty, but required"
            return None, problem if self.required else ""
        value = TYPES[self.kind](cell)
        if value is None:
            return None, f"{short(cell)} is not a{'n' * (self.kind == 'integer')} {self.kind}"
        if self.kind == "integer" and not -(2**63) <= value < 2**63:
            return None, f"{short(cell)} is too large for 64 bits; use the type string for identifiers"
        if self.kind == "number" and not math.isfinite(value):
            return value, f"{cell} is not a number; leave it empty and give a reason"
        return value, next((fault for check in self.checks if (fault := check(value, cell))), "")

    def spelling(self, cell: str, row: int, is_key: bool) -> str:
        """Return the fault of a new cell that looks like an earlier cell but is spelled differently; empty if none.

        With `is_key`, the cell belongs to a key, and must also be `clean`.
        """
        if self.kind != "string" or cell in self.missing:
            return ""
        first_spelling, first_row = self._spellings.setdefault(appearance(cell), (cell, row))
        if is_key and (reason := spelling_fault(cell)):
            return f"{cut_to_line(spelled_out(cell))} {reason}; write {cut_to_line(spelled_out(clean(cell)))}"
        if first_spelling != cell and not (is_key and spelling_fault(first_spelling)):
            first = f"{cut_to_line(spelled_out(first_spelling))} of row {first_row}"
            return f"{cut_to_line(spelled_out(cell))} looks like {first}, but is spelled differently; use one spelling"
        return ""

    def decisive_cells(self, cells: Collection[str]) -> Collection[str]:
        """Return cells that suffice to find a fault: the least and greatest if only bounds are checked, else all."""
        numbers = [cell for cell in cells if cell not in self.missing]
        text = "\n".join([*numbers, ""])
        if not (numbers and self._has_only_bounds and text.count("\n") == len(numbers) and _NUMBERS.fullmatch(text)):
            return cells
        return {*self.missing.intersection(cells), min(numbers, key=float), max(numbers, key=float)}

    def is_known(self, cell: str) -> bool:
        """Return whether `read` has already seen a cell."""
        return cell in self._known


def short(cell: object) -> str:
    """Return a cell quoted for a message."""
    return cut_to_line(repr(cell))


def cut_to_line(words: str) -> str:
    """Return a text cut to 100 characters, for a message."""
    return words if len(words) < 100 else f"{words[:100]}..."


def faults(
    path: Path, fields: Sequence[Mapping[str, Any]], schema: Mapping[str, Any], foreign: Mapping[tuple[str, ...], Any]
) -> Iterator[tuple[int, str, str]]:
    """Yield the faults of a table's cells as (row, field, message); the header is row 1.

    The header of the file `path` must be the names of `fields` in order. Of `schema`, only `primaryKey`, `uniqueKeys`
    and `missingValues` are used. `foreign` maps the fields of each foreign key to the table that it names, and the
    cells there. Raises DataError when the schema is not supported.
    """
    columns, rows = [CheckedField(field, schema) for field in fields], list(records(path))[1:]
    indices = {column.name: index for index, column in enumerate(columns)}
    keys = [key for key in (as_list(schema.get("primaryKey")), *schema.get("uniqueKeys", [])) if key]
    unique: list[tuple[tuple[int, ...], str]] = [
        ((indices[column.name],), column.name) for column in columns if column.unique
    ]
    unique += [(tuple(indices[name] for name in key if name in indices), "") for key in keys]
    seen_keys: list[set[tuple[Any, ...]]] = [set() for _ in unique]
    references = [([indices[name] for name in names], names, *table) for names, table in foreign.items()]
    key_indices = {index for key, *_ in (*unique, *references) for index in key}
    if _is_valid(columns, rows, key_indices, [key for key, _ in unique], references):
        return
    columns = [CheckedField(field, schema) for field in fields]  # new, since `_is_valid` has already read the cells
    for number, cells in enumerate(rows, 2):
        if len(cells) != len(columns):
            is_short = len(cells) < len(columns)
            mend = "the row is truncated, or lacks the comma before an empty cell" if is_short else QUOTES
            yield number, "", f"{counted(len(cells), 'cell')} for {counted(len(columns), 'column')}; {mend}"
            continue
        values = []
        for index, (column, cell) in enumerate(zip(columns, cells, strict=True)):
            is_new = not column.is_known(cell)
            value, fault = column.read(cell)
            values.append(value)
            if fault or (is_new and (fault := column.spelling(cell, number, index in key_indices))):
                yield number, column.name, fault
        for (key, name), seen in zip(unique, seen_keys, strict=True):
            key_values = tuple(values[index] for index in key)
            if any(value is not None for value in key_values):
                if key_values in seen:
                    text = ", ".join(cells[index] for index in key)
                    yield number, name, f"{'the value' if name else 'the key'} appears twice ({cut_to_line(text)})"
                seen.add(key_values)
        for key, names, table, cells_there in references:
            cells_here = tuple("" if values[index] is None else cells[index] for index in key)
            if any(cells_here) and cells_here not in cells_there:
                advice = _advice_on_missing(cells_here, cells_there)
                fault = f"{short(', '.join(cells_here))} is not in the table {table!r}{advice}"
                yield number, names[0] if len(names) == 1 else "", fault


def _is_valid(
    columns: Sequence[CheckedField],
    rows: Sequence[Sequence[str]],
    key_indices: Collection[int],
    unique: Sequence[Sequence[int]],
    references: Sequence[tuple[Sequence[int], Any, str, Collection[tuple[str, ...]]]],
) -> bool:
    """Return whether a table has no fault; quick, since it checks each distinct cell of a column once and counts keys.

    `key_indices`, `unique` and `references` give columns by their indices.
    """
    if any(len(cells) != len(columns) for cells in rows):
        return False
    by_column = list(zip(*rows, strict=True)) or [()] * len(columns)
    values, texts = [], []  # only of columns in keys; in `texts`, a missing value is ""
    for index, (column, cells) in enumerate(zip(columns, by_column, strict=True)):
        distinct_cells = dict.fromkeys(cells)
        checked_cells = distinct_cells if index in key_indices else column.decisive_cells(distinct_cells)
        results = {cell: column.read(cell) for cell in checked_cells}
        if any(fault or column.spelling(cell, 0, index in key_indices) for cell, (_, fault) in results.items()):
            return False
        text_by_cell = {cell: "" if value is None else cell for cell, (value, _) in results.items()}
        values.append([results[cell][0] for cell in cells] if index in key_indices else [])
        texts.append([text_by_cell[cell] for cell in cells] if index in key_indices else [])
    for key in unique:
        keys = [row for row in zip(*(values[index] for index in key), strict=True) if row.count(None) < len(row)]
        if len(set(keys)) != len(keys):
            return False
    for key, _, _, cells_there in references:
        cells_here = set(zip(*(texts[index] for index in key), strict=True))
        if any(any(cells) and cells not in cells_there for cells in cells_here):
            return False
    return True


def _advice_on_missing(cells_here: tuple[str, ...], cells_there: Collection[tuple[str, ...]]) -> str:
    """Return the end of a message on cells that another table lacks; name similar cells of that table, if any."""
    appearances = [appearance(cell) for cell in cells_here]
    similar_cells = next((cells for cells in cells_there if [appearance(cell) for cell in cells] == appearances), None)
    if similar_cells is None:
        return "; add it there or correct the name"
    return f", which has {cut_to_line(', '.join(map(spelled_out, similar_cells)))}; use one spelling"


def cells_of(path: Path, names: Sequence[str]) -> set[tuple[str, ...]]:
    """Return the distinct combinations of cells in the columns `names` of a table.

    Raises DataError when the table has no such column or is not a table, FileNotFoundError if there is no such table.
    """
    try:
        rows = records(path)
        header = next(rows, [])
        if missing := [name for name in names if name not in header]:
            raise DataError(f"{path.name}: no column {missing[0]}, which a foreign key names")
        indices = [header.index(name) for name in names]
        return {tuple(cells[index] for index in indices) for cells in rows if len(cells) == len(header)}
    except csv.Error as error:
        raise DataError(f"{path.name}: cannot be read ({error})") from None
