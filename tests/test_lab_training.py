"""Training of the tiny pair, on a recipe of a few steps: the same weights each time, also after a kill."""

from __future__ import annotations

import dataclasses
import json

import pytest

from analysis.lab import checkpoint
from analysis.lab.recipe import Phase, Recipe, rotation
from artifacts.errors import ModelError, ThesisError

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from analysis.lab.examine import Score, right  # noqa: E402
from analysis.lab.training import train  # noqa: E402
from analysis.measure import lab  # noqa: E402

MICRO = Recipe(
    rope=Phase(steps=5, warm=2, short_steps=2, short_length=32),
    drope=Phase(steps=4, warm=2),
    layers=2,
    width=32,
    heads=2,
    inner=48,
    length=48,
    rows=2,
    every=3,
    save=2,
    items=2,
    final=2,
)


class Killed(Exception):
    """Stands for a signal."""


def weights(folder):
    return {name: (folder / name / "model.safetensors").read_bytes() for name in ("tiny-rope", "tiny-drope")}


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pair")
    told = []
    trained = train(folder, 3, work=folder, tell=lambda *line: told.append(line), recipe=MICRO)
    return folder, trained, told


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(pair, tmp_path):
    folder, trained, _ = pair
    again = train(tmp_path / "a", 3, work=tmp_path / "a", recipe=MICRO)
    assert weights(tmp_path / "a") == weights(folder)
    assert again.curves == trained.curves
    train(tmp_path / "b", 4, work=tmp_path / "b", recipe=MICRO)
    assert weights(tmp_path / "b")["tiny-rope"] != weights(folder)["tiny-rope"]


@pytest.mark.parametrize("killed_at", [3, 5, 8])
def test_a_killed_run_goes_on_to_the_same_weights(pair, tmp_path, killed_at):
    folder, trained, _ = pair

    def tell(done, total, text):
        if done == killed_at:
            raise Killed

    with pytest.raises(Killed):
        train(tmp_path, 3, work=tmp_path, recipe=MICRO, tell=tell)
    seen = []
    resumed = train(tmp_path, 3, work=tmp_path, resume=True, recipe=MICRO, tell=lambda done, *_: seen.append(done))
    assert seen[0] > 1  # it did not begin at the first step
    assert weights(tmp_path) == weights(folder)
    assert resumed.curves == trained.curves
    assert resumed.evaluation == trained.evaluation
    assert not (tmp_path / checkpoint.FILE).exists()


def killed(tmp_path):
    def tell(done, total, text):
        if done == 3:
            raise Killed

    with pytest.raises(Killed):
        train(tmp_path, 3, work=tmp_path, recipe=MICRO, tell=tell)
    return tmp_path / checkpoint.FILE


def test_a_damaged_checkpoint_is_named_with_the_way_out(tmp_path):
    path = killed(tmp_path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ModelError, match=r"checkpoint is damaged .*rm .*checkpoint\.pt"):
        train(tmp_path, 3, work=tmp_path, resume=True, recipe=MICRO)
    path.write_bytes(b"no checkpoint")
    with pytest.raises(ModelError, match="checkpoint is damaged"):
        train(tmp_path, 3, work=tmp_path, resume=True, recipe=MICRO)


def test_a_checkpoint_of_another_training_is_refused(tmp_path):
    killed(tmp_path)
    with pytest.raises(ModelError, match="another seed;"):
        train(tmp_path, 4, work=tmp_path, resume=True, recipe=MICRO)
    with pytest.raises(ModelError, match="another recipe;"):
        train(tmp_path, 3, work=tmp_path, resume=True, recipe=dataclasses.replace(MICRO, rows=3))


def test_a_write_that_fails_leaves_the_old_checkpoint(tmp_path, monkeypatch):
    path = killed(tmp_path)
    before = path.read_bytes()

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("artifacts.store.files.os.replace", full)
    with pytest.raises(ThesisError, match="disk is full"):
        train(tmp_path, 3, work=tmp_path, resume=True, recipe=MICRO)
    assert path.read_bytes() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == [checkpoint.FILE]


def test_without_resume_the_training_starts_anew(tmp_path):
    killed(tmp_path)
    seen = []
    with pytest.raises(Killed):
        train(tmp_path, 3, work=tmp_path, recipe=MICRO, tell=lambda done, *_: seen.append(done) or _stop())
    assert seen == [1]


def _stop():
    raise Killed


def test_the_models_load_offline_and_the_twin_has_no_rotation(pair):
    folder, _, told = pair
    assert told[-1][0] == told[-1][1] == 9
    tokens = torch.tensor([[1, 20, 30, 40, 50]])
    for name in ("tiny-rope", "tiny-drope"):
        model = transformers.AutoModelForCausalLM.from_pretrained(folder / name, dtype="float32")
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder / name)
        assert tokenizer("the key")["input_ids"][0] == tokenizer.bos_token_id
        with torch.no_grad():
            here = model(tokens).logits
            spread = model(tokens, position_ids=torch.tensor([[0, 3, 9, 30, 90]])).logits
        assert torch.equal(here, spread) == (name == "tiny-drope")
        facts = json.loads((folder / name / "lab.json").read_text())
        assert (facts["language"], facts["training_seed"], facts["training_length"]) == ("lab", 3, 48)
        card = (folder / name / "README.md").read_text()
        assert f"# {name}" in card
        assert "| passkey |" in card
        stored = transformers.AutoModelForCausalLM.from_pretrained(folder / name, dtype="auto")
        assert stored.dtype == torch.float16
        assert stored.config.rope_parameters["rope_type"] == rotation(name.removeprefix("tiny-"))["rope_type"]


def test_curves_are_tidy_and_evaluations_count_their_items(pair):
    _, trained, _ = pair
    columns = ["positional", "step", "phase", "metric", "value", "n", "reason"]
    assert all(list(row) == columns for row in trained.curves)
    keys = [(row["positional"], row["step"], row["phase"], row["metric"]) for row in trained.curves]
    assert len(set(keys)) == len(keys)
    assert {row["step"] for row in trained.curves if row["phase"] == "pretraining"} == {3, 5}
    assert {row["step"] for row in trained.curves if row["phase"] == "recalibration"} == {3, 4}
    final = [row["metric"] for row in trained.curves if row["phase"] == "final" and row["positional"] == "drope"]
    assert {"passkey_1x", "passkey_2x", "passkey_4x", "cities", "cities_2x", "verification_0.5x"} <= set(final)


def test_an_interval_is_wilsons():
    low, high = Score("cities", "bare", 19, 20).interval()
    assert (round(low, 4), round(high, 4)) == (0.7639, 0.9911)


def test_right_means_greedy_decoding_gives_the_answer(pair):
    from analysis.tasks.items import Item

    folder, _, _ = pair
    model = transformers.AutoModelForCausalLM.from_pretrained(folder / "tiny-rope", dtype="float32")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "tiny-rope")
    prompts = ["the key is", "where is north haven ?"]
    items = []
    for prompt in prompts:
        inputs = tokenizer(prompt, return_tensors="pt")
        out = model.generate(**inputs, max_new_tokens=3, do_sample=False, eos_token_id=None, pad_token_id=0)
        answer = tokenizer.decode(out[0, inputs["input_ids"].shape[1] :])
        items.append(Item(prompt, "any", prompt, answer))
    assert right(model, items) == [True, True]
    wrong = [dataclasses.replace(item, answer=item.answer.split()[0] + " haven haven") for item in items]
    expected = [item.answer == other.answer for item, other in zip(items, wrong, strict=True)]
    assert right(model, wrong) == expected
    assert not all(expected)


def test_the_command_writes_measurements_and_installs_when_asked(tmp_path, monkeypatch):
    made = lab.run(tmp_path, 0, install=True, recipe=MICRO)
    names = sorted(path.relative_to(tmp_path).as_posix() for path in made.tables)
    assert names == [f"artifacts/measurements/lab_training/tiny-{kind}.csv" for kind in ("drope", "rope")]
    manifest = json.loads(made.tables[0].with_suffix(".json").read_text())
    assert manifest["command"] == "python build.py lab train --seed 0"
    for kind in ("rope", "drope"):
        stored = (tmp_path / f"out/lab/s0/tiny-{kind}/model.safetensors").read_bytes()
        assert (tmp_path / f"artifacts/models/tiny-{kind}/model.safetensors").read_bytes() == stored
    tables = lab.record(tmp_path, made.trained, 1, MICRO, 1)
    assert {path.stem for path in tables} == {"tiny-rope-s1", "tiny-drope-s1"}
