"""Models with one key head for all queries, or with a single head, are accepted."""

import importlib
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

import models_planted as planted  # noqa: E402
from keyquery.measure.subject import Options  # noqa: E402
from keyquery.models.surveys.forward import SurveyOptions, survey_text  # noqa: E402

pytestmark = pytest.mark.models
READ_QUERIES = ("massive_values", "disruption", "knowledge", "sinks", "bos_value", "layer_content")
FEW: dict[str, dict[str, Any]] = {"disruption": {"draws": 1, "permutations": 0}, "knowledge": {"draws": 1}}


@pytest.mark.parametrize("heads", [(4, 1), (1, 1)])
def test_experiments_on_queries_and_keys_run_with_one_key_head(heads: tuple[int, int]) -> None:
    model = planted.model(2, num_attention_heads=heads[0], num_key_value_heads=heads[1], head_dim=8)
    subject = planted.subject(model)
    for name in READ_QUERIES:
        module = importlib.import_module(f"keyquery.experiments.{name}")
        assert module.measure(subject, Options(texts=2, tokens=16, items=1), **FEW.get(name, {}))


def test_key_norms_of_a_single_key_head_equal_its_projection() -> None:
    model = planted.model(2, num_attention_heads=4, num_key_value_heads=1, head_dim=8)
    tokens = planted.subject(model).texts(Options(texts=1))[0].tokens
    calls: list[Any] = []
    with model.model.layers[1].self_attn.k_proj.register_forward_hook(
        lambda module, inputs, output: calls.append(output[0])
    ):
        result = survey_text(model, tokens, SurveyOptions(where="pre", bos=None), text="one")
    norms = calls[-1].double().norm(dim=0).detach().numpy()
    assert result.norms_k[1].shape == (1, 8)
    assert result.norms_k[1][0] == pytest.approx(norms, rel=1e-5)


def test_norm_module_whose_output_is_not_rotated_is_not_used() -> None:
    """If a layer does not rotate the output of a module named as a norm, the rotated keys are rotated back instead."""
    model = planted.model(1, num_attention_heads=4, num_key_value_heads=1, head_dim=8)
    attention = model.model.layers[0].self_attn
    calls: list[Any] = []
    attention.k_norm = torch.nn.Identity()

    def stretched(module: Any, inputs: Any, output: Any) -> None:
        calls.append(output[0])
        attention.k_norm(output * torch.linspace(1.0, 2.0, output.shape[1])[None, :, None])

    attention.k_proj.register_forward_hook(stretched)
    tokens = planted.subject(model).texts(Options(texts=1))[0].tokens
    result = survey_text(model, tokens, SurveyOptions(where="pre", bos=None), text="one")
    norms = calls[-1].double().norm(dim=0).detach().numpy()
    assert result.norms_k[0][0] == pytest.approx(norms, rel=1e-5)
