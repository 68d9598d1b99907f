"""Recorded attention equals the eager attention of a model, with windows and left padding."""

import threading
from typing import Any

import pytest
import torch
from transformers.masking_utils import AttentionMaskInterface
from transformers.modeling_utils import AttentionInterface

from boundpaper.errors import ModelError
from keyquery.models.architecture import forward, query_scale, survey
from keyquery.models.attention import calls as attention
from keyquery.models.attention.calls import NAME, Call, positions_of, recording
from models_tiny import BUILDERS, UNSUPPORTED, WINDOW, built

pytestmark = pytest.mark.models

TOKENS, PADDING = 16, 6
WINDOWED = {"mistral", "ministral", "gemma3", "gpt_oss", "gemma2"}


def batch() -> tuple[Any, dict[str, Any]]:
    """Return two rows of tokens, the second left-padded, with mask and positions."""
    tokens = torch.randint(4, 64, (2, TOKENS), generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(tokens)
    tokens[1, :PADDING], mask[1, :PADDING] = 0, 0
    return tokens, {"attention_mask": mask, "position_ids": positions_of(mask)}


def image_inputs() -> dict[str, Any]:
    """Return image states for the architecture with cross-attention."""
    return {
        "cross_attention_states": torch.randn(2, 7, 32, generator=torch.Generator().manual_seed(2)),
        "cross_attention_mask": torch.zeros(2, 1, TOKENS, 7),
        "full_text_row_masked_out_mask": torch.ones(2, 1, TOKENS, 1),
    }


def weights(call: Call) -> Any:
    """Return attention weights from the definition: softmax(scaling q.k + mask), with sinks or soft-capping."""
    groups = call.query.shape[1] // call.key.shape[1]
    key = call.key.repeat_interleave(groups, dim=1)
    scores = torch.matmul(call.query, key.transpose(2, 3)) * call.scaling
    softcap = call.options.get("softcap")
    if softcap is not None:
        scores = torch.tanh(scores / softcap) * softcap
    mask = call.mask
    if mask is None:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    scores = scores + mask if mask.dtype != torch.bool else scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    sinks = call.options.get("s_aux")
    if sinks is None:
        return torch.softmax(scores, dim=-1, dtype=torch.float32)
    scores = torch.cat([scores, sinks.reshape(1, -1, 1, 1).expand(*scores.shape[:3], 1)], dim=-1)
    return torch.softmax(scores - scores.max(dim=-1, keepdim=True).values, dim=-1)[..., :-1]


def unpadded(tensor: Any, mask: Any) -> Any:
    """Return the rows of (B, ..., T, n) that belong to tokens instead of padding."""
    return torch.cat([tensor[row, ..., mask[row].bool(), :].flatten() for row in range(len(mask))])


CASES = [(name, False) for name in BUILDERS] + [("mllama", True)]


@pytest.mark.parametrize(("name", "crossed"), CASES, ids=[f"{name}{'-cross' * crossed}" for name, crossed in CASES])
def test_recorded_attention_equals_eager_attention(name: str, crossed: bool) -> None:
    model = built(name)
    implementation = model.config._attn_implementation
    tokens, inputs = batch()
    inputs |= image_inputs() if crossed else {}
    with torch.inference_mode():
        baseline = model(input_ids=tokens, use_cache=False, **inputs).logits
        model.set_attn_implementation("eager")
        expected = model(input_ids=tokens, use_cache=False, output_attentions=True, **inputs)
    calls: list[Call] = []
    with torch.inference_mode(), recording(model, calls.append):
        logits = model(input_ids=tokens, use_cache=False, **inputs).logits
    assert torch.equal(logits, expected.logits)
    self_calls = [call for call in calls if not call.cross]
    assert [call.layer for call in self_calls] == ([0, 2] if name == "mllama" else [0, 1, 2])
    assert [call.layer for call in calls if call.cross] == ([1] if crossed else [])
    attentions = [matrix for matrix in expected.attentions if matrix is not None and matrix.shape[-1] == TOKENS]
    assert len(attentions) == len(self_calls)
    for call, model_weights in zip(self_calls, attentions, strict=True):
        assert call.query.shape[1] == 4
        assert call.key.shape[1] == (4 if name == "gpt_neox" else 2)
        assert torch.equal(weights(call), model_weights), f"layer {call.layer}"
        if call.window is not None:
            assert model_weights[0, :, TOKENS - 1, : TOKENS - WINDOW].abs().max() == 0
        assert model_weights[1, :, PADDING:, :PADDING].abs().max() == 0

    model.set_attn_implementation(implementation)
    usual_calls: list[Call] = []
    with torch.inference_mode(), recording(model, usual_calls.append):
        recorded = model(input_ids=tokens, use_cache=False, **inputs).logits
    mask = inputs["attention_mask"]
    assert torch.equal(unpadded(recorded, mask), unpadded(baseline, mask))
    for call, model_weights in zip([call for call in usual_calls if not call.cross], attentions, strict=True):
        torch.testing.assert_close(unpadded(weights(call), mask), unpadded(model_weights, mask), rtol=1e-3, atol=2e-5)


@pytest.mark.parametrize("name", sorted(WINDOWED))
def test_survey_reads_sliding_windows(name: str) -> None:
    layers = survey(built(name))
    kinds = ["sliding"] * 3 if name == "mistral" else ["sliding", "full", "sliding"]
    assert [layer.kind for layer in layers] == kinds
    assert {layer.window for layer in layers if layer.kind == "sliding"} == {WINDOW}


@pytest.mark.parametrize("case", ["window", "padding"])
def test_the_mask_must_be_registered(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the registered mask, logits under a window or with padding are wrong."""
    model = built("mistral" if case == "window" else "llama")
    tokens, inputs = batch()
    if case == "window":
        tokens, inputs = tokens[:1], {}
    with torch.inference_mode():
        expected = model(input_ids=tokens, use_cache=False, **inputs).logits[-1, -1]
        with recording(model, lambda call: None):
            right = model(input_ids=tokens, use_cache=False, **inputs).logits[-1, -1]
        monkeypatch.setattr(AttentionMaskInterface, "register", classmethod(lambda cls, name, function: None))
        with recording(model, lambda call: None):
            wrong = model(input_ids=tokens, use_cache=False, **inputs).logits[-1, -1]
    assert torch.equal(right, expected)
    assert (wrong - expected).abs().max() > 1e-2


def state(model: Any) -> tuple[Any, ...]:
    return (
        dict(AttentionInterface._global_mapping),
        dict(AttentionMaskInterface._global_mapping),
        model.config._attn_implementation,
        attention._recorder.get(),
        dict(attention._kernels),
    )


def test_model_is_restored_after_an_interruption() -> None:
    model, other = built("llama"), built("gpt_oss")
    before = state(model), state(other)

    def fail(call: Call) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        forward(model, torch.arange(4)[None], fail)
    assert (state(model), state(other)) == before
    with recording(model, lambda call: None):
        assert NAME in AttentionInterface._global_mapping
        with recording(other, lambda call: None), pytest.raises(ModelError, match="recorded already"):
            forward(model, torch.arange(4)[None], lambda call: None)
        assert NAME in AttentionInterface._global_mapping, "the outer recording still uses the name"
        model(input_ids=torch.arange(4)[None])
    assert (state(model), state(other)) == before


def test_only_the_recording_thread_is_recorded() -> None:
    model = built("llama")
    recorded: list[Call] = []
    results: list[Any] = []
    tokens = torch.arange(8)[None]
    expected = model(input_ids=tokens).logits
    with recording(model, recorded.append):
        thread = threading.Thread(target=lambda: results.append(model(input_ids=tokens).logits))
        thread.start()
        thread.join()
    assert recorded == []
    assert torch.equal(results[0], expected)


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_other_architectures_are_refused_by_name(name: str) -> None:
    model = built(name)
    before = state(model)
    with pytest.raises(ModelError, match=f"model type {name}"):
        survey(model)
    assert state(model) == before


@pytest.mark.parametrize("name", ["llama", "ministral"])
def test_recorded_keys_under_a_cache_equal_those_of_a_plain_forward(name: str) -> None:
    """At each position a cached key equals that of a plain pass, even if the cache drops keys outside a window."""
    model = built(name)
    tokens, inputs = batch()
    plain: list[Call] = []
    with torch.inference_mode(), recording(model, plain.append):
        model(input_ids=tokens, use_cache=False, **inputs)
    cached: list[Call] = []
    cache = None
    with torch.inference_mode(), recording(model, cached.append):
        for start, end in ((0, TOKENS - 2), (TOKENS - 2, TOKENS - 1), (TOKENS - 1, TOKENS)):
            cache = model(
                input_ids=tokens[:, start:end],
                attention_mask=inputs["attention_mask"][:, :end],
                position_ids=inputs["position_ids"][:, start:end],
                past_key_values=cache,
                use_cache=True,
            ).past_key_values
    for call in cached[-3:]:
        call_plain = plain[call.layer or 0]
        queries, keys = call.positions()
        assert queries.tolist() == [[TOKENS - 1], [TOKENS - 1 - PADDING]]
        assert keys.shape[1] == call.key.shape[2] == (WINDOW if call.window else TOKENS)
        for row, shift in ((0, 0), (1, PADDING)):
            known = keys[row] >= 0
            shifted_keys = call_plain.key[row][:, keys[row][known] + shift]
            torch.testing.assert_close(call.key[row][:, known], shifted_keys, rtol=1e-4, atol=1e-5)
            torch.testing.assert_close(call.query[row][:, 0], call_plain.query[row][:, -1], rtol=1e-4, atol=1e-5)


def projected(model: Any, tokens: Any, inputs: dict[str, Any]) -> tuple[list[Call], list[Any]]:
    """Return calls, and the outputs of q_proj as (B, H, T, d), by layer."""
    outputs: list[Any] = []
    for layer in model.model.layers:
        layer.self_attn.q_proj.register_forward_hook(
            lambda module, arguments, output: outputs.append(output.view(2, TOKENS, 4, -1).transpose(1, 2))
        )
    calls: list[Call] = []
    forward(model, tokens, calls.append, **inputs)
    return calls, outputs


def test_layers_without_positions_record_the_plain_projection() -> None:
    model = built("smollm3")
    calls, outputs = projected(model, *batch())
    assert list(map(bool, model.config.no_rope_layers)) == [True, False, True]
    equal = [torch.equal(call.query, output) for call, output in zip(calls, outputs, strict=True)]
    assert equal == [False, True, False]


def test_query_scale_of_ministral3_grows_with_position() -> None:
    """The norm of a query is that of its projection times the scale and YaRN's constant factor."""
    model = built("ministral3")
    tokens, inputs = batch()
    yarn = model.model.rotary_emb.attention_scaling
    for call, output in zip(*projected(model, tokens, inputs), strict=True):
        scale = query_scale(call.module)
        assert scale is not None
        expected = torch.from_numpy(scale.at(inputs["position_ids"].numpy())) * yarn
        norms = output.norm(dim=-1) * expected[:, None]
        torch.testing.assert_close(call.query.norm(dim=-1), norms, rtol=1e-5, atol=1e-6)
        assert expected.max() / expected.min() > 1.2
    assert query_scale(built("llama").model.layers[0].self_attn) is None


def test_survey_classifies_cross_attention_layers() -> None:
    layers = survey(built("mllama"))
    assert [(layer.index, layer.kind) for layer in layers] == [(0, "full"), (1, "cross"), (2, "full")]
    assert layers[1].query_heads == 4
    gemma = survey(built("gemma3"))[0]
    assert gemma.scaling == pytest.approx(24**-0.5), "the module's own scaling, not d^-1/2"
