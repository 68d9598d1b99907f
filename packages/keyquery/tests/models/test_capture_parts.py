"""Captures of parts besides queries and keys, of selected layers and heads, and of several documents in a batch."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import transformers

import architectures
from boundpaper.errors import DataError, ModelError
from keyquery.measure import choices
from keyquery.models.anatomy import blocks
from keyquery.models.architecture import run_forward, survey
from keyquery.models.attention.calls import recording
from keyquery.models.captures import capture as session
from keyquery.models.captures import room
from keyquery.models.captures.capture import capture
from keyquery.models.captures.options import CaptureOptions
from keyquery.models.captures.reading import Capture, open_capture
from keyquery.models.captures.sampling import PARTS, HeadIndex
from keyquery.models.checkpoints.loading import ModelSource, load
from keyquery.models.texts import TextSource
from models_tiny import SIZES, VOCABULARY, saved, saved_model, text

pytestmark = pytest.mark.models
CONTEXT, DOCUMENTS = 32, 5
NAMES = ("llama", "gpt_oss", "gemma2", "gpt_neox")


def save_texts(folder: Path, *words: int) -> None:
    """Write texts with the given numbers of words."""
    rows = [json.dumps({"id": f"t{number}", "text": text(count, number)}) for number, count in enumerate(words)]
    (folder / "texts.jsonl").write_text("\n".join(rows))


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the models and texts that the tests share."""
    root = tmp_path_factory.mktemp("models")
    for name in NAMES:
        saved(name, root / name)
    save_texts(root, *[40] * DOCUMENTS)
    return root


def options(models: Path, out: Path, name: str = "llama", **changes: Any) -> CaptureOptions:
    settings: dict[str, Any] = {"context": CONTEXT, "buckets": 4, "rate": 4.0, "out": out, "sliding": True}
    source = ModelSource(str(models / name), dtype="fp32", device="cpu")
    return CaptureOptions(model=source, texts=TextSource(str(models / "texts.jsonl")), **(settings | changes))


def captured(models: Path, out: Path, name: str = "llama", **changes: Any) -> Capture:
    return open_capture(capture(options(models, out, name, **changes)))


def parts_by_hooks(models: Path, name: str, number: int) -> dict[str, dict[int, torch.Tensor]]:
    """Return each part of one document by layer, as (H, T, d) tensors that this test's own hooks record."""
    loaded = load(ModelSource(str(models / name), dtype="fp32", device="cpu"))
    ids = torch.tensor(loaded.tokenizer(text(40, number))["input_ids"][:CONTEXT])[None]
    recorded: dict[str, dict[int, torch.Tensor]] = {part: {} for part in PARTS}

    def attended(call: Any, output: torch.Tensor) -> None:
        recorded["values"][call.layer], recorded["outputs"][call.layer] = call.value[0], output[0].transpose(0, 1)

    def record(part: str, layer: int) -> Any:
        def hook(module: Any, inputs: Any, output: Any) -> None:
            recorded[part][layer] = (output[0] if isinstance(output, tuple) else output).reshape(1, CONTEXT, -1)

        return hook

    for block in blocks(loaded.model):
        block.module.register_forward_hook(record("residual", block.layer))
        block.mlp.register_forward_hook(record("mlp", block.layer))
    with recording(loaded.model, lambda call: None, attended):
        run_forward(loaded.model, ids)
    return recorded


@pytest.mark.parametrize("name", NAMES)
def test_captured_parts_equal_those_of_the_model(models: Path, tmp_path: Path, name: str) -> None:
    opened_capture = captured(models, tmp_path / "out", name, parts=tuple(PARTS), limit=2)
    for number in range(2):
        expected_parts = parts_by_hooks(models, name, number)
        for head in opened_capture.heads:
            for part, row in (("values", head.key), ("outputs", head.query), ("residual", 0), ("mlp", 0)):
                actual = opened_capture.part(part, head)
                rows = actual.document == number
                reference = opened_capture.keys(head) if part == "values" else opened_capture.queries(head)
                assert np.array_equal(actual.position, reference.position)
                expected = expected_parts[part][head.layer][row, actual.position[rows].tolist()].numpy()
                assert np.array_equal(actual.vectors[rows], expected)


def assert_equal_captures(alone: Capture, together: Capture, parts: tuple[str, ...], rounding: float) -> None:
    """Check that documents captured one by one and in batches have the same vectors, up to rounding."""
    assert alone.heads == together.heads
    for head in alone.heads:
        pairs = [(alone.queries(head), together.queries(head)), (alone.keys(head), together.keys(head))]
        pairs += [(alone.part(part, head), together.part(part, head)) for part in parts]
        for expected, actual in pairs:
            assert np.array_equal(expected.document, actual.document)
            assert np.array_equal(expected.position, actual.position)
            # kernels add in another order where a row is longer: a few roundings of single precision, by layer
            largest = np.abs(expected.vectors).max(initial=1)
            assert np.abs(expected.vectors - actual.vectors).max(initial=0) <= rounding * largest


@pytest.mark.parametrize("name", NAMES[:2])
def test_documents_captured_in_a_batch_equal_those_captured_alone(models: Path, tmp_path: Path, name: str) -> None:
    alone, together = (
        captured(models, tmp_path / str(batch), name, parts=tuple(PARTS), batch=batch) for batch in (1, 3)
    )
    assert [row["id"] for row in (together.manifest or {})["documents"]] == [f"t{n}" for n in range(DOCUMENTS)]
    assert_equal_captures(alone, together, tuple(PARTS), 2e-6)


# Architectures with different kinds of attention and of positions, and architectures with states
PADDED = ("llama", "gemma2", "llama4_text", "minicpm3", "gpt2", "ctrl", "cohere2", "gpt_oss")
STATES = ("bamba", "jamba", "lfm2", "qwen3_next")
LENGTHS = (1, 40, 17, 5, 30)  # in words; 40 is above the context


@pytest.mark.parametrize("kind", [*PADDED, *STATES])
def test_documents_of_different_lengths_in_one_batch_equal_those_alone(tmp_path: Path, kind: str) -> None:
    saved_model(architectures.built(kind, vocab_size=VOCABULARY), tmp_path / kind)
    alone, together = (
        open_capture(
            capture(length_options(tmp_path, kind, *LENGTHS, parts=("values",), batch=batch, out=tmp_path / str(batch)))
        )
        for batch in (1, 4)
    )
    tokens = [row.get("tokens") for row in (together.manifest or {})["documents"]]
    assert tokens == [min(CONTEXT, words + 1) for words in LENGTHS]
    for head in alone.heads:
        for vectors in (alone.queries(head), alone.keys(head), alone.part("values", head)):
            assert (vectors.position < np.array(tokens)[vectors.document]).all()
    assert_equal_captures(alone, together, ("values",), 2e-5)


def length_options(models: Path, name: str, *words: int, **changes: Any) -> CaptureOptions:
    """Write texts with the given numbers of words; return options that also capture texts shorter than the context."""
    save_texts(models, *words)
    return options(models, **({"out": models / "out", "name": name, "keep_short": True} | changes))


def test_a_document_longer_than_the_first_is_checked_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a text longer than the window shows that a layer sees more than its stated window."""
    saved("mistral", tmp_path / "mistral")
    request = length_options(tmp_path, "mistral", 2, 30)
    loaded = load(request.model)
    session.record(request, loaded=loaded)
    stated_layers = survey(loaded.model)
    monkeypatch.setattr(session, "survey", lambda model: stated_layers)
    for configured in (loaded.model.config, *(layer.self_attn for layer in loaded.model.model.layers)):
        configured.sliding_window = None
    with pytest.raises(ModelError, match="sees every token before its own"):
        session.record(replace(request, out=tmp_path / "wrong"), loaded=loaded)


def test_documents_whose_rotation_depends_on_their_length_are_refused(tmp_path: Path) -> None:
    dynamic = {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0}
    config = transformers.LlamaConfig(**{**SIZES, "max_position_embeddings": 16}, rope_parameters=dynamic)
    saved_model(transformers.AutoModelForCausalLM.from_config(config), tmp_path / "dynamic")
    request = length_options(tmp_path, "dynamic", 23, 31)
    with pytest.raises(ModelError, match=r"above 16 tokens its rotation \(dynamic\) depends on the length of the text"):
        capture(request)
    capture(replace(request, context=16))
    with pytest.raises(ModelError, match=r"--skip-short and --keep-short: .*; give only one of the two"):
        replace(request, skip_short=True)


def test_padding_that_changes_a_text_is_refused(tmp_path: Path) -> None:
    saved("llama", tmp_path / "llama")
    request = length_options(tmp_path, "llama", 23, 31, batch=2)
    loaded = load(request.model)
    loaded.model.model.layers[1].mlp.register_forward_hook(
        lambda module, inputs, output: output - output.mean(1)[:, None]
    )
    with pytest.raises(ModelError, match=r"padding at the end of a text changes .*; give --batch 1"):
        session.record(request, loaded=loaded)
    session.record(replace(request, batch=1), loaded=loaded)


def test_layers_and_heads_are_selected_by_number(models: Path, tmp_path: Path) -> None:
    assert {head.layer for head in captured(models, tmp_path / "a", only_layers=(2, 0), limit=1).heads} == {0, 2}
    named = captured(models, tmp_path / "b", only_heads=((2, 3), (0, 1), (2, 3)), limit=1)
    assert named.heads == (HeadIndex(0, 1, 0), HeadIndex(2, 3, 1))
    full_capture = captured(models, tmp_path / "c", heads=None, limit=1)
    assert np.array_equal(named.queries(named.heads[1]).vectors, full_capture.queries(named.heads[1]).vectors)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"only_layers": (7,)}, "--layers 7: the model's attention layers are 0 to 2"),
        ({"only_heads": ((1, 4),)}, "--heads 1.4: layer 1 has only the heads 0 to 3"),
        ({"only_heads": ((5, 0),)}, "--heads 5.0: the model's attention layers are 0 to 2"),
        ({"parts": ("value",)}, "--parts value: cannot be captured; did you mean .values."),
        ({"batch": 0}, "--batch 0: a forward pass needs at least 1 document"),
    ],
)
def test_unknown_selection_is_refused_by_name(
    models: Path, tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ModelError, match=message):
        captured(models, tmp_path / "out", **changes)


def test_uncaptured_part_and_conflicting_selection_in_one_folder_are_refused(models: Path, tmp_path: Path) -> None:
    opened_capture = captured(models, tmp_path / "out", parts=("values",), limit=1)
    with pytest.raises(DataError, match=r"mlp were not captured; capture anew with --parts mlp"):
        opened_capture.part("mlp", opened_capture.heads[0])
    with pytest.raises(DataError, match="no part 'vaules'; did you mean 'values'"):
        opened_capture.part("vaules", opened_capture.heads[0])
    with pytest.raises(ModelError, match="holds another capture"):
        captured(models, tmp_path / "out", limit=1)
    card = (tmp_path / "out/README.md").read_text()
    assert "`l05h03v` has the values" in card
    assert "l00h00v/data.parquet" in card


def test_capture_larger_than_the_free_disk_is_refused_before_loading_the_model(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything: dict[str, Any] = {"parts": tuple(PARTS), "rate": 8.0, "heads": None}
    opened_capture = captured(models, tmp_path / "out", **everything)
    request = options(models, tmp_path, **everything)
    total = sum(
        opened_capture.part(part, head).vectors.nbytes
        for part, heads in (("values", 6), ("outputs", 12), ("residual", 3), ("mlp", 3))
        for head in opened_capture.heads[:: len(opened_capture.heads) // heads]
    ) + sum(opened_capture.queries(head).vectors.nbytes for head in opened_capture.heads)
    total += sum(opened_capture.keys(head).vectors.nbytes for head in opened_capture.heads[::2])
    assert room.bytes_of_document(request, load(request.model).model.config) * DOCUMENTS == total
    usage = SimpleNamespace(free=2 * total - 1)
    monkeypatch.setattr("keyquery.models.captures.room.shutil.disk_usage", lambda folder: usage)
    monkeypatch.setattr(session, "load", lambda source: pytest.fail("loaded"))
    with pytest.raises(ModelError, match=r"5 documents take about .* of disk.*; give a lower --rate"):
        captured(models, tmp_path / "other", **everything)


def test_command_choices_equal_the_available_parts() -> None:
    assert tuple(PARTS) == choices.PARTS
