"""RULER on the command line: result files of the harness, its program, a random model run, and bad input."""

import csv
import json
import stat
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from analysis.benchmarks import ruler_needles, ruler_results
from analysis.benchmarks.ruler_needles import NEW_TOKENS
from analysis.benchmarks.ruler_scores import MEAN, TASKS, length_tokens
from artifacts.errors import DataError
from build import main
from conftest import ROOT

LENGTHS = ("4k", "8k", "16k", "32k", "64k", "128k")
REAL = Path(__file__).parent / "ruler_results.json"  # made by the harness itself, facts of the machine taken out


# --- the command


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """A project of its own for measurements, which the command line takes for the root."""
    root = tmp_path / "project"
    (root / "artifacts").mkdir(parents=True)
    (root / "artifacts/datapackage.yaml").write_bytes((ROOT / "artifacts/datapackage.yaml").read_bytes())
    monkeypatch.setattr("build.ROOT", root)
    return root


def bench(*arguments, model="some/Planted-1B"):
    """Run `bench ruler` as the command line does: its errors become a line and an exit code."""
    return CliRunner().invoke(main, ["bench", "ruler", "--model", str(model), *map(str, arguments)])


def table(root, name="planted-1b"):
    with (root / f"artifacts/measurements/measured_ruler/{name}.csv").open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def value(rows, key, length="all"):
    [found_row] = [each for each in rows if each["key"] == key and each["length"] == length]
    return found_row["value"] and float(found_row["value"])


NAMES = {ours: theirs for theirs, ours in ruler_results.NAMES.items()}


def results(scores, *, asked=None, original=None, effective=None, max_length=131072, model="some/Planted-1B", **more):
    """What the harness writes, with the keys of the file `REAL`; scores by task and tokens, 0 to 1."""
    asked = asked or sorted({int(tokens) for by in scores.values() for tokens in by})
    original = original or 500 * len(asked)
    names = {NAMES[task]: by for task, by in scores.items()}
    content = json.loads(REAL.read_text(encoding="utf-8"))
    [template] = [content["configs"]["niah_single_1"]]
    content |= {
        "results": {
            name: {
                "name": name,
                "alias": name,
                "sample_len": effective or original,
                "4096,none": -1,
                "4096_stderr,none": "N/A",
                **{f"{tokens},none": score for tokens, score in by.items()},
                **{f"{tokens}_stderr,none": "N/A" for tokens in by},
            }
            for name, by in names.items()
        },
        "configs": {
            name: {**template, "task": name, "metadata": {**template["metadata"], "max_seq_lengths": asked}}
            for name in names
        },
        "n-samples": {name: {"original": original, "effective": effective or original} for name in names},
        "max_length": max_length,
        "model_name": model,
    }
    return {**content, **more}


def written(path, content):
    """The file, and beside it the samples of its questions, each with one reference, right as often as it says."""
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    for name in (NAMES[task] for task in ruler_results.QUESTIONS):
        scores = content.get("results", {}).get(name, {}) if isinstance(content, dict) else {}
        lines = [
            sample(int(key.partition(",")[0]), ["Paris"], "in Paris" if number < round(500 * score) else "in Rome")
            for key, score in scores.items()
            if key.partition(",")[0].isdigit() and score != -1
            for number in range(500)
        ]
        if lines:
            samples_of(path, name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def samples_of(path, name):
    return path.with_name(f"samples_{name}_{path.stem.removeprefix('results_')}.jsonl")


def sample(tokens, references, said):
    return json.dumps({"doc": {"max_length": tokens, "outputs": references}, "filtered_resps": [said]})


TOKENS = tuple(length_tokens(length) for length in LENGTHS)


def test_a_file_of_the_harness_itself(lab):
    read = ruler_results.read([REAL])
    assert [(cell.task, cell.length, cell.value, cell.n) for cell in read.cells] == [
        ("niah_single_1", "4k", 0.0, 2),
        ("niah_multikey_2", "4k", 0.0, 2),
    ]
    assert read.facts["harness"] == ["0.4.13"]
    done = bench("--results", REAL, "--lengths", "4k", model="tiny-bytes")
    assert done.exit_code == 1
    assert "niah_single_2" in done.output
    assert "--partial" in done.output
    done = bench("--results", REAL, "--lengths", "4k", "--partial", model="tiny-bytes")
    assert done.exit_code == 0, done.output
    rows = table(lab, "tiny-bytes")
    assert value(rows, "niah_single_1", "4k") == 0
    assert value(rows, MEAN, "4k") == ""


def test_results_become_a_measurement(lab, tmp_path):
    scores = {
        task: {tokens: 1 - 0.1 * step - 0.01 * place for step, tokens in enumerate(TOKENS)}
        for place, task in enumerate(TASKS)
    }
    done = bench("--results", written(tmp_path / "results_1.json", results(scores)))
    assert done.exit_code == 0, done.output
    rows = table(lab)
    for step, length in enumerate(LENGTHS):
        assert value(rows, "vt", length) == pytest.approx(100 * scores["vt"][TOKENS[step]])
        assert value(rows, MEAN, length) == pytest.approx(100 - 10 * step - 6)
    assert value(rows, "average") == pytest.approx(100 - 25 - 6)
    assert value(rows, "effective_length") == 4096, "94 at 4k, 84 at 8k"
    assert {each["n"] for each in rows if each["slice"] == "task"} == {"500"}
    assert {each["role"] for each in rows} == {"model"}
    note = json.loads((lab / "artifacts/measurements/measured_ruler/planted-1b.json").read_text())
    assert "bench ruler --model some/Planted-1B --results FILE..." in note["command"]
    assert note["versions"] == {"lm_eval": "0.4.13"}


def test_files_a_length_make_one_table_and_nothing_is_replaced_silently(lab, tmp_path):
    files = [
        written(tmp_path / f"results_{tokens}.json", results({task: {tokens: 0.9} for task in TASKS}))
        for tokens in TOKENS
    ]
    assert bench("--results", *files).exit_code == 0
    assert bench("--results", *files).exit_code == 0, "the same again is no conflict"
    other = written(tmp_path / "other.json", results({task: dict.fromkeys(TOKENS, 0.5) for task in TASKS}))
    done = bench("--results", other)
    assert done.exit_code == 1
    assert "--replace" in done.output
    assert value(table(lab), "average") == pytest.approx(90)
    assert bench("--results", other, "--replace").exit_code == 0
    assert value(table(lab), "average") == pytest.approx(50)


def test_any_wording_of_an_answer_is_right(tmp_path):
    """As RULER scores questions; the harness gives the share of the wordings, here a third and none."""
    path = tmp_path / "results_1.json"
    path.write_text(json.dumps(results({"qa_1": {4096: 1 / 6}}, original=2)))
    answers = [(["Broncos", "Denver Broncos", "The Denver team"], "the Broncos won"), (["Paris"], "in Rome")]
    lines = [sample(4096, *answer) for answer in answers] + [sample(8192, ["Paris"], "in Paris")]
    samples_of(path, NAMES["qa_1"]).write_text("\n".join(lines))
    [cell] = ruler_results.read([path]).cells
    assert (cell.task, cell.length, cell.value, cell.reason) == ("qa_1", "4k", 50.0, "")


def test_questions_without_samples_have_no_score(lab, tmp_path):
    path = written(tmp_path / "results_1.json", results({task: dict.fromkeys(TOKENS, 0.5) for task in TASKS}))
    samples_of(path, NAMES["qa_1"]).unlink()
    done = bench("--results", path)
    assert done.exit_code == 1
    assert "4k: qa_1; 8k: qa_1" in done.output
    assert "RULER any of them; run it with --log_samples" in done.output
    assert bench("--results", path, "--partial").exit_code == 0
    rows = table(lab)
    assert value(rows, "qa_1", "4k") == ""
    assert value(rows, "qa_2", "4k") == 50
    assert value(rows, MEAN, "4k") == "", "a mean needs every task"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([sample(4096, ["Paris"], "in Rome")], "its samples give 0 at 4096 where results_1.json has 0.5"),
        ([sample(8192, ["Paris"], "in Rome")], "its samples give nothing at 4096"),
        (["{}"], "line 1: no sample of the harness"),
        (["{"], "line 1: no sample of the harness"),
    ],
)
def test_samples_of_another_run_are_refused(tmp_path, lines, words):
    path = written(tmp_path / "results_1.json", results({"qa_2": {4096: 0.5}}))
    samples_of(path, NAMES["qa_2"]).write_text("\n".join(lines))
    with pytest.raises(DataError, match=words):
        ruler_results.read([path])


def test_limited_runs_say_how_many_samples_each_length_has(tmp_path):
    scores = {"vt": {4096: 0.5, 8192: 0.5}}
    cut = results(scores, asked=[4096, 8192], original=1000, effective=600)
    read = ruler_results.read([written(tmp_path / "cut.json", cut)])
    assert [(cell.length, cell.n) for cell in read.cells] == [("4k", 500), ("8k", 100)]
    lost = results({"vt": {4096: 0.5, 8192: -1}}, asked=[4096, 8192], original=1000, effective=40)
    read = ruler_results.read([written(tmp_path / "lost.json", lost)])
    assert [(cell.length, cell.value, cell.n) for cell in read.cells] == [("4k", 50.0, 40), ("8k", None, 0)]
    uneven = results(scores, asked=[4096, 8192], original=999)
    read = ruler_results.read([written(tmp_path / "uneven.json", uneven)])
    assert [cell.n for cell in read.cells] == [None, None]
    assert all("no number of samples" in cell.reason for cell in read.cells)


def without(content, key):
    return {name: part for name, part in content.items() if name != key}


FULL = {task: dict.fromkeys(TOKENS, 0.5) for task in TASKS}


@pytest.mark.parametrize(
    ("contents", "words"),
    [
        (["{"], "no JSON"),
        (['{"doc_id": 0}\n{"doc_id": 1}\n'], "JSON lines, so samples"),
        ([{"doc_id": 0, "doc": {}}], "samples, not results"),
        ([[1]], "another kind of file"),
        ([without(results(FULL), "configs")], "configs are missing"),
        ([results(FULL, results={"hellaswag": {"acc,none": 0.5}})], "no task of RULER; it has hellaswag"),
        ([results(FULL, results={"niah_single_1": {"acc,none": 0.5}})], "no score by length"),
        ([results({"vt": {4096: 1.5}})], "no score between 0 and 1"),
        ([results({"vt": {4096: float("nan")}})], "no score between 0 and 1"),
        ([results({"vt": {4096: "high"}})], "no score between 0 and 1"),
        ([results(FULL, max_length=32768)], "the harness cut prompts to the model's 32768 tokens"),
        ([results({task: FULL[task] for task in TASKS[:-1]})], "4k: qa_2"),
        ([results({task: dict.fromkeys(TOKENS[:5], 0.5) for task in TASKS})], "128k: every task"),
        ([results(FULL), results({"vt": {4096: 0.5}})], "vt at 4k stands in"),
        ([results(FULL), results(FULL, model="some/Other")], "model_name"),
        ([results(FULL), results(FULL, chat_template_sha="abc")], "chat_template_sha"),
        ([results(FULL, model="some/Other")], "of some/Other, not of some/Planted-1B"),
        (
            [results({"vt": FULL["vt"]}), results({"fwe": FULL["fwe"]}, original=600)],
            "different numbers of samples",
        ),
    ],
)
def test_bad_results_end_in_one_line(lab, tmp_path, contents, words):
    files = [written(tmp_path / f"results_{place}.json", content) for place, content in enumerate(contents)]
    done = bench("--results", *files)
    assert done.exit_code == 1, done.output
    assert words in done.output
    assert done.output.startswith("error: ")
    assert not (lab / "artifacts/measurements").exists()


def test_missing_files_binary_files_and_wrong_usage(lab, tmp_path):
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    for file, words in ((tmp_path / "none.json", "cannot be read"), (tmp_path / "binary.json", "no text")):
        done = bench("--results", file)
        assert done.exit_code == 1
        assert words in done.output
    assert bench().exit_code == 2
    assert bench("--run", "--results", REAL).exit_code == 2
    assert bench("stray.json", "--run").exit_code == 2
    for more, words in (
        (["--lengths", "many"], "is no length"),
        (["--tasks", "needles"], "--tasks goes with --run"),
        (["--name", "Wrong Name"], "is no name"),
    ):
        done = bench("--results", REAL, *more)
        assert done.exit_code == 1
        assert words in done.output
    done = bench("--run", "--tasks", "noise_single,vt")
    assert done.exit_code == 1
    assert "not of both" in done.output


# --- the harness as a program

HARNESS = """#!{python}
import json, pathlib, sys
options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
place = pathlib.Path(options["--output_path"])
with (place / "calls.txt").open("a") as stream:
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
(place / "model").mkdir(exist_ok=True)
(place / "model/results_2026.json").write_text(json.dumps(content))
for name in names:
    said = ["ab" if number < limit / 4 else "c" for number in range(limit)]
    doc = {{"max_length": tokens, "outputs": ["a", "b"]}}
    lines = [json.dumps({{"doc": doc, "filtered_resps": [each]}}) for each in said]
    (place / f"model/samples_{{name}}_2026.jsonl").write_text("\\n".join(lines))
"""


@pytest.fixture
def harness(tmp_path):
    """A program that takes the options of the harness and writes its files, each score a quarter."""
    path = tmp_path / "lm_eval"
    path.write_text(HARNESS.format(python=sys.executable, template=str(REAL)))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A random model of 2048 positions that reads bytes."""
    pytest.importorskip("torch")
    from analysis.benchmarks.ruler_smoke import make

    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "max_position_embeddings": 2048}
    return make(tmp_path_factory.mktemp("models"), **sizes)


@pytest.mark.models
def test_the_harness_runs_a_length_at_a_time_and_goes_on(lab, harness, tiny):
    asked = ("--run", "--harness", harness, "--lengths", "1k,2k", "--samples", "20")
    for said, hint in (
        ("no network", "--tasks needles"),
        ("LlamaForCausalLM() got an unexpected keyword argument 'load_in_4bit'", "install 'transformers<5'"),
        ("something else", ""),
    ):
        (harness.parent / "fail-2048").write_text(said)
        done = bench(*asked, model=tiny)
        assert done.exit_code == 1
        assert said in done.output
        assert [each for each in ("--tasks needles", "install 'transformers<5'") if each in done.output] == [
            hint
        ] * bool(hint)
    (harness.parent / "fail-2048").unlink()
    done = bench(*asked, model=tiny)
    assert done.exit_code == 0, done.output
    places = {path.parent.name.partition("-")[0]: path for path in lab.glob("out/bench/ruler/*/harness/*/calls.txt")}
    assert {length: path.read_text().count("called") for length, path in places.items()} == {"1k": 1, "2k": 4}
    rows = table(lab, "random-llama-bytes")
    assert [value(rows, MEAN, length) for length in ("1k", "2k")] == [25, 25]
    assert {each["n"] for each in rows if each["slice"] == "task"} == {"20"}
    options = json.loads((places["1k"].parent / "options.json").read_text())
    assert options[options.index("--limit") + 1] == "20"
    assert options[options.index("--seed") + 1] == "42"


@pytest.mark.models
def test_the_harness_is_refused_what_it_cannot_do(lab, harness, tiny, monkeypatch):
    done = bench("--run", "--harness", harness, "--lengths", "1k,4k", model=tiny)
    assert done.exit_code == 1
    assert "4k: the model has 2048 positions only; give --lengths 1k" in done.output
    done = bench("--run", "--harness", harness, "--lengths", "1k", "--samples", "501", model=tiny)
    assert "makes 500" in done.output
    done = bench("--run", "--harness", harness.parent / "absent", "--lengths", "1k", model=tiny)
    assert done.exit_code == 1
    assert "no program" in done.output
    monkeypatch.setattr("analysis.benchmarks.ruler_harness.find_spec", lambda name: None)
    done = bench("--run", "--lengths", "1k", model=tiny)
    assert done.exit_code == 1
    assert ".[ruler]" in done.output


# --- a run


def needled(tiny, *more):
    asked = ("--run", "--tasks", "needles", "--lengths", "1k", "--samples", "2", "--dtype", "fp32", "--device", "cpu")
    return bench(*asked, *more, model=tiny)


@pytest.mark.models
def test_a_run_goes_on_and_ends_with_the_answers_of_a_run_in_one_go(lab, tiny, monkeypatch):
    from analysis.benchmarks import ruler_run

    monkeypatch.setattr(ruler_run, "NEW_TOKENS", 4)
    real, calls = ruler_run.greedy, []

    def killed(*arguments, **options):
        calls.append(arguments)
        if len(calls) > 3:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr(ruler_run, "greedy", killed)
    assert needled(tiny).exit_code == 130
    path = lab / "out/bench/ruler/random-llama-bytes/needles.jsonl"
    assert len(path.read_text().splitlines()) == 3
    path.write_text(path.read_text() + '{"id": "cut')
    monkeypatch.setattr(ruler_run, "greedy", real)
    done = needled(tiny, "--null-reference")
    assert done.exit_code == 0, done.output
    stopped = path.read_text()
    assert len(stopped.splitlines()) == 8
    path.unlink()
    assert needled(tiny, "--null-reference").exit_code == 0
    assert path.read_text() == stopped
    rows = table(lab, "random-llama-bytes")
    assert {each["data"] for each in rows} == {"needles in noise"}
    assert {each["role"] for each in rows} == {"null reference"}
    assert value(rows, "mean_noise_4", "1k") == 0
    assert not [each for each in rows if each["slice"] == "summary"]
    for record in map(json.loads, stopped.splitlines()):
        assert record["tokens"] <= 1024 - NEW_TOKENS


@pytest.mark.models
def test_predictions_that_are_right_score_100_and_both_blocks_stand_in_one_file(lab, tiny, tmp_path, monkeypatch):
    from analysis.benchmarks import ruler_run

    def right(model, tokenizer, prompts, new_tokens, batch, **options):
        said = []
        for prompt in prompts:
            *_, question = prompt.split("\n")
            needles = [line for line in prompt.split("\n") if line.startswith("The locker")]
            keys = {line: line.removeprefix("The locker of the ").partition(" has")[0] for line in needles}
            said.append(" ".join(line.split()[-1] for line in needles if keys[line] in question))
        return said

    monkeypatch.setattr(ruler_run, "greedy", right)
    assert needled(tiny, "--batch", "2").exit_code == 0
    rows = table(lab, "random-llama-bytes")
    assert [value(rows, task, "1k") for task in ruler_needles.TASKS] == [100] * 4
    assert value(rows, "mean_noise_4", "1k") == 100
    file = written(tmp_path / "r.json", results(FULL, model="random-llama-bytes"))
    assert bench("--results", file, model="random-llama-bytes").exit_code == 0
    rows = table(lab, "random-llama-bytes")
    assert [each["data"] for each in rows] == sorted(
        (each["data"] for each in rows), key=["RULER", "needles in noise"].index
    )
    assert value(rows, "mean_noise_4", "1k") == 100
    assert value(rows, "average") == 50


@pytest.mark.models
def test_runs_are_refused_with_a_reason(lab, tiny):
    done = needled(tiny, "--lengths", "1k,4k")
    assert done.exit_code == 1
    assert "4k: the model has 2048 positions only; give --lengths 1k" in done.output
    done = needled(tiny, "--lengths", "300")
    assert done.exit_code == 1
    assert "give a longer one" in done.output
    done = needled(tiny, "--chat-template")
    assert "no chat template" in done.output
    folder = lab / "out/bench/ruler/random-llama-bytes"
    folder.mkdir(parents=True, exist_ok=True)
    record = {"id": "noise_single-1k-0000"}
    (folder / "needles.jsonl").write_text(json.dumps(record) + "\n")
    (folder / "needles.settings.json").unlink(missing_ok=True)
    assert "nobody knows how" in needled(tiny).output
    (folder / "needles.settings.json").write_text('{"seed": 1}')
    assert "other settings" in needled(tiny).output
    assert (folder / "needles.jsonl").read_text() == json.dumps(record) + "\n", "kept as it was"
    (folder / "needles.jsonl").write_text("{\n" + json.dumps(record) + "\n")
    (folder / "needles.settings.json").unlink()
    assert needled(tiny).exit_code == 1


@pytest.mark.models
def test_a_word_level_model_that_cannot_write_numbers_is_refused(lab, tmp_path):
    pytest.importorskip("torch")
    from models_tiny import saved

    saved("llama", tmp_path / "tiny")
    done = bench("--run", "--tasks", "needles", "--lengths", "64", "--samples", "1", model=tmp_path / "tiny")
    assert done.exit_code == 1
    assert "cannot write the numbers" in done.output


def test_records_twice_or_damaged_are_refused(tmp_path):
    from analysis.benchmarks import ruler_run

    settings = ruler_run.Settings(tasks=("noise_single",), lengths=("1k",), samples=1)
    good = {
        "id": "noise_single-1k-0000",
        "task": "noise_single",
        "length": "1k",
        "references": ["1"],
        "prediction": "1",
    }
    path = tmp_path / "needles.jsonl"
    for lines, words in (
        ([good, good], "stands twice"),
        ([without(good, "references")], "no record of a needle"),
        ([], "no answer to noise_single-1k-0000"),
    ):
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        with pytest.raises(DataError, match=words):
            ruler_run.cells(path, settings)
    path.write_text('{"id": 3}\n' + json.dumps(good) + "\n")
    with pytest.raises(DataError, match=r"needles\.jsonl:1: no record with an id"):
        ruler_run.cells(path, settings)
    path.write_text(json.dumps(good) + "\n")
    [cell] = ruler_run.cells(path, settings)
    assert (cell.value, cell.n) == (100, 1)
