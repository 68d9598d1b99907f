"""List every property of the Data Package standard, and whether it is used, passed on, or rejected.

The properties are those of Data Package, Data Resource, Table Dialect (formerly CSV Dialect) and Table Schema, versions
1 and 2 (https://datapackage.org/standard/). Unsupported properties that would change the meaning of a table are refused
with advice, unless they have the assumed value (`delimiter: ","`). Properties that only describe the data are passed on
by `publish`, as are keys with a colon, which belong to other vocabularies.
"""

from collections.abc import Mapping
from typing import Any

from boundpaper.store.rules import (
    BrokenRule,
    Rule,
    anything,
    by_name,
    either,
    flag,
    listed,
    mapping,
    matching,
    number,
    number_or_infinite,
    one_of,
    quoted,
    text,
    unsupported,
    whole,
)

TYPES = ("string", "integer", "number", "boolean")
SPELLINGS = {"true": ("true", "True", "TRUE", "1"), "false": ("false", "False", "FALSE", "0")}
"""Cells that the standard allows in a column of booleans."""

_COMMAS = "save the table with commas between cells and double quotes around them"
_AS_TEXT = "write `type: string`, with a `pattern` if all cells have the same form"
_FORMAT = "sources and results are CSV, and the ending of a measurement's file says its format"
_STANDARD = r"https?://(datapackage\.org|specs\.frictionlessdata\.io|frictionlessdata\.io)/\S+"

_PROFILE = matching(
    rf"{_STANDARD}|(tabular-)?data-(package|resource)",
    "is a profile that is not supported here; leave it out, or name one of the standard",
)
_STANDARD_PROFILE = matching(_STANDARD, "is a profile that is not supported here; omit it, or name the standard's")
_LICENCES = listed(mapping({"name": text, "path": text, "title": text}, with_colon=True))
_SOURCES = listed(mapping({"title": text, "path": text, "email": text, "version": text}, with_colon=True))
_PERSON = {
    **dict.fromkeys(("title", "givenName", "familyName", "path", "email", "role", "organization"), text),
    "roles": listed(text),
}
_ABOUT: Mapping[str, Rule] = {"name": text, "title": text, "description": text}

_MARKERS = listed(either(text, mapping({"value": text, "label": text}, ("value",))))
_NAMES = either(text, listed(text))

_BOUNDS = dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), either(text, number))
CONSTRAINTS: Mapping[str, Rule] = {
    "required": flag,
    "unique": flag,
    "enum": listed(anything),
    "pattern": text,
    "minLength": whole,
    "maxLength": whole,
    **_BOUNDS,
    "jsonSchema": unsupported("it is for JSON in cells; give each value a separate column"),
}


def _check_missing_values(value: Any) -> BrokenRule | None:
    if isinstance(value, list) and all(isinstance(marker, str) for marker in value):
        return None
    return _MARKERS(value)


def _spellings_rule(spellings: tuple[str, ...]) -> Rule:
    """Return a rule for `trueValues` and `falseValues` that allows only the default list."""
    mend = f"write {spellings[0]} into the cells (supported are {', '.join(spellings)})"
    return lambda value: None if isinstance(value, list) and set(value) == set(spellings) else unsupported(mend)(value)


FIELD: Mapping[str, Rule] = {
    "name": text,
    "type": one_of(*TYPES, mend=f"types are {', '.join(TYPES)}; for dates, times, places, lists and JSON {_AS_TEXT}"),
    "format": one_of("default", mend=f"cells are read in the default format of their type; for another {_AS_TEXT}"),
    "title": text,
    "description": text,
    "example": anything,
    "examples": listed(anything),
    "rdfType": text,
    "missingValues": _check_missing_values,
    "constraints": mapping(CONSTRAINTS),
    "trueValues": _spellings_rule(SPELLINGS["true"]),
    "falseValues": _spellings_rule(SPELLINGS["false"]),
    "decimalChar": one_of(".", mend="write numbers with a decimal point"),
    "groupChar": unsupported("write numbers without marks between thousands, or name the column `printed`"),
    "bareNumber": one_of(True, mend="write only the number, and put what it counts into `unit`"),
    "categories": unsupported("write `constraints: {enum: [...]}`"),
    "categoriesOrdered": unsupported("give the order in a column of numbers"),
    "delimiter": unsupported(f"it is for lists in cells; {_AS_TEXT}"),
    "itemType": unsupported(f"it is for lists in cells; {_AS_TEXT}"),
    # Properties of this project, which the standard lacks:
    "unit": text,
    "optional": flag,
    "cites": flag,  # whether the cells are keys of the bibliography
}

REFERENCE = mapping({"resource": text, "fields": _NAMES}, ("fields",), with_colon=True)
FOREIGN_KEY = mapping({"fields": _NAMES, "reference": REFERENCE}, ("fields", "reference"), with_colon=True)
SCHEMA: Mapping[str, Rule] = {
    **_ABOUT,
    "$schema": _STANDARD_PROFILE,
    "fields": anything,  # read field by field
    "fieldsMatch": one_of("exact", ["exact"], mend="a header has all fields in their order; describe every column"),
    "missingValues": _check_missing_values,
    "primaryKey": _NAMES,
    "uniqueKeys": listed(listed(text)),
    "foreignKeys": listed(FOREIGN_KEY),
    # Properties of this project, which the standard lacks:
    "key": _NAMES,
    "refers": by_name(text),
}

DIALECT: Mapping[str, Rule] = {
    **_ABOUT,
    "$schema": _STANDARD_PROFILE,
    "type": one_of("delimited", mend=_COMMAS),
    "delimiter": one_of(",", mend=_COMMAS),
    "quoteChar": one_of('"', mend=_COMMAS),
    "doubleQuote": one_of(True, mend="write a double quote in a cell twice"),
    "escapeChar": one_of(None, mend="write a double quote in a cell twice, without an escape character"),
    "lineTerminator": one_of("\n", "\r\n", mend="end lines with line feeds"),
    "header": one_of(True, mend="put the names of the columns into the first line"),
    "headerRows": one_of([1], mend="put the column names into the first line, with nothing above it"),
    "headerJoin": text,
    "headerCase": one_of(True, mend="a header spells the names as the schema does"),
    "caseSensitiveHeader": one_of(True, mend="a header spells the names as the schema does"),
    "commentChar": unsupported("remove comments from the table; put them into `description`"),
    "commentRows": one_of([], mend="remove comments from the table; put them into `description`"),
    "nullSequence": unsupported("list missing values in `missingValues` of the schema"),
    "skipInitialSpace": one_of(False, mend="remove blanks after commas"),
    "csvddfVersion": anything,
    **dict.fromkeys(("property", "itemType", "itemKeys"), unsupported(f"it is for JSON; {_COMMAS}")),
    **dict.fromkeys(("sheetNumber", "sheetName"), unsupported(f"it is for spreadsheets; {_COMMAS}")),
    "table": unsupported(f"it is for databases; {_COMMAS}"),
}

_ORIGIN = mapping({"document": either(text, whole), "section": text, "exhibit": either(text, whole)})
RESOURCE: Mapping[str, Rule] = {
    **_ABOUT,
    "profile": _PROFILE,
    "$schema": _STANDARD_PROFILE,
    "path": anything,  # read by the descriptor
    "data": unsupported("put the rows into a file"),
    "type": one_of("table", mend="a resource is a table"),
    "homepage": text,
    "licenses": _LICENCES,
    "sources": _SOURCES,
    "format": one_of("csv", mend=_FORMAT),
    "mediatype": one_of("text/csv", mend=_FORMAT),
    "encoding": matching("(?i)utf-?8", "is not supported; save the table as UTF-8"),
    "compression": one_of("no", mend="unpack the table"),
    "bytes": whole,
    "hash": matching(
        r"((md5|sha1|sha256|sha512):)?[0-9a-fA-F]{32,128}",
        "is not a hash; write md5:..., sha1:..., sha256:... or sha512:...",
    ),
    "dialect": mapping(DIALECT),
    "schema": anything,  # read by the descriptor
    # Properties of this project, which the standard lacks; the head of the data package explains them:
    "kind": anything,
    "fields": anything,
    "key": _NAMES,
    "refers": anything,
    "origin": listed(_ORIGIN),
    "words": flag,
    "units": by_name(text),
    "range": anything,
    "awaits": text,
    "covers": anything,
}

PACKAGE: Mapping[str, Rule] = {
    **_ABOUT,
    "profile": _PROFILE,
    "$schema": _STANDARD_PROFILE,
    "id": text,
    "homepage": text,
    "image": text,
    "version": text,
    "created": anything,  # YAML may parse it as a date; a text is equally valid
    "keywords": listed(text),
    "licenses": _LICENCES,
    "sources": _SOURCES,
    "contributors": listed(mapping(_PERSON, with_colon=True)),
    "resources": anything,  # read one by one
    # Properties of this project, which the standard lacks:
    "columns": by_name(
        mapping(
            {
                **{name: FIELD[name] for name in ("type", "description", "title", "example", "rdfType", "unit")},
                **{name: FIELD[name] for name in ("format", "missingValues")},
                **{name: rule for name, rule in CONSTRAINTS.items() if name not in ("required", "jsonSchema")},
                "cites": flag,
                "refers": text,
            }
        )
    ),
    "shared": by_name(anything),
}
field = mapping(FIELD, ("name",), with_colon=True)
RANGE = by_name(lambda ends: None if _is_range(ends) else BrokenRule("", f"{quoted(ends)} is not [low, high]"))
LIMITS = mapping(dict.fromkeys(_BOUNDS, number), any_key=True)  # rule for the constraints of a column of numbers

schema = mapping(SCHEMA, with_colon=True)
resource = mapping(RESOURCE, ("name",), with_colon=True)
package = mapping(PACKAGE, ("resources",), with_colon=True)


def _is_range(ends: Any) -> bool:
    return isinstance(ends, list) and len(ends) == 2 and not any(map(number_or_infinite, ends)) and ends[0] <= ends[1]
