"""Large measurements in Parquet have the cells and hashes of CSV, and every invalid file gives a one-line error."""

import csv
import io
import json
import subprocess
import sys

import pandas as pd
import pytest

pa = pytest.importorskip("pyarrow")
from pyarrow import parquet  # noqa: E402

from boundpaper.build.graph import load  # noqa: E402
from boundpaper.errors import DataError  # noqa: E402
from boundpaper.store import measurement  # noqa: E402
from boundpaper.store.canonical import content_hash, records_hash  # noqa: E402
from boundpaper.store.descriptor import files, standard_package  # noqa: E402
from boundpaper.store.manifest import contradiction, manifest_text, sealed_text  # noqa: E402
from boundpaper.store.measurement import MOST_ROWS, convert_all, path_of, put  # noqa: E402
from boundpaper.store.parquet_file import pack_table  # noqa: E402
from boundpaper.store.reader import read  # noqa: E402
from boundpaper.store.schema import check  # noqa: E402
from boundpaper.store.table_file import header_of, records, rows, table_hash, table_text  # noqa: E402
from conftest import ROOT  # noqa: E402
from keyquery.measure.measurements import save  # noqa: E402

SCHEMA = """
name: test
resources:
- name: sinks
  path: measurements/sinks
  kind: measurement
  schema:
    fields:
    - {name: model, type: string}
    - {name: unit, type: string, constraints: {required: true}}
    - {name: layer, type: integer}
    - {name: kept, type: boolean}
    - {name: side, type: string, constraints: {enum: [rope, drope]}}
    - {name: value, type: number, constraints: {required: true}}
    - {name: reason, type: string}
"""
HEADER = "unit,layer,kept,side,value,reason"
ODD = (  # cells that a typed file could change: numbers as text, missing cells, quotes, extremes, many digits
    '007,3,True,rope,1,"a, ""b"""',
    "1e5,,,drope,1e-300,gap",
    "NA,0,False,rope,-0,ünï\u2028",
    '"two\nlines",-1,True,drope,12345678,x',
    " padded ,12,,rope,0.1,",
)


def csv_text(number: int = MOST_ROWS + 1, tail: tuple[str, ...] = ODD) -> str:
    body = [f"u{index},{index},True,rope,{index / 7:.8g},x" for index in range(number - len(tail))]
    return "\n".join([HEADER, *body, *tail]) + "\n"


@pytest.fixture
def root(tmp_path):
    (tmp_path / "artifacts").mkdir()
    (tmp_path / "artifacts/datapackage.yaml").write_text(SCHEMA)
    return tmp_path


def file_names(root, stem="m"):
    return sorted(path.name for path in (root / "artifacts/measurements/sinks").glob(f"{stem}.*"))


def one_fault(root, message):
    """Check that `check` reports one fault, which contains `message`, of the only measurement; return the fault."""
    faults = check(root, "sinks")
    assert len(faults) == 1
    assert message in str(faults[0])
    assert "\n" not in str(faults[0])
    return str(faults[0])


def test_parquet_holds_the_same_cells_as_its_csv(root):
    text = csv_text()
    path = put(root, "sinks", "m", text)
    assert path.name == "m.parquet"
    assert table_text(path) == text
    types = {field.name: str(field.type) for field in parquet.read_schema(path)}
    expected = {"unit": "string", "layer": "int64", "kept": "bool", "side": "string", "value": "double"}
    assert types == expected | {"reason": "string"}
    assert header_of(path) == HEADER.split(",")
    assert list(map(tuple, records(path))) == list(map(tuple, csv.reader(io.StringIO(text, newline=""))))
    assert dict(rows(path))[MOST_ROWS + 2]["unit"] == " padded "
    plain = root / "plain.csv"
    plain.write_bytes(text.encode())
    assert table_hash(path) == table_hash(plain)
    assert records_hash(records(path)) == content_hash(plain.read_text())


def test_store_reads_equal_frames_from_parquet_and_csv(root):
    path = put(root, "sinks", "m", csv_text())
    new = read(root, "sinks")
    path.with_suffix(".csv").write_text(csv_text())
    path.unlink()
    old = read(root, "sinks")
    pd.testing.assert_frame_equal(new, old, check_exact=True)
    assert new["layer"].dtype == "Int64"
    assert new["layer"].isna().sum() == 1
    assert "007" in set(new["unit"])
    assert set(new["model"]) == {"m"}


def test_column_that_a_type_would_rewrite_stays_text():
    text = "a,b,c\n1.50,01,yes\n2,2,True\n"
    types = {"a": "number", "b": "integer", "c": "boolean"}
    table = parquet.read_table(pa.BufferReader(pack_table(text, types)))
    assert {str(field.type) for field in table.schema} == {"string"}
    assert table.column("a").to_pylist() == ["1.50", "2"]


def test_parquet_output_is_deterministic_and_free_of_pandas_metadata():
    packed = pack_table(csv_text(), {"value": "number"})
    assert packed == pack_table(csv_text(), {"value": "number"})
    metadata = parquet.ParquetFile(pa.BufferReader(packed)).metadata
    assert not metadata.metadata
    assert metadata.row_group(0).column(0).compression == "ZSTD"


def test_identity_hash_depends_on_cells_not_on_the_writer(root):
    path = put(root, "sinks", "m", csv_text())
    before, content = table_hash(path), path.read_bytes()
    parquet.write_table(parquet.read_table(path), path, compression="gzip", use_dictionary=False)
    assert path.read_bytes() != content
    assert table_hash(path) == before


def test_measurement_format_depends_on_its_size(root):
    frame = pd.read_csv(io.StringIO(csv_text()), keep_default_na=False, na_values=[""], dtype={"layer": "Int64"})
    frame["reason"] = "x"
    save(root, {"sinks": frame.head(MOST_ROWS)}, "m", {"command": "one"})
    assert file_names(root) == ["m.csv", "m.json"]
    [path] = save(root, {"sinks": frame}, "m", {"command": "two"})
    assert file_names(root) == ["m.json", "m.parquet"]
    assert not contradiction(root, "artifacts/measurements/sinks/m.parquet")
    written = path.stat().st_mtime_ns
    save(root, {"sinks": frame.assign(value=frame["value"] * (1 + 1e-7))}, "m", {"command": "two"})
    assert path.stat().st_mtime_ns == written, "differences between processors rewrite no file"
    save(root, {"sinks": frame.head(3)}, "m", {"command": "three"})
    assert file_names(root) == ["m.csv", "m.json"]
    assert path_of(root, "sinks", "m").name == "m.csv"


def test_cut_damaged_or_foreign_parquet_file_is_refused(root):
    path = put(root, "sinks", "m", csv_text())
    undamaged = path.read_bytes()
    middle = len(undamaged) // 4
    for content in (
        undamaged[: len(undamaged) // 2],
        undamaged[:-1],
        b"PAR1",
        b"",
        undamaged[:middle] + bytes([undamaged[middle] ^ 8]) + undamaged[middle + 1 :],
    ):
        path.write_bytes(content)
        message = one_fault(root, "artifacts/measurements/sinks/m.parquet: not valid Parquet (")
        assert message.endswith("; restore it from version control")
        with pytest.raises(DataError, match=r"^artifacts/measurements/sinks/m\.parquet: not valid Parquet"):
            read(root, "sinks")


def test_text_named_parquet_is_reported(root):
    path = put(root, "sinks", "m", csv_text())
    path.write_bytes(csv_text().encode())
    assert one_fault(root, "artifacts/measurements/sinks/m.parquet: is text, not Parquet; give the file the")


def test_a_changed_cell_breaks_the_seal(root):
    [path] = save(root, {"sinks": pd.read_csv(io.StringIO(csv_text(tail=())))}, "m", {"command": "one"})
    assert not check(root, "sinks")
    path.write_bytes(pack_table(table_text(path).replace("u3,3,", "u3,4,"), {}))
    one_fault(root, f"cells of its {MOST_ROWS + 1} rows were changed")
    path.write_bytes(pack_table(table_text(path).replace("u3,4,True,rope,0.42857143,x\n", ""), {}))
    one_fault(root, f"{MOST_ROWS} rows of {MOST_ROWS + 1}")


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("value", [1.0, float("nan")], "row 3, value: nan is not a number"),
        ("value", [float("inf"), 1.0], "row 2, value: inf is not a number"),
        ("value", ["1", "many"], "row 3, value: 'many' is not a number"),
        ("value", [None, 1.0], "row 2, value: empty, but required"),
        ("layer", [1.5, 2.0], "row 2, layer: '1.5' is not an integer"),
        ("side", ["rope", "nope"], "row 3, side: 'nope' is not one of rope, drope"),
        ("reason", [["a"], ["b"]], "column reason is of type list"),
        ("unit", [pd.Timestamp(0), pd.Timestamp(1)], "column unit is of type timestamp"),
        ("value", None, "row 1, value: no column value"),
        ("more", [1, 2], "row 1, more: unknown column more"),
    ],
)
def test_cell_faults_of_parquet_equal_those_of_csv(root, column, values, message):
    columns = {"unit": ["a", "b"], "layer": [1, 2], "kept": [True, False], "side": ["rope", "drope"]}
    columns |= {"value": [1.0, 2.5], "reason": ["x", "y"]}
    columns = {name: cells for name, cells in {**columns, column: values}.items() if cells is not None}
    path = root / "artifacts/measurements/sinks/m.parquet"
    path.parent.mkdir(parents=True)
    parquet.write_table(pa.table(columns), path)
    one_fault(root, message)


def test_csv_and_parquet_of_one_name_are_refused(root):
    frame = pd.read_csv(io.StringIO(csv_text(tail=())))
    [path] = save(root, {"sinks": frame}, "m", {"command": "one"})
    path.with_suffix(".csv").write_text(HEADER + "\nu,1,True,rope,1,x\n")
    message = one_fault(
        root, "artifacts/measurements/sinks/m.csv: a .parquet file has the same name; to keep the file that m.json"
    )
    with pytest.raises(DataError) as error:
        read(root, "sinks")
    assert str(error.value) == message
    assert convert_all(root) == []
    assert file_names(root) == ["m.json", "m.parquet"]
    path.with_suffix(".csv").write_text(table_text(path))
    path.write_bytes(pack_table(HEADER + "\nu,1,True,rope,1,x\n", {}))
    assert [path.name for path in convert_all(root)] == ["m.csv"]
    assert file_names(root) == ["m.json", "m.parquet"]
    assert not check(root, "sinks")
    path.with_suffix(".csv").write_text("value\n1\n")
    path.with_suffix(".json").write_text(json.dumps({"command": "x"}))
    with pytest.raises(DataError, match=r"sinks/m: artifacts/measurements/sinks/m.json has the hash of neither"):
        convert_all(root)


def test_tables_and_manifests_of_an_older_version_are_converted(root):
    folder = root / "artifacts/measurements/sinks"
    folder.mkdir(parents=True)
    (folder / "m.csv").write_text(csv_text(tail=()))
    expected = {
        "command": "one",
        "recipe": {"brief": {f"rate{index}": index / 8 for index in range(30)}, "more": [{"a": ["x" * 70, "y" * 70]}]},
        "hashes": {},
    }
    seal = json.loads(sealed_text(expected, folder / "m.csv"))["table"]
    assert (seal["blake2"], seal["rows"]) == (table_hash(folder / "m.csv"), MOST_ROWS + 1)
    (folder / "m.json").write_text(json.dumps({**expected, "table": seal}, indent=1))
    assert [path.name for path in convert_all(root)] == ["m.csv", "m.json"]
    assert file_names(root) == ["m.json", "m.parquet"]
    text = (folder / "m.json").read_text()
    assert json.loads(text) == {**expected, "table": seal}
    assert text.encode() == manifest_text(json.loads(text)) == sealed_text(expected, folder / "m.parquet")
    assert max(map(len, text.splitlines())) <= 120
    assert len(text.splitlines()) < 30, "thirty rates are listed on a few lines"
    assert not check(root, "sinks")
    assert convert_all(root) == []


def test_broken_table_is_not_sealed_again(root):
    [path] = save(root, {"sinks": pd.read_csv(io.StringIO(csv_text(tail=())))}, "m", {"command": "one"})
    path.write_bytes(pack_table(table_text(path).replace("u3,3,", "u3,4,"), {}))
    convert_all(root)
    one_fault(root, "cells of its")


def test_a_ragged_csv_is_not_converted(root):
    folder = root / "artifacts/measurements/sinks"
    folder.mkdir(parents=True)
    (folder / "m.csv").write_text(csv_text() + "only,two\n")
    result = subprocess.run(
        [sys.executable, "-m", "boundpaper.store.measurement"],
        cwd=root,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert (
        result.stderr == f"error: artifacts/measurements/sinks/m.parquet: row {MOST_ROWS + 3}: 2 cells for 6 columns\n"
    )
    assert file_names(root) == ["m.csv"]


def test_exported_package_holds_every_table_as_csv(root):
    put(root, "sinks", "m", csv_text())
    put(root, "sinks", "n", csv_text(9))
    assert [entry["path"] for entry in standard_package(root)["resources"]] == [
        "measurements/sinks/m.csv",
        "measurements/sinks/n.csv",
    ]


def test_committed_measurements_have_the_format_of_their_size():
    for path in (ROOT / measurement.FOLDER).glob("*/*.[cp]*"):
        large = sum(1 for _ in rows(path)) > MOST_ROWS
        assert path.suffix == (".parquet" if large else ".csv"), f"run: python -m boundpaper.store.measurement ({path})"


def test_parquet_file_is_an_input_of_steps_that_read_it():
    from boundpaper.build.facts import FactReader

    step = load(ROOT, FactReader(ROOT)).steps["measurement:head_components"]
    tables = files(ROOT, "head_components")
    assert any(path.endswith(".parquet") for path in tables)
    assert set(tables) <= set(step.inputs)


def test_graph_and_small_tables_do_not_import_pyarrow():
    code = (
        "import sys; from pathlib import Path\nfrom boundpaper.build.facts import FactReader; from "
        "boundpaper.build.graph import load\nfrom boundpaper.store.table_file import rows, header_of\nroot = "
        "Path.cwd(); load(root, FactReader(root)); list(rows(root / "
        "'artifacts/sources/models.csv'))\nsys.exit('pyarrow' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_a_table_can_be_printed_for_git():
    table = next(path for path in files(ROOT, "head_components") if path.endswith(".parquet"))
    command = [sys.executable, "-m", "boundpaper.store.table_file", table]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout == table_text(ROOT / table)
    command = ["git", "check-attr", "diff", table]
    attribute = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert attribute.stdout.strip().endswith("diff: table")
