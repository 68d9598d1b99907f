"""Each command that reads a weight that is not finite names the weight and the model's file."""

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from click.testing import CliRunner  # noqa: E402

from build import main  # noqa: E402
from population_untrained import FEW, save_untrained  # noqa: E402

pytestmark = pytest.mark.models

WEIGHTS = {
    "model.embed_tokens.weight": "context_length", "model.layers.1.self_attn.k_proj.weight": "sinks",
    "model.layers.0.mlp.down_proj.weight": "layer_content", "model.layers.1.input_layernorm.weight": "massive_values",
    "model.norm.weight": "layer_ablation",
}  # fmt: skip


def save_with_nan(folder: Path, name: str) -> Path:
    """Save a small model with one NaN weight."""
    model = transformers.AutoModelForCausalLM.from_pretrained(save_untrained(folder))
    dict(model.named_parameters())[name].data.view(-1)[0] = torch.nan
    model.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("name", WEIGHTS)
def test_run_with_nan_weights_names_file_and_weight(lab: Path, tmp_path: Path, name: str) -> None:
    folder = save_with_nan(tmp_path / "mine", name)
    result = CliRunner().invoke(main, ["run", WEIGHTS[name], "--model", str(folder), *FEW])
    assert result.exit_code == 1, result.output
    assert str(folder) in result.output
    assert f"weights hold NaN or infinity (first: {name})" in result.output


@pytest.mark.parametrize("name", list(WEIGHTS)[1:3])
def test_capture_with_non_finite_weights_names_file_and_weight(tmp_path: Path, name: str) -> None:
    folder = save_with_nan(tmp_path / "mine", name)
    options = ["--model", str(folder), "--texts", "manual", "--context", "32", "--documents", "2", "--windows"]
    result = CliRunner().invoke(main, ["capture", *options, "--device", "cpu", "--out", str(tmp_path / "out")])
    assert result.exit_code == 1, result.output
    assert str(folder) in result.output
    assert f"weights hold NaN or infinity (first: {name})" in result.output


@pytest.mark.usefixtures("lab")
def test_unknown_model_of_a_recipe_is_named_with_the_recipe(tmp_path: Path) -> None:
    recipe = tmp_path / "mine.yaml"
    recipe.write_text(
        "title: Mine\nexperiments: [massive_values]\ntokens: 32\ndocuments: 2\n"
        "models:\n- {name: one, id: no-such-model}\n"
    )
    result = CliRunner().invoke(main, ["run", "--recipe", str(recipe), "--device", "cpu"])
    assert result.exit_code == 1, result.output
    assert (
        f"{recipe}: 1 of 1 models not measured; run again for these: models[0], one: 'no-such-model'" in result.output
    )
