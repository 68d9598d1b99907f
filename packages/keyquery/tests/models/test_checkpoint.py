"""Checkpoints with a custom class are loaded as a standard class on request; no weight or setting is ignored."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from boundpaper.errors import ModelError
from keyquery.models.architecture import forward
from keyquery.models.attention.calls import Call
from keyquery.models.attention.positions import encoding, positional_of
from keyquery.models.checkpoints import builtin
from keyquery.models.checkpoints.builtin import NAMES, resolve
from keyquery.models.checkpoints.loading import ModelSource, configuration, load
from models_tiny import built, change, saved

pytestmark = pytest.mark.models

TOKENS = torch.arange(4, 24)[None]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved("llama", tmp_path_factory.mktemp("checkpoint") / "llama")


@pytest.fixture
def copy(plain: Path, tmp_path: Path) -> Path:
    shutil.copytree(plain, tmp_path / "copy")
    return tmp_path / "copy"


@pytest.fixture
def published(copy: Path) -> Path:
    """Give the copy of a saved Llama a custom class, whose code must never run."""
    code = "raise SystemExit('the code of a checkpoint was run')\n"
    for name in ("configuration_dropped.py", "modeling_dropped.py", "tokenization_dropped.py"):
        (copy / name).write_text(code)
    change(
        copy,
        model_type="dropped_llama",
        architectures=["DroppedLlamaForCausalLM"],
        auto_map={
            "AutoConfig": "configuration_dropped.DroppedConfig",
            "AutoModelForCausalLM": "modeling_dropped.DroppedLlamaForCausalLM",
        },
    )
    path = copy / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"tokenizer_class": "PreTrainedTokenizerFast"}))
    return copy


def logits(model: Any) -> torch.Tensor:
    with torch.inference_mode():
        output: torch.Tensor = model(input_ids=TOKENS, use_cache=False).logits
    return output


@pytest.mark.parametrize("position", ["drope", "rope"])
def test_custom_class_weights_load_into_the_plain_class(published: Path, position: Any) -> None:
    loaded = load(ModelSource(str(published), device="cpu", load_as="llama", position=position))
    assert type(loaded.model).__name__ == "LlamaForCausalLM"
    assert positional_of(loaded.model) == position
    model = built("llama")
    with encoding(model, position):
        assert torch.equal(logits(loaded.model), logits(model))
    assert loaded.tokenizer("w4 w5")["input_ids"] == [1, 4, 5]
    facts = {"load_as": "llama", "position": position, "encoding": position, "architecture": "LlamaForCausalLM"}
    assert loaded.facts.items() >= facts.items()


def test_quantized_weights_of_another_class(tmp_path: Path) -> None:
    pytest.importorskip("bitsandbytes")
    saved("llama-wide", tmp_path)
    change(
        tmp_path, model_type="dropped_llama", architectures=["DroppedLlamaForCausalLM"], auto_map={"AutoConfig": "a.B"}
    )
    source = ModelSource(
        str(tmp_path), dtype="fp32", quantize="nf4", device="cpu", load_as="llama", position="drope", scaling=0.5
    )
    loaded = load(source)
    assert type(loaded.model.model.layers[0].self_attn.q_proj.weight).__name__ == "Params4bit"
    assert positional_of(loaded.model) == "drope"
    assert loaded.facts["scaling"] == 0.5


def test_custom_class_is_not_loaded_as_another_without_load_as(published: Path) -> None:
    with pytest.raises(ModelError, match=r"brings its own code; read it, .* or load its weights into a plain class"):
        load(ModelSource(str(published)))
    change(published, model_type="llama")  # transformers would silently use its own Llama
    with pytest.raises(ModelError, match=r"custom class \(DroppedLlamaForCausalLM\)"):
        load(ModelSource(str(published)))


def test_native_class_with_leftover_custom_code_loads(copy: Path) -> None:
    change(copy, auto_map={"AutoModelForCausalLM": "modeling_llama.LlamaForCausalLM"})
    assert type(load(ModelSource(str(copy), device="cpu"), tokenizer=False).model).__name__ == "LlamaForCausalLM"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"load_as": "llama"}, "say how"),
        ({"load_as": "llama", "position": "drope", "trust_remote_code": True}, "not both"),
        ({"position": "learned"}, "one of as configured, rope, drope"),
    ],
)
def test_faulty_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        ModelSource("anything", **options)


@pytest.mark.parametrize(("kind", "message"), [("lama", "not a model type"), ("clip", "not a causal language model")])
def test_load_as_an_unfit_class_is_refused(published: Path, kind: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        load(ModelSource(str(published), load_as=kind, position="drope"))


def test_weights_unknown_to_the_plain_class_are_refused(published: Path) -> None:
    weights = load_file(published / "model.safetensors")
    weights["model.layers.0.self_attn.temperature"] = torch.ones(4)
    save_file(weights, published / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"llama would ignore \(first: model\.layers\.0\.self_attn\.temperature\)"):
        load(ModelSource(str(published), load_as="llama", position="drope"))


@pytest.mark.parametrize(
    "setting",
    [
        {"softmax_scale": 0.2}, {"softmax_scale": 1.0}, {"attention_multiplier": 0.5}, {"attn_scale": 2},
        {"query_pre_attn_scalar": 24}, {"use_qk_norm": True}, {"qk_layernorm": True}, {"attn_logit_softcapping": 30.0},
        {"no_rope_layers": [1, 0, 1]}, {"use_rope": False}, {"nope": True},
    ],
)  # fmt: skip
def test_config_settings_that_the_class_would_ignore_are_refused(copy: Path, setting: dict[str, Any]) -> None:
    change(copy, **setting)
    with pytest.raises(ModelError, match=f"config.json sets {next(iter(setting))} = .* LlamaConfig would ignore"):
        load(ModelSource(str(copy), device="cpu"))


@pytest.mark.parametrize(
    "setting",
    [
        {"softmax_scale": None}, {"softmax_scale": 8**-0.5},  # the head dimension is 8, Llama's default
        {"use_qk_norm": False}, {"use_rope": True}, {"no_rope_layers": None}, {"training_note": "softmax_scale"},
    ],
)  # fmt: skip
def test_config_settings_without_effect_are_accepted(copy: Path, setting: dict[str, Any]) -> None:
    change(copy, **setting)
    assert configuration(ModelSource(str(copy))).model_type == "llama"


def test_config_settings_known_to_the_class_are_accepted(tmp_path: Path) -> None:
    saved("gemma2", tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    assert {"query_pre_attn_scalar", "attn_logit_softcapping"} <= set(config)
    assert configuration(ModelSource(str(tmp_path))).model_type == "gemma2"
    change(tmp_path, model_type="llama")
    with pytest.raises(ModelError, match="would ignore"):
        configuration(ModelSource(str(tmp_path)))


def test_given_score_scaling_is_used(copy: Path) -> None:
    change(copy, softmax_scale=0.7)
    loaded = load(ModelSource(str(copy), device="cpu", scaling=0.7))
    calls: list[Call] = []
    forward(loaded.model, TOKENS, calls.append)
    assert [call.scaling for call in calls] == [0.7] * 3
    assert not torch.equal(logits(loaded.model), logits(built("llama")))
    change(copy, use_qk_norm=True)
    with pytest.raises(ModelError, match="use_qk_norm"):
        load(ModelSource(str(copy), device="cpu", scaling=0.7))
    change(copy, use_qk_norm=None)
    for scaling in (0.0, float("nan")):
        with pytest.raises(ModelError, match="not a factor on scores"):
            load(ModelSource(str(copy), device="cpu", scaling=scaling))


def test_built_in_names_lead_to_their_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtin, "FOLDER", tmp_path / "tiny")
    with pytest.raises(ModelError, match=r"tiny-drope: not in .*tiny; .*lab population --export"):
        resolve(tmp_path, "tiny-drope")
    folder = tmp_path / "tiny/tiny-rope"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    assert resolve(tmp_path, "tiny-rope") == str(folder)
    for name in ("meta-llama/Llama-2-7b-hf", str(tmp_path)):
        assert resolve(tmp_path, name) == name


def test_local_folders_are_resolved_and_unknown_names_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    assert resolve(tmp_path, "mine") == "mine"
    with pytest.raises(ModelError, match=r"\./min: no such folder; did you mean 'mine'"):
        resolve(tmp_path, "./min")
    with pytest.raises(ModelError, match=r"is neither a folder .*tiny-continued, tiny-drope.*did you mean tiny-rope"):
        resolve(tmp_path, "tiny-rop")
    with pytest.raises(ModelError, match=r"^((?!did you mean).)*owner/name$"):
        resolve(tmp_path, "Llama-2-7b-hf")
    assert NAMES == ("tiny-rope", "tiny-continued", "tiny-drope")
