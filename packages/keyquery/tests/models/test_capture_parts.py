"""Further parts of a capture, selected layers and heads, and several documents at once."""

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st

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


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("models")
    for name in NAMES:
        saved(name, root / name)
    rows = [json.dumps({"id": f"t{number}", "text": text(40, number)}) for number in range(DOCUMENTS)]
    (root / "texts.jsonl").write_text("\n".join(rows))
    return root


def made(place: Path, out: Path, name: str = "llama", **changes: Any) -> Capture:
    given: dict[str, Any] = {"context": CONTEXT, "buckets": 4, "rate": 4.0, "out": out, "sliding": True}
    source = ModelSource(str(place / name), dtype="fp32", device="cpu")
    return open_capture(
        capture(CaptureOptions(model=source, texts=TextSource(str(place / "texts.jsonl")), **(given | changes)))
    )


def by_hand(place: Path, name: str, number: int) -> dict[str, dict[int, torch.Tensor]]:
    """Return each part of one document by layer, (H, T, d), from hooks of this test."""
    loaded = load(ModelSource(str(place / name), dtype="fp32", device="cpu"))
    ids = torch.tensor(loaded.tokenizer(text(40, number))["input_ids"][:CONTEXT])[None]
    recorded: dict[str, dict[int, torch.Tensor]] = {part: {} for part in PARTS}

    def attended(call: Any, output: torch.Tensor) -> None:
        recorded["values"][call.layer], recorded["outputs"][call.layer] = call.value[0], output[0].transpose(0, 1)

    def keep(part: str, layer: int) -> Any:
        def hook(module: Any, given: Any, output: Any) -> None:
            recorded[part][layer] = (output[0] if isinstance(output, tuple) else output).reshape(1, CONTEXT, -1)

        return hook

    for block in blocks(loaded.model):
        block.module.register_forward_hook(keep("residual", block.layer))
        block.mlp.register_forward_hook(keep("mlp", block.layer))
    with recording(loaded.model, lambda call: None, attended):
        run_forward(loaded.model, ids)
    return recorded


@pytest.mark.parametrize("name", NAMES)
def test_captured_parts_equal_those_of_the_model(place: Path, tmp_path: Path, name: str) -> None:
    opened = made(place, tmp_path / "out", name, parts=tuple(PARTS), limit=2)
    for number in range(2):
        wanted = by_hand(place, name, number)
        for head in opened.heads:
            for part, row in (("values", head.key), ("outputs", head.query), ("residual", 0), ("mlp", 0)):
                actual = opened.part(part, head)
                mine = actual.document == number
                beside = opened.keys(head) if part == "values" else opened.queries(head)
                assert np.array_equal(actual.position, beside.position)
                expected = wanted[part][head.layer][row, actual.position[mine].tolist()].numpy()
                assert np.array_equal(actual.vectors[mine], expected)


def test_residuals_of_first_and_last_layer_differ(place: Path, tmp_path: Path) -> None:
    """The residual stream grows from layer to layer, so no part of a layer is stored for two layers."""
    opened = made(place, tmp_path / "out", parts=("residual",), rate=8.0)
    first, last = (opened.part("residual", head).vectors for head in (opened.heads[0], opened.heads[-1]))
    assert first.shape == last.shape
    assert not np.allclose(first, last)


@pytest.mark.parametrize("name", NAMES[:2])
def test_documents_captured_in_a_batch_equal_those_captured_alone(place: Path, tmp_path: Path, name: str) -> None:
    alone = made(place, tmp_path / "alone", name, parts=tuple(PARTS))
    together = made(place, tmp_path / "together", name, parts=tuple(PARTS), batch=3)
    assert alone.heads == together.heads
    assert [each["id"] for each in (together.manifest or {})["documents"]] == [f"t{n}" for n in range(DOCUMENTS)]
    for head in alone.heads:
        for one, two in (
            (alone.queries(head), together.queries(head)),
            (alone.keys(head), together.keys(head)),
            *((alone.part(part, head), together.part(part, head)) for part in PARTS),
        ):
            assert np.array_equal(one.document, two.document)
            assert np.array_equal(one.position, two.position)
            size = np.abs(one.vectors).max()
            assert np.abs(one.vectors - two.vectors).max() <= 2e-6 * size


# A kind of attention and of position each: sliding, chunked, latent, learned, sines, none; and a state (the last four)
PADDED = ("llama", "gemma2", "llama4_text", "minicpm3", "gpt2", "ctrl", "cohere2", "gpt_oss")
STATES = ("bamba", "jamba", "lfm2", "qwen3_next")
LENGTHS = st.lists(st.integers(1, 40), min_size=2, max_size=4)


@pytest.mark.parametrize("kind", [*PADDED, *STATES])
def test_documents_of_different_lengths_in_one_batch_equal_those_alone(tmp_path: Path, kind: str) -> None:
    saved_model(architectures.built(kind, vocab_size=VOCABULARY), tmp_path / kind)

    @given(LENGTHS)
    @settings(max_examples=3)
    def compare(lengths: list[int]) -> None:
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        alone, together = (
            open_capture(
                capture(unequal(tmp_path, kind, *lengths, parts=("values",), batch=batch, out=folder / str(batch)))
            )
            for batch in (1, 4)
        )
        shown = [each.get("tokens") for each in (together.manifest or {})["documents"]]
        assert shown == [min(CONTEXT, words + 1) for words in lengths]
        for head in alone.heads:
            pairs = [(each.queries(head), each.keys(head), each.part("values", head)) for each in (alone, together)]
            for one, two in zip(*pairs, strict=True):
                assert np.array_equal(one.document, two.document)
                assert np.array_equal(one.position, two.position)
                assert (one.position < np.array(shown)[one.document]).all()
                # kernels add in another order where a row is longer: a few roundings of single precision, by layer
                assert np.abs(one.vectors - two.vectors).max(initial=0) <= 2e-5 * np.abs(one.vectors).max(initial=1)

    compare()


def unequal(place: Path, name: str, *words: int, **changes: Any) -> CaptureOptions:
    """A capture of texts of so many words."""
    rows = [json.dumps({"id": f"t{n}", "text": text(count, n)}) for n, count in enumerate(words)]
    (place / "texts.jsonl").write_text("\n".join(rows))
    source, texts = ModelSource(str(place / name), dtype="fp32", device="cpu"), TextSource(str(place / "texts.jsonl"))
    given: dict[str, Any] = {"context": CONTEXT, "buckets": 4, "rate": 4.0, "sliding": True, "keep_short": True}
    return CaptureOptions(model=source, texts=texts, **({"out": place / "out"} | given | changes))


def test_a_longer_document_is_checked_as_the_first_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A layer that sees more than its window says shows it only in a text that is longer than the window."""
    saved("mistral", tmp_path / "mistral")
    options = unequal(tmp_path, "mistral", 2, 30)
    loaded = load(options.model)
    session.record(options, loaded=loaded)
    stated = survey(loaded.model)
    monkeypatch.setattr(session, "survey", lambda model: stated)
    for part in (loaded.model.config, *(layer.self_attn for layer in loaded.model.model.layers)):
        part.sliding_window = None
    with pytest.raises(ModelError, match="sees every token before its own"):
        session.record(replace(options, out=tmp_path / "wrong"), loaded=loaded)


def test_lengths_that_cannot_be_compared_are_refused(tmp_path: Path) -> None:
    turning = {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0}
    stretched = transformers.LlamaConfig(**{**SIZES, "max_position_embeddings": 16}, rope_parameters=turning)
    saved_model(transformers.AutoModelForCausalLM.from_config(stretched), tmp_path / "dynamic")
    options = unequal(tmp_path, "dynamic", 23, 31)
    with pytest.raises(ModelError, match=r"above 16 tokens its rotation \(dynamic\) depends on the length of the text"):
        capture(options)
    capture(replace(options, context=16))
    with pytest.raises(ModelError, match=r"--skip-short and --keep-short: .*; give only one of the two"):
        replace(options, skip_short=True)


def test_padding_that_changes_a_text_is_refused(tmp_path: Path) -> None:
    saved("llama", tmp_path / "llama")
    options = unequal(tmp_path, "llama", 23, 31, batch=2)
    loaded = load(options.model)
    loaded.model.model.layers[1].mlp.register_forward_hook(
        lambda module, given, output: output - output.mean(1)[:, None]
    )
    with pytest.raises(ModelError, match=r"padding at the end of a text changes .*; give --batch 1"):
        session.record(options, loaded=loaded)
    session.record(replace(options, batch=1), loaded=loaded)


def test_layers_and_heads_are_taken_by_name(place: Path, tmp_path: Path) -> None:
    assert {head.layer for head in made(place, tmp_path / "a", only_layers=(2, 0)).heads} == {0, 2}
    named = made(place, tmp_path / "b", only_heads=((2, 3), (0, 1), (2, 3)))
    assert named.heads == (HeadIndex(0, 1, 0), HeadIndex(2, 3, 1))
    full_capture = made(place, tmp_path / "c", heads=None)
    assert np.array_equal(named.queries(named.heads[1]).vectors, full_capture.queries(named.heads[1]).vectors)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"only_layers": (7,)}, "--layers 7: no attention layer of the model; it has 0 to 2"),
        ({"only_heads": ((1, 4),)}, "--heads 1.4: layer 1 has only the heads 0 to 3"),
        ({"only_heads": ((5, 0),)}, "--heads 5.0: layer 5 is no attention layer"),
        ({"parts": ("value",)}, "no part .value. of a model; did you mean .values."),
        ({"batch": 0}, "--batch 0: a forward pass needs at least 1 document"),
    ],
)
def test_unknown_selection_is_refused_by_name(place: Path, tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        made(place, tmp_path / "out", **changes)


def test_uncaptured_part_and_conflicting_selection_in_one_folder_are_refused(place: Path, tmp_path: Path) -> None:
    opened = made(place, tmp_path / "out", parts=("values",), limit=1)
    with pytest.raises(DataError, match=r"mlp were not captured; capture anew with --parts mlp"):
        opened.part("mlp", opened.heads[0])
    with pytest.raises(DataError, match="no part 'vaules'; did you mean 'values'"):
        opened.part("vaules", opened.heads[0])
    with pytest.raises(ModelError, match="holds another capture"):
        made(place, tmp_path / "out", limit=1)
    card = (tmp_path / "out/README.md").read_text()
    assert "`l05h03v` has the values" in card
    assert "l00h00v/data.parquet" in card


def test_capture_larger_than_the_free_disk_is_refused_before_loading_the_model(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {"parts": tuple(PARTS), "rate": 8.0, "heads": None}
    opened = made(place, tmp_path / "out", **asked)
    written = sum(path.stat().st_size for path in opened.root.glob("l*/*.parquet"))
    config = load(ModelSource(str(place / "llama"), dtype="fp32", device="cpu")).model.config
    options = CaptureOptions(
        model=ModelSource(str(place / "llama")), texts=TextSource(""), context=CONTEXT, buckets=4, out=tmp_path, **asked
    )
    by_document = room.bytes_of_document(options, config)
    total = sum(
        opened.part(part, head).vectors.nbytes
        for part, heads in (("values", 6), ("outputs", 12), ("residual", 3), ("mlp", 3))
        for head in opened.heads[:: len(opened.heads) // heads]
    ) + sum(opened.queries(head).vectors.nbytes for head in opened.heads)
    total += sum(opened.keys(head).vectors.nbytes for head in opened.heads[::2])
    assert by_document * DOCUMENTS == total
    assert written > 0
    monkeypatch.setattr(
        "keyquery.models.captures.room.shutil.disk_usage", lambda place: type("Usage", (), {"free": 2 * total - 1})
    )
    monkeypatch.setattr(session, "load", lambda source: pytest.fail("loaded"))
    with pytest.raises(ModelError, match=r"5 documents take about .* of disk.*; give a lower --rate"):
        made(place, tmp_path / "other", **asked)


def test_command_choices_equal_the_available_parts() -> None:
    assert tuple(PARTS) == choices.PARTS
