"""Training of the population with few steps: arms share a recipe, killed runs resume, and rows are written once."""

import dataclasses
import shutil

import pytest
from click.testing import CliRunner

from boundpaper.errors import ModelError
from boundpaper.store.descriptor import resource
from boundpaper.store.measurement import path_of, put
from boundpaper.store.paths import SCHEMA
from boundpaper.store.reader import read
from boundpaper.store.schema import check
from boundpaper.store.table_file import table_text
from build import main
from conftest import ROOT

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from analysis.population import (  # noqa: E402
    ablation,
    command,
    experiments,
    geometry,
    outcomes,
    reach,
    tables,
    training,
    work,
)
from analysis.population.arithmetic import joined, rounding_digest  # noqa: E402
from analysis.population.muon import Muon, orthogonalised  # noqa: E402
from analysis.population.recipe import PopulationMember, PopulationRecipe, Stage  # noqa: E402
from analysis.population.training import model_of, train  # noqa: E402
from keyquery.experiments import disruption  # noqa: E402
from keyquery.measure.subject import Options  # noqa: E402

SHORT = {"muon": 0.01, "adam": 4e-3, "warm": 2, "rows": 2}
MICRO = PopulationRecipe(
    first=Stage(steps=5, short_steps=2, short_length=32, **SHORT),
    first_more=Stage(steps=3, **SHORT),
    second=Stage(steps=4, shape="cosine", average=2, scores=True, **SHORT),
    second_more=Stage(steps=3, shape="cosine", average=2, scores=True, **SHORT),
    brief=Stage(steps=2, shape="cosine", average=1, scores=True, **SHORT),
    scratch=Stage(steps=6, scores=True, **SHORT),
    rounds=1,
    held_out=4,
    layers=2,
    width=32,
    heads=2,
    inner=48,
    length=128,
    every=2,
    save=2,
)


class Killed(Exception):
    """Raised by a progress function to stop a training, as a signal would."""


def kill_at(step):
    """Return a progress function that raises `Killed` after a step."""

    def progress(done, total, text):
        if done == step:
            raise Killed

    return progress


def save_weights(folder, weights, arm, recipe, **facts):
    """Save weights of an arm of seed 3 in the file in which its training would store them."""
    name = f"b400-s3-{arm}"
    path = folder / work.HOME / "weights" / f"{name}.pt"
    path.parent.mkdir(parents=True, exist_ok=True)
    facts = {"steps": 1, "rounds": 0, "key_loss": 0.0, "reached": True, "curves": []} | facts
    torch.save({"made": {"model": name, "recipe": recipe.facts(arm)}, "facts": facts, "weights": weights}, path)


def equal_weights(first, second):
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    old = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(old)


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    return train(MICRO, PopulationMember(400, 3, "A"), None, tmp_path_factory.mktemp("a"))


def test_trained_model_is_determined_by_its_seed(start, tmp_path):
    assert equal_weights(train(MICRO, PopulationMember(400, 3, "A"), None, tmp_path / "a").weights, start.weights)
    assert not equal_weights(train(MICRO, PopulationMember(400, 4, "A"), None, tmp_path / "b").weights, start.weights)


def test_bases_begin_with_the_same_weights():
    one, two = (
        model_of(MICRO, PopulationMember(base, 3, arm), None).state_dict() for base, arm in ((400, "A"), (10_000, "E"))
    )
    assert equal_weights(one, two)


@pytest.mark.parametrize("killed_at", [1, 3, 4, 6])
def test_killed_training_resumes_to_the_same_weights(start, tmp_path, killed_at):
    member = PopulationMember(400, 3, "C")
    full = train(MICRO, member, start.weights, tmp_path / "whole")
    assert (full.steps, full.rounds, full.reached) == (7, 1, False)  # four steps, and one extension of three steps

    with pytest.raises(Killed):
        train(MICRO, member, start.weights, tmp_path / "killed", kill_at(killed_at))
    steps = []
    resumed = train(MICRO, member, start.weights, tmp_path / "killed", lambda done, *_: steps.append(done))
    assert steps[0] > max(0, killed_at - MICRO.save)  # at most one save interval is repeated
    assert equal_weights(resumed.weights, full.weights)
    assert resumed.curves == full.curves


def test_a_checkpoint_of_another_recipe_is_refused(start, tmp_path):
    with pytest.raises(Killed):
        train(MICRO, PopulationMember(400, 3, "B"), start.weights, tmp_path, kill_at(3))
    with pytest.raises(ModelError, match="another recipe;"):
        train(dataclasses.replace(MICRO, spread=0.03), PopulationMember(400, 3, "B"), start.weights, tmp_path)


def test_training_ends_at_the_criterion(start, tmp_path):
    easy = dataclasses.replace(MICRO, criterion=100.0)
    trained = train(easy, PopulationMember(400, 3, "B"), start.weights, tmp_path)
    assert (trained.steps, trained.rounds, trained.reached) == (4, 0, True)


def test_control_arm_trains_as_many_steps_as_its_counterpart(start, tmp_path):
    """The control meets the criterion at once, but still trains the extra steps that arm C needed."""
    easy = dataclasses.replace(MICRO, criterion=100.0)
    member = PopulationMember(400, 3, "B")
    assert member.matched == PopulationMember(400, 3, "C")
    assert train(easy, member, start.weights, tmp_path / "one", least=1).steps == 7
    for arm, rounds in (("A", 0), ("C", 1)):
        save_weights(tmp_path, start.weights, arm, easy, rounds=rounds, arithmetic="0" * 8)
    assert work.load_or_train(tmp_path, member, easy, lambda text: None).trained.rounds == 1


def test_training_records_every_arithmetic_it_ran_with(monkeypatch, tmp_path):
    """A training is killed, and resumed on a machine that rounds sums differently."""
    member = PopulationMember(400, 3, "A")

    with pytest.raises(Killed):
        train(MICRO, member, None, tmp_path, kill_at(3))
    digest = rounding_digest()
    monkeypatch.setattr(training, "rounding_digest", lambda: "01234567")
    assert train(MICRO, member, None, tmp_path).arithmetic == "+".join(sorted({digest, "01234567"}))


def test_different_rounding_gives_a_different_arithmetic_digest(monkeypatch):
    """A product that differs in its last bit gives another digest."""
    before = rounding_digest()
    assert before == rounding_digest()
    silu = torch.nn.functional.silu
    monkeypatch.setattr(torch.nn.functional, "silu", lambda x: silu(x) * (1 + 2**-23))
    assert rounding_digest() != before


def test_averaged_weights_are_the_mean_of_the_last_steps(start, tmp_path):
    """The average over one step is the last step, and the average over two steps the mean of the last two."""
    recipe = dataclasses.replace(MICRO, criterion=100.0)
    member = PopulationMember(400, 3, "C")

    def after(steps, average):
        stage = dataclasses.replace(MICRO.second, steps=steps, average=average, shape="linear", flat=1.0, floor=1.0)
        changed = dataclasses.replace(recipe, second=stage)
        return train(changed, member, start.weights, tmp_path / f"{steps}-{average}").weights

    three, four, mean = after(3, 1), after(4, 1), after(4, 2)
    for name, weight in mean.items():
        torch.testing.assert_close(weight, (three[name] + four[name]) / 2, atol=2e-3, rtol=2e-3)
    assert not equal_weights(three, four)


def test_muon_equals_the_torch_implementation():
    torch.manual_seed(0)
    ours = [torch.nn.Parameter(torch.randn(*shape)) for shape in ((8, 6), (6, 8), (8, 6))]
    theirs = [torch.nn.Parameter(weight.detach().clone()) for weight in ours]
    optimizer, torch_optimizer = Muon(ours), torch.optim.Muon(theirs, lr=0.1, weight_decay=0.0)
    for _ in range(3):
        for left, right in zip(ours, theirs, strict=True):
            left.grad = torch.randn_like(left)
            right.grad = left.grad.clone()
        optimizer.step(0.1)
        torch_optimizer.step()
    for left, right in zip(ours, theirs, strict=True):
        torch.testing.assert_close(left, right, atol=0.02, rtol=0.02)  # torch's version works in bfloat16


def test_an_orthogonal_update_has_singular_values_near_one():
    torch.manual_seed(0)
    values = torch.linalg.svdvals(orthogonalised(torch.randn(3, 12, 7)))
    assert values.min() > 0.6
    assert values.max() < 1.3


@pytest.fixture
def _few(monkeypatch):
    """Reduce the numbers of prompts and texts."""
    for module, sizes in (
        (outcomes, {"CONTEXTS": 8, "FEWER": 4, "SEQUENCES": 2, "SIGNED": 2}),
        (geometry, {"DOCUMENTS": 40, "SUNK": 4}),
        (reach, {"DOCUMENTS": 40, "DRAWN": 50, "EXCHANGED": 50}),
        (ablation, {"CONTEXTS": {1: 4, 4: 4}, "TEXTS": 2}),
        (experiments, {"OPTIONS": Options(texts=2, items=2)}),
    ):
        for name, size in sizes.items():
            monkeypatch.setattr(module, name, size)
    monkeypatch.setitem(disruption.measure.__kwdefaults__, "permutations", 10)


@pytest.mark.usefixtures("_few")
def test_rows_are_written_once_and_kept_by_a_rerun(tmp_path):
    """The second run trains nothing, although the saved weights were deleted, since the rows exist."""
    (tmp_path / "artifacts").mkdir()
    shutil.copy(ROOT / SCHEMA, tmp_path / SCHEMA)
    for name in tables.TABLES:  # tables before the first model contain only a header
        header = ",".join(field["name"] for field in resource(ROOT, name)["schema"]["fields"])
        tables.table_path(tmp_path, name).parent.mkdir(parents=True)
        tables.table_path(tmp_path, name).write_text(header + "\n", encoding="utf-8")
    assert work.train_family(str(tmp_path), 400, 3, "AC", recipe=MICRO) == ["b400-s3-A", "b400-s3-C"]
    assert tables.complete_models(tmp_path) == {"b400-s3-A", "b400-s3-C"}
    assert [str(fault) for name in tables.TABLES for fault in check(tmp_path, name)] == []
    before = {name: tables.table_path(tmp_path, name).read_bytes() for name in tables.TABLES}
    for path in (tmp_path / "out/population/weights").iterdir():
        path.unlink()
    assert work.train_family(str(tmp_path), 400, 3, "AC", recipe=MICRO) == []
    assert tables.missing_tables(tmp_path, "b400-s3-C") == []
    path = tables.table_path(tmp_path, "retrained_losses")
    path.write_text("\n".join(path.read_text().splitlines()[:1]) + "\n")  # a table added later
    assert tables.missing_tables(tmp_path, "b400-s3-C") == ["retrained_losses"]
    assert work.train_family(str(tmp_path), 400, 3, "AC", recipe=MICRO) == ["b400-s3-A", "b400-s3-C"]
    assert work.train_family(str(tmp_path), 400, 3, "C", again=True, recipe=MICRO) == ["b400-s3-C"]
    assert {name: tables.table_path(tmp_path, name).read_bytes() for name in tables.TABLES} == before


def test_weights_without_recorded_arithmetic_are_refused(start, tmp_path):
    save_weights(tmp_path, start.weights, "A", MICRO)
    with pytest.raises(ModelError, match=r"did not record its arithmetic; .* delete it: rm .*b400-s3-A.pt"):
        work.load_or_train(tmp_path, PopulationMember(400, 3, "A"), MICRO, lambda text: None)


def test_arm_without_rotation_is_trained_with_the_primary_base_only():
    assert command.planned_families([1, 2], [400, 10_000], "ABCDE") == [
        (400, 1, "ABC"), (400, 2, "ABC"), (400, 1, "DE"), (400, 2, "DE"), (10_000, 1, "ABC"), (10_000, 2, "ABC"),
        (10_000, 1, "D"), (10_000, 2, "D"),
    ]  # fmt: skip
    assert command.planned_families([1], [10_000], "E") == []
    for arms in (["E"], ["E", "E"], ["D", "E"]):
        options = [part for arm in arms for part in ("--arm", arm)]
        result = CliRunner().invoke(main, ["lab", "population", "--base", "10000", *options])
        assert (result.exit_code, "--arm E has no base and is trained beside" in result.output) == (2, True)


def test_comparison_reports_trainings_with_different_arithmetic(tmp_path):
    member = PopulationMember(400, 1, "C")
    (tmp_path / "artifacts").mkdir()
    shutil.copy(ROOT / SCHEMA, tmp_path / SCHEMA)
    put(tmp_path, tables.MODELS, "population", table_text(path_of(ROOT, "population_models", "population")))
    recorded = str(read(ROOT, "population_models").set_index("model").loc[member.name, "arithmetic"])
    assert command._rounding_note(tmp_path, member, recorded) == []
    [line] = command._rounding_note(tmp_path, member, "01234567")
    assert f"of a training with arithmetic {recorded}, this one had 01234567" in line


def test_model_records_the_arithmetic_of_its_start(monkeypatch, tmp_path):
    easy = dataclasses.replace(MICRO, criterion=100.0)
    work.load_or_train(tmp_path, PopulationMember(400, 3, "A"), easy, lambda text: None)
    digest = rounding_digest()
    monkeypatch.setattr(training, "rounding_digest", lambda: "01234567")
    second = work.load_or_train(tmp_path, PopulationMember(400, 3, "C"), easy, lambda text: None)
    assert second.trained.arithmetic == joined(digest, "01234567")


def test_weights_of_another_recipe_are_refused(tmp_path):
    work.load_or_train(tmp_path, PopulationMember(400, 3, "A"), MICRO, lambda text: None)
    with pytest.raises(ModelError, match=r"to another recipe \(spread\); delete it"):
        work.load_or_train(
            tmp_path, PopulationMember(400, 3, "A"), dataclasses.replace(MICRO, spread=0.03), lambda text: None
        )


@pytest.mark.usefixtures("_few")
def test_extensions_are_asked_equal_questions_once(start, monkeypatch):
    """Two tables share questions: those of the plain model, and those of extensions with their usual temperature."""
    calls = []
    real = vars(outcomes)["answers"]
    monkeypatch.setattr(
        outcomes, "answers", lambda *arguments, **options: calls.append(1) or real(*arguments, **options)
    )
    for arm, kinds in (("A", 8), ("C", 3)):
        member, calls[:] = PopulationMember(400, 3, arm), []
        questions = outcomes.KeyQuestions(model_of(MICRO, member, start.weights), member, MICRO, lambda text: None)
        keys = {(row["encoding"], row["multiple"]): row["letters"] for row in outcomes.key_rows(questions, member)}
        rows = outcomes.extension_rows(questions, member)
        assert len(rows) == 3 * kinds
        assert len(calls) == 5 + 3 * (kinds - 1)
        chosen = {"pi": 0, "ntk": 0, "yarn": 2, "temperature": 1}
        for row in rows:
            name = "temperature" if (row["encoding"], row["temperature"]) == ("own", 1) else row["encoding"]
            if name == "own" and row["temperature"] == 0:
                assert keys["own", row["multiple"]].startswith(row["letters"])
            elif row["temperature"] == chosen.get(name):
                assert keys[name, row["multiple"]] == row["letters"]


def test_yarn_without_temperature_equals_its_rotation_alone(start):
    """YaRN without its factor on queries and keys equals a configuration with attention factor 1."""
    from keyquery.models.attention.positions import encoding

    model = model_of(MICRO, PopulationMember(400, 3, "A"), start.weights).eval()
    tokens = torch.arange(2, 300)[None] % 100
    plain = model_of(MICRO, PopulationMember(400, 3, "A"), start.weights).eval()
    with torch.inference_mode():
        with encoding(model, "yarn", factor=4), outcomes.with_temperature(model, 4, -2):
            cooled = model(tokens, use_cache=False).logits
        config = model.config.__class__.from_dict(plain.config.to_dict())
        config.rope_parameters = {
            **{"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": MICRO.length},
            **{"rope_theta": 400.0, "attention_factor": 1.0},
        }
        plain.model.rotary_emb = type(plain.model.rotary_emb)(config=config)
        torch.testing.assert_close(cooled, plain(tokens, use_cache=False).logits, atol=1e-5, rtol=1e-4)
        assert (model(tokens, use_cache=False).logits - cooled).abs().max() > 1e-4  # and is undone
