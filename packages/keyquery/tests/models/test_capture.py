"""Captures of a model in a local folder: their contents, and resuming after an interruption."""

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
from pyarrow import parquet

from boundpaper.errors import DataError, ModelError, ThesisError
from captures_made import contents
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
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the models and texts that the tests share."""
    root = tmp_path_factory.mktemp("models")
    for name in ("llama", "ministral", "ministral3", "mistral", "gpt_neox"):
        saved(name, root / name)
    rows = [json.dumps({"id": f"t{number}", "text": text(40, number)}) for number in range(DOCUMENTS)]
    (root / "texts.jsonl").write_text("\n".join(rows))
    return root


def options(models: Path, out: Path, name: str = "llama", **changes: Any) -> CaptureOptions:
    settings: dict[str, Any] = {"context": CONTEXT, "buckets": 4, "rate": 4.0, "out": out}
    settings["model"] = ModelSource(str(models / name), dtype="fp32", device="cpu")
    settings["texts"] = TextSource(str(models / "texts.jsonl"))
    return CaptureOptions(**(settings | changes))


@pytest.fixture(scope="module")
def full_capture(models: Path) -> Path:
    """Return the folder of a capture that was not interrupted."""
    return capture(options(models, models / "whole"))


def recorded_calls(loaded: Any, number: int) -> list[Call]:
    """Return the calls of attention for one of the texts."""
    ids = torch.tensor(loaded.tokenizer(text(40, number))["input_ids"][:CONTEXT])[None]
    assert ids[0, 0] == 1, "special tokens are included"
    calls: list[Call] = []
    forward(loaded.model, ids, calls.append)
    return calls


def test_captured_vectors_equal_those_of_the_model(models: Path, full_capture: Path) -> None:
    assert full_capture == models / "whole"
    opened_capture = open_capture(full_capture)
    assert (opened_capture.context, opened_capture.bucket_size) == (CONTEXT, 8)
    assert opened_capture.heads == tuple(HeadIndex(layer, head, head // 2) for layer in range(3) for head in range(4))
    loaded = load(options(models, full_capture).model)
    for number in range(DOCUMENTS):
        calls = recorded_calls(loaded, number)
        for head in opened_capture.heads:
            for vectors, side, of_layer, row in (
                (opened_capture.queries(head), "q", calls[head.layer].query, head.query),
                (opened_capture.keys(head), "k", calls[head.layer].key, head.key),
            ):
                rows = vectors.document == number
                positions = vectors.position[rows]
                sampled = tokens(Buckets(CONTEXT, 4, 4.0), 0, number, head.layer, "q" if side == "q" else "k")
                assert np.array_equal(positions, sampled)
                assert np.array_equal(vectors.bucket[rows], positions // 8)
                assert np.array_equal(vectors.vectors[rows], of_layer[0, row, positions.tolist()].numpy())


def test_manifest_describes_the_capture(models: Path, tmp_path: Path) -> None:
    capture(options(models, tmp_path / "out", limit=2))
    written = manifest.read(tmp_path / "out")
    assert written is not None
    settings = written["settings"]
    assert written["complete"]
    assert [row["id"] for row in written["documents"]] == ["t0", "t1"]
    assert written["documents"][0]["digest"] == hashlib.blake2b(text(40, 0).encode(), digest_size=16).hexdigest()
    assert (settings["context"], settings["buckets"], settings["seed"]) == (CONTEXT, 4, 0)
    assert (settings["dtype"], settings["quantization"], settings["attention"]) == ("float32", None, "sdpa")
    assert (settings["architecture"], settings["model_type"]) == ("LlamaForCausalLM", "llama")
    assert len(settings["fingerprint"]) == 64
    assert written["versions"]["torch"]
    assert [layer["kind"] for layer in settings["layers"]] == ["full"] * 3
    assert settings["layers"][0]["scaling"] == pytest.approx(8**-0.5)
    assert not (tmp_path / "out" / parts.FOLDER).exists()


def test_datasets_loads_a_head_by_its_name(full_capture: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    opened_capture = open_capture(full_capture)
    for name, vectors in (
        ("l00h00q", opened_capture.queries(opened_capture.heads[0])),
        ("l00h00k", opened_capture.keys(opened_capture.heads[0])),
    ):
        rows = datasets.load_dataset(str(full_capture), name, split="train", cache_dir=str(tmp_path / "cache"))
        assert np.array_equal(np.array(rows["vector"], dtype=np.float32), vectors.vectors)
        assert list(rows["position"]) == vectors.position.tolist()
    assert f"{DOCUMENTS} documents of {CONTEXT} tokens" in (full_capture / "README.md").read_text()


def interrupt_capture(request: CaptureOptions, documents: int = 1) -> None:
    """Interrupt a capture after some documents."""

    def stop(state: CaptureProgress) -> None:
        if state.done == documents:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        capture(request, stop)


def test_interrupted_capture_resumes_to_identical_files(models: Path, full_capture: Path, tmp_path: Path) -> None:
    """The resumed capture equals an uninterrupted one, and its progress states the rate and the time left."""
    request = options(models, tmp_path)
    interrupt_capture(request, 2)
    assert len(parts.complete_parts(tmp_path)) == 2
    with pytest.raises(DataError, match="unfinished"):
        open_capture(tmp_path)
    states: list[CaptureProgress] = []
    start = time.perf_counter()
    capture(request, states.append)
    slowest = 3 * CONTEXT / (time.perf_counter() - start)
    assert [(state.done, state.total) for state in states] == [(0, 5), (3, 5), (4, 5), (5, 5)]
    assert [states[0].seconds_left, states[-1].seconds_left] == [None, 0]
    assert states[-1].tokens_per_second > slowest
    assert states[1].seconds_left == pytest.approx(2 * CONTEXT / states[1].tokens_per_second)
    assert contents(tmp_path) == contents(full_capture)


def test_killed_capture_resumes_to_identical_files(
    models: Path, full_capture: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If SIGKILL comes in the middle of a document, the document's unfinished file is not taken for a complete file."""
    add = parts.DocumentPart.add

    def kill_in_document_3(self: parts.DocumentPart, name: str, array: Any) -> None:
        add(self, name, array)
        if self.target.stem == "000003" and name == "q01":
            os.kill(os.getpid(), signal.SIGKILL)

    request = options(models, tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(parts.DocumentPart, "add", kill_in_document_3)
        child = multiprocessing.get_context("fork").Process(target=capture, args=(request,))
        child.start()
        child.join(60)
    assert child.exitcode == -signal.SIGKILL
    assert sorted(parts.complete_parts(tmp_path)) == [0, 1, 2]
    capture(request)
    assert contents(tmp_path) == contents(full_capture)


def test_shards_make_the_same_capture(models: Path, full_capture: Path, tmp_path: Path) -> None:
    request = options(models, tmp_path)
    loaded = load(request.model)
    for shard in (1, 0):
        record(request, shard=(shard, 2), loaded=loaded)
    finish(request)
    assert contents(tmp_path) == contents(full_capture)


def test_finished_capture_is_not_changed(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is killed after it wrote the manifest leaves parts; the next run removes only these parts."""
    capture(options(models, tmp_path, limit=1))
    monkeypatch.setattr(session, "load", lambda source: pytest.fail("the model was loaded again"))
    (tmp_path / parts.FOLDER).mkdir()
    (tmp_path / parts.FOLDER / "000000.npz").write_bytes(b"left")
    capture(options(models, tmp_path, limit=1))
    assert not (tmp_path / parts.FOLDER).exists()
    with pytest.raises(ModelError, match=r"holds another capture \(seed 0 there, 1 here\)"):
        capture(options(models, tmp_path, limit=1, seed=1))


def test_resuming_with_other_weights_of_the_same_name_is_refused(models: Path, tmp_path: Path) -> None:
    """A run stops, and the weights in the model's folder change; the next run must not continue the capture."""
    saved("llama", tmp_path / "model")
    request = options(models, tmp_path / "out", model=ModelSource(str(tmp_path / "model"), dtype="fp32", device="cpu"))
    interrupt_capture(request)
    model = built("llama")
    with torch.no_grad():
        model.lm_head.weight.add_(1)
        model.model.embed_tokens.weight.add_(1)
    model.save_pretrained(tmp_path / "model")
    with pytest.raises(ModelError, match="fingerprint"):
        capture(request)


def test_resuming_with_a_changed_text_is_refused(models: Path, tmp_path: Path) -> None:
    (tmp_path / "book.txt").write_text(text(40, 1))
    request = options(models, tmp_path / "out", texts=TextSource(str(tmp_path / "book.txt")))
    interrupt_capture(request)
    (tmp_path / "book.txt").write_text(text(40, 2))
    with pytest.raises(ModelError, match="text book changed"):
        capture(request)


def test_sliding_layers_are_left_out_and_can_be_kept(models: Path, tmp_path: Path) -> None:
    capture(options(models, tmp_path / "full", "ministral", limit=1))
    assert {head.layer for head in open_capture(tmp_path / "full").heads} == {1}
    capture(options(models, tmp_path / "all", "ministral", sliding=True, limit=1))
    assert {head.layer for head in open_capture(tmp_path / "all").heads} == {0, 1, 2}
    windows = parquet.read_table(tmp_path / "all" / "l00h00q" / "data.parquet")["sliding_window"].to_pylist()
    assert set(windows) == {5}
    with pytest.raises(ModelError, match="--sliding"):
        capture(options(models, tmp_path / "none", "mistral"))


def test_query_scale_is_divided_out_and_recorded(models: Path, tmp_path: Path) -> None:
    request = options(models, tmp_path / "out", "ministral3", limit=1)
    capture(request)
    opened_capture = open_capture(request.out)
    calls = recorded_calls(load(request.model), 0)
    queries, keys = opened_capture.queries(opened_capture.heads[1]), opened_capture.keys(opened_capture.heads[1])
    scale = 1 + 0.3 * np.log1p(queries.position // 8)
    raw = calls[0].query[0, 1, queries.position.tolist()].numpy()
    assert scale.max() > 1.2
    np.testing.assert_allclose(queries.vectors * scale[:, None], raw, rtol=1e-5, atol=1e-6)
    assert np.array_equal(keys.vectors, calls[0].key[0, 0, keys.position.tolist()].numpy())
    assert opened_capture.manifest is not None
    assert opened_capture.manifest["settings"]["layers"][0]["query_scale"] == {"beta": 0.3, "period": 8.0, "shift": 0}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"context": 64}, r"text t0 has 41 tokens, fewer than the context of 64; give --context 41"),
        ({"context": 30}, "does not divide into 4 equal buckets"),
        ({"heads": None, "texts": TextSource("/absent.txt")}, "no such file"),
    ],
)
def test_invalid_options_are_refused(models: Path, tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ThesisError, match=message):
        capture(options(models, tmp_path / "out", **changes))


def test_folder_with_other_files_is_not_written_to(models: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ModelError, match="the folder has files"):
        capture(options(models, tmp_path))


def test_non_finite_vectors_are_refused(models: Path, tmp_path: Path) -> None:
    request = options(models, tmp_path / "out")
    loaded = load(request.model)
    with torch.no_grad():
        loaded.model.model.layers[1].self_attn.k_proj.weight.fill_(float("inf"))
    with pytest.raises(ModelError, match=r"weights hold NaN or infinity \(first: model.layers.1.self_attn.k_proj"):
        record(request, loaded=loaded)
    assert not parts.complete_parts(request.out)


@pytest.mark.parametrize(("number", "message"), [(errno.ENOSPC, "disk is full"), (errno.EFBIG, "ulimit -f unlimited")])
def test_a_full_disk_says_how_to_continue(
    models: Path, full_capture: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, message: str
) -> None:
    request = options(models, tmp_path)

    def raise_disk_error(*arguments: Any, **more: Any) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(np.lib.format, "write_array", raise_disk_error)
        with pytest.raises(ThesisError, match=rf"{message}.*rerun the command to resume"):
            capture(request)
    assert list((tmp_path / parts.FOLDER).iterdir()) == []
    with monkeypatch.context() as patch:
        patch.setattr(layout._VectorFile, "flush", raise_disk_error)
        with pytest.raises(ThesisError, match=message):
            capture(request)
    assert len(parts.complete_parts(tmp_path)) == DOCUMENTS
    capture(request)
    assert contents(tmp_path) == contents(full_capture)


def test_out_of_memory_says_which_context_fits(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model runs out of memory above 10 tokens: 32 and 16 fail, then 8 fits."""
    request = options(models, tmp_path / "out")
    loaded = load(request.model)
    original = type(loaded.model).forward

    def with_little_memory(self: Any, input_ids: Any = None, logits_to_keep: int = 0, **more: Any) -> Any:
        if input_ids.shape[1] > 10:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return original(self, input_ids=input_ids, logits_to_keep=logits_to_keep, **more)

    monkeypatch.setattr(type(loaded.model), "forward", with_little_memory)
    with pytest.raises(ModelError, match=r"context of 32 tokens ran out of memory \(CUDA.*--context 8 would fit"):
        record(request, loaded=loaded)
    monkeypatch.undo()
    monkeypatch.setattr(memory, "free_memory", lambda device: 20_000)
    monkeypatch.setattr(memory, "STEP", 4)
    needed = memory.least(loaded.model, survey(loaded.model), CONTEXT)
    assert needed == CONTEXT * (2 * 32 + 2 * 48) * 4
    with pytest.raises(ModelError, match=r"needs at least .* --context 28 would fit"):
        record(request, loaded=loaded)


def test_memory_estimate_counts_masks_and_scores() -> None:
    windowed, eager = built("mistral"), built("gpt_oss")
    linear = 100 * (64 + 96) * 4
    assert memory.least(windowed, survey(windowed), 100) == linear + 100 * 100
    assert memory.least(eager, survey(eager), 100) == linear + 100 * 100 * 4 * (4 + 4)
    assert memory.largest_fitting(lambda count: count * 10, 5000, 4096) == 256
    assert memory.largest_fitting(lambda count: count * 10, 50, 4096) == 0
    assert memory.exhausted(RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"))
    assert not memory.exhausted(RuntimeError("shapes do not match"))


@pytest.mark.parametrize(
    ("name", "layers"), [("mllama-images", {0, 2}), ("mistral3-images", {0, 1, 2}), ("gemma3-images", {1})]
)
def test_text_model_beside_an_image_tower_is_captured(
    models: Path, tmp_path: Path, name: str, layers: set[int]
) -> None:
    """Cross-attention and sliding layers are left out; captured keys equal those of the model with its image tower."""
    saved(name, tmp_path / name)
    request = options(
        models, tmp_path / "out", model=ModelSource(str(tmp_path / name), dtype="fp32", device="cpu"), limit=1
    )
    capture(request)
    opened_capture = open_capture(request.out)
    assert {head.layer for head in opened_capture.heads} == layers
    full_model = built(name)
    calls: list[Call] = []
    ids = torch.tensor(load(request.model).tokenizer(text(40, 0))["input_ids"][:CONTEXT])[None]
    with torch.inference_mode():
        expected = full_model(input_ids=ids).logits[0, -1]
    actual = forward(full_model, ids, calls.append).logits[0, -1]
    torch.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-5)
    by_layer = {call.layer: call for call in calls if call.layer is not None}
    for head in opened_capture.heads:
        keys = opened_capture.keys(head)
        expected_key = by_layer[head.layer].key[0, head.key, keys.position.tolist()].numpy()
        np.testing.assert_allclose(keys.vectors, expected_key, rtol=1e-4, atol=1e-5)
