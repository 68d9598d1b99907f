"""The data package: what `datapackage.yaml` leaves out gets defaults, and invalid entries are refused."""

import pytest
import yaml

from analysis.vocabulary import PAIR
from boundpaper.errors import DataError
from boundpaper.store.descriptor import full_package, resource, standard_package
from boundpaper.store.schema import check
from conftest import ROOT

HEAD = """
name: test
columns:
  model: {description: Key of the model, enum: [a, b]}
  layer: {description: Layer from 0, type: integer, unit: layers, minimum: 0}
  source: {description: The place cited, refers: places}
resources:
- {name: places, origin: [], fields: [{source*: Key of the place, refers: null}]}
- name: scores
"""
FIELDS = "  fields: [model*, layer*, {value: The score, type: number}, reason~, source!]\n"
MODEL = {"name": "model", "type": "string", "description": "Key of the model"}
A_OR_B = {"required": True, "enum": ["a", "b"]}


@pytest.fixture
def describe(tmp_path):
    """Return a function that writes an entry for the table `scores` and returns the table's full description."""
    (tmp_path / "artifacts/results").mkdir(parents=True)
    (tmp_path / "artifacts/sources").mkdir()

    def write(text, head=HEAD):
        (tmp_path / "artifacts/datapackage.yaml").write_text(head + text.replace("reason~", "{reason~: Why empty}"))
        return resource(tmp_path, "scores")

    write.__dict__["root"] = tmp_path
    return write


def test_shorthand_of_a_resource_is_expanded(describe):
    assert describe(FIELDS) == {
        "name": "scores",
        "path": "results/scores.csv",
        "kind": "result",
        "schema": {
            "fields": [
                {**MODEL, "constraints": A_OR_B},
                {
                    "name": "layer",
                    "type": "integer",
                    "description": "Layer from 0",
                    "unit": "layers",
                    "constraints": {"required": True, "minimum": 0},
                },
                {"name": "value", "type": "number", "description": "The score"},
                {"name": "reason", "type": "string", "description": "Why empty", "optional": True},
                {
                    "name": "source",
                    "type": "string",
                    "description": "The place cited",
                    "constraints": {"required": True},
                },
            ],
            "primaryKey": ["model", "layer"],
            "foreignKeys": [{"fields": ["source"], "reference": {"resource": "places", "fields": ["source"]}}],
        },
    }


@pytest.mark.parametrize(
    ("field_text", "field"),
    [
        ("{model: null}", {**MODEL, "constraints": {"enum": ["a", "b"]}}),
        ("{model: Another, enum: null}", {"name": "model", "type": "string", "description": "Another"}),
        ("{model!: null, enum: [c]}", {**MODEL, "constraints": {"required": True, "enum": ["c"]}}),
        ("{model: null, type: integer, enum: null}", {**MODEL, "type": "integer"}),
        ("{name: model, type: string}", {"name": "model", "type": "string"}),
        ("[[model]]", {**MODEL, "constraints": {"enum": ["a", "b"]}}),
    ],
)
def test_field_overrides_are_merged_with_column_defaults(describe, field_text, field):
    text = f"  fields: {field_text}\n" if field_text.startswith("[[") else f"  fields: [{field_text}]\n"
    assert describe(text)["schema"] == {"fields": [field]}


def test_kind_and_path_follow_from_each_other(describe):
    assert describe("  origin: []\n  fields: [model]\n")["path"] == "sources/scores.csv"
    assert describe("  kind: measurement\n  fields: [model]\n")["path"] == "measurements/scores"
    assert describe("  path: sources/scores.csv\n  fields: [model]\n")["path"] == "sources/scores.csv"


def test_keys_declared_beside_columns_are_expanded(describe):
    schema = describe("  fields: [model, layer]\n  key: [model, layer]\n  refers: {model: places.source}\n")["schema"]
    assert schema["primaryKey"] == ["model", "layer"]
    assert schema["foreignKeys"] == [{"fields": ["model"], "reference": {"resource": "places", "fields": ["source"]}}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("  fields: [modle]\n", "scores: no 'modle' among `columns`; did you mean model"),
        ("  fields: [{model: Key, kind: text}]\n", "scores, model: unknown key 'kind'; known: type"),
        ("  fields: [{model: 7}]\n", "scores, model: '7' is not a text"),
        ("  fields: [model, 7]\n", "scores: field 2 has no `name`"),
        ("  fields: model\n", "scores: `schema` has no list of `fields`"),
        (
            "  kind: table\n  fields: [model]\n",
            "scores: `kind` is 'table'; a table is a source, a result, a measurement",
        ),
        ("  fields: [model]\n  key: [layer]\n", "scores: a key names the column 'layer'"),
        ("  fields: [model]\n  refers: [model]\n", "scores.schema: refers: ['model'] is not a mapping"),
    ],
)
def test_invalid_description_is_refused(describe, text, message):
    with pytest.raises(DataError) as error:
        describe(text)
    assert message in str(error.value)
    assert str(error.value).startswith("artifacts/datapackage.yaml: ")


def test_columns_that_are_no_mapping_are_refused(describe):
    with pytest.raises(DataError, match="`columns` is not a mapping"):
        describe(FIELDS, "name: test\ncolumns: [model]\nresources:\n- name: scores\n")


def test_table_is_checked_against_the_expanded_description(describe):
    describe(FIELDS)
    root = describe.root
    (root / "artifacts/sources/places.csv").write_text("source\nT1\n")
    rows = ["model,layer,value,reason,source", "a,0,0.5,,T1", "b,0,,unknown,T1"]
    table = root / "artifacts/results/scores.csv"
    table.write_text("\n".join(rows) + "\n")
    assert check(root, "scores") == []
    for old, new, message in (("a,0", "c,0", "'c' is not one of"), ("0.5,,T1", "0.5,,T2", "not in the table 'places'")):
        table.write_text("\n".join(rows).replace(old, new) + "\n")
        assert message in str(check(root, "scores")[0])


def test_exported_package_contains_no_project_shorthand(describe):
    describe(FIELDS + "  range: {value: [0, .inf]}\n")
    (describe.root / "artifacts/results/scores.csv").write_text("model,layer,value,reason,source\na,0,1,,T1\n")
    schema = standard_package(describe.root)
    assert set(schema) == {"$schema", "name", "resources"}
    [entry] = schema["resources"]  # the table `places` has no file
    assert entry["schema"] == full_package(describe.root)["resources"][1]["schema"]
    assert entry["range"] == {"value": [0, None]}


def test_positional_column_allows_exactly_the_model_pair():
    columns = yaml.safe_load((ROOT / "artifacts/datapackage.yaml").read_text())["columns"]
    assert tuple(columns["positional"]["enum"]) == PAIR
