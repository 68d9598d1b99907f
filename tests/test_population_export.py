"""The three shipped models are the measured ones and load offline, and their cards agree with the tables."""

import hashlib
import json
import re

import pandas as pd
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from click.testing import CliRunner  # noqa: E402

from analysis.population import export, outcomes, work  # noqa: E402
from analysis.population.recipe import PopulationMember, PopulationRecipe  # noqa: E402
from analysis.population.training import TrainingOutcome, model_of  # noqa: E402
from boundpaper.errors import DataError, ModelError  # noqa: E402
from boundpaper.store.measurement import path_of, put  # noqa: E402
from boundpaper.store.table_file import table_text  # noqa: E402
from build import main  # noqa: E402
from committed import artifact  # noqa: E402
from conftest import ROOT  # noqa: E402
from keyquery.language.book import BOOK  # noqa: E402
from keyquery.measure.subject import open_subject  # noqa: E402
from keyquery.models.checkpoints.loading import ModelSource  # noqa: E402

pytestmark = pytest.mark.models
NAMES = ("tiny-rope", "tiny-continued", "tiny-drope")


def facts(name):
    return json.loads((ROOT / f"packages/keyquery/src/keyquery/tiny/{name}/lab.json").read_text())


@pytest.mark.parametrize("name", NAMES)
def test_shipped_weights_equal_the_measured_ones(name):
    from safetensors.torch import load_file

    tensors = load_file(ROOT / f"packages/keyquery/src/keyquery/tiny/{name}/model.safetensors")
    tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"]  # tied weights are saved once
    digest = hashlib.sha256()
    for name_of_tensor in sorted(tensors):
        assert tensors[name_of_tensor].dtype == torch.float16
        digest.update(name_of_tensor.encode() + tensors[name_of_tensor].contiguous().numpy().tobytes())
    shipped = facts(name)
    row = artifact("population_models").set_index("model").loc[shipped["model"]]
    assert digest.hexdigest()[:16] == shipped["weights"] == row["weights"]
    assert (shipped["arm"], shipped["base"], shipped["training_seed"]) == ("ABC"[NAMES.index(name)], 400, 1)
    assert (shipped["steps"], shipped["reached"]) == (row["steps"], row["reached"])


def test_three_shipped_models_are_below_six_megabytes():
    files = [path for name in NAMES for path in (ROOT / f"packages/keyquery/src/keyquery/tiny/{name}").iterdir()]
    assert sum(path.stat().st_size for path in files) < 6e6


@pytest.mark.parametrize("name", NAMES)
def test_model_card_agrees_with_the_tables(name):
    text = (ROOT / f"packages/keyquery/src/keyquery/tiny/{name}/README.md").read_text()
    lines = {line.split("|")[1].strip(): line for line in text.splitlines() if line.startswith("| ")}
    heads = [cell.strip() for cell in lines["task"].split("|")[2:-1]]
    keys = artifact("population_keys").query("encoding == 'own'").assign(task="keys")
    rows = pd.concat([artifact("population_tasks"), keys])
    rows = rows[rows["model"] == facts(name)["model"]]
    filled = [cell for line in lines.values() for cell in line.split("|")[2:] if re.search(r"\d", cell)]
    assert len(filled) == len(rows) + len(heads)
    for row in rows.itertuples():
        column = heads.index(f"{row.multiple:g}x" if row.multiple else "0")
        assert float(lines[row.task].split("|")[2 + column]) == pytest.approx(100 * row.right / row.asked, abs=0.051)
    verb = "meets" if facts(name)["key_loss"] < facts(name)["criterion"] else "misses"
    assert f"the model {verb} the criterion" in text


@pytest.mark.parametrize("name", NAMES)
def test_shipped_model_is_asked_in_its_language_and_answers_as_measured(name):
    subject = open_subject(ROOT, ModelSource(name))
    assert subject.book.name == BOOK.name == "population"
    assert (subject.name, subject.training_seed, subject.training_length) == (name, 1, 128)
    assert subject.positional == ("drope" if name == "tiny-drope" else "rope")
    shipped = facts(name)
    rows = outcomes.task_rows(
        subject.model, PopulationMember(400, 1, shipped["arm"]), PopulationRecipe(), lambda text: None
    )
    measured = artifact("population_tasks").query(f"model == '{shipped['model']}'").set_index(["task", "multiple"])
    for row in rows:
        if row["multiple"] == 0:
            assert abs(row["right"] - measured.loc[(row["task"], 0), "right"]) <= 1, (
                row
            )  # another processor rounds differently


def test_a_card_of_another_language_is_refused(tmp_path):
    source = ROOT / "packages/keyquery/src/keyquery/tiny/tiny-rope"
    for path in source.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "lab.json").write_text(json.dumps({"language": "latin"}))
    with pytest.raises(DataError, match=r"lab\.json: unknown language 'latin'"):
        open_subject(tmp_path, ModelSource(str(tmp_path)))


def test_weights_that_were_not_measured_are_not_exported(tmp_path, monkeypatch):
    recipe = PopulationRecipe(layers=1, width=32, heads=1, inner=32)

    def untrained(root, member, recipe, tell):
        weights = dict(model_of(recipe, member, None).state_dict())
        return work.TrainedModel(member, TrainingOutcome(weights, 1, 0, 0.5, False))

    monkeypatch.setattr(export, "load_or_train", untrained)
    with pytest.raises(ModelError, match=r"no row for b400-s1-A.*--seed 1 --base 400 --arm A"):
        export.export_subjects(tmp_path, recipe)
    (tmp_path / "artifacts").mkdir(exist_ok=True)
    (tmp_path / "artifacts/datapackage.yaml").write_bytes((ROOT / "artifacts/datapackage.yaml").read_bytes())
    for name in ("models", "keys", "tasks"):
        put(tmp_path, f"population_{name}", "population", table_text(path_of(ROOT, f"population_{name}", "population")))
    with pytest.raises(ModelError, match=r"differ from the measured ones \(8d983c14c9bb3812\)"):
        export.export_subjects(tmp_path, recipe)
    assert not (tmp_path / "packages/keyquery/src/keyquery/tiny").exists()


def test_export_option_excludes_training_options():
    result = CliRunner().invoke(main, ["lab", "population", "--export", "--seed", "2"])
    assert result.exit_code == 2
    assert "leave --seed, --base and --arm out" in result.output
