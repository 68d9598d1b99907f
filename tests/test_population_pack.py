"""Models packed for an archive are read with equal weights, not trained again; damaged and other models are refused."""

import dataclasses
import json
import subprocess

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from click.testing import CliRunner  # noqa: E402

from analysis.population import command, pack, tables, work  # noqa: E402
from analysis.population.recipe import PopulationMember, PopulationRecipe  # noqa: E402
from analysis.population.training import TrainingOutcome  # noqa: E402
from boundpaper.errors import ModelError  # noqa: E402
from build import main  # noqa: E402
from conftest import ROOT  # noqa: E402

pytestmark = pytest.mark.models
ROPE, DROPE = PopulationMember(400, 1, "A"), PopulationMember(400, 1, "C")
SHIPPED = {ROPE: "tiny-rope", DROPE: "tiny-drope"}


def shipped(member: PopulationMember) -> work.TrainedModel:
    """Return a shipped model in the form in which training saves it. Its rows are among the measurements."""
    from safetensors.torch import load_file

    folder_of_model = ROOT / "packages/keyquery/src/keyquery/tiny" / SHIPPED[member]
    weights = {name: tensor.float() for name, tensor in load_file(folder_of_model / "model.safetensors").items()}
    weights["lm_head.weight"] = weights["model.embed_tokens.weight"]
    record = json.loads((folder_of_model / "lab.json").read_text())
    curves = [{"step": 100, "metric": "loss", "value": 1.0625}]
    trained = TrainingOutcome(
        weights, record["steps"], record["rounds"], record["key_loss"], record["reached"], curves, "0123abcd"
    )
    return work.TrainedModel(member, trained)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    packed = tmp_path_factory.mktemp("pack")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pack, "load_or_train", lambda root, member, recipe, tell: shipped(member))
        for member in SHIPPED:  # the second call adds to the first
            assert pack.pack(ROOT, packed, [member]) == [packed / member.name]
    return packed


@pytest.mark.parametrize("member", SHIPPED, ids=lambda member: member.arm)
def test_packed_model_is_read_with_its_weights_and_facts(folder, member):
    read, expected = pack.read_packed(folder, member, PopulationRecipe()), shipped(member)
    assert read.digest == expected.digest
    assert vars(read.trained) | {"weights": 0} == vars(expected.trained) | {"weights": 0}
    assert all(weight.dtype == torch.float32 for weight in read.trained.weights.values())


def test_packed_model_is_verifiable_with_standard_tools(folder):
    assert subprocess.run(["sha256sum", "--check", "--quiet", pack.SUMS], cwd=folder, check=False).returncode == 0
    listed = {line.partition("  ")[2] for line in (folder / pack.SUMS).read_text().splitlines()}
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert files - listed == {pack.SUMS}
    assert "2 small language models" in (folder / "README.md").read_text()
    model = transformers.AutoModelForCausalLM.from_pretrained(folder / DROPE.name)
    assert model.config.rope_parameters["factor"] == 1e30
    assert "arm C" in (folder / DROPE.name / "README.md").read_text()


def copied(folder, tmp_path):
    for path in folder.rglob("*"):
        if path.is_file():
            (place := tmp_path / path.relative_to(folder)).parent.mkdir(exist_ok=True)
            place.write_bytes(path.read_bytes())
    return tmp_path


@pytest.mark.parametrize("name", [pack.WEIGHTS, pack.TRAINING])
def test_a_damaged_file_is_refused(folder, tmp_path, name):
    path = copied(folder, tmp_path) / ROPE.name / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(ModelError, match=rf"{ROPE.name}/{name}: damaged, its checksum"):
        pack.read_packed(tmp_path, ROPE, PopulationRecipe())
    assert pack.read_packed(tmp_path, DROPE, PopulationRecipe()).digest == shipped(DROPE).digest


def test_another_recipe_and_an_absent_model_are_refused(folder, tmp_path):
    with pytest.raises(ModelError, match=r"to another recipe \(spread\)"):
        pack.read_packed(folder, ROPE, dataclasses.replace(PopulationRecipe(), spread=0.03))
    with pytest.raises(ModelError, match=r"has no b10000-s2-A/training.json; .* leave --weights out"):
        pack.read_packed(folder, PopulationMember(10_000, 2, "A"), PopulationRecipe())
    with pytest.raises(ModelError, match=r"SHA256SUMS: cannot be read .*--pack wrote"):
        pack.read_packed(tmp_path, ROPE, PopulationRecipe())
    (tmp_path / pack.SUMS).write_text("abc\n")
    with pytest.raises(ModelError, match=r"'abc' is not a checksum"):
        pack.read_packed(tmp_path, ROPE, PopulationRecipe())


def test_weights_that_were_not_measured_are_not_packed(tmp_path, monkeypatch):
    model = shipped(ROPE)
    model.trained.weights["model.norm.weight"] = model.trained.weights["model.norm.weight"] + 1
    monkeypatch.setattr(pack, "load_or_train", lambda *arguments: model)
    with pytest.raises(ModelError, match="differ from the measured ones"):
        pack.pack(ROOT, tmp_path / "pack", [ROPE])
    assert not (tmp_path / "pack").exists()


def test_packed_models_are_measured_without_training(folder, tmp_path, monkeypatch):
    trained = []

    def record(model, recipe, tell):
        trained.append(model.digest)
        return {}

    monkeypatch.setattr(work, "measure", record)
    monkeypatch.setattr(work, "load_or_train", lambda *rest: pytest.fail("a model was trained"))
    monkeypatch.setattr(tables, "add_rows", lambda *rest: [])
    assert work.train_family(str(tmp_path), 400, 1, "AC", weights=str(folder)) == [ROPE.name, DROPE.name]
    assert trained == [shipped(member).digest for member in SHIPPED]
    with pytest.raises(ModelError, match="has no b400-s1-B"):
        work.train_family(str(tmp_path), 400, 1, "B", weights=str(folder))


def test_comparison_reads_packed_models(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(
        work,
        "measure",
        lambda made, recipe, tell: {"retrained_models": [{"model": made.which.name, **work.model_row(made, recipe)}]},
    )
    lines = command.compare_with_stored(tmp_path, ROPE, weights=folder)
    assert lines == ["b400-s1-A, retrained_models: 1 rows, 0 kept"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--pack", "x", "--compare"], "give one of them"),
        (["--pack", "x", "--export"], "give one of them"),
        (["--weights", "x", "--export"], "--weights is for measuring"),
        (["--weights", "x", "--pack", "y"], "--weights is for measuring"),
    ],
)
def test_conflicting_options_are_a_usage_error(options, message):
    result = CliRunner().invoke(main, ["lab", "population", *options])
    assert result.exit_code == 2
    assert message in result.output
