"""Recipes: strict parsing, estimates without a download, and runs on a small twin of each model."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
import yaml

from boundpaper.errors import DataError, ModelError
from keyquery.measure import recipes
from keyquery.measure.choices import EXPERIMENTS
from keyquery.measure.recipes import (
    RecipeModel,
    load_recipe,
    memory_line,
    memory_outline,
    run_recipe,
    unlisted_measurements,
)
from keyquery.models.architecture import survey
from keyquery.models.attention.positions import encoding, positional_of, shift_error
from keyquery.models.checkpoints.estimate import of_config
from keyquery.models.checkpoints.loading import ModelSource
from keyquery.models.checkpoints.pretrained import PACKAGES
from keyquery.models.checkpoints.shapes import Shape
from models_tiny import saved

pytestmark = pytest.mark.models

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / recipes.FOLDER
FILES = sorted(path.name for path in FOLDER.glob("*.yaml"))
# Parameters of the published checkpoints, without image towers and their projections
KNOWN = {
    "llama2-7b-rope": 6_738_415_616, "llama2-7b-drope": 6_738_415_616, "qwen3-0.6b": 596_049_920,
    "qwen3-1.7b": 1_720_574_976, "qwen3-4b": 4_022_468_096, "qwen3-8b": 8_190_735_360, "qwen3-14b": 14_768_307_200,
    "llama3.2-1b": 1_235_814_400, "llama3.2-3b": 3_212_749_824, "llama3.1-8b": 8_030_261_248,
    "mistral-v0.2-7b": 7_241_732_096,
}  # fmt: skip
ROUNDED = {"ministral3-3b": 3.4, "ministral3-8b": 8.5, "ministral3-14b": 13.5, "llama3.2-11b": 9.8}  # billions
SHAPED: dict[str, Shape] = {
    entry.name: entry.shape for file in FILES for entry in load_recipe(FOLDER / file).models if entry.shape is not None
}
PLAIN: dict[str, Any] = {
    "title": "A test",
    "experiments": ["sinks", "massive_values"],
    "models": [{"name": "m", "id": "owner/m"}],
}
SHAPE: dict[str, Any] = {
    "type": "llama",
    "layers": 2,
    "width": 64,
    "inner": 128,
    "heads": 4,
    "key_heads": 2,
    "head_dim": 16,
    "vocabulary": 100,
    "positions": 64,
    "rope_theta": 10000,
}


def write_recipe(folder: Path, content: Any) -> Path:
    path = folder / "mine.yaml"
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    return path


def test_shipped_recipes_load() -> None:
    names = (
        "beginning distilled-beginning distilled-experiments distilled-retrieval distilled gemma-experiments "
        "gemma-knowledge gemma-retrieval llama2-drope pretrained-anchoring pretrained-code pretrained-experiments "
        "pretrained-long pretrained-longest pretrained-repeated pretrained-sinks pretrained-tasks pretrained "
        "study-models tiny"
    )
    assert [f"{name}.yaml" for name in names.split()] == FILES
    for file in FILES:
        recipe = load_recipe(FOLDER / file)
        assert recipe.title
        memory_outline(recipe)  # each fits into the memory that the recipe requests
    tiny = load_recipe(FOLDER / "tiny.yaml")
    assert tiny.experiments == EXPERIMENTS
    assert [entry.source.name for entry in tiny.models] == ["tiny-rope", "tiny-continued", "tiny-drope"]
    assert {entry.source.name for entry in load_recipe(FOLDER / "pretrained.yaml").models} == set(PACKAGES)
    pair = load_recipe(FOLDER / "llama2-drope.yaml")
    assert pair.experiments == EXPERIMENTS
    assert {entry.source.quantize for entry in pair.models} == {"nf4"}
    assert [(entry.source.load_as, entry.source.position) for entry in pair.models] == [
        (None, "as configured"),
        ("llama", "drope"),
    ]
    assert pair.models[0].shape == pair.models[1].shape


def test_model_names_and_ids_match_the_study() -> None:
    """The number of layers and heads must agree too, since measurements are joined with the sources by name."""
    import pandas as pd

    facts = pd.read_csv(ROOT / "artifacts/sources/models.csv").set_index("model")
    study = load_recipe(FOLDER / "study-models.yaml")
    captured = facts[facts["subject"] == "captured"]
    assert {entry.name for entry in study.models} == set(captured.index)
    assert len(study.models) == 13
    for entry in (*study.models, *load_recipe(FOLDER / "llama2-drope.yaml").models):
        row, shape = facts.loc[entry.name], entry.shape
        assert shape is not None
        assert entry.source.name == row["captured_checkpoint"]
        assert (shape.layers, shape.heads, shape.key_heads, shape.head_dim) == tuple(
            row[["layers", "query_heads", "key_heads", "head_dim"]]
        )
        if entry.source.position != "drope" and pd.notna(row["rope_theta"]):
            assert shape.rope_theta == row["rope_theta"]


def test_parameter_counts_match_those_of_published_models() -> None:
    assert set(KNOWN) | set(ROUNDED) == set(SHAPED)
    for name, shape in SHAPED.items():
        estimate = shape.estimate(name, context=1)
        if name in KNOWN:
            assert estimate.parameters == KNOWN[name], name
        else:
            assert round((estimate.parameters - shape.besides) / 1e9, 1) == ROUNDED[name], name


@pytest.mark.parametrize("name", sorted(SHAPED))
def test_two_layer_estimate_predicts_the_full_model(name: str) -> None:
    """All layers have the same size, so models of two and four layers predict the full model."""
    shape = SHAPED[name]
    two, four = (of_config(shape.shallow(n).config(), name, context=64, dtype="bf16").parameters for n in (2, 4))
    if not shape.cross_layers:
        full = of_config(shape.config(), name, context=64, dtype="bf16").parameters
        assert full == two + (four - two) // 2 * (shape.layers - 2)
    nf4 = of_config(shape.shallow().config(), name, context=64, dtype="bf16", quantize="nf4")
    assert nf4.weights < 2 * two
    assert nf4.activations > of_config(shape.shallow().config(), name, context=64, dtype="bf16").activations


@pytest.mark.parametrize("name", sorted(set(SHAPED) - {"llama2-7b-drope"}))
def test_small_twin_of_each_model_runs(name: str) -> None:
    """A twin has the class, heads and rotation of the model, so surveying it and dropping its rotation must work."""
    shape = SHAPED[name]
    small = shape.small()
    torch.manual_seed(0)
    config = small.config()
    config.get_text_config().initializer_range = 0.3
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    layers = survey(model)
    assert [(layer.query_heads, layer.key_heads) for layer in layers] == [(shape.heads, shape.key_heads)] * 2
    assert [layer.kind for layer in layers] == (["full", "cross"] if shape.cross_layers else ["full", "full"])
    kind = positional_of(model)
    assert kind == ("yarn" if shape.type == "ministral3" else "rope")
    tokens = torch.arange(20)[None]
    assert shift_error(model, tokens, 50) > 1e-4
    if kind == "yarn":  # Ministral 3 also scales its queries by position
        with pytest.raises(ModelError, match="scales its queries"), encoding(model, "drope"):
            pass
        return
    with encoding(model, "drope"):
        assert shift_error(model, tokens, 50) == 0


def test_complete_recipe_is_read(tmp_path: Path) -> None:
    content = {
        **PLAIN,
        "dtype": "bf16",
        "quantize": "nf4",
        "documents": 3,
        "tokens": 64,
        "items": 7,
        "seeds": [2, 0],
        "texts": "some/texts",
        "context": 128,
        "memory": 1,
        "settings": {"sinks": {"taus": [0.5]}},
        "models": [
            {"name": "m", "id": "owner/m", "revision": "v1", "shape": SHAPE},
            {"name": "n", "id": "owner/n", "quantize": "int8", "load_as": "llama", "position": "drope", "scaling": 1},
        ],
    }
    recipe = load_recipe(write_recipe(tmp_path, content))
    assert recipe.experiments == ("massive_values", "sinks"), "in running order"
    assert (recipe.options.texts, recipe.options.tokens, recipe.options.items) == (3, 64, 7)
    assert (recipe.options.seeds, recipe.options.texts_from) == ((2, 0), "some/texts")
    assert recipe.settings == {"sinks": {"taus": [0.5]}}
    first, second = recipe.models
    assert (first.source.revision, first.source.quantize, first.source.dtype) == ("v1", "nf4", "bf16")
    assert (second.source.quantize, second.source.scaling, second.shape) == ("int8", 1.0, None)
    lines = memory_outline(recipe)
    assert lines[0].startswith("m: ")
    assert " M parameters" in lines[0]
    assert "of 1.00 GB free" in lines[0]
    assert "estimated when it is loaded" in lines[1]


def test_recipe_that_exceeds_the_memory_is_refused(tmp_path: Path) -> None:
    model = {"name": "m", "id": "owner/m", "shape": {**SHAPE, "layers": 200, "width": 4096, "inner": 16384}}
    with pytest.raises(ModelError, match=r"mine\.yaml: models\[0\]: m: .* of 1\.00 GB free: .* cannot fit"):
        memory_outline(load_recipe(write_recipe(tmp_path, {**PLAIN, "memory": 1, "models": [model]})))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"titel": "x"}, r"mine\.yaml: unknown key 'titel'; did you mean 'title'"),
        ({"frobnicate": 1}, "unknown key 'frobnicate'; known: title, experiments"),
        ({"title": 3}, "title: 3 is not a text"),
        ({"items": "many"}, "items: 'many' is not a whole number"),
        ({"items": True}, "items: True is not a whole number"),
        ({"items": -1}, "items: -1 is not a whole number of at least 0"),
        ({"tokens": 4}, "tokens: 4 is not a whole number of at least 8"),
        ({"memory": -1}, "memory: -1 is not above 0"),
        ({"seeds": [0, "one"]}, r"seeds\[1\]: 'one' is not a whole number of at least 0"),
        ({"seeds": []}, "seeds is empty"),
        ({"experiments": ["sink"]}, r"experiments: 'sink' is not an experiment; did you mean sinks\?"),
        ({"experiments": ["xyz"]}, "they are attention_patterns, .*, or all"),
        ({"experiments": []}, "experiments is empty"),
        ({"settings": {"knowledge": {}}}, "settings.knowledge is for an experiment that the recipe does not run"),
        ({"settings": {"sinks": 3}}, "settings.sinks: 3 is not a mapping"),
        ({"settings": {"sinks": {"tau": [0.5]}}}, "settings.sinks: unknown key 'tau'; did you mean 'taus'?"),
        ({"settings": {"sinks": {"taus": 0.5}}}, "settings.sinks: taus: 0.5 is not a list"),
        ({"settings": {"sinks": {"taus": ["half"]}}}, r"settings.sinks: taus\[0\]: 'half' is not a number"),
        ({"settings": {"sinks": {"swept_items": "all"}}}, "settings.sinks: swept_items: 'all' is not a whole number"),
        ({"models": []}, "models is empty"),
        ({"models": ["tiny-rope"]}, r"models\[0\]: 'tiny-rope' is not a mapping"),
        ({"models": [{"name": "m"}]}, r"models\[m\]: the required key `id` is missing"),
        (
            {"models": [{"name": "m", "id": "a/m", "quantise": "nf4"}]},
            r"models\[m\]: unknown key 'quantise'; did you mean 'quantize'\?",
        ),
        ({"models": [{"name": "m", "id": "a/m", "quantize": "int4"}]}, r"models\[0\]: quantization 'int4' is unknown"),
        ({"models": [{"name": "m", "id": "a/m", "load_as": "llama"}]}, r"models\[0\]: load_as llama: .* say how"),
        ({"models": [{"name": "M X", "id": "a/m"}]}, r"models\[0\]: 'M X' cannot name measurements"),
        ({"models": [{"name": "m", "id": "a/m"}, {"name": "m", "id": "b/m"}]}, "two models are called m"),
        ({"models": [{"name": "m", "id": "a/m", "shape": {"type": "llama"}}]}, r"\.shape: the required key `layers`"),
        (
            {"models": [{"name": "m", "id": "a/m", "shape": {**SHAPE, "layers": 2.5}}]},
            r"models\[m\]\.shape\.layers: 2\.5 is not a whole number",
        ),
    ],
)
def test_mistakes_are_named_with_file_and_key(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message) as error:
        load_recipe(write_recipe(tmp_path, {**PLAIN, **change}))
    assert "mine.yaml" in str(error.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("title: [", "mine.yaml:2: did not find"),
        ("a: &a [x]\n" + "".join(f"b{n}: &{chr(98 + n)} [{f'*{chr(97 + n)}, ' * 30}]\n" for n in range(9)), "aliases"),
        ("just words", "not a mapping of keys to values"),
        ("title: x\n", "the required key `models` is missing"),
    ],
)
def test_unreadable_recipe_files_are_refused(content: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        load_recipe(write_recipe(tmp_path, content))
    with pytest.raises(DataError, match="cannot be read"):
        load_recipe(tmp_path / "absent.yaml")


def test_unknown_model_types_are_refused() -> None:
    with pytest.raises(ModelError, match="cannot create a model of type quantum"):
        Shape(**{**SHAPE, "type": "quantum"}).config()


def test_run_recipe_estimates_each_model_and_continues_after_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from keyquery.measure import run

    folder = saved("llama", tmp_path / "model")
    models = [{"name": "bad", "id": "owner-less"}, {"name": "good", "id": str(folder), "dtype": "fp32"}]
    plans: list[Any] = []

    def record_plan(plan: Any, tell: Any) -> list[Path]:
        plans.append(plan)
        return [plan.root / "artifacts/measurements/sinks/good.csv"]

    monkeypatch.setattr(run, "measure", record_plan)
    recipe = load_recipe(write_recipe(tmp_path, {**PLAIN, "models": models, "context": 32}))
    message = r"mine\.yaml: 1 of 2 models not measured; run again for these: models\[0\], bad: 'owner-less' is neither"
    with pytest.raises(ModelError, match=message):
        run_recipe(tmp_path, recipe, device="cpu")
    assert [(plan.name, plan.source.device, plan.experiments) for plan in plans] == [
        ("good", "cpu", ("massive_values", "sinks"))
    ]
    assert "for 32 tokens" in capsys.readouterr().err
    good = load_recipe(write_recipe(tmp_path, {**PLAIN, "models": models[1:]}))
    assert run_recipe(tmp_path, good, device="cpu", again=True) == ["artifacts/measurements/sinks/good.csv"]
    assert plans[-1].again


def test_measurements_shown_by_no_exhibit_are_reported() -> None:
    names = ["llama2-7b-drope", "smollm2-135m-bos", "unknown-1b", "smollm2-135"]
    assert unlisted_measurements(names, ROOT) == ["unknown-1b", "smollm2-135"]


def test_model_that_cannot_fit_is_not_loaded_unless_forced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from keyquery.models.checkpoints import estimate

    source = RecipeModel("m", ModelSource(str(saved("llama", tmp_path)), device="cpu")).source
    monkeypatch.setattr(estimate, "free_bytes", lambda device: 1000)
    with pytest.raises(ModelError, match="cannot fit"):
        memory_line(tmp_path, source, 64)
    assert "continuing because of --anyway" in memory_line(tmp_path, source, 64, anyway=True)
    assert "(float32)" in memory_line(tmp_path, ModelSource("tiny-rope"), 64, anyway=True)  # saved in float16


REMOTE_CODE = """
from transformers import LlamaConfig, LlamaForCausalLM
from pathlib import Path
Path({marker!r}).write_text("run")
class MineConfig(LlamaConfig):
    model_type = "mine"
class MineForCausalLM(LlamaForCausalLM):
    config_class = MineConfig
"""


def test_recipe_runs_remote_code_only_when_trusted_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from keyquery.measure import run

    monkeypatch.setattr(transformers.dynamic_module_utils, "HF_MODULES_CACHE", str(tmp_path / "modules"))
    monkeypatch.setattr(run, "measure", lambda plan, tell: [plan.root / "x.csv"])
    folder, marker = saved("llama", tmp_path / "model"), tmp_path / "marker"
    (folder / "mine.py").write_text(REMOTE_CODE.format(marker=str(marker)))
    config = json.loads((folder / "config.json").read_text())
    auto_map = {"AutoConfig": "mine.MineConfig", "AutoModelForCausalLM": "mine.MineForCausalLM"}
    (folder / "config.json").write_text(json.dumps({**config, "model_type": "mine", "auto_map": auto_map}))
    models = [{"name": "mine", "id": str(folder), "dtype": "fp32", "trust_remote_code": True}]
    recipe = load_recipe(write_recipe(tmp_path, {**PLAIN, "models": models, "context": 32}))
    with pytest.raises(ModelError, match=r"mine would run Python code .* --trust-remote-code"):
        run_recipe(tmp_path, recipe, device="cpu")
    assert not marker.exists()
    assert run_recipe(tmp_path, recipe, device="cpu", trusted=True) == ["x.csv"]
    assert marker.exists()
    assert "for 32 tokens" in capsys.readouterr().err
