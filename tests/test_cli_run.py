"""The command `run` on small models of the tiny language: output, continuation, and errors."""

import dataclasses
import functools
import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from click.testing import CliRunner, Result  # noqa: E402

import models_planted  # noqa: E402
import models_tiny  # noqa: E402
from boundpaper.cli.door import command_line  # noqa: E402
from boundpaper.errors import DataError  # noqa: E402
from boundpaper.store.measurement import path_of  # noqa: E402
from boundpaper.store.schema import check  # noqa: E402
from boundpaper.store.table_file import table_text  # noqa: E402
from build import main  # noqa: E402
from keyquery.experiments import crosslayer_balance, massive_values  # noqa: E402
from keyquery.measure.evaluation import answers  # noqa: E402
from keyquery.measure.scores import items_of  # noqa: E402
from keyquery.measure.subject import Options, open_subject  # noqa: E402
from keyquery.models import texts  # noqa: E402
from keyquery.models.checkpoints.loading import ModelSource  # noqa: E402
from population_untrained import FEW, save_untrained  # noqa: E402

pytestmark = pytest.mark.models
QUICK = ("massive_values", "crosslayer_balance")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Save two models, a one-layer model, and models of another language with and without a beginning token."""
    folder = tmp_path_factory.mktemp("models")
    save_untrained(folder / "m")
    save_untrained(folder / "n", "C")
    save_untrained(folder / "one", num_hidden_layers=1)
    models_tiny.saved("llama", folder / "plain")
    shutil.copytree(folder / "plain", folder / "nobos")
    models_planted.tokenizer(bos=False).save_pretrained(folder / "nobos")
    return folder


@pytest.fixture
def project(lab: Path) -> Path:
    return lab


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["run", *map(str, arguments)])


def manifest(root: Path, experiment: str, model: str) -> Any:
    return json.loads((root / f"artifacts/measurements/{experiment}/{model}.json").read_text())


def table_lines(root: Path, experiment: str, model: str = "m") -> list[str]:
    return table_text(path_of(root, experiment, model)).splitlines()


def replace_measure(monkeypatch: pytest.MonkeyPatch, module: Any, measure: Callable[..., Any]) -> list[str]:
    """Replace an experiment's function by `measure(original, subject, options)`; return the list of its subjects."""
    calls: list[str] = []
    original = module.measure

    @functools.wraps(original)
    def replacement(subject: Any, options: Options, **more: Any) -> Any:
        calls.append(subject.name)
        return measure(original, subject, options)

    monkeypatch.setattr(module, "measure", replacement)
    return calls


def unchanged(original: Any, subject: Any, options: Options) -> Any:
    return original(subject, options)


# Files of a run ---------------------------------------------------------------------------------------------------


def test_a_pair_is_measured_over_the_same_texts(project: Path, models: Path) -> None:
    result = run(*QUICK, "--model", models / "m", "--against", models / "n", "--seeds", "0,2", *FEW)
    assert result.exit_code == 0, result.output
    files = [path_of(project, name, model).relative_to(project).as_posix() for model in "mn" for name in QUICK]
    assert result.stdout.split() == files
    assert "parameters; at least" in result.stderr  # memory is checked before anything is loaded
    assert not [fault for name in QUICK for fault in check(project, name)]
    first, second = (manifest(project, "massive_values", model) for model in "mn")
    assert first["hashes"] == second["hashes"]
    [(_, hashed)] = first["hashes"]["texts"].items()
    assert hashed["count"] == 4
    assert (first["positional"], second["positional"]) == ("rope", "drope")
    assert first["thresholds"] == json.loads(json.dumps(massive_values.SETTINGS))
    assert first["device"] == "cpu"
    assert first["options"]["seeds"] == [0, 2]
    assert first["versions"].keys() >= {"torch", "transformers"}
    assert first["model"]["fingerprint"] != second["model"]["fingerprint"]
    assert first["model"]["quantization"] is None
    assert first["command"].startswith("python build.py run massive_values --model m ")
    assert str(models) not in json.dumps(first)


def test_run_outside_a_project_prints_a_summary_and_models_can_be_compared(
    tmp_path: Path, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BOUNDPAPER_ROOT", raising=False)
    pair = ("--model", str(models / "m"), "--against", str(models / "n"))
    arguments = ("run", "massive_values", *pair, "--documents", "6", "--items", "2", "--device", "cpu")
    result = CliRunner().invoke(command_line(), arguments)
    assert result.exit_code == 0, result.output
    assert "massive values in queries" in result.stderr
    report = json.loads(CliRunner().invoke(command_line(), [*arguments, "--json"]).stdout)
    assert report["files"] == result.stdout.split()
    assert {(row["model"], row["n"], row["unit"]) for row in report["summary"]} == {(name, 6, "text") for name in "mn"}
    rows = pd.read_parquet(tmp_path / report["files"][0])
    values = rows.query("metric == 'largest_ratio_q' and unit_id.notna()")["value"]
    [largest] = [row for row in report["summary"] if row["metric"] == "largest_ratio_q" and row["model"] == "m"]
    assert largest["estimate"] == pytest.approx(values.mean())
    assert largest["ci_low"] < largest["estimate"] < largest["ci_high"]
    compared = CliRunner().invoke(command_line(), ["compare", "m", "n"])
    assert compared.exit_code == 0, compared.output
    assert "n minus m" in compared.stdout


def test_different_seeds_give_different_hashes_of_texts_and_items(models: Path) -> None:
    subject = open_subject(models, ModelSource(str(models / "m"), device="cpu"))
    records = []
    for seed in (0, 0, 1):
        subject.used.clear()
        options = Options(texts=2, items=3, seeds=(seed,))
        subject.texts(options)
        [(_, items)] = items_of(subject, "cities", options)
        answers(subject, items)
        records.append(subject.used.record())
    assert records[0] == records[1]
    assert records[0]["items"]["cities"]["count"] == 3
    for unit in ("texts", "items"):
        assert records[0][unit].keys() == records[2][unit].keys()
        assert records[0][unit] != records[2][unit]


def test_four_bit_weights_are_named_in_file_and_manifest(project: Path, models: Path) -> None:
    pytest.importorskip("bitsandbytes")
    result = run("massive_values", "--model", models / "m", "--quantize", "nf4", "--dtype", "bf16", *FEW)
    assert result.exit_code == 0, result.output
    record = manifest(project, "massive_values", "m-nf4")
    assert (record["model"]["quantization"]["library"], record["model"]["quantization"]["type"]) == (
        "bitsandbytes",
        "nf4",
    )
    assert "bitsandbytes" in record["versions"]
    assert "--quantize nf4" in record["command"]
    assert table_lines(project, "massive_values", "m-nf4")[1].startswith("rope,nf4,")


@pytest.mark.parametrize("model", ["one", "nobos"])
def test_model_with_one_layer_or_no_beginning_token_is_measured(
    project: Path, models: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    arguments: tuple[object, ...] = (*QUICK, "layer_content", "--model", models / model, "--tokens", "32", *FEW)
    if model == "nobos":  # the model has no English words
        with monkeypatch.context() as patched:  # the tokenizer is checked before weights are loaded
            patched.setattr("keyquery.measure.subject.load", lambda *_: pytest.fail("loaded"))
            result = run(*arguments)
        assert result.exit_code == 1
        assert "massive_values, crosslayer_balance, layer_content: nobos: its tokenizer encodes " in result.stderr
        assert "of the book english as unknown tokens; give texts in its language: --texts FILE" in result.stderr
        file = project / "words.txt"
        file.write_text(" ".join(models_planted._words(random.Random(0), 80)))
        arguments += ("--texts", str(file))
        model = "nobos-on-words"
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    for name in (*QUICK, "layer_content"):
        assert not check(project, name)
        assert len(table_lines(project, name, model)) > 5


# Continuing a run ---------------------------------------------------------------------------------------------------


def test_interrupted_run_resumes_and_repeats_only_with_again(
    project: Path, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = (*QUICK, "--model", models / "m", *FEW)
    calls = replace_measure(monkeypatch, massive_values, unchanged)

    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        replace_measure(patched, crosslayer_balance, interrupted)
        result = run(*arguments)
    assert result.exit_code == 130
    assert "finished work is kept" in result.stderr
    assert calls == ["m"]
    before = table_lines(project, "massive_values")
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert calls == ["m"], "the finished experiment is not measured again"
    assert "massive_values of m: already measured with this code and these options" in result.stderr
    assert table_lines(project, "crosslayer_balance")
    assert run(*arguments, "--again").exit_code == 0
    assert calls == ["m", "m"]
    assert table_lines(project, "massive_values") == before
    assert run("massive_values", "--model", models / "m", *FEW, "--seeds", "1", "--replace").exit_code == 0
    assert calls == ["m"] * 3, "other options are another measurement"
    file = path_of(project, "massive_values", "m")
    file.write_bytes(file.read_bytes()[:100])
    assert run("massive_values", "--model", models / "m", *FEW, "--seeds", "1").exit_code == 0
    assert calls == ["m"] * 4, "a damaged table is measured again"


def test_out_of_memory_is_reported_and_other_experiments_run(
    project: Path, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def exhausted(*_: Any) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")

    def with_exhausted_layer(original: Any, subject: Any, options: Options) -> Any:
        fresh = dataclasses.replace(subject, facts={}, folder=None)  # kept surveys need no forward pass
        handle = subject.model.model.layers[1].register_forward_hook(exhausted)
        try:
            return original(fresh, options)
        finally:
            handle.remove()

    with monkeypatch.context() as patched:
        replace_measure(patched, massive_values, with_exhausted_layer)
        result = run(*QUICK, "--model", models / "m", *FEW)
        alone = run("massive_values", "--model", models / "m", *FEW)
    assert result.exit_code == alone.exit_code == 1
    assert "1 of 2 experiments not measured, the others are kept" in result.stderr
    for outcome in (result, alone):
        assert "massive_values of m: out of memory; what is finished is kept: run again with" in outcome.stderr
        assert "Traceback" not in outcome.output
    assert table_lines(project, "crosslayer_balance")
    assert not (project / "artifacts/measurements/massive_values").exists()
    assert run(*QUICK, "--model", models / "m", *FEW).exit_code == 0


def test_sick_measurement_keeps_the_valid_one(project: Path, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ("massive_values", "--model", models / "m", *FEW)
    assert run(*arguments).exit_code == 0
    before = table_lines(project, "massive_values")

    def with_value(number: str) -> Callable[..., Any]:
        def changed(original: Any, subject: Any, options: Options) -> Any:
            first, *others = original(subject, options)
            return [first | {"value": float(number), "n": 3, "reason": ""}, *others]

        return changed

    for number in ("nan", "inf"):
        with monkeypatch.context() as patched:
            replace_measure(patched, massive_values, with_value(number))
            result = run(*arguments, "--again")
        assert result.exit_code == 1
        assert "massive_values: " in result.stderr
        assert table_lines(project, "massive_values") == before
    with monkeypatch.context() as patched:
        replace_measure(patched, massive_values, lambda *_: [])
        result = run(*arguments, "--again")
    assert (result.exit_code, "gave no row" in result.stderr) == (1, True)
    assert table_lines(project, "massive_values") == before


@pytest.mark.parametrize("jobs", [(), ("--cpus", "1")], ids=["here", "one model a job"])
def test_refused_experiment_hides_none_of_the_others(project: Path, models: Path, jobs: tuple[str, ...]) -> None:
    arguments = ("--model", models / "m", "--against", models / "n", *FEW, "--seeds", "900001", *jobs)
    result = run("crosslayer_balance", "disruption", *arguments)
    assert result.exit_code == 1
    files = [f"artifacts/measurements/crosslayer_balance/{name}.csv" for name in ("m", "n")]
    assert [*result.stdout.split()] == files
    summary, refusal = result.stderr.split("error: ")
    assert re.search(r"^m +crosslayer_balance (.*\n)+n +crosslayer_balance ", summary, re.M)
    for line, name in zip(refusal.splitlines(), ("m", "n"), strict=True):
        assert f"{name}: 1 of 2 experiments not measured, the others are kept: disruption: seed 900001" in line
    if jobs:
        return
    json_result = run("crosslayer_balance", "disruption", *arguments, "--json")
    assert (json_result.exit_code, json.loads(json_result.stdout)["files"]) == (1, files)
    assert {row["model"] for row in json.loads(json_result.stdout)["summary"]} == {"m", "n"}


# Errors -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["massive_value", "--model", "m"], 2, "no experiment 'massive_value'; did you mean massive_values"),
        (["--model", "m"], 2, "name an experiment, or give --all"),
        (["sinks"], 2, "no model given; give --model"),
        (["sinks", "--model", "m", "--against", "m"], 2, "--against m: this model is already named"),
        (["sinks", "--model", "m", "--against", "n", "--revision", "x"], 2, "several are named: write MODEL@REVISION"),
        (["sinks", "--model", "m", "--against", "n", "--bos"], 2, "--bos is for loading a single model"),
        (["sinks", "--model", "m@x", "--revision", "y"], 2, "names a revision itself; leave out --revision y"),
        (["sinks", "--model", "m@"], 2, "'m@': write MODEL@REVISION"),
        (["sinks", "--model", "no/such@x", "--against", "no/such@y", *FEW], 1, "no/such"),
        (["sinks", "--model", "m", "--items", "-1"], 2, "--items"),
        (["sinks", "--model", "m", "--seeds", "x"], 2, "'x' is not a list of whole numbers such as 0,1,2"),
        (["sinks", "--model", "m", "--seeds", ""], 2, "is not a list of whole numbers"),
        (["sinks", "--model", "nowhere"], 1, "'nowhere' is neither a folder nor a known name"),
        (["sinks", "--model", "tiny-ropes"], 1, "did you mean tiny-rope"),
        (["sinks", "--model", "no/such"], 1, "no/such: "),
        (["sinks", "--recipe", "RECIPE", "--model", "m"], 2, "a recipe names models and experiments"),
        (["--recipe", "RECIPE"], 1, "mine.yaml: unknown key 'modles'; did you mean 'models'"),
        (["massive_values", "--model", "MODELS/m", "--texts", "gone.jsonl", *FEW], 1, "gone.jsonl: no such file"),
        (["layer_ablation", "--model", "MODELS/plain", *FEW], 1, "its tokenizer encodes "),
        (
            ["sinks", "--model", "MODELS/m", "--tokens", "193", *FEW],
            1,
            "measured: give --tokens 192 or less, or --anyway",
        ),
    ],
)
def test_invalid_run_arguments_are_reported_in_one_line(
    project: Path, models: Path, arguments: list[str], code: int, message: str
) -> None:
    recipe = project / "mine.yaml"
    recipe.write_text("title: Mine\nexperiments: all\nmodles: []\n")
    replaced = [argument.replace("RECIPE", str(recipe)).replace("MODELS", str(models)) for argument in arguments]
    result = run(*replaced)
    assert result.exit_code == code, result.output
    assert message in result.stderr
    assert "Traceback" not in result.output
    assert not (project / "artifacts/measurements").exists()


def test_damaged_checkpoint_is_reported_with_a_remedy(project: Path, models: Path, tmp_path: Path) -> None:
    shutil.copytree(models / "m", tmp_path / "cut")
    file = tmp_path / "cut/model.safetensors"
    file.write_bytes(file.read_bytes()[:2000])
    result = run("sinks", "--model", tmp_path / "cut", *FEW)
    assert result.exit_code == 1
    [error] = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert error.endswith("a weight file is damaged or cut short; download it again")
    assert result.stderr.splitlines()[-1] == error
    (tmp_path / "cut/lab.json").write_text("{")
    result = run("sinks", "--model", tmp_path / "cut", *FEW)
    assert result.exit_code == 1
    assert "lab.json: not valid JSON" in result.stderr


# Texts from outside -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("short_name", "dataset_id"), [("imdb", "stanfordnlp/imdb"), ("wikitext", "Salesforce/wikitext")]
)
def test_dataset_short_names_resolve_to_their_ids(
    project: Path, models: Path, monkeypatch: pytest.MonkeyPatch, short_name: str, dataset_id: str
) -> None:
    class Unreachable:
        @staticmethod
        def load_dataset(name: str, *_: Any, **__: Any) -> Any:
            raise ConnectionError(f"no way to {name}")

    monkeypatch.setattr(texts, "need", lambda *_: Unreachable)
    result = run("massive_values", "--model", models / "m", "--texts", short_name, *FEW)
    assert result.exit_code == 1
    assert f"error: {dataset_id}" in result.stderr
    assert f"cannot be read (no way to {dataset_id}); check the id and the connection, or give a local" in result.stderr


def test_parts_of_a_text_begin_with_the_beginning_token(models: Path, tmp_path: Path) -> None:
    subject = open_subject(models, ModelSource(str(models / "m"), device="cpu"))
    words = subject.book.texts(subject.book.kinds()[0], 1, 40, 0, subject.tokenizer)[0].split()
    file = tmp_path / "mine.txt"
    file.write_text(" ".join(words))
    options = Options(texts=3, tokens=11, texts_from=str(file))
    subject.used.clear()
    parts = subject.texts(options)
    assert [text.id for text in parts] == ["mine#0", "mine#1", "mine#2"]
    assert {int(text.tokens[0, 0]) for text in parts} == {subject.tokenizer.bos_token_id}
    texts_without_beginning = [subject.tokenizer.decode(text.tokens[0, 1:]) for text in parts]
    assert " ".join(texts_without_beginning).split() == words[:30]
    assert subject.used.record()["texts"][file.name]["count"] == 3
    with pytest.raises(DataError, match=r"only \d texts of 11 tokens, but 99 are asked for"):
        subject.texts(dataclasses.replace(options, texts=99))


def test_every_text_gives_a_part_before_any_gives_a_second(models: Path, tmp_path: Path) -> None:
    subject = open_subject(models, ModelSource(str(models / "m"), device="cpu"))
    folder = tmp_path / "mine"
    folder.mkdir()
    for name, length in (("a", 50), ("b", 9), ("c", 25), ("d", 50)):
        words = subject.book.texts(subject.book.kinds()[0], 1, length, 0, subject.tokenizer)[0].split()[: length - 1]
        (folder / f"{name}.txt").write_text(" ".join(words))
    options = Options(texts=3, tokens=11, seeds=(0, 1), texts_from=str(folder))
    parts = [(text.seed, text.id) for text in subject.texts(options)]
    assert parts == [(0, "a#0"), (0, "c#0"), (0, "d#0"), (1, "a#1"), (1, "c#1"), (1, "d#1")]


def test_capture_experiments_refuse_user_texts_and_others_run(project: Path, models: Path, tmp_path: Path) -> None:
    """An experiment that compares kinds of text is refused on the user's texts; the other experiment runs."""
    file = tmp_path / "mine.txt"
    subject = open_subject(models, ModelSource(str(models / "m"), device="cpu"))
    file.write_text("\n".join(subject.book.texts(subject.book.kinds()[0], 4, 60, 0, subject.tokenizer)))
    result = run("crosslayer_balance", "text_kinds", "--model", models / "m", "--texts", file, *FEW)
    assert result.exit_code == 1
    assert "text_kinds: text_kinds compares kinds of generated text; leave --texts out" in result.stderr
    record = manifest(project, "crosslayer_balance", "m-on-mine")
    assert record["texts"] == file.name
    assert record["hashes"]["texts"][file.name]["count"] == 2
