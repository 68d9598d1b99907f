"""Distillation of a two-layer model: both arms are trained, killed runs resume, and invalid requests are refused."""

import dataclasses
import io
import shutil

import pytest
from click.testing import CliRunner

import distil_made
from boundpaper.errors import DataError, ModelError, SpecError
from boundpaper.store.paths import SCHEMA
from boundpaper.store.schema import check
from conftest import ROOT

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from analysis.distil import command, student, windows  # noqa: E402
from analysis.distil.recipe import ARMS, RECIPES, DistilRecipe, recipe_of  # noqa: E402
from keyquery.measure.recipes import load_recipe  # noqa: E402
from keyquery.measure.subject import open_subject  # noqa: E402
from keyquery.models.checkpoints.loading import ModelSource, load  # noqa: E402

TINY = DistilRecipe(steps=6, warm=2, rate=3e-3, rows=2, length=16, texts=("manual", "code"), held_out=2, every=2)


@pytest.fixture(autouse=True)
def _restore_threads():
    old = torch.get_num_threads()
    yield
    torch.set_num_threads(old)


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setattr(windows, "texts_of", distil_made.texts)
    (tmp_path / "artifacts").mkdir()
    shutil.copy(ROOT / SCHEMA, tmp_path / SCHEMA)
    distil_made.folder(tmp_path / "teacher")
    return tmp_path


def run_distillation(project, **options):
    return command.run(project, str(project / "teacher"), recipe=options.pop("recipe", TINY), **options)


def weights(project, arm, seed=0):
    path = project / command.HOME / f"teacher-short-s{seed}" / arm / "checkpoint.pt"
    _, _, content = path.read_bytes().partition(b"\n")  # after the line with its hash
    return torch.load(io.BytesIO(content), weights_only=True)["state"]["weights"]


def equal_weights(first, second):
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def test_both_arms_train_and_are_saved_as_models(project):
    tables = run_distillation(project)
    assert [path.name for path in tables] == [
        "teacher-nope.csv", "teacher-continued.csv", "teacher-nope", "teacher-continued",
    ]  # fmt: skip
    import pandas as pd

    frames = {path.stem: pd.read_csv(path) for path in tables[:2]}
    for table in frames.values():
        assert sorted(set(table["step"])) == [0, 2, 4, 6]
        assert set(table["tokens"]) == {0, 64, 128, 192}
    assert not check(project, "distillation")
    nope, control = (
        frames[name].query("metric == 'kl'").groupby("step")["value"].mean() for name in sorted(frames)[::-1]
    )
    assert nope[6] < nope[0], "training brings the arm without rotation closer to the teacher"
    assert control[0] == 0 < control[6], "the control starts at the teacher, and training moves it"
    losses = frames["teacher-continued"].query("step == 0").set_index(["text", "metric"])["value"]
    assert losses["manual", "loss"] == losses["manual", "teacher_loss"]


def test_distilled_models_can_be_opened_by_folder(project):
    run_distillation(project, steps=2)
    home = project / command.HOME / "teacher-short-s0"
    subjects = {arm: open_subject(project, ModelSource(str(home / f"teacher-{arm}"))) for arm in ("nope", "continued")}
    assert {arm: (subject.name, subject.positional) for arm, subject in subjects.items()} == {
        "nope": ("teacher-nope", "drope"),
        "continued": ("teacher-continued", "rope"),
    }
    assert equal_weights(dict(subjects["nope"].model.state_dict()), weights(project, "nope"))
    assert subjects["nope"].training_length == 128, "a student inherits the teacher's context"
    untouched = open_subject(project, ModelSource(str(project / "teacher"), position="drope"))
    tokens = torch.tensor([[1, 5, 2, 7, 5, 3]])
    untouched_logits, student_logits = (subject.model(tokens).logits for subject in (untouched, subjects["nope"]))
    assert not torch.equal(untouched_logits, student_logits), "two training steps change the weights"


def test_recipes_measure_the_folders_that_the_command_writes():
    written = {f"{command.HOME}/smollm2-135m-{command.DEFAULT_RECIPE}-s0/smollm2-135m-{arm}" for arm in ARMS}
    for name in ("distilled", "distilled-retrieval", "distilled-experiments", "distilled-beginning"):
        recipe = load_recipe(ROOT / f"artifacts/recipes/{name}.yaml")
        assert {model.source.name for model in recipe.models} == {"smollm2-135m", *written}
        assert [model.source.position for model in recipe.models if "untouched" in model.name] == ["drope"]


def test_killed_distillation_resumes_to_the_same_weights(project):
    run_distillation(project, steps=6)
    uninterrupted = {arm: weights(project, arm) for arm in ("nope", "continued")}
    shutil.rmtree(project / "out")
    run_distillation(project, steps=2)
    assert not equal_weights(weights(project, "nope"), uninterrupted["nope"])
    run_distillation(project, steps=3)
    run_distillation(project)
    assert all(equal_weights(weights(project, arm), uninterrupted[arm]) for arm in uninterrupted)
    before = (project / "artifacts/measurements/distillation/teacher-nope.csv").read_bytes()
    run_distillation(project)
    assert (project / "artifacts/measurements/distillation/teacher-nope.csv").read_bytes() == before


def test_arm_that_starts_later_ends_with_the_same_weights(project):
    run_distillation(project, arms=["nope"], steps=4)
    run_distillation(project, steps=4)
    together = weights(project, "continued")
    shutil.rmtree(project / "out")
    run_distillation(project, arms=["continued"], steps=4)
    assert equal_weights(weights(project, "continued"), together), "the order of the arms has no effect"


def test_checkpoint_of_another_recipe_is_refused_with_the_difference(project):
    run_distillation(project, steps=2)
    with pytest.raises(ModelError, match="with another rate; delete it"):
        run_distillation(project, recipe=dataclasses.replace(TINY, rate=1e-3))
    with pytest.raises(ModelError, match="with another steps; delete it"):
        run_distillation(project, recipe=dataclasses.replace(TINY, steps=7))
    distil_made.folder(project / "teacher")
    config = project / "teacher/config.json"
    config.write_text(config.read_text().replace('"rms_norm_eps": 1e-06', '"rms_norm_eps": 1e-05'))
    with pytest.raises(ModelError, match="with another teacher"):
        run_distillation(project)


def test_training_documents_are_disjoint_from_held_out_ones(project, monkeypatch):
    documents = []

    def texts(name, part=None):
        documents.append((name, part))
        return distil_made.texts(name, part)

    monkeypatch.setattr(windows, "texts_of", texts)
    tokenizer = load(ModelSource(str(project / "teacher"))).tokenizer
    read = windows.read_windows(TINY, tokenizer)
    assert set(documents) == {(name, part) for name in TINY.texts for part in ("calibration", "evaluation")}
    batches = [read.batch(TINY, 0, step).tolist() for step in range(len(read.train) // TINY.rows)]
    rows = sorted(map(tuple, (row for batch in batches for row in batch)))
    assert rows == sorted(map(tuple, read.train.tolist())), "each window is read once"
    assert not set(rows) & {tuple(row) for held_out in read.held_out.values() for row in held_out.tolist()}
    assert read.batch(TINY, 1, 0).tolist() != batches[0]


def test_divergence_equals_that_of_the_full_distributions():
    student_logits, teacher_logits = torch.randn(2, 3, 7), torch.randn(2, 3, 7)
    teacher = teacher_logits.softmax(-1)
    expected = (teacher * (teacher.log() - student_logits.log_softmax(-1))).sum(-1).mean()
    assert student.divergence(student_logits, teacher_logits).item() == pytest.approx(expected.item(), rel=1e-5)
    assert student.divergence(teacher_logits, teacher_logits).item() == pytest.approx(0, abs=1e-6)


def test_invalid_distillation_requests_are_refused(project):
    with pytest.raises(SpecError, match="the recipe short has steps 1 to 6; for more steps"):
        run_distillation(project, steps=7)
    with pytest.raises(SpecError, match="arm 'rope' is unknown; give one of nope, continued"):
        run_distillation(project, arms=["rope"])
    with pytest.raises(SpecError, match="recipe 'brief' is unknown"):
        recipe_of("brief")
    with pytest.raises(SpecError, match="precision 'int8' is unknown"):
        DistilRecipe(steps=1, precision="int8")
    with pytest.raises(SpecError, match="rows is 0"):
        DistilRecipe(steps=1, rows=0)
    with pytest.raises(DataError, match=r"manual:evaluation has .* windows of 100 tokens, but needs 9"):
        run_distillation(project, recipe=dataclasses.replace(TINY, length=100, held_out=9))
    run_distillation(project, steps=2)
    student_folder = str(project / command.HOME / "teacher-short-s0/teacher-nope")
    with pytest.raises(ModelError, match=r"has no rotary embedding \(drope\)"):
        command.run(project, student_folder, recipe=TINY)
    with pytest.raises(ModelError, match="nowhere: not a model; give smollm2-135m"):
        command.run(project, "nowhere", recipe=TINY)


def test_damaged_checkpoint_is_reported_with_a_remedy(project):
    run_distillation(project, steps=2, arms=["nope"])
    (project / command.HOME / "teacher-short-s0/nope/checkpoint.pt").write_bytes(b"cut")
    with pytest.raises(ModelError, match=r"damaged.* rm "):
        run_distillation(project, arms=["nope"])


def test_command_refuses_invalid_steps_with_exit_code_2(project):
    from analysis.distil.commands import distil

    options = ["--model", str(project / "teacher"), "--steps", "99999"]
    result = CliRunner().invoke(distil, options, obj={"root": project})
    assert result.exit_code == 2, result.output
    assert "has steps 1 to" in result.output


def test_learning_rate_warms_up_and_decays_to_zero():
    for recipe in RECIPES.values():
        rates = [recipe.learning_rate(step) for step in range(recipe.steps)]
        assert max(rates) == pytest.approx(recipe.rate)
        assert rates.index(max(rates)) == recipe.warm - 1
        assert rates[-1] == pytest.approx(0, abs=1e-12)
        assert rates[: recipe.warm] == sorted(rates[: recipe.warm])
