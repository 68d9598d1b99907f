"""Loading a model: its precision, its fingerprint, and an error of one line for each possible failure."""

import builtins
import importlib
import json
import logging
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

import architectures
from boundpaper.errors import MissingDependency, ModelError
from keyquery.models import libraries
from keyquery.models.architecture import forward, survey
from keyquery.models.attention.calls import Call, positions_of, recording
from keyquery.models.checkpoints import loading
from keyquery.models.checkpoints.identity import fingerprint
from keyquery.models.checkpoints.loading import ModelSource, load
from models_tiny import VOCABULARY, built, change, saved, saved_model

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved("llama", tmp_path_factory.mktemp("loading") / "llama")


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved("llama-wide", tmp_path_factory.mktemp("loading") / "wide")


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    shutil.copytree(folder, tmp_path / "copy")
    return tmp_path / "copy"


@pytest.mark.parametrize(("option", "dtype"), [("auto", "float32"), ("bf16", "bfloat16"), ("fp16", "float16")])
def test_model_is_loaded_in_the_requested_precision(folder: Path, option: str, dtype: str) -> None:
    loaded = load(ModelSource(str(folder), dtype=option, device="cpu"))
    assert str(loaded.model.dtype) == f"torch.{dtype}"
    assert loaded.facts["dtype"] == dtype
    assert not loaded.model.training
    assert loaded.tokenizer("w4 w5")["input_ids"] == [1, 4, 5]


@pytest.mark.parametrize("kind", ["nf4", "fp4", "int8"])
def test_quantized_weights_load_on_the_cpu(wide: Path, kind: str) -> None:
    """Weights have the requested type, and recorded attention equals that of the quantized model."""
    pytest.importorskip("bitsandbytes")
    pytest.importorskip("accelerate")
    loaded = load(ModelSource(str(wide), dtype="fp32", quantize=kind, device="cpu"))
    weight = loaded.model.model.layers[0].self_attn.q_proj.weight
    assert type(weight).__name__ == ("Int8Params" if kind == "int8" else "Params4bit")
    if kind != "int8":
        assert weight.quant_type == kind
        facts = {"library": "bitsandbytes", "type": kind, "double": False, "compute": "float32"}
        assert loaded.facts["quantization"] == facts
    assert len(survey(loaded.model)) == 3
    tokens = torch.arange(4, 20)[None].repeat(2, 1)
    mask = torch.ones_like(tokens)
    mask[1, :5] = 0
    inputs = {"attention_mask": mask, "position_ids": positions_of(mask)}
    calls: list[Call] = []
    with torch.inference_mode():
        loaded.model.set_attn_implementation("eager")
        expected = loaded.model(input_ids=tokens, use_cache=False, output_attentions=True, **inputs)
        with recording(loaded.model, calls.append):
            logits = loaded.model(input_ids=tokens, use_cache=False, **inputs).logits
    assert torch.equal(logits, expected.logits)
    assert [call.layer for call in calls] == [0, 1, 2]
    for call, weights in zip(calls, expected.attentions, strict=True):
        key = call.key.repeat_interleave(2, dim=1)
        scores = call.query @ key.transpose(2, 3) * call.scaling + call.mask
        assert torch.equal(torch.softmax(scores, dim=-1, dtype=torch.float32), weights)
    plain = built("llama-wide")
    unquantized_calls: list[Call] = []
    forward(plain, tokens, unquantized_calls.append, **inputs)
    error = (calls[0].query[0] - unquantized_calls[0].query[0]).norm() / unquantized_calls[0].query[0].norm()
    assert 1e-4 < error < 0.3, "quantized, but nearly the same outputs"


@pytest.mark.parametrize("option", [{"dtype": "half"}, {"quantize": "int4"}])
def test_unknown_precisions_are_refused(option: dict[str, str]) -> None:
    with pytest.raises(ModelError, match="is unknown; give one of"):
        ModelSource("anything", **option)


def test_folder_without_a_model_and_an_unreachable_model_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no config\.json"):
        load(ModelSource(str(tmp_path)))
    with pytest.raises(ModelError, match="Hub"):
        load(ModelSource("nobody/nothing-at-all"))


def test_weights_other_than_safetensors_are_refused(copy: Path) -> None:
    (copy / "model.safetensors").unlink()
    torch.save({}, copy / "pytorch_model.bin")
    with pytest.raises(ModelError, match="no safetensors weights"):
        load(ModelSource(str(copy)))


def test_damaged_weight_file_is_reported(copy: Path) -> None:
    path = copy / "model.safetensors"
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(ModelError, match="damaged or cut short"):
        load(ModelSource(str(copy)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_type": "quantum_llama"}, r"does not know its architecture \(quantum_llama\)"),
        ({"num_hidden_layers": 4}, r"lacks \d+ weights .*model\.layers\.3"),
        ({"intermediate_size": 40}, "do not fit the configuration"),
    ],
)
def test_configuration_of_another_model_is_refused_without_the_report_of_transformers(
    copy: Path, caplog: pytest.LogCaptureFixture, changes: dict[str, object], message: str
) -> None:
    change(copy, **changes)
    with caplog.at_level(logging.WARNING), pytest.raises(ModelError, match=message):
        load(ModelSource(str(copy)))
    assert "LOAD REPORT" not in caplog.text


def test_ignored_weights_are_reported_in_one_line(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = copy / "model.safetensors"
    save_file({**load_file(path), "tower.weight": torch.ones(2)}, path, metadata={"format": "pt"})
    load(ModelSource(str(copy)))
    printed = capsys.readouterr().err
    assert f"{copy}: weights that are none of the architecture's are left out: 1 (first: tower.weight)" in printed
    assert "LOAD REPORT" not in printed


@pytest.mark.parametrize(
    ("name", "key"),
    [("config.json", "hidden_act"), ("tokenizer_config.json", "tokenizer_class"), ("tokenizer.json", "version")],
)
def test_duplicate_json_key_is_refused(copy: Path, name: str, key: str) -> None:
    """The library would silently use the last duplicate."""
    path = copy / name
    path.write_text(path.read_text().replace(f'"{key}":', f'"{key}": "odd", "{key}":', 1))
    with pytest.raises(ModelError, match=rf"{name}: the key '{key}' occurs twice"):
        load(ModelSource(str(copy)))


@pytest.mark.parametrize("setting", [{"model_max_length": "nope"}, {"model_max_length": [8]}, {"padding_side": 7}])
def test_broken_tokenizer_is_refused(copy: Path, setting: dict[str, object]) -> None:
    path = copy / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **setting}))
    with pytest.raises(ModelError, match=r"okenizer"):
        load(ModelSource(str(copy)))


def test_norms_that_the_architecture_would_ignore_are_refused(tmp_path: Path) -> None:
    """A Qwen3 checkpoint labelled as Llama would run without its q/k norms."""
    saved("qwen3", tmp_path)
    change(tmp_path, model_type="llama", architectures=["LlamaForCausalLM"])
    with pytest.raises(ModelError, match=r"would ignore although they change attention \(first: .*k_norm"):
        load(ModelSource(str(tmp_path)))


def test_tokenizer_is_that_of_its_file_for_any_model_type(tmp_path: Path) -> None:
    """For Qwen2, the library would use a tokenizer of bytes even if the folder has one of whole words."""
    folder = saved_model(architectures.built("qwen2", vocab_size=VOCABULARY), tmp_path / "qwen2")
    assert load(ModelSource(str(folder), device="cpu")).tokenizer("w4 w5")["input_ids"] == [1, 4, 5]


def test_a_missing_tokenizer_is_refused_unless_not_needed(copy: Path) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (copy / name).unlink()
    with pytest.raises(ModelError, match="tokenizer"):
        load(ModelSource(str(copy)))
    assert load(ModelSource(str(copy)), tokenizer=False).tokenizer is None


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_unavailable_devices_are_refused(folder: Path) -> None:
    with pytest.raises(ModelError, match="no GPU that torch can use"):
        load(ModelSource(str(folder), device="cuda"))
    with pytest.raises(ModelError, match="device 'tpu' is unknown"):
        load(ModelSource(str(folder), device="tpu"))


@pytest.mark.parametrize("device", ["auto", "cuda"])
def test_weights_are_spread_over_all_gpus(folder: Path, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def from_pretrained(*_: object, **options: object) -> None:
        raise ModelError(f"placed {options['device_map']!r}")

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(libraries, "need", lambda name, *_: name == "accelerate" or importlib.import_module(name))
    monkeypatch.setattr(loading, "model_class", lambda *_: SimpleNamespace(from_pretrained=from_pretrained))
    with pytest.raises(ModelError, match="placed 'auto'"):
        load(ModelSource(str(folder), device=device))


class GatedRepoError(Exception):
    """An error with the name of the Hub library's error."""


class LocalEntryNotFoundError(Exception):
    """An error with the name of the Hub library's error."""


@pytest.mark.parametrize(
    ("cause", "message"),
    [
        (GatedRepoError("401"), "gated; accept its licence"),
        (LocalEntryNotFoundError("offline"), "not in the Hub's cache and the Hub cannot be reached"),
        (torch.OutOfMemoryError("CUDA out of memory"), "do not fit in memory"),
        (ValueError("first line\nsecond line"), "org/model: first line$"),
    ],
)
def test_root_cause_of_a_library_error_is_reported(
    cause: Exception, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: Any, **options: Any) -> None:
        if isinstance(cause, ValueError):
            raise cause
        raise OSError("We couldn't connect to something") from cause

    monkeypatch.setattr(transformers.AutoConfig, "from_pretrained", fail)
    with pytest.raises(ModelError, match=message):
        load(ModelSource("org/model"))


@pytest.mark.parametrize(("name", "extra"), [("torch", "models"), ("bitsandbytes", "quant"), ("datasets", "models")])
def test_missing_library_error_gives_install_command(name: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def refuse(module: str, *arguments: Any) -> Any:
        if module.split(".")[0] == name:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return original(module, *arguments)

    monkeypatch.setattr(importlib, "import_module", refuse)
    message = rf"{name} is not installed .*pip install -c constraints\.txt '\.\[{extra}\]'"
    with pytest.raises(MissingDependency, match=message):
        libraries.need(name, "for a test")


def test_models_package_imports_without_torch() -> None:
    """The modules for captures, projections and loading must be importable without torch."""
    code = (
        "import sys; sys.modules['torch'] = sys.modules['transformers'] = sys.modules['pyarrow'] = None\nimport "
        "keyquery.models.captures.capture, keyquery.models.captures.reading\nimport "
        "keyquery.models.attention.projections\nfrom keyquery.models.checkpoints.loading import ModelSource, "
        "load\ntry:\n    load(ModelSource('anything'))\nexcept Exception as error:\n    print(type(error).__name__, "
        "error)\n"
    )
    root = Path(__file__).resolve().parent.parent
    result = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    assert result.stdout.startswith("MissingDependency torch is not installed"), result.stderr


def test_fingerprint_follows_weights_and_configuration(copy: Path) -> None:
    before = fingerprint(copy)
    assert before == fingerprint(copy)
    change(copy, rms_norm_eps=1e-3)
    reconfigured = fingerprint(copy)
    path = copy / "model.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    assert len({before, reconfigured, fingerprint(copy)}) == 3


def test_fingerprint_covers_whole_weight_files_and_the_tokenizer(copy: Path) -> None:
    """Every byte of a large weight file and the tokenizer change the fingerprint; the model card does not."""
    weight_file = copy / "model-00002.safetensors"
    content = bytearray(6 << 20)
    weight_file.write_bytes(content)
    before = fingerprint(copy)
    content[3 << 20] = 1
    weight_file.write_bytes(content)
    edited = fingerprint(copy)
    (copy / "README.md").write_text("Another word.")
    assert fingerprint(copy) == edited
    tokenizer_file = copy / "tokenizer.json"
    tokenizer_file.write_text(tokenizer_file.read_text() + "\n")
    assert len({before, edited, fingerprint(copy)}) == 3


def test_weight_names_that_change_attention_scores_are_recognised() -> None:
    changing = ["layers.0.self_attn.q_norm.weight", "h.0.attn.k_layernorm.bias", "layers.1.self_attn.sinks"]
    others = ["layers.0.input_layernorm.weight", "rotary_emb.inv_freq", "vision_tower.norm.weight"]
    assert list(filter(loading.CHANGES_SCORES.search, changing + others)) == changing


def test_bitsandbytes_warning_is_logged_once(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "_said", set())
    loading._quantization_config(ModelSource("m", quantize="int8"))
    logger = logging.getLogger(loading.CAST_LOGGER)
    with caplog.at_level(logging.WARNING, logger.name):
        for _ in range(3):
            logger.warning("inputs will be cast from %s", "bfloat16")
        logger.warning("inputs will be cast from %s", "float32")
    assert [record.getMessage() for record in caplog.records if record.name == logger.name] == [
        "inputs will be cast from bfloat16",
        "inputs will be cast from float32",
    ]
