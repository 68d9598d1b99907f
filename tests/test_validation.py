"""Faults of cells and keys that the store reports agree with those of frictionless, the reader of the standard."""

import itertools
import json
from pathlib import Path

import frictionless
import pytest

from boundpaper.errors import DataError
from boundpaper.store.descriptor import standard_package
from boundpaper.store.files import write
from boundpaper.store.table_file import header_of, rows, table_text
from boundpaper.store.validation import CheckedField, faults
from conftest import ROOT

FIELDS = [
    {"name": "model", "type": "string", "constraints": {"required": True, "pattern": "[a-z]+", "maxLength": 6}},
    {"name": "layer", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}},
    {"name": "value", "type": "number", "constraints": {"minimum": -1.5, "exclusiveMaximum": 9}},
    {"name": "kept", "type": "boolean"},
    {"name": "side", "type": "string", "constraints": {"enum": ["rope", "drope"]}},
    {"name": "order", "type": "integer", "constraints": {"unique": True}},
]
GOOD = ["a,0,0.5,True,rope,1", "a,1,-1e-3,false,drope,2", "b,,,,,", 'b,9,7,1,rope,"3"']
KEY = ["model", "layer"]
SHORT_ROW = "the row is truncated, or lacks the comma before an empty cell"
KNOWN = {("model",): ("models", {("a",), ("b",)})}

# Row, old text, new text, field and message of the store, and name of the error in frictionless.
DAMAGED = [
    (0, "a,0", "A,0", "model", "'A' does not match the pattern [a-z]+", "constraint-error"),
    (0, "a,0", "ab1,0", "model", "'ab1' does not match the pattern [a-z]+", "constraint-error"),
    (0, "a,0", ",0", "model", "empty, but required", "constraint-error"),
    (0, "a,0", "a,-1", "layer", "'-1' is not 0 or more", "constraint-error"),
    (1, "a,1", "a,10", "layer", "'10' is not 9 or less", "constraint-error"),
    (0, "a,0", "a,0.5", "layer", "'0.5' is not an integer", "type-error"),
    (0, "a,0", "a,zero", "layer", "'zero' is not an integer", "type-error"),
    (0, "0.5", "-1.6", "value", "'-1.6' is not -1.5 or more", "constraint-error"),
    (0, "0.5", "9", "value", "'9' is not less than 9", "constraint-error"),
    (0, "a,0", "abcdefg,0", "model", "'abcdefg' has more than 6 letters", "constraint-error"),
    (0, "0.5", "half", "value", "'half' is not a number", "type-error"),
    (0, "True", "yes", "kept", "'yes' is not a boolean", "type-error"),
    (0, "rope", "ropes", "side", "'ropes' is not one of rope, drope", "constraint-error"),
    (1, ",2", ",1", "order", "the value appears twice (1)", "unique-error"),
    (1, "a,1", "a,0", "", "the key appears twice (a, 0)", "primary-key"),
    (1, "a,1", "c,1", "model", "'c' is not in the table 'models'; add it there or correct the name", "foreign-key"),
    (1, ",2", "", "", f"5 cells for 6 columns; {SHORT_ROW}", "missing-cell"),
    (1, ",2", ",2,3", "", "7 cells for 6 columns; a comma in a cell needs quotes around it", "extra-cell"),
    (1, GOOD[1], "", "", f"0 cells for 6 columns; {SHORT_ROW}", "blank-row"),
]


def table(folder: Path, rows: list[str]) -> Path:
    path = folder / "scores.csv"
    path.write_text("\n".join([",".join(str(field["name"]) for field in FIELDS), *rows]) + "\n")
    return path


def frictionless_errors(folder: Path) -> set[str]:
    """Return the kinds of error that frictionless finds in the table of scores."""
    (folder / "models.csv").write_text("model\na\nb\n")
    reference = {"resource": "models", "fields": ["model"]}
    schema = {"fields": FIELDS, "primaryKey": KEY, "foreignKeys": [{"fields": ["model"], "reference": reference}]}
    models = {"name": "models", "path": "models.csv", "schema": {"fields": [{"name": "model", "type": "string"}]}}
    profile = "https://datapackage.org/profiles/2.0/datapackage.json"
    described = {"$schema": profile, "resources": [{"name": "scores", "path": "scores.csv", "schema": schema}, models]}
    report = frictionless.Package.from_descriptor(json.loads(json.dumps(described)), basepath=str(folder)).validate()
    return {kind for (kind,) in report.flatten(["type"])}


def test_a_good_table_has_no_fault_in_either_reader(tmp_path):
    assert list(faults(table(tmp_path, GOOD), FIELDS, {"primaryKey": KEY}, KNOWN)) == []
    assert frictionless_errors(tmp_path) == set()


@pytest.mark.parametrize(("row", "old", "new", "field", "message", "kind"), DAMAGED)
def test_damaged_cell_is_reported_where_frictionless_reports_it(tmp_path, row, old, new, field, message, kind):
    assert old in GOOD[row]
    path = table(tmp_path, [*GOOD[:row], GOOD[row].replace(old, new, 1), *GOOD[row + 1 :]])
    assert (row + 2, field, message) in list(faults(path, FIELDS, {"primaryKey": KEY}, KNOWN))
    assert kind in frictionless_errors(tmp_path)


@pytest.mark.parametrize("cell", ["NaN", "inf", "-INF", "1e400"])
def test_non_finite_number_is_refused(cell):
    assert "is not a number; leave it empty" in CheckedField({"name": "value", "type": "number"}).read(cell)[1]


@pytest.mark.parametrize("cell", ["1e999", "-1e999", "nan", " 1", "1_0", "1\n2", "NA", "9", "-2", "half"])
def test_fault_of_a_number_is_found_from_the_deciding_cells(cell):
    column, cells = CheckedField(FIELDS[2]), ["0.5", "-1.5", "", "3"]
    assert set(column.decisive_cells(cells)) == {"", "-1.5", "3"}
    assert any(column.read(text)[1] for text in column.decisive_cells([*cells, cell]))


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ({"type": "date"}, "`type` 'date'"),
        ({"type": "string", "format": "email"}, "or its format is not supported"),
        ({"type": "string", "constraints": {"jsonSchema": {}}}, "constraint 'jsonSchema'; constraints are required"),
        ({"type": "integer", "constraints": {"maxLength": 3}}, "a column of type integer has no length"),
        ({"type": "string", "constraints": {"minimum": 3}}, "of type string has no minimum or maximum"),
        ({"type": "string", "constraints": {"pattern": "["}}, "a constraint is invalid"),
        ({"type": "integer", "constraints": {"minimum": "low"}}, "a constraint is invalid"),
    ],
)
def test_unsupported_schema_constraint_is_refused(field, message):
    with pytest.raises(DataError) as error:
        CheckedField({"name": "x", **field})
    assert message in str(error.value)


def published_from(entry: dict) -> Path:
    """Return the project's file from which a resource of the data package is published."""
    path: Path = ROOT / "artifacts" / entry["path"]
    return path if path.is_file() else path.with_suffix(".parquet")


def has_gaps(entry: dict) -> bool:
    """Return whether a resource is stored as Parquet and has an empty cell in an integer or boolean column."""
    path = published_from(entry)
    typed = [field["name"] for field in entry["schema"]["fields"] if field["type"] in ("integer", "boolean")]
    return path.suffix == ".parquet" and any(not row[name] for _, row in rows(path) for name in typed)


def test_published_package_follows_the_standard_with_full_schemas():
    described = json.loads(json.dumps(standard_package(ROOT), allow_nan=False))
    assert not {"columns", "shared"} & set(described)
    assert list(frictionless.Package.metadata_validate(described)) == []
    names = [entry["name"] for entry in described["resources"]]
    assert len(names) == len(set(names)) > 300
    for entry in described["resources"]:
        assert header_of(published_from(entry)) == [field["name"] for field in entry["schema"]["fields"]], entry["name"]
        assert all(field["type"] and field["description"] for field in entry["schema"]["fields"])


@pytest.mark.parametrize("kind", ["source", "measurement", "result", "large measurement with gaps"])
def test_tables_of_each_kind_are_valid_as_published(kind, tmp_path):
    described = json.loads(json.dumps(standard_package(ROOT)))
    if kind.startswith("large"):
        large = [entry for entry in described["resources"] if published_from(entry).suffix == ".parquet"]
        large.sort(key=lambda entry: published_from(entry).stat().st_size)
        selected = list(itertools.islice(filter(has_gaps, large), 3))
    else:
        selected = [entry for entry in described["resources"] if entry["kind"] == kind][:3]
    assert len(selected) == 3
    expected = {key["reference"]["resource"] for entry in selected for key in entry["schema"].get("foreignKeys", [])}
    known = {entry["name"] for entry in selected}
    others = [entry for entry in described["resources"] if entry["name"] in expected - known]
    for entry in others:
        entry["schema"].pop("foreignKeys", None)
    for entry in (*selected, *others):
        write(tmp_path / entry["path"], table_text(published_from(entry)).encode())
    package = {**described, "resources": [*selected, *others]}
    report = frictionless.Package.from_descriptor(package, basepath=str(tmp_path)).validate()
    assert report.flatten(["name", "rowNumber", "note"]) == []


@pytest.mark.parametrize(
    ("cell", "fits"),
    [(str(2**63 - 1), True), (str(-(2**63)), True), (str(2**63), False), ("-" + "9" * 20, False), ("9" * 400, False)],
)
def test_integer_beyond_64_bits_is_refused(cell, fits):
    message = CheckedField({"name": "n", "type": "integer"}, {}).read(cell)[1]
    assert message == "" if fits else "is too large for 64 bits" in message
