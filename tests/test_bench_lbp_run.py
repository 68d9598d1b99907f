"""LongBench Pro on the command line: score predictions, run and resume a random model, and report errors."""

import csv
import json

import pytest
from click.testing import CliRunner

pytest.importorskip("sklearn", reason="the extra bench: sklearn, jieba")
pytest.importorskip("jieba")

from boundpaper.errors import DataError, ModelError
from build import main
from keyquery.scores.lbp import data as lbp_data
from keyquery.scores.lbp import prompts as lbp_prompts
from keyquery.scores.lbp import smoke as lbp_smoke
from keyquery.scores.lbp.tasks import LENGTHS, TASKS, is_summary

TINY_TASKS = ("T1.1", "T3.1")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Return the path of the smoke data set, and its samples."""
    path = lbp_smoke.make_set(tmp_path_factory.mktemp("data"))
    return path, lbp_data.load_samples(str(path))


def bench(*arguments):
    """Run `bench lbp` as the command line does, and return its result."""
    return CliRunner().invoke(main, ["bench", "lbp", "--model", "some/Planted-1B", *map(str, arguments)])


def answer_lines(samples, answer=None, mode="nonthinking", runs=1, **fields):
    """Return lines of predictions. A marker precedes each answer, except for summaries, which have none."""
    marker = {"English": "[Answer]\n", "Chinese": "[答案]\n"}
    rows = [
        {
            "id": sample.id,
            "run": run,
            "mode": mode,
            "prediction": ("" if is_summary(sample.task) else marker[sample.language])
            + (answer(sample) if answer else sample.answer[0] if is_summary(sample.task) else "\n".join(sample.answer)),
            **fields,
        }
        for sample in samples
        for run in range(1, runs + 1)
    ]
    return [json.dumps(row, ensure_ascii=False) for row in rows]


def save(path, rows):
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def table(root, name="planted-1b"):
    with (root / f"artifacts/measurements/measured_lbp/{name}.csv").open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def value(rows, key, mode="nonthinking"):
    [row] = [row for row in rows if row["key"] == key and row["mode"] == mode]
    return float(row["value"])


# --- predictions


def test_correct_predictions_score_100_in_every_slice(lab, data, tmp_path):
    path, samples = data
    result = bench("--data", path, "--predictions", save(tmp_path / "p.jsonl", answer_lines(samples, runs=3)))
    assert result.exit_code == 0, result.output
    assert "artifacts/measurements/measured_lbp/planted-1b.csv" in result.output
    rows = table(lab)
    assert len(rows) == 1 + len(LENGTHS) + len(TASKS) + 2
    assert {round(float(row["value"]), 4) for row in rows} == {100}  # ROUGE-L is slightly below 1
    assert {(row["checkpoint"], row["data"], row["role"]) for row in rows} == {
        ("some/Planted-1B", "smoke-set", "model")
    }
    overall = rows[0]
    assert (overall["n"], overall["samples"], overall["metric"]) == ("900", "300", "lbp_rouge_t4")
    manifest = json.loads((lab / "artifacts/measurements/measured_lbp/planted-1b.json").read_text())
    assert "--data smoke-set" in manifest["command"]
    assert set(manifest["versions"]) == {"jieba", "numpy", "scikit-learn"}


def test_correct_predictions_at_short_lengths_only_give_partial_scores(lab, data, tmp_path):
    path, samples = data
    rows = answer_lines(samples, lambda sample: "\n".join(sample.answer) if sample.length in ("8k", "16k") else "wrong")
    result = bench("--data", path, "--predictions", save(tmp_path / "p.jsonl", rows))
    assert result.exit_code == 0, result.output
    scores = table(lab)
    assert [value(scores, length) for length in LENGTHS] == [100, 100, 0, 0, 0, 0]
    assert value(scores, "overall") == pytest.approx(100 / 3)
    assert value(scores, "Chinese") == pytest.approx(100 / 3)


def test_both_modes_share_one_file_and_are_replaced_only_with_replace(lab, data, tmp_path):
    path, samples = data
    first = save(tmp_path / "a.jsonl", answer_lines(samples))
    second = save(tmp_path / "b.jsonl", answer_lines(samples, lambda sample: "wrong", mode="thinking"))
    other = save(tmp_path / "c.jsonl", answer_lines(samples, lambda sample: "wrong"))
    assert bench("--data", path, "--predictions", first).exit_code == 0
    assert bench("--data", path, "--predictions", second).exit_code == 0
    rows = table(lab)
    assert [value(rows, "overall", mode) for mode in ("nonthinking", "thinking")] == [100, 0]
    assert bench("--data", path, "--predictions", first).exit_code == 0  # the same scores as before
    refused = bench("--data", path, "--predictions", other)
    assert refused.exit_code == 1
    assert "already has other scores of the mode nonthinking" in refused.output
    assert table(lab) == rows
    assert bench("--data", path, "--predictions", other, "--replace").exit_code == 0
    assert [value(table(lab), "overall", mode) for mode in ("nonthinking", "thinking")] == [0, 0]


def test_several_files_make_one_score(lab, data, tmp_path):
    path, samples = data
    first_file = save(tmp_path / "1.jsonl", answer_lines(samples[:100]))
    second_file = save(tmp_path / "2.jsonl", answer_lines(samples[100:]))
    assert bench("--data", path, "--predictions", first_file, second_file).exit_code == 0
    assert value(table(lab), "overall") == 100


def test_partial_predictions_are_scored_with_partial(lab, data, tmp_path):
    path, samples = data
    partial = [sample for sample in samples if sample.length != "256k"][1:]
    file = save(tmp_path / "p.jsonl", answer_lines(partial))
    assert bench("--data", path, "--predictions", file, "--partial").exit_code == 0
    rows = {row["key"]: row for row in table(lab)}
    assert rows["overall"]["value"] == ""
    assert rows["overall"]["reason"] == "51 of 300 samples have no prediction; no predictions of length 256k"
    assert rows["16k"]["value"] == "100"
    assert rows["256k"]["value"] == ""


def test_lengths_can_be_left_out(lab, data, tmp_path):
    path, samples = data
    file = save(tmp_path / "p.jsonl", answer_lines([sample for sample in samples if sample.length in ("8k", "128k")]))
    assert bench("--data", path, "--predictions", file, "--lengths", "8k,128k").exit_code == 0
    rows = {row["key"]: row for row in table(lab)}
    assert {"8k", "128k"} == set(rows) & set(LENGTHS)
    assert rows["overall"]["value"] == ""


# --- bad predictions


def changed(position, **fields):
    """Return a function that replaces fields of the prediction at `position`, or removes fields that are None."""

    def change(rows):
        row = json.loads(rows[position])
        row = {key: field for key, field in {**row, **fields}.items() if field is not None}
        return [*rows[:position], json.dumps(row), *rows[position + 1 :]]

    return change


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (changed(4, id="T9.9-french"), [], ":5: the data set has no sample 'T9.9-french'"),
        (lambda rows: [*rows, rows[7]], [], ":301: sample 't1.1-chinese-16k', run 1 is at"),
        (changed(2, mode="thinking"), [], ":3: mode 'thinking', but 'nonthinking' is the mode of"),
        (lambda rows: rows, ["--mode", "thinking"], ":1: mode 'nonthinking', but 'thinking' was asked for"),
        (changed(1, mode="fast"), [], ":2: unknown mode 'fast'; the modes are nonthinking, thinking"),
        (lambda rows: [rows[0], '{"id": 3, "mode"', *rows[1:]], [], ":2: not JSON (Expecting ':' delimiter)"),
        (lambda rows: [rows[0], "[1, 2]", *rows[1:]], [], ":2: a list instead of an object"),
        (changed(3, prediction=None), [], ":4: no field prediction; it has id, run, mode"),
        (changed(3, prediction=["a"]), [], ":4: prediction is a list, not a text"),
        (changed(3, run=0), [], ":4: run is 0; runs are numbered from 1"),
        (changed(3, run=2), [], "300 of 600 predictions are missing"),
        (lambda rows: [], [], "the file is empty"),
        (lambda rows: rows[:-1], [], "1 of 300 predictions are missing: t11.2-chinese-256k (run 1)"),
        (lambda rows: [row for row in rows if "-256k" not in row], [], "no predictions of length 256k; give them"),
        (lambda rows: rows, ["--lengths", "8k"], "(of the lengths asked for, in "),
        (lambda rows: rows, ["--lengths", "8k,9k"], "no length 9k; give 8k, 16k"),
        (lambda rows: rows, ["--name", "No Name"], "'No Name' cannot name measurements"),
    ],
)
def test_invalid_predictions_are_reported_in_one_line(lab, data, tmp_path, change, options, message):
    path, samples = data
    file = save(tmp_path / "p.jsonl", change(answer_lines(samples)))
    if not change(answer_lines(samples)):
        file.write_text("\n")
    result = bench("--data", path, "--predictions", file, *options)
    assert result.exit_code == 1, result.output
    assert message in result.output
    assert "Traceback" not in result.output
    assert not (lab / "artifacts/measurements").exists()


def test_missing_prediction_file_and_wrong_usage_are_reported(lab, data):
    path, _ = data
    absent = bench("--data", path, "--predictions", "no/such.jsonl")
    assert (absent.exit_code, "no such prediction file" in absent.output) == (1, True)
    assert bench("--data", path).exit_code == 2
    assert bench("--data", path, "stray.jsonl", "--run").exit_code == 2
    assert bench("--data", path, "--run", "--predictions", "x.jsonl").exit_code == 2


# --- data


def rows_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_dataset_reads_the_same_from_every_file_format(data, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pytest.importorskip("pyarrow").Table
    path, samples = data
    rows = rows_of(path)
    (tmp_path / "list.json").write_text(json.dumps(rows), encoding="utf-8")
    (tmp_path / "folder").mkdir()
    for number, file_rows in enumerate((rows[:120], rows[120:])):
        parquet.write_table(table.from_pylist(file_rows), tmp_path / f"folder/{number}.parquet")
    for file in (tmp_path / "list.json", tmp_path / "folder"):
        assert lbp_data.load_samples(str(file)) == samples
    assert lbp_data.fingerprint(samples[::-1]) == lbp_data.fingerprint(samples)
    assert lbp_data.fingerprint(samples[1:]) != lbp_data.fingerprint(samples)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("language", "French", ":2: language is 'French'; it should be English, Chinese"),
        ("token_length", 8000, ":2: token_length is 8000; it should be 8k, 16k"),
        ("secondary_task", "T12.1 New", ":2: secondary_task is 'T12.1 New'"),
        ("answer", "one text", ":2: answer is 'one text'; it should be a list of texts"),
        ("answer", [], ":2: answer is []"),
        ("context", None, ":2: context is null; fill it in"),
        ("id", "t1.1-english-8k", ":2: the id 't1.1-english-8k' appears twice"),
    ],
)
def test_invalid_sample_is_reported_by_field(data, tmp_path, field, value, message):
    rows = rows_of(data[0])[:3]
    rows[1][field] = value
    path = tmp_path / "d.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(DataError) as raised:
        lbp_data.load_samples(str(path), ["8k"])
    assert message in str(raised.value)


def test_missing_dataset_is_reported(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad.json").write_text("[{]")
    for path, message in (
        (tmp_path / "none.jsonl", "no such file or folder"),
        (tmp_path / "empty", "no .jsonl, .json, .parquet file"),
        (tmp_path / "bad.json", "bad.json:1: not JSON"),
    ):
        with pytest.raises(DataError, match=message):
            lbp_data.load_samples(str(path))


# --- prompts


class LetterTokenizer:
    """A tokenizer of single letters."""

    def __call__(self, text, **options):
        return {"input_ids": list(text)}

    def decode(self, tokens, **options):
        return "".join(tokens)


def test_long_prompts_are_cut_in_the_middle(data):
    sample = data[1][0]
    assert lbp_prompts.user_turn(sample, "thinking").endswith(sample.questions["thinking"])
    assert lbp_prompts.user_turn(sample, "nonthinking").startswith(sample.context + "\n\n")
    assert lbp_prompts.cut_prompt("abcdefghij", LetterTokenizer(), 10) == ("abcdefghij", 10, False)
    assert lbp_prompts.cut_prompt("abcdefghij", LetterTokenizer(), 4) == ("abij", 10, True)
    assert lbp_prompts.cut_prompt("abcdefghij", LetterTokenizer(), 5) == ("abhij", 10, True)


@pytest.mark.parametrize(
    ("positions", "new", "requested", "limit"),
    [
        (131_072, 1024, None, 120_000), (131_072, 8192, None, 120_000), (262_144, 32_768, None, 224_000),
        (10_000_000, 8192, None, 224_000), (262_144, 40_000, None, 120_000), (1024, 32, 992, 992), (None, 32, 900, 900),
    ],
)  # fmt: skip
def test_context_limit_is_the_default_or_the_requested_one(positions, new, requested, limit):
    assert lbp_prompts.prompt_limit(positions, new, requested, "m") == limit


@pytest.mark.parametrize(
    ("positions", "new", "requested", "message"),
    [
        (32_768, 1024, None, "give --limit 31680 or less"),
        (32_768, 1024, 40_000, "prompts of 40000 tokens .* do not fit its 32768 positions; give --limit 31680 or less"),
        (1024, 2048, None, "give --new-tokens"),
        (1024, 2048, 100, "give --new-tokens"),
        (None, 1024, None, "does not say how many positions"),
    ],
)
def test_prompts_beyond_the_model_are_refused(positions, new, requested, message):
    with pytest.raises(ModelError, match=message):
        lbp_prompts.prompt_limit(positions, new, requested, "m")


# --- a run


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """Return the paths of a random model of 64 positions, and of a data set of 24 samples."""
    from models_tiny import saved

    folder = tmp_path_factory.mktemp("models")
    saved("llama", folder / "tiny")
    rows = [row for row in rows_of(lbp_smoke.make_set(folder)) if row["secondary_task"].split()[0] in TINY_TASKS]
    path = folder / "few.jsonl"
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    return folder / "tiny", path


SETTINGS = ("--runs", "2", "--batch", "5", "--limit", "48", "--new-tokens", "6", "--dtype", "fp32", "--device", "cpu")


def run_tiny(tiny, *options):
    command = ["bench", "lbp", "--run", "--model", str(tiny[0]), "--data", str(tiny[1])]
    return CliRunner().invoke(main, [*command, *SETTINGS, *options])


@pytest.mark.models
def test_interrupted_run_resumes_to_the_same_answers(lab, tiny, monkeypatch):
    pytest.importorskip("torch")
    from keyquery.models.answers import chat

    complete = run_tiny(tiny, "--name", "whole")
    assert complete.exit_code == 0, complete.output
    answers = lab / "out/bench/lbp/whole/nonthinking.jsonl"
    rows = rows_of(answers)
    assert len(rows) == 48
    assert {row["run"] for row in rows} == {1, 2}
    assert all(row["new_tokens"] <= 6 for row in rows)
    assert all(row["cut"] == (row["prompt_tokens"] > 48) for row in rows)
    assert any(row["cut"] for row in rows)
    assert len({row["prediction"] for row in rows}) > 20  # sampled at temperature 1

    calls: list[int] = []
    real = chat.answers

    def interrupted(*arguments):
        if len(calls) == 3:
            raise KeyboardInterrupt
        calls.append(1)
        return real(*arguments)

    monkeypatch.setattr(chat, "answers", interrupted)
    stopped = run_tiny(tiny, "--name", "broken")
    assert stopped.exit_code == 130
    partial_answers = lab / "out/bench/lbp/broken/nonthinking.jsonl"
    assert len(rows_of(partial_answers)) == 15
    assert not (lab / "artifacts/measurements/measured_lbp/broken.csv").exists()
    with partial_answers.open("a", encoding="utf-8") as stream:
        stream.write('{"id": "t1.1-eng')  # as if killed while it wrote a line
    monkeypatch.setattr(chat, "answers", real)
    assert run_tiny(tiny, "--name", "broken").exit_code == 0
    assert partial_answers.read_bytes() == answers.read_bytes()
    assert table(lab, "broken") == table(lab, "whole")

    monkeypatch.setattr(chat, "answers", interrupted)  # complete: nothing more is generated
    assert run_tiny(tiny, "--name", "broken").exit_code == 0
    other_seed = run_tiny(tiny, "--name", "broken", "--seed", "7")
    assert other_seed.exit_code == 1
    assert "has answers made with other settings: seed 0 (now 7)" in other_seed.output
    partial_answers.write_text("not json\n" + partial_answers.read_text())
    damaged = run_tiny(tiny, "--name", "broken")
    assert (damaged.exit_code, "nonthinking.jsonl:1: not JSON" in damaged.output) == (1, True)


@pytest.mark.models
def test_a_context_above_the_model_is_refused_before_anything_is_made(lab, tiny):
    pytest.importorskip("torch")
    for options, message in (
        (("--limit", "60"), "prompts of 60 tokens and answers of 6 do not fit its 64 positions"),
        (("--new-tokens", "64"), "answers of 64 tokens do not fit its 64 positions; give --new-tokens"),
    ):
        result = run_tiny(tiny, *options)
        assert result.exit_code == 1
        assert message in result.output
    assert not list(lab.glob("out/bench/lbp/*/*.jsonl"))


@pytest.mark.models
def test_run_supports_chat_templates_thoughts_and_sampling(tiny):
    pytest.importorskip("torch")
    from keyquery.models.answers import chat
    from keyquery.models.checkpoints.loading import ModelSource, load

    loaded = load(ModelSource(str(tiny[0]), dtype="fp32", device="cpu"))
    tokenizer = loaded.tokenizer
    assert not chat.has_thinking_mode(tokenizer)
    assert chat.chat_prompt(tokenizer, "w5 w6", thinking=True) == chat.TokenizedPrompt((1, 5, 6), False)
    tokenizer.chat_template = (
        "<s> {{ messages[0].content }}{% if enable_thinking %} <think>{% else %} w9{% endif %}"
        "{% if add_generation_prompt %}{% endif %}"
    )
    assert chat.has_thinking_mode(tokenizer)
    assert chat.chat_prompt(tokenizer, "w5", thinking=False) == chat.TokenizedPrompt((1, 5, 9), False)
    assert chat.chat_prompt(tokenizer, "w5", thinking=True).thinking
    assert chat.sampling_options(loaded) == {"do_sample": True, "temperature": 1.0, "top_k": 0, "top_p": 1.0}
    assert chat.sampling_options(loaded, 0)["do_sample"] is False
    loaded.model.generation_config.temperature, loaded.model.generation_config.top_k = 0.6, 20
    assert chat.sampling_options(loaded) == {"do_sample": True, "temperature": 0.6, "top_k": 20, "top_p": 1.0}
    prompts = [chat.TokenizedPrompt((1, 5, 6, 7), False), chat.TokenizedPrompt((1, 8), False)]
    greedy = chat.answers(loaded, prompts, 5, chat.sampling_options(loaded, 0), seed=0)
    alone = [chat.answers(loaded, [prompt], 5, chat.sampling_options(loaded, 0), seed=3)[0] for prompt in prompts]
    assert greedy == alone  # padding on the left changes nothing


# --- summaries by an embedding model


def test_scores_with_an_embedding_model_use_the_metric_name_of_the_benchmark(lab, data, tmp_path, monkeypatch):
    def similarity(name, device):
        assert (name, device) == ("some/embedder", "cpu")
        return lambda gold, predicted: 0.5

    monkeypatch.setattr("keyquery.scores.lbp.command.load_similarity", similarity)
    path, samples = data
    file = save(tmp_path / "p.jsonl", answer_lines(samples))
    result = bench("--data", path, "--predictions", file, "--embedder", "some/embedder", "--device", "cpu")
    assert result.exit_code == 0, result.output
    rows = {row["key"]: row for row in table(lab)}
    assert {row["metric"] for row in rows.values()} == {"lbp"}
    assert (rows["T4.1"]["value"], rows["T3.1"]["value"]) == ("75", "100")
    manifest = json.loads((lab / "artifacts/measurements/measured_lbp/planted-1b.json").read_text())
    assert manifest["modes"]["nonthinking"]["summaries"] == "ROUGE-L and some/embedder"
    assert "--embedder some/embedder" in manifest["command"]


def test_unknown_model_name_suggests_the_nearest(lab, data):
    result = CliRunner().invoke(main, ["bench", "lbp", "--run", "--model", "tiny-rop", "--data", str(data[0])])
    assert (result.exit_code, "did you mean tiny-rope" in result.stderr) == (1, True)
