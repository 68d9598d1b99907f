"""The store: typed and pivoted frames, faults by row, and results that are rewritten only when numbers change."""

import gzip
from pathlib import Path

import pandas as pd
import pytest

from boundpaper.errors import DataError, ThesisError
from boundpaper.store import manifest
from boundpaper.store.canonical import agree
from boundpaper.store.files import digest
from boundpaper.store.frames import wide
from boundpaper.store.manifest import sealed_text
from boundpaper.store.reader import read
from boundpaper.store.results import bytes_to_keep, text
from boundpaper.store.schema import check
from store_made import GOOD, SCHEMA


@pytest.fixture
def root(tmp_path):
    (tmp_path / "artifacts/sources").mkdir(parents=True)
    (tmp_path / "artifacts/measurements/sinks").mkdir(parents=True)
    (tmp_path / "artifacts/datapackage.yaml").write_text(SCHEMA)
    (tmp_path / "artifacts/sources/models.csv").write_text("model\na\nb\n")
    (tmp_path / "artifacts/sources/scores.csv").write_text(GOOD)
    for name, value in (("one", 1.5), ("two", 2.5)):
        (tmp_path / f"artifacts/measurements/sinks/{name}.csv").write_text(f"value\n{value}\n")
    return tmp_path


def write_scores(root: Path, text: str) -> None:
    (root / "artifacts/sources/scores.csv").write_text(text)


def test_a_good_table_has_no_fault(root):
    assert check(root, "scores") == []
    assert check(root, "models") == []


@pytest.mark.parametrize(
    ("old", "new", "row", "field", "words"),
    [
        ("0.50", "1.50", 2, "printed", "outside 0 to 1"), ("0.50", "half", 2, "printed", "not a printed number"),
        ("a,size", "c,size", 3, "", "'c' is not in the table 'models'"), ("a,size", "a,ap", 3, "", "appears twice"),
        ("not measured", "", 4, "printed", "empty without a reason"),
        ("a,ap,1", "a,ap,one", 2, "layer", "'one' is not an integer"),
        ("model,metric,layer", "model,metrics,layer", 1, "metric", "no column metric; unknown column metrics"),
    ],
)  # fmt: skip
def test_faults_name_file_row_field_and_what(root, old, new, row, field, words):
    write_scores(root, GOOD.replace(old, new, 1))
    fault = check(root, "scores")[0]
    assert (fault.file, fault.row) == ("artifacts/sources/scores.csv", row)
    assert words in fault.message
    assert fault.field == field or not field


@pytest.mark.parametrize("text", ["NaN", "INF"])
def test_non_numeric_text_in_a_number_field_is_a_fault(root, text):
    (root / "artifacts/measurements/sinks/one.csv").write_text(f"value\n{text}\n")
    assert text in check(root, "sinks")[0].message


def test_undescribed_table_and_missing_file_are_faults(root):
    (root / "artifacts/sources/extra.csv").write_text("a\n1\n")
    assert "no resource 'extra'" in check(root, "extra")[0].message
    (root / "artifacts/sources/scores.csv").unlink()
    assert "missing" in check(root, "scores")[0].message


def test_reading_adds_parsed_numbers_and_keeps_text(root):
    frame = read(root, "scores")
    assert frame["value"].tolist()[:2] == [0.5, 7]
    assert frame["low"][0] == pytest.approx(0.495)
    assert pd.isna(frame["value"][2])
    assert frame["printed"][2] == ""
    assert frame["layer"].dtype == "Int64"


def test_read_returns_a_new_frame_that_follows_the_file(root):
    frame = read(root, "scores")
    frame["value"] = 0
    assert read(root, "scores")["value"][0] == 0.5
    write_scores(root, GOOD.replace("0.50", "0.75"))
    assert read(root, "scores")["value"][0] == 0.75


def test_measurements_are_one_frame_with_the_model_from_the_file_name(root):
    frame = read(root, "sinks")
    assert dict(zip(frame["model"], frame["value"], strict=True)) == {"one": 1.5, "two": 2.5}


def test_unknown_artifact_is_refused_by_name(root):
    with pytest.raises(DataError, match="no artifact called 'score'"):
        read(root, "score")


def test_wide_pivots_and_refuses_duplicates(root):
    frame = read(root, "scores").drop(columns=["layer"])
    table = wide(frame)
    assert list(table.columns) == ["model", "ap", "size"]
    assert table["size"].tolist() == [7, 8]
    with pytest.raises(DataError, match="model=a, metric=ap occurs 2 times"):
        wide(pd.concat([frame, frame]))
    with pytest.raises(DataError, match="no column kind"):
        wide(frame, metric="kind")


def test_result_text_is_stable_and_unexplained_missing_values_are_refused():
    frame = pd.DataFrame({"a": [1 / 3, -0.0], "b": ["x", "y"]})
    assert text(frame, "r") == "a,b\n0.33333333,x\n0,y\n"
    with pytest.raises(DataError, match="row 2, a: missing without a reason"):
        text(pd.DataFrame({"a": [None], "b": [1]}), "r")
    assert text(pd.DataFrame({"a": [None], "note": ["unknown"]}), "r") == "a,note\n,unknown\n"
    with pytest.raises(DataError, match="infinity"):
        text(pd.DataFrame({"a": [float("inf")]}), "r")
    with pytest.raises(DataError, match="no rows"):
        text(pd.DataFrame({"a": []}), "r")


def test_result_bytes_are_kept_while_the_numbers_agree(tmp_path):
    path = tmp_path / "r.csv"
    assert bytes_to_keep(path, b"a,b\n1.0,x\n") == b"a,b\n1.0,x\n"
    path.write_bytes(b"a,b\n1.0,x\n")
    assert bytes_to_keep(path, b"a,b\n1.0000001,x\n") == b"a,b\n1.0,x\n"
    for changed in (b"a,b\n1.0001,x\n", b"a,b\n1.0,y\n", b"a,c\n1.0,x\n", b"a,b\n1.0,x\n1.0,x\n", b"a,b\n,x\n"):
        assert bytes_to_keep(path, changed) == changed
    assert not agree(b"a\n1\n", b"")


@pytest.mark.parametrize(
    ("content", "row", "words"),
    [
        (b"\xff" + GOOD.encode(), 0, "1: not UTF-8"), (GOOD.encode().replace(b"7", b"\xe9"), 0, "3: not UTF-8"),
        (GOOD.encode().replace(b"unknown", b"unknown\xe9"), 0, "line 5: not UTF-8"),
        (GOOD.splitlines()[0].encode() + b"\n", 0, "a header but no rows"),
        (GOOD.encode()[:-9], 0, "ends in the middle of a line"),
        (GOOD.replace("\n", "\r").encode(), 0, "carriage return"), (GOOD.replace("7", "\0").encode(), 0, "NUL"),
        (GOOD.replace("0.50", '"0,5"').encode(), 2, "use commas for thousands"),
        (GOOD.replace(",7,", ",1e400,").encode(), 3, "outside the range of floating-point numbers"),
        (GOOD.replace(",7,", ",1e" + "9" * 5000 + ",").encode(), 3, "use commas for thousands"),
    ],
)  # fmt: skip
def test_damaged_table_is_reported_with_its_file(root, content, row, words):
    (root / "artifacts/sources/scores.csv").write_bytes(content)
    [fault] = check(root, "scores")
    assert (fault.file, fault.row) == ("artifacts/sources/scores.csv", row)
    assert words in str(fault)
    assert len(str(fault)) < 400


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"model\nc", "cannot be read (ends in the middle of a line"),
        (b"model\n", "cannot be read (has a header but no rows"),
        ("model\na\nb\n".encode("utf-16"), "cannot be read (is UTF-16; save it in UTF-8"),
        (gzip.compress(b"model\na\nb\n", mtime=0), "cannot be read (is packed by gzip"),
        (b"name\na\nb\n", "cannot be read (no column model, which a foreign key names"),
        (None, "which is missing; restore it first"),
    ],
)
def test_damaged_table_is_reported_once_per_table_that_references_it(root, content, words):
    models = root / "artifacts/sources/models.csv"
    models.unlink() if content is None else models.write_bytes(content)
    [fault] = check(root, "models")
    assert fault.file == "artifacts/sources/models.csv"
    [fault] = check(root, "scores")
    assert (fault.file, fault.row, fault.field) == ("artifacts/sources/scores.csv", 0, "model")
    assert f"names rows of artifacts/sources/models.csv, {words}" in fault.message.replace("which cannot", "cannot")


def test_folder_in_place_of_a_table_is_reported(root):
    (root / "artifacts/sources/scores.csv").unlink()
    (root / "artifacts/sources/scores.csv").mkdir()
    [fault] = check(root, "scores")
    assert "scores.csv" in str(fault)
    with pytest.raises(ThesisError, match=r"scores.csv: cannot be read as a file \(Is a directory\)"):
        digest(root / "artifacts/sources/scores.csv")


def sealed_measurement(root: Path) -> Path:
    path = root / "artifacts/measurements/sinks/one.csv"
    path.write_text("value\n0.10622368\n0.5\n")
    path.with_suffix(".json").write_bytes(sealed_text({"command": "x", "versions": {}}, path))
    assert check(root, "sinks") == []
    return path


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("value\n0.10622368\n", "(1 rows of 2, according to the seal in"),
        ("value\n0.1\n0.5\n", "(cells of its 2 rows were changed, according to the seal in"),
        ("value\n0.5\n0.10622368\n", "(cells of its 2 rows were changed, according to the seal in"),
    ],
)
def test_truncated_or_changed_measurement_does_not_match_its_checksum(root, text, words):
    path = sealed_measurement(root)
    path.write_text(text)
    [fault] = check(root, "sinks")
    assert fault.file == "artifacts/measurements/sinks/one.csv"
    assert "not the measured table" in fault.message
    assert words in fault.message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "one.json:1: not valid JSON"),
        ("[]", "one.json: contains no JSON object"),
        ('{"a": ' * 100_000, "one.json: not valid JSON"),
        ('{"versions": 3}', "one.json: versions: 3 is not a mapping of names to values"),
        ('{"command": "x"}', "one.json has no seal; if the table is complete, run: python -m"),
        ("\udcff", "one.json:1: not UTF-8"),
    ],
)
def test_damaged_manifest_is_reported_with_its_file(root, text, words):
    path = sealed_measurement(root)
    path.with_suffix(".json").write_text(text, errors="surrogateescape")
    [fault] = check(root, "sinks")
    assert words in str(fault)


def test_missing_measurement_checksum_is_added_once(root, monkeypatch):
    path = sealed_measurement(root)
    path.with_suffix(".json").write_text('{"command": "x"}')
    monkeypatch.chdir(root)
    manifest.main([])
    assert check(root, "sinks") == []
    sealed = path.with_suffix(".json").read_bytes()
    path.write_text("value\n1\n")
    manifest.main([])
    assert path.with_suffix(".json").read_bytes() == sealed


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("- {name: model, type: string, constraints", "- {type: string, constraints", "models: field 1 has no `name`"),
        ("  path: sources/models.csv\n", "  path: http://127.0.0.1/models.csv\n", "models: `path` is 'http"),
        ("  path: sources/models.csv\n", "  path: sources/../../x.csv\n", "models: `path` is"),
        ("- name: models\n", "- title: models\n", "resource 1 has no `name`"),
        (
            "reference: {resource: models, fields: [model]}",
            "reference: 7",
            "scores.schema: foreignKeys[0].reference: 7 is not a mapping",
        ),
        ("range: {ap: [0, 1]}", "range: 7", "scores: `range` must map metrics"),
        ("name: test\n", "name: [\n", "datapackage.yaml:4: did not find"),
        ("name: test\n", "name: \udcff\n", "datapackage.yaml:2: not UTF-8"),
    ],
)
def test_damaged_data_package_is_reported(root, old, new, words):
    assert old in SCHEMA
    text = SCHEMA.replace(old, new, 1)
    (root / "artifacts/datapackage.yaml").write_text(text, errors="surrogateescape")
    with pytest.raises(DataError) as caught:
        check(root, "scores")
    assert words in str(caught.value)


def test_aliases_of_aliases_are_refused(root):
    bomb = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9))
    (root / "artifacts/datapackage.yaml").write_text(f"a0: &a0 [x]\n{bomb}{SCHEMA}")
    with pytest.raises(DataError, match="after expanding aliases"):
        check(root, "scores")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\nname: test\n", "profile: URL\nname: test\n"),
        (".csv\n", ".csv\n  profile: URL\n"),
        (".csv\n", ".csv\n  dialect: URL\n"),
        ("  kind: source\n", "  kind: source\n  $schema: URL\n"),
    ],
)
def test_urls_in_the_data_package_are_not_fetched(root, old, new, monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("a network connection was opened")

    monkeypatch.setattr("socket.socket.connect", refuse)
    assert old in SCHEMA
    (root / "artifacts/datapackage.yaml").write_text(SCHEMA.replace(old, new.replace("URL", "http://127.0.0.1:9/x")))
    with pytest.raises(DataError, match=r"127\.0\.0\.1.* is (a profile that is not supported|not a mapping)"):
        check(root, "scores")
