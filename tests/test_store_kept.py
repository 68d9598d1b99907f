"""Stored files are checked against hash and format, citations against the bibliography, places against their table."""

import json

import pytest

from boundpaper.errors import DataError
from boundpaper.paper.lint import cited_by_tables
from boundpaper.store import manifest
from boundpaper.store.manifest import sealed_text
from boundpaper.store.schema import check

PACKAGE = """
name: test
columns: {citation: {description: Key in the bibliography, cites: true}}
resources:
- name: documents
  origin: []
  fields: [{document*: Key}, {group!: Group}, {title!: Title}, citation, {coverage!: Coverage}, {reason~: Why empty}]
- name: places
  origin: []
  fields: [{source*: Key}, {document!: Key of the document}, {section!: Section}, citation!]
- name: bins
  origin: []
  fields: [{model*: Model}, {bin*: Bin, enum: [a, b]}]
  covers: {resource: bins, key: model, when: {}, field: bin, values: [a, b]}
- name: sinks
  kind: measurement
  fields: [{value!: Value, type: number}]
"""
FACTS = {
    "command": "python build.py run sinks",
    "versions": {"torch": "2"},
    "settings": {"taus": [0.5]},
    "model": {"fingerprint": "0"},
    "hashes": {"texts": {"manual": "0"}},
    "seconds": 1.5,
}


@pytest.fixture
def root(tmp_path):
    """Return a project with documents, places, a table that needs both bins of each model, and a sealed measurement."""
    for folder in ("artifacts/sources", "artifacts/measurements/sinks", "paper"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "artifacts/datapackage.yaml").write_text(PACKAGE)
    (tmp_path / "artifacts/sources/documents.csv").write_text(
        "document,group,title,citation,coverage,reason\n004,a,Beans,beans2026,claims,\nthesis,a,T,,claims,its own\n"
    )
    (tmp_path / "artifacts/sources/places.csv").write_text(
        "source,document,section,citation\n004 T1,004,Heights,beans2026\npublished peas,Peas and so on,Peas,peas2020\n"
    )
    (tmp_path / "artifacts/sources/bins.csv").write_text("model,bin\nm,a\nm,b\n")
    table = tmp_path / "artifacts/measurements/sinks/one.csv"
    table.write_text("value\n0.5\n")
    table.with_suffix(".json").write_bytes(sealed_text(FACTS, table))
    return tmp_path


def fault_texts(root, name):
    return [str(fault) for fault in check(root, name)]


def test_valid_store_has_no_faults(root):
    assert [fault_texts(root, name) for name in ("documents", "places", "bins", "sinks")] == [[], [], [], []]


@pytest.mark.parametrize(
    ("table", "old", "new", "message"),
    [
        (
            "places", "T1,004", "T1,\u00bd",
            "row 2, document: '\u00bd', where the place begins with the key of the document '004'",
        ),
        ("places", "T1,004", "T1,4", "row 2, document: '4', where the place begins"),
        ("bins", "m,b\n", "", "no bin b of 'm', required by artifacts/sources/bins.csv, row 2; add the rows"),
    ],
)  # fmt: skip
def test_unknown_reference_is_a_fault(root, table, old, new, message):
    path = root / f"artifacts/sources/{table}.csv"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1), encoding="utf-8")
    [fault] = fault_texts(root, table)
    assert message in fault


@pytest.mark.parametrize(
    ("table", "old", "new", "message"),
    [
        (
            "places", "beans2026", "beans2062",
            "places.csv: row 2, citation: names 'beans2062', which is not in paper/references.bib",
        ),
        ("places", "Heights,beans2026", "Heights,shcherbTRUE", "row 2, citation: names 'shcherbTRUE'"),
        ("documents", "beans2026", "Beans2026", "documents.csv: row 2, citation: names 'Beans2026'"),
    ],
)  # fmt: skip
def test_citation_column_is_checked_against_the_bibliography(root, table, old, new, message):
    entries = {"beans2026": 1, "peas2020": 3}
    assert cited_by_tables(root, entries) == []
    path = root / f"artifacts/sources/{table}.csv"
    path.write_text(path.read_text().replace(old, new, 1))
    [fault] = cited_by_tables(root, entries)
    assert message in fault


CHANGES = [
    (lambda facts: facts["settings"].update(taus=[0.9]), "was changed since it was sealed"),
    (lambda facts: facts["model"].update(fingerprint="1"), "was changed since it was sealed"),
    (lambda facts: facts["hashes"].clear(), "was changed since it was sealed"),
    (lambda facts: facts.pop("settings"), "was changed since it was sealed"),
    (lambda facts: facts.update(seconds=2), "was changed since it was sealed"),
    (lambda facts: facts.update(settings=[]), "settings: [] is not a mapping"),
    (lambda facts: facts.update(model="x"), "model: 'x' is not a mapping"),
    (lambda facts: facts.update(hashes={"texts": "0"}), "hashes.texts: '0' is not a mapping"),
    (lambda facts: facts.update(training_length="long"), "training_length: 'long' is not a whole number"),
    (lambda facts: facts.update(setings={}), "unknown key 'setings'; did you mean 'settings'?"),
    (lambda facts: facts["table"].update(rows=True), "table.rows: True is not a whole number"),
]


@pytest.mark.parametrize(("change", "message"), CHANGES)
def test_changed_or_malformed_manifest_is_a_fault(root, change, message):
    file = root / "artifacts/measurements/sinks/one.json"
    content = json.loads(file.read_text())
    change(content)
    file.write_text(json.dumps(content))
    [fault] = fault_texts(root, "sinks")
    assert message in fault
    assert "sinks/one.json" in fault


def test_reformatted_manifest_is_accepted(root):
    file = root / "artifacts/measurements/sinks/one.json"
    file.write_text(json.dumps(json.loads(file.read_text()), indent=4))
    assert fault_texts(root, "sinks") == []


def test_old_seal_is_completed_when_its_table_is_intact(root, monkeypatch):
    file = root / "artifacts/measurements/sinks/one.json"
    content = json.loads(file.read_text())
    del content["table"]["facts"]
    file.write_text(json.dumps(content))
    assert fault_texts(root, "sinks") == []
    monkeypatch.chdir(root)
    manifest.main([])
    assert "facts" in json.loads(file.read_text())["table"]
    assert fault_texts(root, "sinks") == []


def test_missing_digit_field_accepts_a_single_digit_only():
    """A cell `inf` would end a study with a traceback."""
    from boundpaper.store.descriptor import resource
    from boundpaper.store.validation import CheckedField
    from conftest import ROOT

    described = resource(ROOT, "drope_error_examples")
    assert described is not None
    [field] = [field for field in described["schema"]["fields"] if field["name"] == "missing_digit"]
    assert CheckedField(field).read("7") == ("7", "")
    assert CheckedField(field).read("inf")[1]
    assert CheckedField(field).read("12")[1]


def test_validation_error_names_file_path_and_nearest_key():
    from boundpaper.store.rules import listed, mapping, require, text

    with pytest.raises(DataError) as error:
        require(
            {"models": [{"name": "a"}, {"name": "b", "idd": "c"}]},
            mapping({"models": listed(mapping({"name": text, "id": text}))}),
            "a.yaml",
        )
    assert str(error.value) == "a.yaml: models[b]: unknown key 'idd'; did you mean 'id'?"
