"""Models with unusual masks, files, texts or vocabularies are read correctly, or refused."""

import dataclasses
import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
import transformers

import gguf_made
import keyquery as kq
from boundpaper.errors import DataError, ModelError
from keyquery.measure.commands import run as run_command
from keyquery.models.architecture import forward, survey
from keyquery.models.attention.positions import positional_of, rotary_modules
from keyquery.models.attention.projections import projecting
from keyquery.models.captures import capture as capturing
from keyquery.models.captures import manifest
from keyquery.models.captures.options import CaptureOptions
from keyquery.models.checkpoints.builtin import resolve
from keyquery.models.checkpoints.estimate import estimate
from keyquery.models.checkpoints.gguf import dequantise
from keyquery.models.checkpoints.loading import ModelSource, load
from keyquery.models.texts import TextSource, documents, texts
from keyquery.models.vocabulary import check_tokens
from models_tiny import SIZES, built, saved, saved_model, text

pytestmark = pytest.mark.models

ENCODER = {name: value for name, value in SIZES.items() if name != "num_key_value_heads"}


def causal_model(config: Any) -> Any:
    torch.manual_seed(0)
    return transformers.AutoModelForCausalLM.from_config(config).eval()


def with_mask(mask: Callable[[int], Any], name: str = "llama") -> Any:
    """Return a model whose layers get `mask(T)`, of shape (1, 1 or H, T, T), instead of the causal mask."""
    model = built(name)

    def replace_mask(module: Any, inputs: Any, options: dict[str, Any]) -> Any:
        return inputs, {**options, "attention_mask": mask(options["hidden_states"].shape[1])}

    for layer in model.model.layers:
        layer.self_attn.register_forward_pre_hook(replace_mask, with_kwargs=True)
    return model


@pytest.mark.reported("transformers#5474", "transformers#12704", "transformers#48745", outcome="refused")
def test_encoder_is_refused_as_a_causal_model() -> None:
    """Capture BERT, whose causal LM class attends in both directions unless configured otherwise."""
    with pytest.raises(ModelError, match=r"BertLMHeadModel .* later tokens as well, as an encoder"):
        survey(causal_model(transformers.BertConfig(**ENCODER)))
    decoder = causal_model(transformers.BertConfig(**ENCODER, is_decoder=True))
    assert [layer.kind for layer in survey(decoder)] == ["full"] * 3


@pytest.mark.reported(outcome="refused")
@pytest.mark.parametrize("kind", ["Electra", "Camembert", "Ernie", "Data2VecText", "XLMRoberta"])
def test_encoders_of_other_families_are_refused(kind: str) -> None:
    """Capture an encoder of another family."""
    with pytest.raises(ModelError, match="later tokens as well, as an encoder"):
        survey(causal_model(getattr(transformers, f"{kind}Config")(**ENCODER)))


@pytest.mark.reported(outcome="refused")
def test_decoder_configured_as_bidirectional_is_refused() -> None:
    """Capture Gemma 3 with attention in both directions, as used for embedding models."""
    config = transformers.Gemma3TextConfig(**SIZES, head_dim=8, sliding_window=5, use_bidirectional_attention=True)
    with pytest.raises(ModelError, match="later tokens"):
        survey(causal_model(config))


def prefix_mask(tokens: int) -> Any:
    mask = torch.ones(tokens, tokens, dtype=torch.bool).tril()
    mask[:3, :3] = True
    return mask[None, None]


def strided_mask(tokens: int) -> Any:
    rows, columns = torch.arange(tokens)[:, None], torch.arange(tokens)[None]
    return ((columns <= rows) & ((rows - columns) % 2 == 0))[None, None]


def alibi_mask(tokens: int) -> Any:
    distance = torch.arange(tokens)[:, None] - torch.arange(tokens)[None]
    bias = -torch.tensor([0.5, 0.25, 0.125, 0.0625])[:, None, None] * distance
    return bias.masked_fill(distance < 0, torch.finfo(torch.float32).min)[None]


@pytest.mark.reported(outcome="refused")
@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (prefix_mask, "later tokens of a prefix"),
        (strided_mask, "masks other tokens than its configuration says"),
        (alibi_mask, "adds a position bias to its scores through its mask"),
    ],
)
def test_custom_non_causal_masks_are_refused(mask: Callable[[int], Any], message: str) -> None:
    """Capture a model whose custom mask shows a whole prefix, shows only every second token, or adds a bias (ALiBi)."""
    with pytest.raises(ModelError, match=message):
        survey(with_mask(mask))


@pytest.mark.reported("transformers#35891", outcome="refused")
def test_a_bias_that_depends_on_the_values() -> None:
    """Capture Doge, whose mask adds to the scores a bias computed from the value vectors."""
    with pytest.raises(ModelError, match=r"position bias.* queries and keys do not contain"):
        survey(causal_model(transformers.DogeConfig(**SIZES)))


@pytest.mark.reported(outcome="refused")
def test_kernel_that_changes_the_scores_is_refused() -> None:
    """Capture a model whose kernel computes with other keys than it was given."""
    model = built("llama")
    kernels = transformers.modeling_utils.ALL_ATTENTION_FUNCTIONS
    kernel = kernels["sdpa"]
    kernels.register(
        "halved", lambda module, query, key, *args, **options: kernel(module, query, key / 2, *args, **options)
    )
    transformers.masking_utils.ALL_MASK_ATTENTION_FUNCTIONS.register(
        "halved", transformers.masking_utils.ALL_MASK_ATTENTION_FUNCTIONS["sdpa"]
    )
    model.set_attn_implementation("halved")
    with pytest.raises(ModelError, match=r"does not attend as softmax\(scaling q.k\)"):
        survey(model)


@pytest.mark.reported(outcome="right")
def test_survey_reports_chunks_sinks_and_soft_caps() -> None:
    """Survey Llama 4 (chunks), GPT-OSS (learned sinks) and Gemma 2 (soft-capped scores)."""
    sizes = {**SIZES, "num_hidden_layers": 4}
    config = transformers.Llama4TextConfig(
        **sizes, head_dim=8, attention_chunk_size=5, num_local_experts=2, intermediate_size_mlp=48
    )
    layers = survey(causal_model(config))
    assert [(layer.kind, layer.window) for layer in layers] == [("chunked", 5)] * 3 + [("full", None)]
    assert [layer.sink for layer in survey(built("gpt_oss"))] == [True] * 3
    assert [(layer.softcap, layer.sink) for layer in survey(built("gemma2"))] == [(2.0, False)] * 3


@pytest.mark.reported(outcome="refused")
@pytest.mark.parametrize("kind", ["Mamba", "Mamba2", "Rwkv", "xLSTM"])
def test_models_without_attention_are_refused(kind: str) -> None:
    """Capture state-space and recurrent models; RWKV calls its layers attention although they are not."""
    sizes = {"vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 2}
    extra = {"num_heads": 8, "head_dim": 8, "state_size": 8, "n_groups": 1} if kind == "Mamba2" else {}
    with pytest.raises(ModelError, match="computes no attention"):
        survey(causal_model(getattr(transformers, f"{kind}Config")(**sizes, **extra)))


@pytest.mark.reported(outcome="refused")
def test_non_finite_weights_are_refused() -> None:
    """Survey a model with one NaN weight, in single precision."""
    model = built("llama")
    with torch.no_grad():
        model.model.layers[1].self_attn.q_proj.weight[0, 0] = float("nan")
    with pytest.raises(ModelError, match=r"weights hold NaN or infinity \(first: model.layers.1.self_attn.q_proj"):
        survey(model)


def config_from_gguf(tmp_path: Path, extend: Callable[[Any], None]) -> dict[str, Any]:
    """Return the configuration read from a GGUF file of a small Llama with extra keys or tensors."""
    gguf_made.made(tmp_path / "made.gguf", more=extend)
    folder = dequantise(tmp_path / "made.gguf", tmp_path / "folder", "hash")
    config: dict[str, Any] = json.loads((folder / "config.json").read_text())
    return config


def rope_scaling(kind: Any, factor: float) -> Callable[[Any], None]:
    def add(writer: Any) -> None:
        writer.add_rope_scaling_type(kind)
        writer.add_rope_scaling_factor(factor)

    return add


@pytest.mark.reported("onnxruntime/mobius#458", "llama.cpp#2772", "oobabooga/textgen#3877", outcome="right")
def test_gguf_linear_rotation_scaling_is_read(tmp_path: Path) -> None:
    """Read a GGUF file with a linear rotation scaling of four."""
    rope = config_from_gguf(tmp_path, rope_scaling(gguf.RopeScalingType.LINEAR, 4.0))["rope_parameters"]
    assert rope == {"rope_type": "linear", "factor": 4.0, "rope_theta": gguf_made.BASE}


def yarn(writer: Any) -> None:
    rope_scaling(gguf.RopeScalingType.YARN, 8.0)(writer)
    writer.add_rope_scaling_orig_ctx_len(32)
    writer.add_rope_scaling_yarn_beta_fast(16.0)


def llama3(writer: Any) -> None:
    turns = 8192 / (2 * np.pi * gguf_made.BASE ** (np.arange(8) / 8))
    smooth = np.clip((turns - 1) / 3, 0, 1)
    writer.add_tensor("rope_freqs.weight", (1 / ((1 - smooth) / 8 + smooth)).astype(np.float32))


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize(
    ("extend", "expected"),
    [
        (yarn, {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 32, "beta_fast": 16.0}),
        (lambda writer: writer.add_float32("llama.rope.scale_linear", 2.0), {"rope_type": "linear", "factor": 2.0}),
        (llama3, {"rope_type": "llama3", "factor": 8.0, "original_max_position_embeddings": 8192}),
        (lambda writer: writer.add_attention_scale(0.25), {"rope_type": "default"}),
    ],
    ids=["yarn", "an older key", "llama3", "the usual factor on scores"],
)
def test_gguf_rotation_keys_and_divisor_tensors_are_read(
    tmp_path: Path, extend: Callable[[Any], None], expected: dict[str, Any]
) -> None:
    """Read rotations from a GGUF file with keys of YaRN, an older key, a tensor of divisors, or a score factor."""
    rope = config_from_gguf(tmp_path, extend)["rope_parameters"]
    assert {name: rope[name] for name in expected} == expected


@pytest.mark.reported(outcome="refused")
@pytest.mark.parametrize(
    ("extend", "message"),
    [
        (rope_scaling(gguf.RopeScalingType.LONGROPE, 4.0), "rope.scaling.type is 'longrope'"),
        (lambda writer: writer.add_rope_scaling_attn_factors(1.2), "llama.rope.scaling.attn_factor is 1.2"),
        (lambda writer: writer.add_attention_scale(0.5), "llama.attention.scale is 0.5"),
        (lambda writer: writer.add_attn_logit_softcapping(30.0), "llama.attn_logit_softcapping is 30.0"),
        (lambda writer: writer.add_sliding_window(16), "llama.attention.sliding_window is 16"),
        (lambda writer: writer.add_expert_count(4), "llama.expert_count is 4"),
        (lambda writer: writer.add_causal_attention(False), "llama.attention.causal is False"),
        (lambda writer: writer.add_max_alibi_bias(8.0), "llama.attention.max_alibi_bias is 8.0"),
        (lambda writer: writer.add_float32("llama.rope.wobble", 2.0), "llama.rope.wobble is 2.0"),
        (lambda writer: writer.add_uint16("split.count", 3), "one of 3 parts"),
        (
            lambda writer: writer.add_tensor("blk.0.attn_q.bias", np.zeros(64, np.float32)),
            "its tensor blk.0.attn_q.bias",
        ),
        (lambda writer: writer.add_tensor("blk.1.attn_sinks.weight", np.zeros(4, np.float32)), "attn_sinks.weight"),
        (lambda writer: writer.add_tensor("rope_freqs.weight", np.arange(1, 9, dtype=np.float32)), "rope_freqs.weight"),
    ],
    ids=lambda value: None if callable(value) else value.partition(" is ")[0],
)
def test_gguf_keys_without_effect_are_refused(tmp_path: Path, extend: Callable[[Any], None], message: str) -> None:
    """Read a GGUF file with a key or tensor that the model's class does not use."""
    with pytest.raises(ModelError, match=message):
        config_from_gguf(tmp_path, extend)


@pytest.mark.reported(outcome="right")
def test_unknown_gguf_pre_tokenizer_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Read a GGUF file with a pre-tokenizer unknown to transformers."""
    config_from_gguf(tmp_path, lambda writer: writer.add_tokenizer_pre("smollm"))
    assert "tokenizer.ggml.pre is 'smollm', which transformers does not know" in capsys.readouterr().err


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved("llama", tmp_path_factory.mktemp("models"))


def write_source(path: Path, content: str | bytes) -> TextSource:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return TextSource(str(path))


ROWS = [{"id": "a", "text": "w4 w5, w6"}, {"id": "b", "text": "w7 w8"}, {"id": "c", "text": "w9"}]
AS_LINES = "\n".join(map(json.dumps, ROWS))
AS_TABLE = 'id,text\na,"w4 w5, w6"\nb,w7 w8\nc,w9\n'


@pytest.mark.reported(
    "huggingface/datasets#7153", "unslothai/unsloth#7422", "datagouv/csv-detective#271", outcome="right"
)
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("texts.ndjson", AS_LINES), ("texts.JSONL", AS_LINES), ("texts.txt", AS_LINES), ("texts", AS_LINES),
        ("texts.json", json.dumps(ROWS)), ("texts.json", json.dumps(ROWS, indent=2)), ("texts.csv", AS_TABLE),
        ("texts.CSV", AS_TABLE), ("texts.dat", AS_TABLE),
        ("texts.tsv", "id\ttext\na\tw4 w5, w6\nb\tw7 w8\nc\tw9\n"),
        ("texts.jsonl.gz", gzip.compress(AS_LINES.encode(), mtime=0)),
        ("texts.csv.gz", gzip.compress(AS_TABLE.encode(), mtime=0)),
        ("packed.txt", gzip.compress(AS_LINES.encode(), mtime=0)),
    ],
)  # fmt: skip
def test_text_files_are_recognised_by_content(tmp_path: Path, name: str, content: str | bytes) -> None:
    """Read three texts from files of several formats, with usual or unusual suffixes, plain or compressed."""
    assert list(texts(write_source(tmp_path / name, content))) == [(row["id"], row["text"]) for row in ROWS]


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize(
    "content",
    ["{braces} begin this text\nand it goes on", "[1] A note.\n[2] Another.", '"Who?" she said.', "id, text and more"],
)
def test_prose_that_begins_like_json_is_read_as_prose(tmp_path: Path, content: str) -> None:
    """Read plain texts that begin with a brace, a bracket or a quotation mark."""
    assert list(texts(write_source(tmp_path / "prose.txt", content))) == [("prose", content)]
    assert list(texts(write_source(tmp_path / "list.json", '["w4", "w5"]'))) == [("0", "w4"), ("1", "w5")]


@pytest.mark.reported(outcome="refused")
@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", '{"data": [1]}', "no text field 'text' .it has: data"),
        ("a.json", '{\n "data": [1]\n}', "one JSON object .data. in place of a list"),
        ("a.json", '[{"text": "w4"}, {"text": null}]', "item 2: 'text' is null"),
        ("a.json", "not json", "a.json:1: not JSON"), ("a.ndjson", '{"text": "w4"}\nw5', "a.ndjson:2: not JSON"),
        ("a.csv", "id,body\n1,w4\n", "no column 'text' .it has: id, body"),
        ("a.csv", "id,text\n1,w4\n2,w5,w6\n", "row 2 .line 3.: 3 cells, but the header has 2"),
        ("a.csv", "id,id,text\n1,2,w4\n", "more than one column 'id'; rename one"),
        ("a.html", "<!DOCTYPE html>\n<p>w4</p>", "an HTML page"), ("a.tex", "\\documentclass{article}\n", "LaTeX"),
        ("a.txt", "w4".encode("utf-16"), "UTF-16"), ("a.pdf", b"%PDF-1.7\n", "a PDF"),
        ("a.zip", b"PK\x03\x04more", "an archive"),
        ("a.jsonl.gz", gzip.compress(AS_LINES.encode(), mtime=0)[:20], "cannot be read"),
    ],
)  # fmt: skip
def test_files_without_valid_text_are_refused(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    """Read files whose content contradicts their suffix, or is no text."""
    with pytest.raises(DataError, match=message):
        list(texts(write_source(tmp_path / name, content)))


@pytest.mark.reported(outcome="refused")
def test_text_folder_accepts_any_suffix_case_and_refuses_subfolders(tmp_path: Path) -> None:
    """Read a folder of texts with lower- and upper-case suffixes, then a folder with a subfolder."""
    (tmp_path / "a.txt").write_text("w4")
    (tmp_path / "b.TXT").write_text("w5")
    assert [name for name, _ in texts(TextSource(str(tmp_path)))] == ["a", "b"]
    (tmp_path / "more").mkdir()
    with pytest.raises(DataError, match="more is a folder"):
        list(texts(TextSource(str(tmp_path))))


class TokenizerWithEnds:
    """A tokenizer that turns each word into its length and adds tokens before and after a text."""

    def __init__(self, before: list[int], after: list[int]) -> None:
        self.before, self.after = before, after

    def __call__(self, text: str, add_special_tokens: bool = True, verbose: bool = True) -> dict[str, Any]:
        body = [len(word) for word in text.split()]
        return {"input_ids": [*self.before, *body, *self.after] if add_special_tokens else body}


@pytest.mark.reported(
    "lm-evaluation-harness#2382", "lm-evaluation-harness#1465", "lm-evaluation-harness#1586", outcome="right"
)
@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([9], [], [(9, 1, 2, 3), (9, 4, 5, 6)]), ([9], [8], [(9, 1, 2, 8), (9, 3, 4, 8), (9, 5, 6, 8)]),
        ([7, 9], [], [(7, 9, 1, 2), (7, 9, 3, 4), (7, 9, 5, 6)]), ([], [], [(1, 2, 3, 4)]),
    ],
)  # fmt: skip
def test_every_window_has_the_special_tokens_of_a_text(
    tmp_path: Path, before: list[int], after: list[int], expected: list[tuple[int, ...]]
) -> None:
    """Cut a text into windows with a tokenizer that adds tokens around every text."""
    source = write_source(tmp_path / "a.txt", "1 22 333 4444 55555 666666")
    cut = documents(source, TokenizerWithEnds(before, after), 4, windows=True)
    assert [document.tokens for document in cut] == expected


def capture_options(model_folder: Path, tmp_path: Path, **changes: Any) -> CaptureOptions:
    lines = "\n".join(json.dumps({"text": text(40, seed)}) for seed in range(3))
    source = write_source(tmp_path / "texts.jsonl", lines)
    options = {"texts": source, "context": 32, "buckets": 4, "rate": 4.0, "out": tmp_path / "out", **changes}
    return CaptureOptions(model=ModelSource(str(model_folder), device="cpu"), **options)


@pytest.mark.reported(outcome="refused")
def test_too_few_documents_are_refused(model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask for more documents than there are in a file, in windows of its texts, and in the installed text `manual`."""
    monkeypatch.setattr(capturing, "load", lambda source: pytest.fail("weights were loaded before texts were read"))
    for changes, message in (
        ({}, "3 documents of this context, and 12 are asked; --windows cuts long texts"),
        ({"windows": True, "context": 16}, "6 documents of this context, and 12 are asked; --documents 6"),
        ({"texts": TextSource("manual")}, "1 document of this context, and 12 are asked; --windows"),
    ):
        with pytest.raises(DataError, match=message):
            capturing.capture(capture_options(model_folder, tmp_path, limit=12, **changes))
    with pytest.raises(DataError, match="no such file"):
        capturing.capture(capture_options(model_folder, tmp_path, texts=TextSource(str(tmp_path / "textz.jsonl"))))
    monkeypatch.undo()
    capturing.capture(capture_options(model_folder, tmp_path, limit=12, fewer=True))
    stored = json.loads((tmp_path / "out/manifest.json").read_text())
    assert len(stored["documents"]) == 3
    assert str(tmp_path) not in json.dumps(stored)
    assert str(model_folder.parent) not in json.dumps(stored)
    assert stored["settings"]["model"] == model_folder.name
    assert stored["settings"]["texts"] == "texts.jsonl"
    assert capturing.is_finished(capture_options(model_folder, tmp_path, limit=12))
    other_texts = write_source(tmp_path / "more.jsonl", json.dumps({"text": text(40, 9)}))
    with pytest.raises(ModelError, match=r"holds another capture .texts"):
        capturing.is_finished(capture_options(model_folder, tmp_path, limit=12, texts=other_texts))


@pytest.mark.reported(outcome="right")
def test_manifest_of_version_0_1_0_is_read_once_sealed(model_folder: Path, tmp_path: Path) -> None:
    """Continue a sealed capture of version 0.1.0, whose manifest has file paths but neither hashes nor soft caps."""
    options = capture_options(model_folder, tmp_path)
    capturing.capture(options)
    path = tmp_path / "out/manifest.json"
    stored = json.loads(path.read_text())
    del stored["blake2"]
    settings = stored["settings"] | {"model": str(model_folder), "texts": options.texts.path_or_id}
    del settings["texts_hash"]
    settings["layers"] = [{k: v for k, v in row.items() if k not in ("sink", "softcap")} for row in settings["layers"]]
    path.write_text(json.dumps(stored | {"settings": settings}))
    with pytest.raises(DataError, match=r"manifest\.json: has no hash of its content under the key .blake2."):
        capturing.is_finished(options)
    manifest.seal_manifest(path.parent)
    assert capturing.is_finished(options)
    with pytest.raises(ModelError, match=r"windows false there, true here"):
        capturing.is_finished(dataclasses.replace(options, windows=True))
    settings |= {"windows": True}
    path.write_text(json.dumps(stored | {"settings": settings}))
    manifest.seal_manifest(path.parent)
    with pytest.raises(ModelError, match=r"window_ends null there, .each as the tokenizer begins"):
        capturing.is_finished(dataclasses.replace(options, windows=True))


@pytest.mark.reported("transformers#12763", outcome="refused")
def test_token_without_an_embedding_row_is_refused_in_capture(model_folder: Path, tmp_path: Path) -> None:
    """Capture with a tokenizer that has more tokens than the embedding has rows."""
    config = transformers.LlamaConfig(**{**SIZES, "vocab_size": 20})
    transformers.LlamaForCausalLM(config).save_pretrained(tmp_path / "short")
    transformers.AutoTokenizer.from_pretrained(model_folder).save_pretrained(tmp_path / "short")
    with pytest.raises(ModelError, match=r"the text has token \d+ \('w\d+'\), but the embedding has 20 rows"):
        capturing.capture(capture_options(tmp_path / "short", tmp_path))
    with pytest.raises(ModelError, match="the embedding has 20 rows"):
        check_tokens(transformers.LlamaForCausalLM(config), torch.tensor([[3, 20]]))


@pytest.mark.reported(outcome="refused")
@pytest.mark.parametrize("kind", ["gpt_neox", "gemma2", "added"])
def test_token_without_an_embedding_row_is_refused_elsewhere(model_folder: Path, tmp_path: Path, kind: str) -> None:
    """Compute perplexities with two embeddings that are too short, and with an added word."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(model_folder)
    added = kind == "added"
    if added:
        tokenizer.add_tokens(["lamp"])
    config = built("llama" if added else kind).config
    config.vocab_size = len(tokenizer) - 1 if added else 20
    transformers.AutoModelForCausalLM.from_config(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(ModelError, match=rf"has token {config.vocab_size if added else ''}.*resize_token_embeddings"):
        kq.load(str(tmp_path), device="cpu").perplexity("w4 lamp w5" if added else "w4 w50 w51")


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize("kind", ["GPT2", "OPT", "BioGpt"])
def test_model_with_learned_positions_has_no_rotation_to_change(kind: str) -> None:
    """Ask a model with learned positions for its encoding, and for queries and keys before rotation."""
    sizes: dict[str, Any] = {**ENCODER, "ffn_dim": 48, "word_embed_proj_dim": 32, "n_positions": 64}
    model = causal_model(getattr(transformers, f"{kind}Config")(**sizes))
    assert positional_of(model) == "none"
    calls: list[bool] = []
    with projecting(model, 8) as projected:
        forward(model, torch.arange(8)[None], lambda call: calls.append(projected.before(call)[0] is call.query))
    assert calls == [True] * 3
    with pytest.raises(ModelError, match="rotates nothing, so there is no rotation to change"):
        rotary_modules(model)


@pytest.mark.reported(outcome="right")
def test_complex_rotation_is_recognised_as_rope() -> None:
    """Ask Llama 4, whose rotary module returns complex numbers, for its encoding."""
    sizes = {**SIZES, "num_local_experts": 2, "intermediate_size_mlp": 48, "head_dim": 8}
    assert positional_of(causal_model(transformers.Llama4TextConfig(**sizes))) == "rope"


@pytest.mark.reported(outcome="refused")
@pytest.mark.parametrize("kind", ["Bert", "Electra", "Camembert", "RoFormer", "RemBert"])
def test_encoder_is_refused_by_every_command(tmp_path: Path, kind: str) -> None:
    """Load, capture and run experiments on an encoder; each command refuses it in the same words."""
    sizes = {**ENCODER, "embedding_size": 32, "input_embedding_size": 32, "output_embedding_size": 32}
    folder = saved_model(causal_model(getattr(transformers, f"{kind}Config")(**sizes)), tmp_path / "model")
    message = r"attends to later tokens as well, as an encoder does, but every quantity here assumes causal attention"
    with pytest.raises(ModelError, match=message):
        load(ModelSource(str(folder), device="cpu"))
    with pytest.raises(ModelError, match=message):
        capturing.capture(capture_options(folder, tmp_path))
    write_source(tmp_path / "texts.txt", "\n\n".join(text(40, seed) for seed in range(10)))
    call = f"sinks --model {folder} --device cpu --tokens 32 --items 0 --texts {tmp_path / 'texts.txt'}".split()
    with pytest.raises(ModelError, match=message):
        run_command.main(call, standalone_mode=False, obj={"root": tmp_path})


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize("name", ["llama", "gpt_oss", "mistral", "bloom", "falcon", "mpt"])
@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
def test_causal_models_of_many_kinds_are_accepted(tmp_path: Path, name: str, dtype: str) -> None:
    """Load causal models of many kinds in two precisions, including mixtures of experts and score biases."""
    assert load(ModelSource(str(saved(name, tmp_path / "model")), dtype=dtype, device="cpu")).model is not None


@pytest.mark.reported(outcome="refused")
def test_text_files_seq2seq_models_and_invalid_configs_are_refused(model_folder: Path, tmp_path: Path) -> None:
    """Pass a text file, an encoder-decoder model, and settings of the wrong type as a model."""
    write_source(tmp_path / "texts.jsonl", AS_LINES)
    with pytest.raises(ModelError, match=r"is a file, not a model; .* texts go to --texts"):
        resolve(tmp_path, str(tmp_path / "texts.jsonl"))
    config = transformers.T5Config(vocab_size=64, d_model=32, d_kv=8, d_ff=48, num_layers=1, num_heads=4)
    transformers.T5ForConditionalGeneration(config).save_pretrained(tmp_path / "t5")
    with pytest.raises(ModelError, match=r"its architecture \(t5\) is not a causal language model"):
        load(ModelSource(str(tmp_path / "t5"), device="cpu"))
    stored = json.loads((model_folder / "config.json").read_text())
    folder = tmp_path / "odd"
    shutil.copytree(model_folder, folder)
    for changes, message in (
        ({"hidden_act": "nope"}, r"KeyError: 'nope'\); check hidden_act = 'nope'"),
        ({"rope_parameters": {"rope_type": "default", "rope_theta": "large"}}, r"rope_theta = 'large'"),
    ):
        (folder / "config.json").write_text(json.dumps(stored | changes))
        source = ModelSource(str(folder), device="cpu")
        with pytest.raises(ModelError, match=message):
            estimate(source, context=8)
        with pytest.raises(ModelError, match=message):
            load(source)


@pytest.mark.reported(outcome="right")
def test_all_experiments_run_on_user_texts_except_text_kinds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Run all experiments on texts of the user; the one that needs generated texts is skipped."""
    selections: list[tuple[str, ...]] = []
    monkeypatch.setattr("keyquery.measure.run.run", lambda root, names, *_, **__: selections.append(names) or [])
    arguments = ["--all", "--model", "tiny-rope", "--texts", "manual", "--executor", "slurm"]
    run_command.main(arguments, standalone_mode=False, obj={"root": Path()})
    assert "massive_values" in selections[0]
    assert "text_kinds" not in selections[0]
    assert "skipped text_kinds: generated texts are needed" in capsys.readouterr().err
