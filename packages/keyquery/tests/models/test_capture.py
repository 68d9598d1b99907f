"""A capture from a local model folder to the published layout: its contents, and resuming after a stop."""

import errno
import hashlib
import json
import multiprocessing
import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from boundpaper.errors import DataError, ModelError, ThesisError
from keyquery.models.architecture import forward, survey
from keyquery.models.attention.calls import Call
from keyquery.models.captures import capture as session
from keyquery.models.captures import layout, manifest, parts
from keyquery.models.captures.capture import capture, finish, record
from keyquery.models.captures.options import CaptureOptions
from keyquery.models.captures.progress import CaptureProgress
from keyquery.models.captures.reading import open_capture
from keyquery.models.captures.sampling import Buckets, HeadIndex, tokens
from keyquery.models.checkpoints import memory
from keyquery.models.checkpoints.loading import ModelSource, load
from keyquery.models.texts import TextSource
from models_tiny import built, saved, text

pytestmark = pytest.mark.models
CONTEXT, DOCUMENTS = 32, 5


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return model folders and texts that the tests share."""
    root = tmp_path_factory.mktemp("models")
    for name in ("llama", "ministral", "ministral3", "mistral", "gpt_neox"):
        saved(name, root / name)
    rows = [json.dumps({"id": f"t{number}", "text": text(40, number)}) for number in range(DOCUMENTS)]
    (root / "texts.jsonl").write_text("\n".join(rows))
    return root


def options(place: Path, out: Path, name: str = "llama", **changes: Any) -> CaptureOptions:
    given: dict[str, Any] = {
        "model": ModelSource(str(place / name), dtype="fp32", device="cpu"),
        "texts": TextSource(str(place / "texts.jsonl")),
        "context": CONTEXT,
        "buckets": 4,
        "rate": 4.0,
        "out": out,
    }
    return CaptureOptions(**(given | changes))


def contents(root: Path) -> dict[str, str]:
    """Return hashes of all files in a capture."""
    return {
        str(path.relative_to(root)): hashlib.blake2b(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def test_captured_vectors_equal_those_of_the_model(place: Path, tmp_path: Path) -> None:
    asked = options(place, tmp_path / "out")
    assert capture(asked) == tmp_path / "out"
    opened = open_capture(tmp_path / "out")
    assert (opened.context, opened.bucket_size) == (CONTEXT, 8)
    assert opened.heads == tuple(HeadIndex(layer, head, head // 2) for layer in range(3) for head in range(4))
    loaded = load(asked.model)
    for number in range(DOCUMENTS):
        ids = torch.tensor(loaded.tokenizer(text(40, number))["input_ids"][:CONTEXT])[None]
        assert ids[0, 0] == 1, "special tokens are included"
        calls: list[Call] = []
        forward(loaded.model, ids, calls.append)
        for head in opened.heads:
            for vectors, side, expected_row, row in (
                (opened.queries(head), "q", calls[head.layer].query, head.query),
                (opened.keys(head), "k", calls[head.layer].key, head.key),
            ):
                mine = vectors.document == number
                positions = vectors.position[mine]
                drawn = tokens(Buckets(CONTEXT, 4, 4.0), 0, number, head.layer, "q" if side == "q" else "k")
                assert np.array_equal(positions, drawn)
                assert np.array_equal(vectors.bucket[mine], positions // 8)
                assert np.array_equal(vectors.vectors[mine], expected_row[0, row, positions.tolist()].numpy())


def test_manifest_describes_the_capture(place: Path, tmp_path: Path) -> None:
    capture(options(place, tmp_path / "out", limit=2))
    noted = manifest.read(tmp_path / "out")
    assert noted is not None
    settings = noted["settings"]
    assert noted["complete"]
    assert [row["id"] for row in noted["documents"]] == ["t0", "t1"]
    assert noted["documents"][0]["digest"] == hashlib.blake2b(text(40, 0).encode(), digest_size=16).hexdigest()
    assert (settings["context"], settings["buckets"], settings["seed"]) == (CONTEXT, 4, 0)
    assert (settings["dtype"], settings["quantization"], settings["attention"]) == ("float32", None, "sdpa")
    assert (settings["architecture"], settings["model_type"]) == ("LlamaForCausalLM", "llama")
    assert len(settings["fingerprint"]) == 64
    assert noted["versions"]["torch"] == torch.__version__.split("+")[0] or noted["versions"]["torch"]
    assert [layer["kind"] for layer in settings["layers"]] == ["full"] * 3
    assert settings["layers"][0]["scaling"] == pytest.approx(8**-0.5)
    assert not (tmp_path / "out" / parts.FOLDER).exists()


def test_datasets_loads_a_head_by_its_name(place: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    made = capture(options(place, tmp_path / "made"))
    opened = open_capture(made)
    for name, vectors in (("l00h00q", opened.queries(opened.heads[0])), ("l00h00k", opened.keys(opened.heads[0]))):
        rows = datasets.load_dataset(str(made), name, split="train", cache_dir=str(tmp_path / "cache"))
        assert np.array_equal(np.array(rows["vector"], dtype=np.float32), vectors.vectors)
        assert list(rows["position"]) == vectors.position.tolist()
    assert f"{DOCUMENTS} documents of {CONTEXT} tokens" in (made / "README.md").read_text()


def test_interrupted_capture_resumes_to_identical_files(place: Path, tmp_path: Path) -> None:
    capture(options(place, tmp_path / "whole"))

    def stop(state: CaptureProgress) -> None:
        if state.done == 2:
            raise KeyboardInterrupt

    asked = options(place, tmp_path / "halted")
    with pytest.raises(KeyboardInterrupt):
        capture(asked, stop)
    assert len(parts.complete_parts(asked.out)) == 2
    with pytest.raises(DataError, match="unfinished"):
        open_capture(asked.out)
    states: list[CaptureProgress] = []
    capture(asked, states.append)
    assert [(state.done, state.total) for state in states] == [(0, 5), (3, 5), (4, 5), (5, 5)]
    assert states[-1].seconds_left == 0
    assert states[1].tokens_per_second > 0
    assert contents(tmp_path / "halted") == contents(tmp_path / "whole")


def test_killed_capture_resumes_to_identical_files(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Send SIGKILL in the middle of a document: a partial file is not taken for a complete one."""
    add = parts.DocumentPart.add

    def last(self: parts.DocumentPart, name: str, array: Any) -> None:
        add(self, name, array)
        if self.target.stem == "000003" and name == "q01":
            os.kill(os.getpid(), signal.SIGKILL)

    asked = options(place, tmp_path / "killed")
    with monkeypatch.context() as patch:
        patch.setattr(parts.DocumentPart, "add", last)
        child = multiprocessing.get_context("fork").Process(target=capture, args=(asked,))
        child.start()
        child.join(60)
    assert child.exitcode == -signal.SIGKILL
    assert sorted(parts.complete_parts(asked.out)) == [0, 1, 2]
    capture(asked)
    capture(options(place, tmp_path / "whole"))
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")


def test_leftover_parts_beside_a_complete_capture_are_removed(place: Path, tmp_path: Path) -> None:
    """Send SIGKILL after the manifest is complete, but before the parts are removed."""
    root = capture(options(place, tmp_path / "out"))
    (root / parts.FOLDER).mkdir()
    (root / parts.FOLDER / "000000.npz").write_bytes(b"left")
    capture(options(place, root))
    assert not (root / parts.FOLDER).exists()


def test_shards_make_the_same_capture(place: Path, tmp_path: Path) -> None:
    asked = options(place, tmp_path / "shards")
    loaded = load(asked.model)
    for shard in (1, 0):
        record(asked, shard=(shard, 2), loaded=loaded)
    finish(asked)
    capture(options(place, tmp_path / "whole"))
    assert contents(tmp_path / "shards") == contents(tmp_path / "whole")


def test_finished_capture_is_not_changed(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    capture(options(place, tmp_path / "out"))
    monkeypatch.setattr(session, "load", lambda source: pytest.fail("the model was loaded again"))
    capture(options(place, tmp_path / "out"))
    with pytest.raises(ModelError, match=r"holds another capture \(seed 0 there, 1 here\)"):
        capture(options(place, tmp_path / "out", seed=1))


def stop(state: CaptureProgress) -> None:
    """Interrupt a capture after its first document."""
    if state.done:
        raise KeyboardInterrupt


def test_resuming_with_other_weights_of_the_same_name_is_refused(place: Path, tmp_path: Path) -> None:
    """The first run stops and the folder's weights change; the second run must not mix them."""
    saved("llama", tmp_path / "model")
    asked = options(place, tmp_path / "out", model=ModelSource(str(tmp_path / "model"), dtype="fp32", device="cpu"))
    with pytest.raises(KeyboardInterrupt):
        capture(asked, stop)
    model = built("llama")
    with torch.no_grad():
        model.lm_head.weight.add_(1)
        model.model.embed_tokens.weight.add_(1)
    model.save_pretrained(tmp_path / "model")
    with pytest.raises(ModelError, match="fingerprint"):
        capture(asked)


def test_resuming_with_a_changed_text_is_refused(place: Path, tmp_path: Path) -> None:
    (tmp_path / "book.txt").write_text(text(40, 1))
    asked = options(place, tmp_path / "out", texts=TextSource(str(tmp_path / "book.txt")))
    with pytest.raises(KeyboardInterrupt):
        capture(asked, stop)
    (tmp_path / "book.txt").write_text(text(40, 2))
    with pytest.raises(ModelError, match="text book changed"):
        capture(asked)


def test_sliding_layers_are_left_out_and_can_be_kept(place: Path, tmp_path: Path) -> None:
    capture(options(place, tmp_path / "full", "ministral"))
    assert {head.layer for head in open_capture(tmp_path / "full").heads} == {1}
    capture(options(place, tmp_path / "all", "ministral", sliding=True, limit=1))
    assert {head.layer for head in open_capture(tmp_path / "all").heads} == {0, 1, 2}
    import pyarrow.parquet as parquet

    windows = parquet.read_table(tmp_path / "all" / "l00h00q" / "data.parquet")["sliding_window"].to_pylist()
    assert set(windows) == {5}
    with pytest.raises(ModelError, match="--sliding"):
        capture(options(place, tmp_path / "none", "mistral"))


def test_query_scale_is_divided_out_and_recorded(place: Path, tmp_path: Path) -> None:
    asked = options(place, tmp_path / "out", "ministral3", limit=1)
    capture(asked)
    opened = open_capture(asked.out)
    model = load(asked.model)
    calls: list[Call] = []
    forward(model.model, torch.tensor(model.tokenizer(text(40, 0))["input_ids"][:CONTEXT])[None], calls.append)
    queries, keys = opened.queries(opened.heads[1]), opened.keys(opened.heads[1])
    scale = 1 + 0.3 * np.log1p(queries.position // 8)
    raw = calls[0].query[0, 1, queries.position.tolist()].numpy()
    assert scale.max() > 1.2
    np.testing.assert_allclose(queries.vectors * scale[:, None], raw, rtol=1e-5, atol=1e-6)
    assert np.array_equal(keys.vectors, calls[0].key[0, 0, keys.position.tolist()].numpy())
    assert opened.manifest is not None
    assert opened.manifest["settings"]["layers"][0]["query_scale"] == {"beta": 0.3, "period": 8.0, "shift": 0}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"context": 64}, r"text t0 has 41 tokens, fewer than the context of 64; give --context 41"),
        ({"context": 30}, "does not divide into 4 equal buckets"),
        ({"heads": None, "texts": TextSource("/absent.txt")}, "no such file"),
    ],
)
def test_invalid_options_are_refused(place: Path, tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ThesisError, match=message):
        capture(options(place, tmp_path / "out", **changes))


def test_folder_with_other_files_is_not_written_to(place: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ModelError, match="not empty"):
        capture(options(place, tmp_path))


def test_non_finite_vectors_are_refused(place: Path, tmp_path: Path) -> None:
    asked = options(place, tmp_path / "out")
    loaded = load(asked.model)
    with torch.no_grad():
        loaded.model.model.layers[1].self_attn.k_proj.weight.fill_(float("inf"))
    with pytest.raises(ModelError, match=r"weights hold NaN or infinity \(first: model.layers.1.self_attn.k_proj"):
        record(asked, loaded=loaded)
    assert not parts.complete_parts(asked.out)


@pytest.mark.parametrize(("number", "words"), [(errno.ENOSPC, "disk is full"), (errno.EFBIG, "ulimit -f unlimited")])
def test_a_full_disk_says_how_to_continue(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, words: str
) -> None:
    def full(*arguments: Any, **more: Any) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(np.lib.format, "write_array", full)
        with pytest.raises(ThesisError, match=rf"{words}.*rerun the command to resume"):
            capture(options(place, tmp_path / "out"))
    assert list((tmp_path / "out" / parts.FOLDER).iterdir()) == []
    with monkeypatch.context() as patch:
        patch.setattr(layout._VectorFile, "flush", full)
        with pytest.raises(ThesisError, match=words):
            capture(options(place, tmp_path / "out"))
    assert len(parts.complete_parts(tmp_path / "out")) == DOCUMENTS
    capture(options(place, tmp_path / "out"))
    capture(options(place, tmp_path / "whole"))
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_out_of_memory_says_which_context_fits(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model runs out of memory above 10 tokens: 32 and 16 fail, then 8 fits."""
    asked = options(place, tmp_path / "out")
    loaded = load(asked.model)
    plain = type(loaded.model).forward

    def small(self: Any, input_ids: Any = None, logits_to_keep: int = 0, **more: Any) -> Any:
        if input_ids.shape[1] > 10:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return plain(self, input_ids=input_ids, logits_to_keep=logits_to_keep, **more)

    monkeypatch.setattr(type(loaded.model), "forward", small)
    with pytest.raises(ModelError, match=r"context of 32 tokens ran out of memory \(CUDA.*--context 8 would fit"):
        record(asked, loaded=loaded)
    monkeypatch.undo()
    monkeypatch.setattr(memory, "free_memory", lambda device: 20_000)
    monkeypatch.setattr(memory, "STEP", 4)
    needed = memory.least(loaded.model, survey(loaded.model), CONTEXT)
    assert needed == CONTEXT * (2 * 32 + 2 * 48) * 4
    with pytest.raises(ModelError, match=r"needs at least .* --context 28 would fit"):
        record(asked, loaded=loaded)


def test_memory_estimate_counts_masks_and_scores() -> None:
    windowed, eager = built("mistral"), built("gpt_oss")
    linear = 100 * (64 + 96) * 4
    assert memory.least(windowed, survey(windowed), 100) == linear + 100 * 100
    assert memory.least(eager, survey(eager), 100) == linear + 100 * 100 * 4 * (4 + 4)
    assert memory.largest_fitting(lambda count: count * 10, 5000, 4096) == 256
    assert memory.largest_fitting(lambda count: count * 10, 50, 4096) == 0
    assert memory.exhausted(RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"))
    assert not memory.exhausted(RuntimeError("shapes do not match"))
    room = memory.free_memory("cpu")
    assert room is None or room > 0


def test_capture_progress_reports_rate_and_time_left(place: Path, tmp_path: Path) -> None:
    states: list[CaptureProgress] = []
    start = time.perf_counter()
    capture(options(place, tmp_path / "out"), states.append)
    assert [state.done for state in states] == list(range(DOCUMENTS + 1))
    assert states[0].seconds_left is None
    slowest = CONTEXT * DOCUMENTS / (time.perf_counter() - start)
    assert states[-1].tokens_per_second > slowest
    assert (states[1].seconds_left or 0) == pytest.approx(4 * CONTEXT / states[1].tokens_per_second)


@pytest.mark.parametrize(
    ("name", "kept"), [("mllama-images", {0, 2}), ("mistral3-images", {0, 1, 2}), ("gemma3-images", {1})]
)
def test_text_model_beside_an_image_tower_is_captured(place: Path, tmp_path: Path, name: str, kept: set[int]) -> None:
    """In published form: only text is captured, cross-attention and sliding layers are left out, the rest is exact."""
    saved(name, tmp_path / name)
    asked = options(
        place, tmp_path / "out", model=ModelSource(str(tmp_path / name), dtype="fp32", device="cpu"), limit=1
    )
    capture(asked)
    opened = open_capture(asked.out)
    assert {head.layer for head in opened.heads} == kept
    full_model = built(name)
    calls: list[Call] = []
    ids = torch.tensor(load(asked.model).tokenizer(text(40, 0))["input_ids"][:CONTEXT])[None]
    with torch.inference_mode():
        expected = full_model(input_ids=ids).logits[0, -1]
    got = forward(full_model, ids, calls.append).logits[0, -1]
    torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-5)
    by_layer = {call.layer: call for call in calls if call.layer is not None}
    for head in opened.heads:
        keys = opened.keys(head)
        expected_key = by_layer[head.layer].key[0, head.key, keys.position.tolist()].numpy()
        np.testing.assert_allclose(keys.vectors, expected_key, rtol=1e-4, atol=1e-5)
