"""Reading captures in the published layout, with and without manifest."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from boundpaper.errors import DataError
from keyquery.models.architecture import Layer
from keyquery.models.captures import layout, manifest, parts
from keyquery.models.captures import reading as captures
from keyquery.models.captures.reading import open_capture
from keyquery.models.captures.sampling import Buckets, HeadIndex

pytestmark = pytest.mark.models

HEADS = (HeadIndex(0, 0, 0), HeadIndex(0, 3, 1), HeadIndex(2, 1, 0), HeadIndex(2, 2, 1))
BUCKETS = Buckets(4096, 16, 64.0)
LAYERS = [Layer(0, "full", 4, 2, 8, 1.0), Layer(2, "sliding", 4, 2, 6, 1.0, 512)]


def published(root: Path) -> dict[tuple[int, str, int], np.ndarray]:
    """Write a capture without a manifest; return its contents by (layer, side, head)."""
    generator = np.random.default_rng(3)
    by_head: dict[tuple[int, str, int], list[np.ndarray]] = {}
    for document in range(5):
        with parts.DocumentPart(root, document) as part:
            for layer in LAYERS:
                for side, rows in (("q", [h.query for h in HEADS if h.layer == layer.index]), ("k", [0, 1])):
                    positions = np.sort(generator.choice(4096, 500, replace=False)).astype(np.int32)
                    vectors = generator.standard_normal((len(rows), 500, layer.head_dim)).astype(np.float32)
                    part.add(f"{side}{layer.index:02d}", vectors)
                    part.add(f"{side}p{layer.index:02d}", positions)
                    for row, head in enumerate(rows):
                        by_head.setdefault((layer.index, side, head), []).append(vectors[row])
            part.describe({"number": document})
    layout.gather_parts(root, LAYERS, HEADS, BUCKETS)
    return {key: np.concatenate(vectors) for key, vectors in by_head.items()}


def test_context_and_heads_are_inferred(tmp_path: Path) -> None:
    contents = published(tmp_path)
    capture = open_capture(tmp_path)
    assert (capture.context, capture.bucket_size, capture.buckets) == (4096, 256, 16)
    assert capture.heads == HEADS
    for head in HEADS:
        queries, keys = capture.queries(head), capture.keys(head)
        assert np.array_equal(queries.vectors, contents[head.layer, "q", head.query])
        assert np.array_equal(keys.vectors, contents[head.layer, "k", head.key])
        assert np.array_equal(queries.bucket, queries.position // 256)
        assert queries.document.tolist() == sorted(queries.document.tolist())
        assert set(queries.document) == set(range(5))


def test_captured_columns_are_those_of_the_published_layout(tmp_path: Path) -> None:
    published(tmp_path)
    assert sorted(entry.name for entry in tmp_path.iterdir() if entry.name != "parts") == [
        "l00h00k", "l00h00q", "l00h01k", "l00h03q", "l02h00k", "l02h01k", "l02h01q", "l02h02q",
    ]  # fmt: skip
    file = parquet.ParquetFile(tmp_path / "l02h01q" / "data.parquet")
    assert [f"{field.name}: {field.type}" for field in file.schema_arrow] == [
        "bucket: int32", "example_id: int32", "position: int32", "vector: fixed_size_list<element: float>[6]",
        "sliding_window: int32",
    ]  # fmt: skip
    assert file.metadata.row_group(0).column(0).compression == "ZSTD"
    assert file.read()["sliding_window"].to_pylist()[:2] == [512, 512]
    assert parquet.read_table(tmp_path / "l00h00q" / "data.parquet")["sliding_window"].null_count == 2500


def test_plain_lists_and_token_strings_are_read_too(tmp_path: Path) -> None:
    contents = published(tmp_path)
    for file in tmp_path.glob("l*/data.parquet"):
        table = parquet.read_table(file)
        lists = pa.array(table["vector"].to_pylist(), type=pa.list_(pa.float32()))
        table = table.set_column(3, "vector", lists).append_column("token_str", [["a"] * len(table)])
        parquet.write_table(table, file)
    assert np.array_equal(open_capture(tmp_path).queries(HEADS[1]).vectors, contents[0, "q", 3])


def test_context_can_be_given(tmp_path: Path) -> None:
    published(tmp_path)
    capture = open_capture(tmp_path, context=4000)
    assert (capture.context, capture.buckets) == (4000, 16)
    with pytest.raises(DataError, match="exceed --context 3000"):
        open_capture(tmp_path, context=3000)


def test_ambiguous_number_of_query_heads_per_key_head_must_be_given(tmp_path: Path) -> None:
    """Query heads 0, 3, 5 read key heads 0, 1, 1 if three query heads share a key head, and 0, 0, 1 if four do."""
    published(tmp_path / "source")
    for name in ("l00h00q", "l00h03q", "l00h05q", "l00h00k", "l00h01k"):
        shutil.copytree(tmp_path / "source/l00h00q", tmp_path / name)
    with pytest.raises(DataError, match=r"do not follow from the file names \(\[3, 4\] all fit\)"):
        open_capture(tmp_path)
    assert [head.key for head in open_capture(tmp_path, group=4).heads] == [0, 0, 1]
    with pytest.raises(DataError, match="has no keys if"):
        open_capture(tmp_path, group=2)


def test_damaged_captures_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not a capture"):
        open_capture(tmp_path)
    with pytest.raises(DataError, match="no such folder"):
        open_capture(tmp_path / "absent")
    published(tmp_path)
    file = tmp_path / "l00h00q" / "data.parquet"
    good = file.read_bytes()
    file.write_bytes(good[: len(good) // 2])
    with pytest.raises(DataError, match=r"l00h00q/data\.parquet: cannot be read"):
        captures.read(file)
    file.unlink()
    with pytest.raises(DataError, match="no such file"):
        captures.read(file)


def test_buckets_that_do_not_match_the_positions_are_refused(tmp_path: Path) -> None:
    published(tmp_path)
    file = tmp_path / "l00h00q" / "data.parquet"
    table = parquet.read_table(file)
    shuffled = np.random.default_rng(0).permutation(table["bucket"].to_numpy())
    parquet.write_table(table.set_column(0, "bucket", pa.array(shuffled, type=pa.int32())), file)
    with pytest.raises(DataError, match="no bucket size B"):
        open_capture(tmp_path)


def test_capture_is_read_from_the_hub_or_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hub = pytest.importorskip("huggingface_hub")
    downloads = []

    def refuse(repository: str, **options: object) -> str:
        downloads.append((repository, options))
        raise hub.errors.LocalEntryNotFoundError("offline")

    monkeypatch.setattr(hub, "snapshot_download", refuse)
    with pytest.raises(DataError, match=r"someone/captures \(branch model\)"):
        open_capture("someone/captures", branch="model")
    assert downloads == [("someone/captures", {"repo_type": "dataset", "revision": "model"})]
    published(tmp_path)
    monkeypatch.setattr(hub, "snapshot_download", lambda *arguments, **options: str(tmp_path))
    assert open_capture("someone/captures", branch="model").heads == HEADS


def test_interrupted_gathering_resumes_without_leftovers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "WRITERS", 3)
    monkeypatch.setattr(layout, "BUFFER", 1)  # one row group per 64 rows: several per file
    full_capture = published(tmp_path / "whole")
    moved: list[Path] = []

    class Stop(Exception):
        pass

    def move(draft: Path, target: Path) -> None:
        if Path(target).name == layout.FILE:
            if len(moved) == 4:
                raise Stop
            moved.append(Path(target))
        Path(draft).rename(target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", move)
        with pytest.raises(Stop):
            published(tmp_path / "halted")
    files = list((tmp_path / "halted").glob("l*/*"))
    assert len(files) == 4
    layout.gather_parts(tmp_path / "halted", LAYERS, HEADS, BUCKETS)
    capture = open_capture(tmp_path / "halted")
    assert np.array_equal(capture.queries(HEADS[3]).vectors, full_capture[2, "q", 2])
    assert not list((tmp_path / "halted").glob("l*/.*"))


GOOD = {
    "bucket": pa.array([0, 0, 1], pa.int32()),
    "example_id": pa.array([0, 0, 0], pa.int32()),
    "position": pa.array([0, 100, 300], pa.int32()),
    "vector": pa.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], pa.list_(pa.float32())),
}


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("vector", pa.array([[1.0], [2.0, 3.0, 4.0], [5.0, 6.0]], pa.list_(pa.float32())), "different lengths"),
        ("vector", pa.array([[1.0, 2.0], None, [5.0, 6.0]], pa.list_(pa.float32())), "different lengths"),
        ("vector", pa.array([[1.0, 2.0], [None, 1.0], [5.0, 6.0]], pa.list_(pa.float32())), "a missing number"),
        ("vector", pa.array([[], [], []], pa.list_(pa.float32())), "vectors are empty"),
        ("vector", pa.array([[1.0, 2.0], [np.nan, 1.0], [5.0, 6.0]], pa.list_(pa.float32())), "NaN or infinity"),
        ("vector", pa.array([[1.0, 2.0], [-np.inf, 1.0], [5.0, 6.0]], pa.list_(pa.float32())), "NaN or infinity"),
        ("vector", pa.array([["a"], ["b"], ["c"]], pa.list_(pa.string())), "not lists of floats"),
        ("vector", pa.array([1.0, 2.0, 3.0], pa.float32()), "not lists of floats"),
        ("vector", pa.array([[{"a": 1}]] * 3), "not lists of floats"),
        ("position", pa.array(["0", "100", "300"]), "`position` holds string"),
        ("position", pa.array([0, None, 300], pa.int32()), "int32 .missing: 1., not whole"),
        ("position", pa.array([-1, 100, 300], pa.int32()), "runs from -1"),
        ("position", pa.array([0, 100, 2**40], pa.int64()), "must be int32 from 0"),
        ("bucket", pa.array([0.0, 0.0, 1.0]), "`bucket` holds double"),
    ],
)
def test_a_damaged_file_of_a_capture_is_named(column: str, values: pa.Array, message: str, tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    parquet.write_table(pa.table(GOOD), path)
    assert captures.read(path).vectors.tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    parquet.write_table(pa.table({**GOOD, column: values}), path)
    with pytest.raises(DataError, match=message) as error:
        captures.read(path)
    assert str(error.value).startswith(f"{path}: ")


SETTINGS = {"context": 8, "buckets": 2, "model": "m", "layers": [], "captured_heads": [[0, 0, 0]]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"settings": None}, "no `settings`"), ({"settings": {**SETTINGS, "context": None}}, "`context`"),
        ({"settings": {**SETTINGS, "buckets": 0}}, "`buckets`"),
        ({"settings": {**SETTINGS, "buckets": "2"}}, "`buckets`"),
        ({"settings": {**SETTINGS, "buckets": 9}}, "more buckets"),
        ({"settings": {**SETTINGS, "model": 7}}, "`model`"),
        ({"settings": {**SETTINGS, "captured_heads": "all"}}, "`captured_heads`"),
        ({"settings": {**SETTINGS, "captured_heads": []}}, "`captured_heads`"),
        ({"settings": {**SETTINGS, "captured_heads": [[0, "1", 0]]}}, "`captured_heads`"),
        ({"settings": {**SETTINGS, "layers": 3}}, "`layers`"), ({"versions": 3}, "`versions`"),
        ({"documents": 3}, "`documents`"),
    ],
)  # fmt: skip
def test_a_damaged_manifest_is_named(change: dict[str, object], message: str, tmp_path: Path) -> None:
    good = {"complete": True, "settings": SETTINGS, "versions": {}, "documents": []}
    manifest.save(tmp_path, good)
    assert manifest.read(tmp_path) is not None
    manifest.save(tmp_path, {**good, **change})
    with pytest.raises(DataError, match=message) as error:
        open_capture(tmp_path)
    assert "manifest.json" in str(error.value)


LAYER = {
    **{"index": 0, "kind": "full", "query_heads": 1, "key_heads": 1, "head_dim": 4, "scaling": 0.5},
    **{"window": None, "query_scale": None, "softcap": None, "sink": False},
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rotation": []}, "unknown key `rotation` of the manifest; did you mean 'rotations'"),
        ({"settings": {**SETTINGS, "window": True}}, "unknown key `window` of `settings`; did you mean 'windows'"),
        ({"settings": {**SETTINGS, "layers": [{**LAYER, "softcaps": 3}]}}, "unknown key `softcaps` of a layer"),
        ({"rotations": [{"layers": [0], "refused": "odd", "theta": 1e4}]}, "unknown key `theta` of `rotations`"),
        ({"documents": [{"number": 0, "ids": "a"}]}, "unknown key `ids` of a document; did you mean 'id'"),
    ],
)
def test_an_unknown_key_of_a_manifest_is_named(change: dict[str, object], message: str, tmp_path: Path) -> None:
    """A key that this version does not know may change the meaning of other keys, so it is refused."""
    manifest.save(tmp_path, {"complete": True, "settings": {**SETTINGS, "layers": [LAYER]}, "versions": {}})
    assert manifest.read(tmp_path) is not None
    manifest.save(tmp_path, {"complete": True, "settings": SETTINGS, "versions": {}, **change})
    with pytest.raises(DataError, match=message):
        manifest.read(tmp_path)


def test_a_manifest_without_its_hash_is_refused_until_its_user_seals_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest.save(tmp_path, {"complete": True, "settings": SETTINGS, "versions": {}})
    path = tmp_path / manifest.FILE
    sealed = path.read_bytes()
    bare = {name: value for name, value in json.loads(sealed).items() if name != "blake2"}
    path.write_text(json.dumps(bare))
    with pytest.raises(DataError, match=r"has no hash .* run: python -m keyquery\.models\.captures\.manifest"):
        manifest.read(tmp_path)
    assert manifest.main([str(tmp_path)]) == 0
    assert path.read_bytes() == sealed
    path.write_text(path.read_text().replace('"context": 8', '"context": 16'))  # sealed, then changed
    assert manifest.main([str(tmp_path)]) == 1
    assert "was changed since it was written" in capsys.readouterr().err
    path.write_text(json.dumps({**bare, "setting": {}}))
    assert manifest.main([str(tmp_path)]) == 1
    assert "has no hash" in capsys.readouterr().err
    assert manifest.main([str(tmp_path / "nowhere")]) == 1
    assert manifest.main([]) == 2


def test_deeply_nested_manifest_is_refused(tmp_path: Path) -> None:
    (tmp_path / manifest.FILE).write_text("[" * 100_000)
    with pytest.raises(DataError, match="not a manifest"):
        manifest.read(tmp_path)


@pytest.mark.parametrize(("queries", "keys", "group"), [(4, 2, 2), (6, 2, 3), (8, 8, 1)])
def test_query_heads_per_key_head_follow_from_a_complete_capture(queries: int, keys: int, group: int) -> None:
    files = {"q": {(0, head) for head in range(queries)}, "k": {(0, head) for head in range(keys)}}
    assert captures._query_group(Path("x"), files) == group
    if group > 1:
        files["q"].discard((0, 0))
        with pytest.raises(DataError, match="do not follow"):
            captures._query_group(Path("x"), files)


DAMAGES = {
    "cut": lambda content: content[:-40],
    "emptied": lambda content: b"",
    "a page of HTML": lambda content: b"<html>" + content[6:],
    "a bit of an array": lambda content: content.replace(np.float32(7).tobytes(), np.float32(8).tobytes()),
    "a wrong directory offset": lambda content: content[:-6] + b"\xff\xff\xff\xff\0\0",
    "a name": lambda content: content.replace(b"document.json", b"document.jsom"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_part_is_reported_with_the_command_that_recreates_it(tmp_path, damage):
    with parts.DocumentPart(tmp_path, 3) as part:
        part.add("q00", np.full((4, 2), 7, np.float32))
        part.describe({"digest": "ab"})
    path = parts.path(tmp_path, 3)
    with parts.PartReader(path) as reader:
        assert reader.document() == {"digest": "ab"}
        assert reader.array("q00").tolist() == [[7, 7]] * 4
    content = path.read_bytes()
    path.write_bytes(DAMAGES[damage](content))
    assert path.read_bytes() != content
    message = r"000003\.npz: damaged \(.*\); remove it, and rerun the command"
    with pytest.raises(DataError, match=message), parts.PartReader(path) as damaged:  # noqa: PT012
        damaged.document()
        damaged.array("q00")
