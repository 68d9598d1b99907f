"""A damaged table that other tables refer to: reported once per referring table, not per row."""

import gzip

import pytest

from boundpaper.store.schema import check
from store_made import GOOD, SCHEMA


@pytest.fixture
def root(tmp_path):
    (tmp_path / "artifacts/sources").mkdir(parents=True)
    (tmp_path / "artifacts/datapackage.yaml").write_text(SCHEMA)
    (tmp_path / "artifacts/sources/models.csv").write_text("model\na\nb\n")
    (tmp_path / "artifacts/sources/scores.csv").write_text(GOOD)
    return tmp_path


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
    named = root / "artifacts/sources/models.csv"
    named.unlink() if content is None else named.write_bytes(content)
    [own] = check(root, "models")
    assert own.file == "artifacts/sources/models.csv"
    [fault] = check(root, "scores")
    assert (fault.file, fault.row, fault.field) == ("artifacts/sources/scores.csv", 0, "model")
    assert f"names rows of artifacts/sources/models.csv, {words}" in fault.message.replace("which cannot", "cannot")


def test_invalid_utf_8_byte_is_reported_with_its_line(root):
    (root / "artifacts/sources/scores.csv").write_bytes(GOOD.encode().replace(b"unknown", b"unknown\xe9"))
    [fault] = check(root, "scores")
    assert str(fault).startswith("artifacts/sources/scores.csv: line 5: not UTF-8")


def test_changed_cells_are_not_reported_as_lost_rows(root):
    from boundpaper.store.manifest import sealed_text

    folder = root / "artifacts/measurements/sinks"
    folder.mkdir(parents=True)
    table = folder / "one.csv"
    table.write_text("value\n0.1\n0.5\n")
    table.with_suffix(".json").write_bytes(sealed_text({"command": "x", "versions": {}}, table))
    table.write_text("value\n0.2\n0.5\n")
    [fault] = check(root, "sinks")
    assert "(cells of its 2 rows were changed, according to the seal in" in fault.message
    table.write_text("value\n0.1\n")
    [fault] = check(root, "sinks")
    assert "(1 rows of 2, according to the seal in" in fault.message
