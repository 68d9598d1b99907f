"""RULER on the command line: the harness runs as a program, and a random model answers needle prompts."""

import json
import stat
import sys

import pytest

from boundpaper.errors import DataError
from boundpaper.store.cached_files import with_hash
from keyquery.scores.ruler import needles as ruler_needles
from keyquery.scores.ruler import run as ruler_run
from keyquery.scores.ruler.needles import NEW_TOKENS
from keyquery.scores.ruler.scores import MEAN
from ruler_made import FULL, REAL, bench, results, table, value, without, written

# --- the harness as a program

HARNESS = """#!{python}
import json, pathlib, sys
options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
folder = pathlib.Path(options["--output_path"])
with (folder / "calls.txt").open("a") as stream:
    stream.write("called\\n")
[tokens] = json.loads(options["--metadata"])["max_seq_lengths"]
if (pathlib.Path(__file__).parent / f"fail-{{tokens}}").exists():
    print("loading essays")
    sys.exit((pathlib.Path(__file__).parent / f"fail-{{tokens}}").read_text())
content = json.loads(pathlib.Path({template!r}).read_text())
names = options["--tasks"].split(",")
limit = int(options.get("--limit", 500))
config = content["configs"]["niah_single_1"]
config["metadata"]["max_seq_lengths"] = [tokens]
content["results"] = {{name: {{"4096,none": -1, f"{{tokens}},none": 0.25}} for name in names}}
content["configs"] = {{name: config for name in names}}
content["n-samples"] = {{name: {{"original": 500, "effective": limit}} for name in names}}
arguments = dict(part.split("=") for part in options["--model_args"].split(","))
content |= {{"max_length": int(arguments["max_length"]), "model_name": arguments["pretrained"]}}
(folder / "model").mkdir(exist_ok=True)
(folder / "model/results_2026.json").write_text(json.dumps(content))
for name in names:
    answers = ["ab" if number < limit / 4 else "c" for number in range(limit)]
    doc = {{"max_length": tokens, "outputs": ["a", "b"]}}
    lines = [json.dumps({{"doc": doc, "filtered_resps": [answer]}}) for answer in answers]
    (folder / f"model/samples_{{name}}_2026.jsonl").write_text("\\n".join(lines))
"""


@pytest.fixture
def harness(tmp_path):
    """Return a program that takes the harness's options and writes its files; each score is 0.25."""
    path = tmp_path / "lm_eval"
    path.write_text(HARNESS.format(python=sys.executable, template=str(REAL)))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """Save a random model of 2048 positions that reads bytes."""
    pytest.importorskip("torch")
    from keyquery.scores.ruler.smoke import make_network

    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "max_position_embeddings": 2048}
    return make_network(tmp_path_factory.mktemp("models"), **sizes)


@pytest.mark.models
def test_harness_runs_each_length_separately_and_resumes(lab, harness, tiny):
    arguments = ("--run", "--harness", harness, "--lengths", "1k,2k", "--samples", "20")
    hints = ("--tasks needles", "install 'transformers<5'")
    for message, shown in (
        ("no network", hints[:1]),
        ("LlamaForCausalLM() got an unexpected keyword argument 'load_in_4bit'", hints[1:]),
        ("something else", ()),
    ):
        (harness.parent / "fail-2048").write_text(message)
        result = bench(*arguments, model=tiny)
        assert result.exit_code == 1
        assert message in result.output
        assert tuple(hint for hint in hints if hint in result.output) == shown
    (harness.parent / "fail-2048").unlink()
    result = bench(*arguments, model=tiny)
    assert result.exit_code == 0, result.output
    calls = {path.parent.name.partition("-")[0]: path for path in lab.glob("out/bench/ruler/*/harness/*/calls.txt")}
    assert {length: path.read_text().count("called") for length, path in calls.items()} == {"1k": 1, "2k": 4}
    rows = table(lab, "random-llama-bytes")
    assert [value(rows, MEAN, length) for length in ("1k", "2k")] == [25, 25]
    assert {row["n"] for row in rows if row["slice"] == "task"} == {"20"}
    options = json.loads((calls["1k"].parent / "options.json").read_text())
    assert options[options.index("--limit") + 1] == "20"
    assert options[options.index("--seed") + 1] == "42"


@pytest.mark.models
def test_unsupported_harness_options_are_refused(lab, harness, tiny, monkeypatch):
    result = bench("--run", "--harness", harness, "--lengths", "1k,4k", model=tiny)
    assert result.exit_code == 1
    assert "too long: 4k; the model has only 2048 positions; give --lengths 1k" in result.output
    result = bench("--run", "--harness", harness, "--lengths", "1k", "--samples", "501", model=tiny)
    assert "makes 500" in result.output
    result = bench("--run", "--harness", harness.parent / "absent", "--lengths", "1k", model=tiny)
    assert result.exit_code == 1
    assert "no such program" in result.output
    monkeypatch.setattr("keyquery.scores.ruler.harness.find_spec", lambda name: None)
    result = bench("--run", "--lengths", "1k", model=tiny)
    assert result.exit_code == 1
    assert ".[ruler]" in result.output


# --- a run


def run_needles(tiny, *more):
    arguments = "--run --tasks needles --lengths 1k --samples 2 --dtype fp32 --device cpu".split()
    return bench(*arguments, *more, model=tiny)


@pytest.mark.models
def test_interrupted_needle_run_resumes_to_the_same_answers(lab, tiny, monkeypatch):
    monkeypatch.setattr(ruler_run, "NEW_TOKENS", 4)
    real, calls = vars(ruler_run)["greedy"], []

    def interrupted(*arguments, **options):
        calls.append(arguments)
        if len(calls) > 3:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr(ruler_run, "greedy", interrupted)
    assert run_needles(tiny).exit_code == 130
    path = lab / "out/bench/ruler/random-llama-bytes/needles.jsonl"
    assert len(path.read_text().splitlines()) == 3
    path.write_text(path.read_text() + '{"id": "cut')
    monkeypatch.setattr(ruler_run, "greedy", real)
    result = run_needles(tiny, "--null-reference")
    assert result.exit_code == 0, result.output
    records = path.read_text()
    assert len(records.splitlines()) == 8
    path.unlink()
    assert run_needles(tiny, "--null-reference").exit_code == 0
    assert path.read_text() == records
    rows = table(lab, "random-llama-bytes")
    assert {row["data"] for row in rows} == {"needles in noise"}
    assert {row["role"] for row in rows} == {"null reference"}
    assert value(rows, "mean_noise_4", "1k") == 0
    assert not [row for row in rows if row["slice"] == "summary"]
    for record in map(json.loads, records.splitlines()):
        assert record["tokens"] <= 1024 - NEW_TOKENS


@pytest.mark.models
def test_correct_predictions_score_100_and_task_blocks_share_one_file(lab, tiny, tmp_path, monkeypatch):
    def find_needles(model, tokenizer, prompts, new_tokens, batch, **options):
        predictions = []
        for prompt in prompts:
            *_, question = prompt.split("\n")
            needles = [line for line in prompt.split("\n") if line.startswith("The locker")]
            keys = {line: line.removeprefix("The locker of the ").partition(" has")[0] for line in needles}
            predictions.append(" ".join(line.split()[-1] for line in needles if keys[line] in question))
        return predictions

    monkeypatch.setattr(ruler_run, "greedy", find_needles)
    assert run_needles(tiny, "--batch", "2").exit_code == 0
    rows = table(lab, "random-llama-bytes")
    assert [value(rows, task, "1k") for task in ruler_needles.TASKS] == [100] * 4
    assert value(rows, "mean_noise_4", "1k") == 100
    file = written(tmp_path / "r.json", results(FULL, model="random-llama-bytes"))
    assert bench("--results", file, model="random-llama-bytes").exit_code == 0
    rows = table(lab, "random-llama-bytes")
    blocks = [row["data"] for row in rows]
    assert blocks == sorted(blocks, key=["RULER", "needles in noise"].index)
    assert value(rows, "mean_noise_4", "1k") == 100
    assert value(rows, "average") == 50


@pytest.mark.models
def test_runs_are_refused_with_a_reason(lab, tiny):
    result = run_needles(tiny, "--lengths", "1k,4k")
    assert result.exit_code == 1
    assert "too long: 4k; the model has only 2048 positions; give --lengths 1k" in result.output
    result = run_needles(tiny, "--lengths", "300")
    assert result.exit_code == 1
    assert "give a longer one" in result.output
    result = run_needles(tiny, "--chat-template")
    assert "no chat template" in result.output
    folder = lab / "out/bench/ruler/random-llama-bytes"
    folder.mkdir(parents=True, exist_ok=True)
    record = {"id": "noise_single-1k-0000"}
    (folder / "needles.jsonl").write_text(json.dumps(record) + "\n")
    (folder / "needles.settings.json").unlink(missing_ok=True)
    assert "its settings are unknown" in run_needles(tiny).output
    (folder / "needles.settings.json").write_text(json.dumps(with_hash({"seed": 1})))
    assert "other settings" in run_needles(tiny).output
    assert (folder / "needles.jsonl").read_text() == json.dumps(record) + "\n", "unchanged"
    (folder / "needles.jsonl").write_text("{\n" + json.dumps(record) + "\n")
    (folder / "needles.settings.json").unlink()
    assert run_needles(tiny).exit_code == 1


@pytest.mark.models
def test_model_that_cannot_write_numbers_is_refused(lab, tmp_path):
    pytest.importorskip("torch")
    from models_tiny import saved

    saved("llama", tmp_path / "tiny")
    result = bench("--run", "--tasks", "needles", "--lengths", "64", "--samples", "1", model=tmp_path / "tiny")
    assert result.exit_code == 1
    assert "cannot write the numbers" in result.output


def test_duplicate_or_damaged_records_are_refused(tmp_path):
    settings = ruler_run.RulerSettings(tasks=("noise_single",), lengths=("1k",), samples=1)
    good: dict[str, object] = {"id": "noise_single-1k-0000", "task": "noise_single", "length": "1k"}
    good |= {"references": ["1"], "prediction": "1"}
    path = tmp_path / "needles.jsonl"
    for lines, message in (
        ([good, good], "appears twice"),
        ([without(good, "references")], "not a record of a needle"),
        ([{**good, "task": "another"}], "is not the id of another at"),
        ([], "no answer to noise_single-1k-0000"),
    ):
        path.write_text("".join(json.dumps(with_hash(line)) + "\n" for line in lines))
        with pytest.raises(DataError, match=message):
            ruler_run.score_records(path, settings)
    path.write_text('{"id": 3}\n' + json.dumps(with_hash(good)) + "\n")
    with pytest.raises(DataError, match=r"needles\.jsonl:1: no record with an id"):
        ruler_run.score_records(path, settings)
    path.write_text(json.dumps(with_hash(good)) + "\n")
    [cell] = ruler_run.score_records(path, settings)
    assert (cell.value, cell.n) == (100, 1)


def test_unknown_model_name_suggests_the_nearest(lab):
    result = bench("--run", "--tasks", "needles", model="tiny-rop")
    assert result.exit_code == 1
    assert "'tiny-rop' is neither a folder nor a known name" in result.stderr
    assert "did you mean tiny-rope" in result.stderr
