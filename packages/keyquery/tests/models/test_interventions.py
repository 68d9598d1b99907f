"""Interventions have exactly the stated effect at the stated site, and leave the model unchanged."""

import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import DynamicCache
from transformers.modeling_utils import AttentionInterface

from boundpaper.errors import ModelError
from keyquery.models.anatomy import blocks
from keyquery.models.attention.calls import recording
from keyquery.models.attention.positions import encoding
from keyquery.models.checkpoints.loading import ModelSource, load
from keyquery.models.interventions import Intervention, applied, knockout, part_of, phases
from models_tiny import BUILDERS, built, saved

pytestmark = pytest.mark.models

HEADS, KEYS, DIMS, WIDTH = 4, 2, 8, 32
LAYER = 1
SITES = ("q", "k", "v", "attention", "mlp", "heads")


@pytest.fixture(scope="module")
def model() -> Any:
    return built("llama")


def tokens(length: int = 9, rows: int = 2) -> Any:
    return torch.randint(4, 64, (rows, length), generator=torch.Generator().manual_seed(3))


def logits(model: Any, ids: Any, *interventions: Intervention) -> Any:
    with applied(model, interventions), torch.inference_mode():
        return model(input_ids=ids, use_cache=False).logits


def output_of(model: Any, site: str, *interventions: Intervention, layer: int = LAYER) -> Any:
    """Return the output of a part of one layer, (B, T, D), as the next module receives it."""
    block = next(block for block in blocks(model) if block.layer == layer)
    collected: list[Any] = []
    with applied(model, interventions):  # our hooks run after the interventions'
        if site == "heads":
            hook = block.out.register_forward_pre_hook(lambda module, inputs: collected.append(inputs[0]))
        else:
            hook = part_of(block, site).register_forward_hook(
                lambda module, inputs, output: collected.append(output[0] if isinstance(output, tuple) else output)
            )
        with hook:
            logits(model, tokens())
    return collected[0].clone()


def mask_of(site: str) -> Any:
    shape = {"q": (HEADS, DIMS), "heads": (HEADS, DIMS), "attention": (WIDTH,), "mlp": (WIDTH,)}.get(site, (KEYS, DIMS))
    return np.random.default_rng(5).random(shape) < 0.4


def changed_by_loops(plain: Any, intervention: Intervention) -> Any:
    """Return the effect of an intervention, computed by loops over positions and dimensions."""
    changed = plain.clone()
    mask = np.ones(plain.shape[2], bool) if intervention.dims is None else intervention.dims[LAYER].reshape(-1)
    for position in range(plain.shape[1]) if intervention.positions is None else intervention.positions:
        for dim in np.flatnonzero(mask):
            column = plain[:, :, dim]
            changed[:, position, dim] = {
                "zero": torch.zeros(len(plain)),
                "mean": column.mean(dim=1),
                "scale": intervention.factor * column[:, position],
            }[intervention.action]
    return changed


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("action", ["zero", "mean", "scale"])
@pytest.mark.parametrize("positions", [None, (0,), (2, 5)])
@pytest.mark.parametrize("masked", [False, True])
def test_intervention_changes_each_part_as_defined(
    model: Any, site: Any, action: Any, positions: Any, masked: bool
) -> None:
    dims = {LAYER: mask_of(site)} if masked else None
    intervention = Intervention(site, action, layers=(LAYER,), positions=positions, dims=dims, factor=-2.5)
    plain, output = output_of(model, site), output_of(model, site, intervention)
    assert not torch.equal(output, plain)
    torch.testing.assert_close(output, changed_by_loops(plain, intervention), atol=1e-6, rtol=1e-6)


def test_intervention_changes_only_the_named_layers(model: Any) -> None:
    def zero_layers(intervention: Intervention) -> list[bool]:
        return [bool((output_of(model, "mlp", intervention, layer=layer) == 0).all()) for layer in range(3)]

    assert zero_layers(Intervention("mlp", "zero", layers=(1,))) == [False, True, False]
    assert zero_layers(Intervention("mlp", "zero")) == [True] * 3


def test_several_interventions_apply_in_order(model: Any) -> None:
    plain = output_of(model, "v")
    double = Intervention("v", "scale", layers=(LAYER,), factor=2.0)
    first = Intervention("v", "zero", layers=(LAYER,), positions=(0,))
    mean = Intervention("v", "mean", layers=(LAYER,), positions=(1,))
    output = output_of(model, "v", Intervention("v", "scale", factor=1.0, layers=(0,)), double, first, mean)
    doubled = 2 * plain
    doubled[:, 0] = 0
    expected = doubled.clone()
    expected[:, 1] = doubled.mean(dim=1)  # the mean includes the zero
    torch.testing.assert_close(output, expected, atol=1e-6, rtol=1e-6)
    assert not torch.allclose(output_of(model, "v", mean, double, first), output)


def rotated(model: Any, *interventions: Intervention) -> tuple[Any, Any]:
    """Return queries and keys of the layer as its kernel gets them, (B, H, T, d).

    They are caught inside the model's attention function, since only one recording is allowed at a time.
    """
    collected: list[tuple[Any, Any]] = []
    original = AttentionInterface._global_mapping["sdpa"]

    def catch(module: Any, query: Any, key: Any, *rest: Any, **options: Any) -> Any:
        if module.layer_idx == LAYER:
            collected.append((query.clone(), key.clone()))
        return original(module, query, key, *rest, **options)

    AttentionInterface._global_mapping["sdpa"] = catch
    try:
        logits(model, tokens(), *interventions)
    finally:
        AttentionInterface._global_mapping["sdpa"] = original
    return collected[0]


@pytest.mark.parametrize("site", ["q", "k"])
def test_interventions_after_rotation_change_rotated_vectors(model: Any, site: Any) -> None:
    """The mean of rotated vectors differs from the rotated mean, so results depend on `where`."""
    index, mask = ("q", "k").index(site), mask_of(site)
    plain = rotated(model)
    mean = Intervention(site, "mean", layers=(LAYER,), dims={LAYER: mask})
    output = rotated(model, replace(mean, where="post"))
    expected = plain[index].clone()
    for head, dim in zip(*np.nonzero(mask), strict=True):
        expected[:, head, :, dim] = plain[index][:, head, :, dim].mean(dim=1, keepdim=True)
    torch.testing.assert_close(output[index], expected, atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(output[1 - index], plain[1 - index])
    assert not torch.allclose(rotated(model, mean)[index], expected, atol=1e-3)


def test_interventions_before_and_after_the_rotation_compose(model: Any) -> None:
    pre = Intervention("q", "scale", factor=3.0, layers=(LAYER,))
    post = Intervention("q", "scale", factor=0.5, layers=(LAYER,), where="post")
    torch.testing.assert_close(rotated(model, post, pre)[0], 1.5 * rotated(model)[0], atol=1e-5, rtol=1e-5)


def test_interventions_before_and_after_the_rotation_are_equal_without_rotation(model: Any) -> None:
    before = Intervention("k", "mean", dims={1: mask_of("k")})
    with encoding(model, "drope"):
        outputs = [logits(model, tokens(), intervention) for intervention in (before, replace(before, where="post"))]
    torch.testing.assert_close(*outputs, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("site", ["v", "heads"])
def test_zeroing_values_heads_or_output_removes_attention_equally(model: Any, site: Any) -> None:
    """Zero values, zero heads and zero output are equivalent if the projection has no bias."""
    removed = logits(model, tokens(), Intervention("attention", "zero"))
    assert torch.equal(logits(model, tokens(), Intervention(site, "zero")), removed)
    assert not torch.allclose(logits(model, tokens()), removed)


@pytest.mark.parametrize("length", [HEADS, KEYS, 9])
@pytest.mark.parametrize("name", ["qwen3", "gemma3", "gpt_neox", "gpt_oss", "mistral", "smollm3"])
def test_positions_and_heads_are_distinguished_in_every_tensor_layout(name: str, length: int) -> None:
    """Vectors come as (B, T, H d), (B, T, H, d) or (B, H, T, d); the number of tokens may equal that of heads."""
    model = built(name)
    mask = np.zeros((blocks(model)[1].heads, blocks(model)[1].head_dim), bool)
    mask[1] = True  # everything of query head 1
    intervention = Intervention("q", "scale", factor=0.0, dims={1: mask}, positions=(1,), where="pre")
    if name == "gpt_neox":
        with pytest.raises(ModelError, match=r"computes .q. together with other vectors"):
            logits(model, tokens(), intervention)
        return
    queries: list[Any] = []  # (B, H, T, d) of layer 1 as its kernel gets them
    with recording(model, lambda call: queries.append(call.query.clone()) if call.layer == 1 else None):
        logits(model, tokens(length))
        logits(model, tokens(length), intervention)
    plain, output = queries
    expected = plain.clone()
    expected[:, 1, 1] = 0
    torch.testing.assert_close(output, expected, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("name", sorted(set(BUILDERS) - {"llama-wide"}))
def test_interventions_work_on_many_architectures_and_are_undone(name: str) -> None:
    model = built(name)
    before = logits(model, tokens())
    for site in ("mlp", "attention", "heads"):
        assert not torch.equal(logits(model, tokens(), Intervention(site, "zero", positions=(0,))), before), site
        assert torch.equal(logits(model, tokens()), before), site


def test_interventions_are_undone_after_an_exception(model: Any) -> None:
    before = logits(model, tokens())
    zeroed = [Intervention("mlp", "zero"), Intervention("q", "zero", where="post"), Intervention("heads", "zero")]
    assert not torch.equal(logits(model, tokens(), *zeroed), before)
    with pytest.raises(KeyboardInterrupt), applied(model, zeroed):
        raise KeyboardInterrupt
    assert torch.equal(logits(model, tokens()), before)
    with pytest.raises(ModelError), applied(model, [Intervention("mlp", "zero"), Intervention("mlp", "zero", (7,))]):
        pass
    assert torch.equal(logits(model, tokens()), before)


def continued_logits(model: Any, ids: Any, prefill: Any, decode: Any, steps: int = 3) -> list[Any]:
    """Return logits of the last prompt token and of `steps` given tokens after it, with a key cache."""
    cache, collected = DynamicCache(config=model.config), []
    with torch.inference_mode():
        with prefill():
            collected.append(model(input_ids=ids[:, :-steps], past_key_values=cache, use_cache=True).logits[:, -1])
        for token in ids[:, -steps:].split(1, dim=1):
            with decode():
                collected.append(model(input_ids=token, past_key_values=cache, use_cache=True).logits[:, -1])
    return collected


def test_interventions_in_the_prefill_leave_decoding_alone(model: Any) -> None:
    """Later tokens are computed by the unmodified model from changed keys and values."""
    ids, intervention = tokens(), Intervention("mlp", "zero")
    plain = continued_logits(model, ids, nullcontext, nullcontext)
    in_all_passes = continued_logits(model, ids, *phases(model, [intervention], decode=True))
    in_prefill = continued_logits(model, ids, *phases(model, [intervention], decode=False))
    full_logits = logits(model, ids, intervention)[:, -4:]
    for step in range(4):
        torch.testing.assert_close(in_all_passes[step], full_logits[:, step], atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(in_prefill[0], in_all_passes[0])
    for step in range(1, 4):
        assert not torch.allclose(in_prefill[step], in_all_passes[step], atol=1e-3)
        assert not torch.allclose(in_prefill[step], plain[step], atol=1e-3)


def test_intervention_at_position_0_does_not_affect_decode_steps(model: Any) -> None:
    """The only token of a decode step has index 0, but another position in the text."""
    intervention = Intervention("mlp", "zero", positions=(0,))
    output = continued_logits(model, tokens(), *phases(model, [intervention], decode=True))
    full_logits = logits(model, tokens(), intervention)[:, -4:]
    for step in range(4):
        torch.testing.assert_close(output[step], full_logits[:, step], atol=1e-4, rtol=1e-4)


def test_a_mean_in_decode_steps_is_refused(model: Any) -> None:
    with pytest.raises(ModelError, match="one token"):
        phases(model, [Intervention("q", "mean")], decode=True)
    phases(model, [Intervention("q", "mean")], decode=False)


@pytest.mark.parametrize("kernel", ["sdpa", "eager"])
def test_knockout_equals_an_explicit_attention_mask(kernel: str) -> None:
    model = built("llama")
    model.set_attn_implementation(kernel)
    ids = tokens()
    length = ids.shape[1]
    blocked = np.zeros((2, length, length), bool)
    blocked[0, 7, 2:5], blocked[1, 5:, 1] = True, True
    with knockout(model, blocked):
        scores = logits(model, ids)
    allowed = torch.tensor(np.tril(np.ones((length, length), bool)) & ~blocked)[:, None]
    additive = torch.zeros(allowed.shape).masked_fill(~allowed, torch.finfo(torch.float32).min)
    with torch.inference_mode():
        expected = model(input_ids=ids, attention_mask=additive, use_cache=False).logits
    torch.testing.assert_close(scores, expected, atol=1e-5, rtol=1e-5)
    changed = (scores - logits(model, ids)).abs().amax(dim=2) > 1e-6
    assert changed[0].tolist() == [False] * 7 + [True] * 2  # the last token attends to the seventh
    assert changed[1].tolist() == [False] * 5 + [True] * 4


def test_knockout_works_in_one_layer_and_with_padding(model: Any) -> None:
    ids = tokens()
    blocked = np.zeros((ids.shape[1],) * 2, bool)
    blocked[8, 3] = True
    with knockout(model, blocked, layers=(2,)):
        in_layer_2 = logits(model, ids)
    with knockout(model, blocked):
        in_all_layers = logits(model, ids)
    assert not torch.allclose(in_layer_2[:, 8], in_all_layers[:, 8], atol=1e-4)
    padded = torch.ones_like(ids)
    padded[1, :2] = 0
    with knockout(model, blocked), torch.inference_mode():
        scores = model(input_ids=ids, attention_mask=padded, use_cache=False).logits
    torch.testing.assert_close(scores[0], in_all_layers[0], atol=1e-5, rtol=1e-5)


def test_knockout_refuses_invalid_masks(model: Any) -> None:
    blocked = np.zeros((9, 9), bool)
    blocked[0, 0] = True
    with pytest.raises(ModelError, match="have no token to attend to"):
        knockout(model, blocked)
    with knockout(model, np.zeros((5, 5), bool)), pytest.raises(ModelError, match="5 tokens, but a forward pass has 9"):
        logits(model, tokens())


@pytest.mark.parametrize(
    ("intervention", "message"),
    [
        (Intervention("mlp", "zero", layers=(3,)), "no layer 3 .* 0 to 2"),
        (Intervention("mlp", "zero", dims={9: np.ones(32, bool)}), "no layer 9"),
        (Intervention("gate", "zero"), "no site 'gate'"),
        (Intervention("mlp", "median"), "no action 'median'"),
        (Intervention("mlp", "zero", positions=(-1,)), "count from 0"),
        (Intervention("v", "zero", where="post"), "only queries and keys are rotated"),
        (Intervention("k", "zero", dims={1: np.ones((4, 8), bool)}), r"\(4, 8\), but 'k' has \(2, 8\)"),
        (Intervention("mlp", "zero", dims={1: np.ones(8, bool)}), r"but 'mlp' has \(32,\)"),
    ],
)
def test_invalid_interventions_are_refused(model: Any, intervention: Intervention, message: str) -> None:
    with pytest.raises(ModelError, match=message), applied(model, [intervention]):
        pass


def test_records_of_different_interventions_differ() -> None:
    masks = (mask_of("q"), ~mask_of("q"))
    records = [json.loads(json.dumps(Intervention("q", "mean", dims={1: mask}).record())) for mask in masks]
    assert [record["dims"]["1"] for record in records] == [np.flatnonzero(mask).tolist() for mask in masks]


def test_interventions_work_on_four_bit_weights(tmp_path: Path) -> None:
    """Interventions act on the outputs of quantized layers, in their compute type."""
    pytest.importorskip("bitsandbytes")
    model = load(ModelSource(str(saved("llama-wide", tmp_path)), dtype="bf16", quantize="nf4", device="cpu")).model
    before = logits(model, tokens())
    mask = np.zeros((4, 16), bool)
    mask[0, 3] = True
    for site in ("q", "attention", "mlp"):
        dims = {LAYER: mask} if site == "q" else None
        plain = output_of(model, site)
        output = output_of(model, site, Intervention(site, "mean", layers=(LAYER,), dims=dims))
        assert output.dtype == torch.bfloat16
        expected = plain.float().mean(dim=1, keepdim=True).to(torch.bfloat16).expand_as(plain)
        changed = mask.reshape(-1) if site == "q" else np.ones(64, bool)
        assert torch.equal(output[:, :, changed], expected[:, :, changed]), site
        assert torch.equal(output[:, :, ~changed], plain[:, :, ~changed]), site
    interventions = Intervention("q", "zero", where="post"), Intervention("v", "scale", factor=2.0)
    assert not torch.equal(logits(model, tokens(), *interventions), before)
    assert torch.equal(logits(model, tokens()), before)
