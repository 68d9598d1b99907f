"""RULER on the command line: result files of the harness become a measurement, invalid files a one-line error."""

import json

import pytest

import ruler_made
from boundpaper.errors import DataError
from keyquery.scores.ruler import results as ruler_results
from keyquery.scores.ruler.scores import MEAN, TASKS
from ruler_made import FULL, LENGTHS, NAMES, REAL, TOKENS, bench, results, sample, table, value, written


def test_a_result_file_of_lm_evaluation_harness_is_read(lab):
    read = ruler_results.read([REAL])
    assert [(cell.task, cell.length, cell.value, cell.n) for cell in read.cells] == [
        ("niah_single_1", "4k", 0.0, 2),
        ("niah_multikey_2", "4k", 0.0, 2),
    ]
    assert read.facts["harness"] == ["0.4.13"]
    result = bench("--results", REAL, "--lengths", "4k", model="tiny-bytes")
    assert result.exit_code == 1
    assert "niah_single_2" in result.output
    assert "--partial" in result.output
    result = bench("--results", REAL, "--lengths", "4k", "--partial", model="tiny-bytes")
    assert result.exit_code == 0, result.output
    rows = table(lab, "tiny-bytes")
    assert value(rows, "niah_single_1", "4k") == 0
    assert value(rows, MEAN, "4k") == ""


def test_result_files_become_a_measurement_with_a_manifest(lab, tmp_path):
    scores = {
        task: {tokens: 1 - 0.1 * step - 0.01 * number for step, tokens in enumerate(TOKENS)}
        for number, task in enumerate(TASKS)
    }
    result = bench("--results", written(tmp_path / "results_1.json", results(scores)))
    assert result.exit_code == 0, result.output
    rows = table(lab)
    for step, length in enumerate(LENGTHS):
        assert value(rows, "vt", length) == pytest.approx(100 * scores["vt"][TOKENS[step]])
        assert value(rows, MEAN, length) == pytest.approx(100 - 10 * step - 6)
    assert value(rows, "average") == pytest.approx(100 - 25 - 6)
    assert value(rows, "effective_length") == 4096, "94 at 4k, 84 at 8k"
    assert {row["n"] for row in rows if row["slice"] == "task"} == {"500"}
    assert {row["role"] for row in rows} == {"model"}
    facts = json.loads((lab / "artifacts/measurements/measured_ruler/planted-1b.json").read_text())
    assert "bench ruler --model some/Planted-1B --results FILE..." in facts["command"]
    assert facts["versions"] == {"lm_eval": "0.4.13"}


def test_result_files_per_length_form_one_table_and_are_replaced_only_with_replace(lab, tmp_path):
    files = [
        written(tmp_path / f"results_{tokens}.json", results({task: {tokens: 0.9} for task in TASKS}))
        for tokens in TOKENS
    ]
    assert bench("--results", *files).exit_code == 0
    assert bench("--results", *files).exit_code == 0, "equal results are no conflict"
    other = written(tmp_path / "other.json", results({task: dict.fromkeys(TOKENS, 0.5) for task in TASKS}))
    result = bench("--results", other)
    assert result.exit_code == 1
    assert "--replace" in result.output
    assert value(table(lab), "average") == pytest.approx(90)
    assert bench("--results", other, "--replace").exit_code == 0
    assert value(table(lab), "average") == pytest.approx(50)


def test_question_scores_count_any_accepted_wording(tmp_path):
    """RULER accepts any reference of a question, whereas the harness gives the share of references found."""
    path = tmp_path / "results_1.json"
    path.write_text(json.dumps(results({"qa_1": {4096: 1 / 6}}, original=2)))
    answers = [(["Broncos", "Denver Broncos", "The Denver team"], "the Broncos won"), (["Paris"], "in Rome")]
    lines = [sample(4096, *answer) for answer in answers] + [sample(8192, ["Paris"], "in Paris")]
    ruler_made.samples_of(path, NAMES["qa_1"]).write_text("\n".join(lines))
    [cell] = ruler_results.read([path]).cells
    assert (cell.task, cell.length, cell.value, cell.reason) == ("qa_1", "4k", 50.0, "")


def test_questions_without_samples_have_no_score(lab, tmp_path):
    path = written(tmp_path / "results_1.json", results({task: dict.fromkeys(TOKENS, 0.5) for task in TASKS}))
    ruler_made.samples_of(path, NAMES["qa_1"]).unlink()
    result = bench("--results", path)
    assert result.exit_code == 1
    assert "4k: qa_1; 8k: qa_1" in result.output
    assert "RULER any of them; run it with --log_samples" in result.output
    assert bench("--results", path, "--partial").exit_code == 0
    rows = table(lab)
    assert value(rows, "qa_1", "4k") == ""
    assert value(rows, "qa_2", "4k") == 50
    assert value(rows, MEAN, "4k") == "", "a mean needs all tasks"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([sample(4096, ["Paris"], "in Rome")], "its samples give 0 at 4096, but results_1.json has 0.5"),
        ([sample(8192, ["Paris"], "in Rome")], "its samples give nothing at 4096"),
        (["{}"], "jsonl:1: not a sample of the harness"),
        (["{"], "jsonl:1: not JSON"),
    ],
)
def test_samples_of_a_different_run_are_refused(tmp_path, lines, message):
    path = written(tmp_path / "results_1.json", results({"qa_2": {4096: 0.5}}))
    ruler_made.samples_of(path, NAMES["qa_2"]).write_text("\n".join(lines))
    with pytest.raises(DataError, match=message):
        ruler_results.read([path])


def test_limited_runs_record_the_number_of_samples_per_length(tmp_path):
    scores = {"vt": {4096: 0.5, 8192: 0.5}}
    cut = results(scores, lengths=[4096, 8192], original=1000, effective=600)
    read = ruler_results.read([written(tmp_path / "cut.json", cut)])
    assert [(cell.length, cell.n) for cell in read.cells] == [("4k", 500), ("8k", 100)]
    lost = results({"vt": {4096: 0.5, 8192: -1}}, lengths=[4096, 8192], original=1000, effective=40)
    read = ruler_results.read([written(tmp_path / "lost.json", lost)])
    assert [(cell.length, cell.value, cell.n) for cell in read.cells] == [("4k", 50.0, 40), ("8k", None, 0)]
    uneven = results(scores, lengths=[4096, 8192], original=999)
    read = ruler_results.read([written(tmp_path / "uneven.json", uneven)])
    assert [cell.n for cell in read.cells] == [None, None]
    assert all("no number of samples" in cell.reason for cell in read.cells)


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (["{"], "not valid JSON"), (['{"doc_id": 0}\n{"doc_id": 1}\n'], "samples as JSON lines"),
        ([{"doc_id": 0, "doc": {}}], "samples, not results"), ([[1]], "another kind of file"),
        ([ruler_made.without(results(FULL), "configs")], "configs are missing"),
        ([results(FULL, results={"hellaswag": {"acc,none": 0.5}})], "has no task of RULER, only hellaswag"),
        ([results(FULL, results={"niah_single_1": {"acc,none": 0.5}})], "no score by length"),
        ([results({"vt": {4096: 1.5}})], "not a score between 0 and 1"),
        ([results({"vt": {4096: float("nan")}})], "not a score between 0 and 1"),
        ([results({"vt": {4096: "high"}})], "not a score between 0 and 1"),
        ([results(FULL, max_length=32768)], "the harness cut prompts to the model's 32768 tokens"),
        ([results({task: FULL[task] for task in TASKS[:-1]})], "4k: qa_2"),
        ([results({task: dict.fromkeys(TOKENS[:5], 0.5) for task in TASKS})], "128k: every task"),
        ([results(FULL), results({"vt": {4096: 0.5}})], "vt at 4k is already in"),
        ([results(FULL), results(FULL, model="some/Other")], "model_name"),
        ([results(FULL), results(FULL, chat_template_sha="abc")], "chat_template_sha"),
        ([results(FULL, model="some/Other")], "of some/Other, not of some/Planted-1B"),
        ([results({"vt": FULL["vt"]}), results({"fwe": FULL["fwe"]}, original=600)], "different numbers of samples"),
    ],
)  # fmt: skip
def test_bad_results_end_in_one_line(lab, tmp_path, contents, message):
    files = [written(tmp_path / f"results_{number}.json", content) for number, content in enumerate(contents)]
    result = bench("--results", *files)
    assert result.exit_code == 1, result.output
    assert message in result.output
    assert result.output.startswith("error: ")
    assert not (lab / "artifacts/measurements").exists()


def test_missing_and_binary_result_files_and_wrong_usage_are_reported(lab, tmp_path):
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    for file, message in ((tmp_path / "none.json", "cannot be read"), (tmp_path / "binary.json", "not a text")):
        result = bench("--results", file)
        assert result.exit_code == 1
        assert message in result.output
    assert bench().exit_code == 2
    assert bench("--run", "--results", REAL).exit_code == 2
    assert bench("stray.json", "--run").exit_code == 2
    for more, message in (
        (["--lengths", "many"], "is not a length"),
        (["--tasks", "needles"], "--tasks needs --run"),
        (["--name", "Wrong Name"], "cannot name measurements"),
    ):
        result = bench("--results", REAL, *more)
        assert result.exit_code == 1
        assert message in result.output
    result = bench("--run", "--tasks", "noise_single,vt")
    assert result.exit_code == 1
    assert "not of both" in result.output
