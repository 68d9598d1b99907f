"""Encodings rotate as defined, logits that depend on positions are detected, and models are restored."""

import math
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

import architectures
from boundpaper.errors import ModelError
from keyquery.models.attention import positions
from keyquery.models.attention.encodings import DROPE_FACTOR, configured, encoding_name
from keyquery.models.attention.positions import TOLERANCE, encoding, may_rotate, positional_of, shift_error
from keyquery.models.attention.reach import refuse_longer
from models_tiny import BUILDERS, UNSUPPORTED, built

pytestmark = pytest.mark.models

ROTARY = ["llama", "mistral", "ministral", "qwen3", "smollm3", "gemma2", "gemma3", "gpt_neox", "gpt_oss", "mllama"]
TOKENS = torch.arange(24)[None] % 64


def logits(model: Any, tokens: torch.Tensor = TOKENS) -> torch.Tensor:
    with torch.inference_mode():
        output: torch.Tensor = model(input_ids=tokens, use_cache=False).logits
    return output


def remade(model: Any, kind: str, **options: Any) -> Any:
    """Return a model with the same weights, built with a changed configuration."""
    twin = type(model)(configured(model.config, kind, **options)).eval()
    twin.load_state_dict(model.state_dict())
    return twin


@pytest.mark.parametrize("name", ROTARY)
def test_rope_logits_depend_on_positions_and_drope_logits_do_not(name: str) -> None:
    model = built(name)
    assert shift_error(model, TOKENS, 7) > 1e-3
    assert positional_of(model) == "rope"
    with encoding(model, "drope"):
        assert shift_error(model, TOKENS, 7) == 0
        assert positional_of(model) == "drope"
        dropped = logits(model)
    assert positional_of(model) == "rope"
    twin = remade(model, "drope")
    assert positional_of(twin) == "drope"
    assert positions.check_position_blind(twin, TOKENS, 5000) <= TOLERANCE
    assert (logits(twin) - dropped).abs().max() <= 1e-6
    assert (dropped - logits(model)).abs().max() > 1e-3


def test_shifting_all_positions_does_not_change_rope_logits() -> None:
    """Rotated scores depend only on differences of positions; therefore `shift_error` shifts only half of a text."""
    model = built("llama")
    mask = torch.ones_like(TOKENS)
    with torch.inference_mode():
        unshifted, shifted = (
            model(input_ids=TOKENS, attention_mask=mask, position_ids=torch.arange(24)[None] + shift).logits
            for shift in (0, 7)
        )
    assert (unshifted - shifted).abs().max() / unshifted.std() < 1e-3 < shift_error(model, TOKENS, 7)


def test_a_gap_is_not_taken_for_another_text() -> None:
    """Tokens after a gap in the positions still attend to tokens before the gap."""
    model = built("llama")
    other = TOKENS.clone()
    other[0, 0] = 40
    with encoding(model, "drope"):
        assert (logits(model) - logits(model, other))[0, -1].abs().max() > 1e-4
        assert shift_error(model, TOKENS, 7) == 0


@pytest.mark.parametrize("name", ["llama", "qwen3", "gemma3", "gpt_neox"])
@pytest.mark.parametrize(("kind", "factor"), [("pi", 4.0), ("yarn", 2.0)])
def test_hooks_equal_configurations(name: str, kind: str, factor: float) -> None:
    model = built(name)
    plain = logits(model)
    twin = remade(model, kind, factor=factor)
    assert positional_of(twin) == kind
    with encoding(model, kind, factor=factor):
        assert positional_of(model) == kind
        assert torch.equal(logits(model), logits(twin))
        assert not torch.equal(logits(model), plain)
    assert torch.equal(logits(model), plain)


def test_interpolation_divides_positions() -> None:
    """With PI by 4, positions 0, 4, 8 give the same logits as positions 0, 1, 2 without PI."""
    model = built("llama")
    mask = torch.ones_like(TOKENS)
    ids = torch.arange(24)[None]
    with torch.inference_mode():
        plain = model(input_ids=TOKENS, attention_mask=mask, position_ids=ids).logits
        with encoding(model, "pi", factor=4):
            spread = model(input_ids=TOKENS, attention_mask=mask, position_ids=4 * ids).logits
    assert (plain - spread).abs().max() < 1e-5


def test_yarn_keeps_fast_and_divides_slow_frequencies() -> None:
    """Frequencies with over 32 turns in the trained length stay, those with less than one turn are divided."""
    config = transformers.LlamaConfig(
        hidden_size=128, num_attention_heads=1, num_hidden_layers=1, intermediate_size=8, max_position_embeddings=4096
    )
    model = transformers.LlamaForCausalLM(config).eval()
    module = model.model.rotary_emb
    position = torch.ones(1, 1, dtype=torch.long)
    with encoding(model, "yarn", factor=8):
        cosine, sine = module(torch.zeros(1), position)
    size = (cosine**2 + sine**2).sqrt()
    assert torch.allclose(size, torch.full_like(size, 0.1 * math.log(8) + 1))
    angles = torch.atan2(sine, cosine)[0, 0, :64]
    inverse_frequencies = 1e4 ** -(torch.arange(64) / 64)
    turns = 4096 * inverse_frequencies / (2 * math.pi)
    assert torch.allclose(angles[turns > 40], inverse_frequencies[turns > 40], rtol=1e-4)
    assert torch.allclose(angles[turns < 0.8], inverse_frequencies[turns < 0.8] / 8, rtol=1e-4)
    with encoding(model, "yarn", factor=8, length=64):
        short = torch.atan2(*reversed(module(torch.zeros(1), position)))[0, 0, :64]
    assert (short < angles - 1e-6).any(), "a shorter training length slows more frequencies"


def test_identity_rotation_is_recognised_as_position_blind() -> None:
    model = built("llama")
    hook = model.model.rotary_emb.register_forward_hook(
        lambda module, inputs, output: (torch.ones_like(output[0]), torch.zeros_like(output[1]))
    )
    assert positions.check_position_blind(model) == 0
    with pytest.raises(ModelError, match="says rope, but its rotary module gives no rotation"):
        positional_of(model)
    hook.remove()
    assert positional_of(model) == "rope"


def test_model_named_drope_that_depends_on_positions_is_refused() -> None:
    model = built("llama")
    with pytest.raises(ModelError, match=r"depends on positions: moving half a text by 1000 changes its logits by \d"):
        positions.check_position_blind(model)
    model.config.rope_parameters = configured(model.config, "drope").rope_parameters  # the module already existed
    with pytest.raises(ModelError, match="says drope, but its rotary module rotates"):
        positional_of(model)


def test_rotation_inside_one_layer_is_detected_from_the_logits() -> None:
    """The rotary module does not show that a layer rotates by itself; the logits do."""
    model = remade(built("llama"), "drope")
    attention = model.model.layers[1].self_attn
    rotary = built("llama").model.rotary_emb

    def rotate(module: Any, inputs: Any, options: dict[str, Any]) -> Any:
        return inputs, options | {"position_embeddings": rotary(options["hidden_states"], options["position_ids"])}

    hook = attention.register_forward_pre_hook(rotate, with_kwargs=True)
    with pytest.raises(ModelError, match="is called drope but depends on positions"):
        positional_of(model)
    hook.remove()
    assert positional_of(model) == "drope"


def test_encoding_is_undone_after_an_error() -> None:
    model = built("qwen3")
    plain = logits(model)
    hooks = len(model.model.rotary_emb._forward_hooks)
    with suppress(KeyboardInterrupt), encoding(model, "drope"), encoding(model, "pi", factor=2):
        raise KeyboardInterrupt
    assert len(model.model.rotary_emb._forward_hooks) == hooks
    assert torch.equal(logits(model), plain)
    assert positional_of(model) == "rope"


def test_the_innermost_encoding_counts() -> None:
    model = built("llama")
    plain = logits(model)
    with encoding(model, "drope"):
        dropped = logits(model)
        with encoding(model, "rope"):
            assert torch.equal(logits(model), plain)
            assert positional_of(model) == "rope"
        assert torch.equal(logits(model), dropped)


def test_drope_survives_saving_and_can_be_reverted(tmp_path: Path) -> None:
    model = built("gpt_neox")
    twin = remade(model, "drope")
    twin.save_pretrained(tmp_path)
    loaded = transformers.AutoModelForCausalLM.from_pretrained(tmp_path)
    assert positional_of(loaded) == "drope"
    assert torch.equal(logits(loaded), logits(twin))
    with encoding(loaded, "rope"):
        assert torch.equal(logits(loaded), logits(model)), "base frequency and partial rotation are kept"
    assert encoding_name(configured(loaded.config, "rope")) == "rope"


def test_generation_under_a_key_cache_uses_the_encoding() -> None:
    model = built("llama")
    options = {"max_new_tokens": 6, "do_sample": False, "pad_token_id": 0, "eos_token_id": None}
    twin = remade(model, "drope")
    with encoding(model, "drope"):
        assert torch.equal(model.generate(TOKENS, **options), twin.generate(TOKENS, **options))


def test_encoding_applies_per_layer_type() -> None:
    """Gemma 3: DroPE affects all layers; interpolation leaves sliding windows unchanged."""
    config = built("gemma3").config
    dropped = configured(config, "drope").rope_parameters
    assert {parameters["factor"] for parameters in dropped.values()} == {DROPE_FACTOR}
    before, after = config.rope_parameters, configured(config, "pi", factor=4).rope_parameters
    assert after["sliding_attention"] == before["sliding_attention"]
    base = before["full_attention"]["rope_theta"]
    assert after["full_attention"] == {"rope_type": "linear", "factor": 4.0, "rope_theta": base}
    mixed = configured(config, "rope")
    mixed.rope_parameters = before | {"full_attention": dropped["full_attention"]}
    assert encoding_name(mixed) == "rope", "some layers still rotate"


def test_encoding_does_not_change_the_given_configuration() -> None:
    config = built("llama").config
    before = dict(config.rope_parameters)
    configured(config, "yarn", factor=2)
    assert config.rope_parameters == before


def test_checkpoint_frequencies_count_as_rope_and_are_not_scaled_twice() -> None:
    config = built("llama").config
    config.rope_parameters = {
        "rope_type": "llama3", "rope_theta": 5e5, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 32,
    }  # fmt: skip
    model = transformers.LlamaForCausalLM(config).eval()
    assert positional_of(model) == "rope"
    plain = logits(model)
    with encoding(model, "rope"):
        assert torch.equal(logits(model), plain)
    with pytest.raises(ModelError, match="frequencies of type llama3 already"), encoding(model, "pi", factor=2):
        pass
    with encoding(model, "drope"):
        assert positional_of(model) == "drope"


def test_drope_is_refused_for_queries_scaled_by_position() -> None:
    model = built("ministral3")
    assert positional_of(model) == "yarn"
    with pytest.raises(ModelError, match="scales its queries by position"), encoding(model, "drope"):
        pass
    with pytest.raises(ModelError, match="scales its queries by position"):
        configured(model.config, "drope")


def test_learned_positions_count_as_no_rotation() -> None:
    model = built("gpt_neo")
    assert positional_of(model) == "none"
    with pytest.raises(ModelError, match="rotates nothing"), encoding(model, "drope"):
        pass


@pytest.mark.parametrize("name", ["granitemoehybrid", "openai-gpt"])
def test_models_without_any_rotation_are_recognised_by_running_them(name: str) -> None:
    """Granite 4 states a rotary base and rotates nothing; openai-gpt gives its learned positions an unusual name."""
    assert positional_of(architectures.built(name)) == "none"


@pytest.mark.parametrize(("name", "kind"), [("codegen", "rope"), ("gptj", "rope"), ("ctrl", "none")])
def test_sinusoidal_position_tables_are_classified(name: str, kind: str) -> None:
    """With rotation, logits depend only on differences of positions; with added sinusoids, also on the positions."""
    model = architectures.built(name)
    assert positional_of(model) == kind
    rows = min(len(table) for name, table in model.named_buffers() if name.endswith(("embed_positions", "encoding")))
    mask, ids = torch.ones_like(TOKENS), torch.arange(24)[None]
    with torch.inference_mode():
        earlier, later = (
            model(input_ids=TOKENS, attention_mask=mask, position_ids=ids + shift).logits for shift in (0, 7)
        )
    assert ((earlier - later).abs().max() / earlier.std() < 1e-3) == (kind == "rope")
    with pytest.raises(ModelError, match=r"its attention code|added to the emb"), encoding(model, "drope"):
        pass
    refuse_longer(model)
    with pytest.raises(ModelError, match=f"a text of {rows + 1} tokens is too long: the table of positions"):
        logits(model, torch.zeros(1, rows + 1, dtype=torch.long))
    for name, table in model.named_buffers():
        table[:] = table[:1].clone() if name.endswith("embed_positions") else table
    if kind == "rope":
        with pytest.raises(ModelError, match="has a rotation table, but its logits do not depend on positions"):
            positional_of(model)


@pytest.mark.parametrize("name", ["bloom", "mpt", "falcon"])
def test_position_encodings_of_a_model_with_alibi_are_refused_as_a_position_bias(name: str) -> None:
    """The error is not about a missing rotary module, since adding one would not help."""
    model = built(name)
    assert may_rotate(model)
    for function in (positions.rotary_modules, positional_of, lambda model: encoding(model, "drope").__enter__()):
        with pytest.raises(ModelError, match=r"adds a position bias to its scores \(ALiBi\)"):
            function(model)


@pytest.mark.parametrize(
    ("kind", "factor", "message"),
    [
        ("nope", None, "'nope' is unknown; give one of rope, drope, pi, ntk, yarn"),
        ("pi", None, "needs a factor above 1"), ("yarn", 1.0, "needs a factor above 1"),
        ("pi", math.nan, "needs a factor above 1"), ("drope", 2.0, "takes no factor"),
    ],
)  # fmt: skip
def test_faulty_encodings_are_refused(kind: str, factor: float | None, message: str) -> None:
    model = built("llama")
    with pytest.raises(ModelError, match=message), encoding(model, kind, factor=factor):
        pass
    with pytest.raises(ModelError, match=message):
        configured(model.config, kind, factor=factor)


def test_invalid_position_shifts_are_refused() -> None:
    with pytest.raises(ModelError, match="moves nothing"):
        shift_error(built("llama"), TOKENS[:, :1], 3)
    with pytest.raises(ModelError, match="accepts no position ids"):
        shift_error(built("bloom"), TOKENS, 3)
    broken = built("llama")
    broken.lm_head.weight.data[0, 0] = math.nan
    with pytest.raises(ModelError, match="not finite"):
        shift_error(broken, TOKENS, 3)


def test_every_tiny_architecture_is_tested_as_supported_or_unsupported() -> None:
    assert set(ROTARY) | {"llama-wide", "ministral3"} == set(BUILDERS)
    assert set(UNSUPPORTED) == {"gpt_neo", "bloom", "mpt", "gptj", "falcon"}
