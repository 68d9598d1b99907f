"""Attention computed without a rotary model's rotation equals attention computed by hand from the projections."""

import pytest
import torch

import models_planted as planted
from keyquery.experiments import attention_patterns as patterns
from keyquery.measure.subject import Options

pytestmark = pytest.mark.models

OPTIONS = Options(texts=2)


def attention_by_hand(model, tokens, layer):
    """From a layer's input, return later tokens' mean attention to token 0 and to the five tokens before each."""
    with torch.no_grad():
        states = model(tokens, output_hidden_states=True).hidden_states[layer]
        block = model.model.layers[layer]
        read = block.input_layernorm(states)[0]
        attention, length = block.self_attn, len(read)
        query = attention.q_proj(read).reshape(length, -1, attention.head_dim).transpose(0, 1)
        key = attention.k_proj(read).reshape(length, -1, attention.head_dim).transpose(0, 1)
        scores = query @ key.repeat_interleave(len(query) // len(key), 0).transpose(1, 2) * attention.head_dim**-0.5
        weights = scores.masked_fill(torch.ones(length, length).triu(1).bool(), -torch.inf).softmax(-1)
        distance = torch.arange(length)[:, None] - torch.arange(length)
        near = (weights * ((distance > 0) & (distance <= 5))).sum(-1)
        return float(weights[:, 1:, 0].mean()), float(near[:, 1:].mean())


def test_unrotated_attention_equals_the_product_of_projections():
    subject = planted.subject(planted.model())
    with torch.no_grad():  # random weights attend uniformly; larger ones distinguish rotated scores
        for block in subject.model.model.layers:
            block.self_attn.q_proj.weight.mul_(30)
    rows = patterns.measure(subject, OPTIONS, unrotated=True)
    baseline = patterns.measure(subject, OPTIONS)
    assert rows[: len(baseline)] == baseline
    texts = subject.texts(OPTIONS)
    for layer in range(3):
        expected = torch.tensor([attention_by_hand(subject.model, text.tokens, layer) for text in texts]).mean(0)
        for name, value in zip(("first_attention", "local_attention"), expected.tolist(), strict=True):
            of_layer = [row for row in rows if (row["metric"], row["layer"], row["head"]) == (name, layer, None)]
            [unrotated] = [row for row in of_layer if row["condition"] == patterns.UNROTATED]
            [rotated] = [row for row in of_layer if not row["condition"]]
            assert unrotated["value"] == pytest.approx(value, rel=1e-5)
            assert rotated["value"] != pytest.approx(value, rel=1e-5)
    units = {row["unit_id"] for row in rows if row["condition"] == patterns.UNROTATED}
    assert units == {"", *(text.id for text in texts)}


def test_model_without_rotation_states_the_reason():
    subject = planted.subject(planted.model(), positional="drope")
    rows = [row for row in patterns.measure(subject, OPTIONS, unrotated=True) if row["condition"] == patterns.UNROTATED]
    assert [row["n"] for row in rows] == [0, 0]
    assert "no rotation to leave out" in rows[0]["reason"]
