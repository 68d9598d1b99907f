"""Memory estimates before loading agree with loaded models, and with known counts."""

import re
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from boundpaper.errors import ModelError
from keyquery.models.checkpoints import estimate as module
from keyquery.models.checkpoints import loading
from keyquery.models.checkpoints.estimate import MemoryEstimate, check_memory, estimate, free_bytes, of_config
from keyquery.models.checkpoints.loading import ModelSource, load
from models_tiny import built, saved

pytestmark = pytest.mark.models

NAMES = ["llama", "mistral", "ministral3", "qwen3", "smollm3", "gemma3", "gpt_neox", "mistral3-images"]


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved("llama-wide", tmp_path_factory.mktemp("estimate") / "wide")


@pytest.mark.parametrize("name", NAMES)
def test_weights_equal_the_loaded_ones(name: str) -> None:
    model = built(name)
    memory = of_config(model.config, name, context=32, dtype="fp32")
    assert memory.weights == model.get_memory_footprint()
    assert memory.parameters == sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize(("quantize", "double"), [("nf4", False), ("fp4", False), ("nf4", True), ("int8", False)])
def test_quantized_weights_equal_the_loaded_ones(
    wide: Path, quantize: str, double: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The estimate includes the scales, which the library's memory footprint leaves out."""
    pytest.importorskip("bitsandbytes")
    monkeypatch.setattr(loading, "check_order", lambda model: None)  # a CPU forward pass packs 4-bit weights again
    source = ModelSource(str(wide), dtype="bf16", quantize=quantize, double=double, device="cpu")
    memory = estimate(source, context=32)
    model = load(source, tokenizer=False).model
    scales = 0
    for layer in model.modules():
        weight: Any = getattr(layer, "weight", None)
        state = getattr(weight, "quant_state", None)
        if state is not None:
            inner = state.state2.absmax.numel() * 4 if state.nested else 0
            scales += state.absmax.numel() * state.absmax.element_size() + inner
        elif quantize == "int8" and hasattr(layer, "state"):
            scales += weight.shape[0] * 4
    assert scales > 0
    assert memory.weights == pytest.approx(model.get_memory_footprint() + scales, rel=0.02)
    plain = of_config(model.config, "plain", context=32, dtype="bf16")
    assert memory.weights < 0.75 * plain.weights
    assert memory.parameters == plain.parameters


def test_estimate_of_llama_2_7b_matches_known_counts() -> None:
    """Llama 2 7B has 6,738,415,616 parameters and 32 heads of 128 dimensions; other numbers are computed by hand."""
    config = transformers.LlamaConfig(num_key_value_heads=32, max_position_embeddings=4096)
    memory = of_config(config, "seven", context=4096, dtype="fp16", quantize="nf4")
    assert memory.parameters == 6_738_415_616
    linear = 6_738_415_616 - 2 * 32000 * 4096 - 65 * 4096
    assert memory.weights == pytest.approx(linear * 4.5 / 8 + 2 * (2 * 32000 + 65) * 4096, rel=1e-6)
    assert memory.cache == 2 * 32 * 4096 * 4096 * 2
    assert memory.total < 12e9, "fits a GPU of 24 GB"
    full = of_config(config, "seven", context=4096, dtype="fp16")
    assert full.weights == pytest.approx(2 * 6_738_415_616, rel=1e-6)


def test_estimated_cache_equals_that_of_the_library(tmp_path: Path) -> None:
    """Windows limit the cache, and cross-attention caches no text."""
    for name in ("llama", "gemma3", "mllama-images"):
        model = load(ModelSource(str(saved(name, tmp_path / name)), device="cpu"), tokenizer=False).model
        with torch.inference_mode():
            cache = model(input_ids=torch.arange(40)[None].repeat(2, 1), use_cache=True).past_key_values
        layers_with_keys = [layer for layer in cache.layers if getattr(layer, "keys", None) is not None]
        cache_bytes = sum(4 * (layer.keys.numel() + layer.values.numel()) for layer in layers_with_keys)
        memory = estimate(ModelSource(str(tmp_path / name), dtype="fp32"), context=40, batch=2)
        assert memory.weights == model.get_memory_footprint(), "no image tower if only text is loaded"
        # The library's sliding layers keep one token less than the window, before the next token is added.
        assert cache_bytes <= memory.cache <= 1.1 * cache_bytes, name


def test_activations_grow_with_tokens_texts_and_logits() -> None:
    config = built("llama").config
    single_logit = of_config(config, "m", context=512, logits=1)
    assert of_config(config, "m", context=512, batch=3, logits=1).activations == 3 * single_logit.activations
    assert of_config(config, "m", context=1024, logits=1).activations > 1.9 * single_logit.activations
    all_logits = of_config(config, "m", context=512)
    assert all_logits.activations - single_logit.activations == 511 * 64 * 8


def test_estimate_line_states_the_need_and_the_free_memory() -> None:
    memory = MemoryEstimate("owner/m", 7_000_000_000, 4 * 10**9, 2 * 10**9, 10**9, 4096, 1, "nf4 and bfloat16")
    assert check_memory(memory, 24 * 10**9) == (
        "owner/m: 7.00 B parameters; at least 7.00 GB of 24.0 GB free: weights 4.00 GB (nf4 and bfloat16), key cache "
        "2.00 GB and activations 1.00 GB for 4,096 tokens"
    )
    assert " free" not in check_memory(memory, None)
    assert "2 x 4,096 tokens" in MemoryEstimate("m", 1, 1, 1, 1, 4096, 2, "float32").line()


def test_model_that_does_not_fit_is_refused_with_a_context_that_would() -> None:
    memory = MemoryEstimate("m", 7_000_000_000, 4 * 10**9, 2 * 10**9, 10**9, 4096, 1, "nf4 and bfloat16")
    with pytest.raises(ModelError, match=r"cannot fit: 2,048 tokens may fit \(or go on with --anyway\)"):
        check_memory(memory, 5_600_000_000)
    with pytest.raises(ModelError, match="use shorter texts"):
        check_memory(memory, 4_000_000_001)
    with pytest.raises(ModelError, match="--quantize nf4"):
        check_memory(memory, 3 * 10**9)
    assert "does not fit; continuing because of --anyway" in check_memory(memory, 3 * 10**9, anyway=True)
    assert check_memory(memory, memory.total) == memory.line(memory.total), "the exact size suffices"


def test_estimate_reads_no_weights(wide: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text((wide / "config.json").read_text())
    assert estimate(ModelSource(str(tmp_path)), context=64).parameters == sum(
        parameter.numel() for parameter in built("llama-wide").parameters()
    )
    with pytest.raises(ModelError, match="no safetensors weights"):
        load(ModelSource(str(tmp_path)))
    with pytest.raises(ModelError, match=r"no config\.json"):
        estimate(ModelSource(str(tmp_path / "..")), context=64)


def test_estimate_with_position_encoding_and_refusal_of_zero_tokens(wide: Path) -> None:
    dropped = estimate(ModelSource(str(wide), position="drope"), context=64)
    assert dropped.total == estimate(ModelSource(str(wide)), context=64).total
    for context, batch in ((0, 1), (8, 0)):
        with pytest.raises(ModelError, match="give 1 or more of both"):
            estimate(ModelSource(str(wide)), context=context, batch=batch)


def test_free_memory_of_several_gpus_is_summed(monkeypatch: pytest.MonkeyPatch) -> None:
    free = free_bytes("cpu")
    assert free is None or free > 0
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    devices: list[Any] = []
    monkeypatch.setattr(module, "free_memory", lambda device: devices.append(device) or 10)
    assert free_bytes("auto") == 20
    assert free_bytes("cuda:1") == 10
    assert devices == ["cuda:0", "cuda:1", "cuda:1"]


def test_precision_is_spelled_out() -> None:
    config = built("llama").config
    assert of_config(config, "m", context=8, dtype="bf16", quantize="nf4").precision == "nf4 and bfloat16"
    assert re.fullmatch("float32|bfloat16", of_config(config, "m", context=8).precision)
