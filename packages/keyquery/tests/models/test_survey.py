"""Measurements of one forward pass: planted massive values, value vectors, spikes and writes are found and stored."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from boundpaper.errors import DataError, ModelError
from keyquery.models.checkpoints.loading import ModelSource, load
from keyquery.models.interventions import Intervention, applied
from keyquery.models.surveys.forward import SurveyOptions, survey_text
from keyquery.models.surveys.hidden_entropy import entropies, hidden_entropy
from keyquery.models.surveys.record import TextSurvey, save
from keyquery.models.surveys.record import load as read
from models_tiny import BUILDERS, SIZES, built, saved

pytestmark = pytest.mark.models

TOKENS = 24
ROUNDING = 1e-6


def ids(tokens: int = TOKENS) -> Any:
    text = torch.randint(4, 64, (1, tokens), generator=torch.Generator().manual_seed(1))
    text[0, 0] = 1  # the beginning token
    return text


@pytest.mark.parametrize("name", [name for name in BUILDERS if name != "mllama"])
def test_attention_and_mlp_add_up_to_the_residual_update(name: str) -> None:
    survey = survey_text(built(name), ids(), text="one")
    assert survey.first.shape == (3, 4)
    assert survey.norms_q.shape[:2] == (3, 4)
    assert survey.norms_k.shape[:2] == (3, 4 if name == "gpt_neox" else 2)
    assert survey.residual_first.shape == (4,)
    assert survey.unexplained.max() < ROUNDING
    assert survey.first_is_bos
    for field in fields(TextSurvey):
        value = getattr(survey, field.name)
        if field.name not in ("decay", "decay_content") and isinstance(value, np.ndarray):
            assert np.isfinite(value).all(), field.name


def test_survey_equals_the_hidden_states_of_the_model() -> None:
    model = built("llama")
    outputs: dict[str, Any] = {}
    layer = model.model.layers[1]
    for name, module in (("q", layer.self_attn.q_proj), ("k", layer.self_attn.k_proj), ("v", layer.self_attn.v_proj)):
        module.register_forward_hook(lambda _, __, output, name=name: outputs.__setitem__(name, output[0]))
    layer.self_attn.register_forward_hook(lambda _, __, output: outputs.__setitem__("attention", output[0][0]))
    layer.mlp.register_forward_hook(lambda _, __, output: outputs.__setitem__("mlp", output[0]))
    survey = survey_text(model, ids())
    with torch.inference_mode():
        states = [hidden_state[0] for hidden_state in model.model(ids(), output_hidden_states=True).hidden_states]
    lengths = states[2].norm(dim=-1).numpy()  # state after layer 1; the last state is normed
    assert survey.residual_first[2] == pytest.approx(lengths[0], rel=1e-5)
    assert survey.residual_mean[2] == pytest.approx(lengths[1:].mean(), rel=1e-5)
    assert survey.residual_median[2] == pytest.approx(np.median(lengths[1:]), rel=1e-5)
    for side, norms in (("q", survey.norms_q), ("k", survey.norms_k), ("v", survey.norms_v)):
        shaped = outputs[side].reshape(TOKENS, -1, 8)
        np.testing.assert_allclose(norms[1], shaped.norm(dim=0), rtol=1e-5)
        full_norms = outputs[side].norm(dim=-1)
        expected = [full_norms.mean(), full_norms[0], full_norms[1:].mean()]
        np.testing.assert_allclose(getattr(survey, f"{side}_norm")[1], expected, rtol=1e-5)
    values = outputs["v"].reshape(TOKENS, 2, 8).norm(dim=-1)
    np.testing.assert_allclose(survey.value_first[1], values[0], rtol=1e-5)
    np.testing.assert_allclose(survey.value_content[1], values[1:].mean(dim=0), rtol=1e-5)
    attention, mlp = outputs["attention"].norm(dim=-1), outputs["mlp"].norm(dim=-1)
    share = attention / (attention + mlp)
    expected = [attention.mean(), attention[0], attention[1:].mean()]
    np.testing.assert_allclose(survey.attention_norm[1], expected, rtol=1e-5)
    np.testing.assert_allclose(survey.share[1], [share.mean(), share[0], share[1:].mean()], rtol=1e-5)
    update = states[2] - states[1]
    cosine = torch.nn.functional.cosine_similarity(outputs["attention"], update, dim=-1)
    np.testing.assert_allclose(survey.cosine_attention[1, 0], cosine.mean(), rtol=1e-3)


def test_scaled_projection_row_appears_as_a_massive_dimension() -> None:
    """Scale rows of the query and key projections by 100: before rotation only these dimensions grow."""
    model = built("llama")
    plain = survey_text(model, ids())
    model.model.layers[1].self_attn.q_proj.weight.data[2 * 8] *= 100
    model.model.layers[1].self_attn.k_proj.weight.data[1 * 8 + 5] *= 100
    survey = survey_text(model, ids())
    for norms, before, index in ((survey.norms_q, plain.norms_q, (2, 0)), (survey.norms_k, plain.norms_k, (1, 5))):
        growth = norms[1] / before[1]
        expected = np.ones(growth.shape)
        expected[index] = 100
        np.testing.assert_allclose(growth, expected, rtol=1e-5)
    rotated = survey_text(model, ids(), SurveyOptions(where="post"))
    assert rotated.where == "post"
    assert rotated.norms_q[1, 2, 0] < 0.95 * survey.norms_q[1, 2, 0], "rotation shares it with its partner"
    assert rotated.norms_q[1, 2, 4] > 10 * survey.norms_q[1, 2, 4]


def test_planted_value_at_the_first_token_gives_its_effective_write() -> None:
    """Zero queries attend uniformly, so the effective write is uniform attention times the key head's value norm."""
    model = built("llama")
    attention = model.model.layers[1].self_attn
    attention.q_proj.weight.data.zero_()
    planted_value = torch.zeros(16)
    planted_value[0], planted_value[8], planted_value[9] = 5.0, 3.0, 4.0

    def plant(module: Any, inputs: Any, output: Any) -> Any:
        output = output.clone()
        output[:, 0], output[:, 1:] = planted_value * torch.tensor([2.0] * 8 + [1.0] * 8), 0.0
        return output

    attention.v_proj.register_forward_hook(plant)
    survey = survey_text(model, ids(), SurveyOptions(where="post"))
    np.testing.assert_allclose(survey.value_first[1], [10, 5], rtol=1e-6)
    assert (survey.value_content[1] == 0).all()
    later = np.mean(1 / np.arange(2, TOKENS + 1))
    np.testing.assert_allclose(survey.write[1], later * np.array([10, 10, 5, 5]), rtol=1e-6)


def test_a_planted_spike_is_found() -> None:
    """The norm of the first token grows in the layer whose MLP writes a large vector at position 0."""
    model = built("llama")

    def plant(module: Any, inputs: Any, output: Any) -> Any:
        output = output.clone()
        output[:, 0] += 1000 / 32**0.5
        return output

    model.model.layers[1].mlp.register_forward_hook(plant)
    plain, survey = survey_text(built("llama"), ids()), survey_text(model, ids())
    np.testing.assert_allclose(survey.residual_first[:2], plain.residual_first[:2], rtol=1e-5)
    assert survey.residual_first[2] == pytest.approx(1000, rel=0.05)
    assert survey.residual_ratio[2] > 10 > survey.residual_ratio[1]
    assert survey.mlp_norm[1, 1] == pytest.approx(1000, rel=0.05)
    np.testing.assert_allclose(survey.mlp_norm[1, 2], plain.mlp_norm[1, 2], rtol=1e-5)
    assert survey.cosine_mlp[1, 1] > 0.99
    assert survey.unexplained.max() < ROUNDING
    all_tokens, content = survey.hidden_entropy[2, :, 0]
    assert all_tokens < 0.2 * plain.hidden_entropy[2, 0, 0], "one direction has nearly all variance"
    assert content == pytest.approx(plain.hidden_entropy[2, 1, 0], rel=1e-4)
    assert all_tokens < content


def test_survey_measures_the_model_under_interventions() -> None:
    model = built("llama")
    with applied(model, [Intervention("mlp", "zero", layers=(1,)), Intervention("attention", "zero", layers=(2,))]):
        survey = survey_text(model, ids())
    assert (survey.mlp_norm[1] == 0).all()
    assert (survey.share[1] == 1).all()
    assert np.isnan(survey.cosine_mlp[1]).all(), "a zero vector has no direction"
    assert (survey.attention_norm[2] == 0).all()
    assert (survey.share[2] == 0).all()
    with applied(model, [Intervention("mlp", "zero"), Intervention("attention", "zero")]):
        constant = survey_text(model, ids())
    assert np.isnan(constant.share).all(), "nothing is added, so there are no shares"
    np.testing.assert_allclose(constant.residual_first, constant.residual_first[0])


def test_survey_removes_its_hooks() -> None:
    model = built("gemma3")
    survey_text(model, ids())
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())
    with pytest.raises(ModelError):
        survey_text(model, ids()[:, :1])
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


def test_survey_reports_whether_the_first_token_is_bos() -> None:
    model = built("llama")
    assert survey_text(model, ids()).first_is_bos
    assert not survey_text(model, ids()[:, 1:]).first_is_bos
    assert survey_text(model, ids()[:, 1:], SurveyOptions(bos=int(ids()[0, 1]))).first_is_bos
    model.config.bos_token_id = None
    assert not survey_text(model, ids()).first_is_bos


def test_scaled_residual_updates_are_detected() -> None:
    """Granite scales outputs before adding them, so module outputs are not the update."""
    torch.manual_seed(0)
    config = transformers.GraniteConfig(**SIZES, residual_multiplier=0.25)
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    assert survey_text(model, ids()).unexplained.min() > 0.02


@pytest.mark.parametrize(("quantize", "dtype"), [("nf4", "fp32"), (None, "bf16")])
def test_reduced_precision_measures_nearly_the_same(tmp_path: Path, quantize: str | None, dtype: str) -> None:
    if quantize:
        pytest.importorskip("bitsandbytes")
        pytest.importorskip("accelerate")
    folder = saved("llama-wide", tmp_path / "model")
    exact = survey_text(built("llama-wide"), ids())
    survey = survey_text(load(ModelSource(str(folder), dtype=dtype, quantize=quantize, device="cpu")).model, ids())
    for name in ("norms_q", "norms_v", "first_later", "residual_mean", "attention_norm", "hidden_entropy"):
        expected, actual = np.ravel(getattr(exact, name)), np.ravel(getattr(survey, name))
        error = np.linalg.norm(expected - actual) / np.linalg.norm(expected)
        assert 1e-5 < error < 0.3, f"{name}: off by {error}"
    assert survey.unexplained.max() < 5e-3


def test_saved_survey_reads_back_equal(tmp_path: Path) -> None:
    survey = survey_text(built("mistral"), ids(), SurveyOptions(where="post", entropy=False), text="paragraph-3")
    assert np.isnan(survey.hidden_entropy).all()
    assert (survey.hidden_rank == 0).all()
    path = tmp_path / "deep/survey.npz"
    save(path, survey)
    again = read(path)
    for field in fields(TextSurvey):
        expected, actual = getattr(survey, field.name), getattr(again, field.name)
        assert type(actual) is type(expected)
        if isinstance(expected, np.ndarray):
            assert actual.dtype == expected.dtype, field.name
            assert np.array_equal(actual, expected, equal_nan=expected.dtype.kind == "f"), field.name
        else:
            assert actual == expected
    assert path.stat().st_size < 60_000
    with pytest.raises(DataError, match="no such file; run the survey"):
        read(tmp_path / "none.npz")
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(DataError, match="damaged"):
        read(path)
    np.savez(path, text="x")
    with pytest.raises(DataError, match="the fields of another version"):
        read(path)


def test_entropies_of_known_spectra() -> None:
    nan = np.nan
    entropy = {share: -share * np.log(share) - (1 - share) * np.log(1 - share) for share in (0.9, 0.75)}
    for spectrum, expected, expected_rank in (
        (np.full(8, 3.0), [np.log(8), 1, np.log(8)], 8),
        ([-1e-16, 0.0, 4.0], [0, nan, 0], 1),
        (np.zeros(3), [nan] * 3, 0),
        ([9.0, 1.0], [entropy[0.9], entropy[0.9] / np.log(2), entropy[0.75]], 2),
    ):
        actual, rank = entropies(np.array(spectrum), len(spectrum))
        np.testing.assert_allclose(actual, expected)
        assert rank == expected_rank


@pytest.mark.parametrize("shape", [(6, 20), (20, 6)])
def test_hidden_entropy_is_defined_for_wide_and_tall_matrices(shape: tuple[int, int]) -> None:
    states = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    states[0] *= 300
    entropy, rank = hidden_entropy(states)
    for row, matrix in ((0, states), (1, states[1:])):
        sigma = torch.linalg.svdvals(matrix.double()).numpy()
        expected, full_rank = entropies(sigma**2, max(matrix.shape))
        np.testing.assert_allclose(entropy[row], expected, rtol=1e-6)
        assert rank[row] == full_rank == min(matrix.shape)
    with pytest.raises(ModelError, match="infinite"):
        hidden_entropy(states / 0)


def test_derived_measures_are_missing_when_undefined() -> None:
    survey = survey_text(built("llama"), ids())
    flat = replace(survey, residual_mean=np.zeros(4))
    assert np.isnan(flat.residual_ratio).all()
