"""Every reader of JSON lines names the file and the line of a value that it cannot use."""

import json
import subprocess
import sys

import pytest

from boundpaper.errors import DataError
from boundpaper.store.json_lines import line_values
from keyquery.experiments._anchoring.questions import questions
from keyquery.models.texts import TextSource, texts
from keyquery.scores import records
from keyquery.scores.lbp import data, predictions
from keyquery.scores.ruler import results
from keyquery.scores.ruler import run as needle_run


def lines(path):
    return list(line_values(path))


def documents(path):
    return list(texts(TextSource(str(path))))


def answers(path):
    return predictions.read_predictions([path])


def samples(path):
    return data.load_samples(str(path), ["8k"])


def anchoring_questions(path):
    return questions("nq", path)


def needles(path):
    """Return the score of a question task whose samples are those of a file."""
    path.with_name("samples_ruler_qa_squad_x.jsonl").write_bytes(path.read_bytes())
    return results._mean_of_any_reference(path.with_name("results_x.json"), "ruler_qa_squad", 4096, 0.5)


DAMAGED = {
    "utf-16": ('{"id": "a"}\n'.encode("utf-16"), "UTF-16; save it"),
    "latin-1": ('{"id": "é"}\n'.encode("latin-1"), "1: not UTF-8"),
    "cut": (b'{"id": "a', "1: not JSON"),
    "deep": (b"[" * 100_000 + b"\n", "1: not JSON"),
    "half of a character": (b'{"id": "\\ud800", "text": "\\udfff"}\n', "1: contains half of a character"),
}


@pytest.mark.parametrize(
    "read", [lines, documents, answers, samples, anchoring_questions, needles, records.saved_records]
)
@pytest.mark.parametrize("kind", DAMAGED)
def test_damaged_json_line_is_reported_by_every_reader(kind, read, tmp_path):
    content, message = DAMAGED[kind]
    path = tmp_path / "given.jsonl"
    path.write_bytes(content if read is not records.saved_records or content.endswith(b"\n") else content + b"\n")
    with pytest.raises(DataError) as error:
        read(path)
    assert message in str(error.value)
    assert ".jsonl:" in str(error.value)
    assert len(str(error.value)) < 300


def test_lines_are_numbered_and_a_byte_order_mark_is_skipped(tmp_path):
    path = tmp_path / "given.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\n\n  \n{"a": "\\u00e9\\ud83d\\ude00"}')
    assert list(line_values(path)) == [(f"{path}:1", {"a": 1}), (f"{path}:4", {"a": "é😀"})]


def test_missing_file_is_reported(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        list(line_values(tmp_path / "gone.jsonl"))


@pytest.mark.parametrize("value", [None, float("nan"), 3, ["a"]])
def test_text_field_that_is_no_string_is_refused(value, tmp_path, monkeypatch):
    path = tmp_path / "given.jsonl"
    path.write_text(json.dumps({"text": value}) + "\n")
    with pytest.raises(DataError, match=r"given\.jsonl:1: 'text' is .* not a text") as error:
        documents(path)
    assert "--field" not in str(error.value)

    class Library:
        @staticmethod
        def load_dataset(*names, **options):
            return iter([{"text": "a"}, {"text": value}])

    monkeypatch.setattr("keyquery.models.texts.need", lambda *names: Library)
    rows = texts(TextSource("owner/name"))
    assert next(rows) == ("0", "a")
    with pytest.raises(DataError, match=r"owner/name: row 2: 'text' is .* not a text"):
        next(rows)


def test_damaged_settings_file_is_reported(tmp_path):
    path = tmp_path / "given.jsonl"
    records.append(path, [{"id": "a"}])
    records.write_or_match_settings(tmp_path / "none.jsonl", {"seed": 0})
    (tmp_path / "given.settings.json").write_text('{"seed": ')
    with pytest.raises(DataError, match=r"given\.settings\.json:1: not valid JSON"):
        records.write_or_match_settings(path, {"seed": 0})


def test_records_are_extended_only_under_the_same_settings(tmp_path):
    path = tmp_path / "given.jsonl"
    records.write_or_match_settings(path, {"seed": 0, "runs": 1})
    records.append(path, [{"id": "a"}])
    records.write_or_match_settings(path, {"seed": 0, "runs": 2}, may_differ=("runs",))
    with pytest.raises(DataError, match=r"other settings: seed 0 \(now 1\)"):
        records.write_or_match_settings(path, {"seed": 1, "runs": 2}, may_differ=("runs",))
    with pytest.raises(DataError, match=r"runs 2 \(now 3\)"):
        records.write_or_match_settings(path, {"seed": 0, "runs": 3})


LONG = "x" * 20_000


@pytest.mark.parametrize(
    ("read", "row"),
    [
        (documents, {LONG: "a"}), (documents, {"text": [LONG]}), (answers, {LONG: "a"}),
        (answers, {"id": "a", "mode": LONG, "prediction": "a"}),
        (answers, {"id": "a", "mode": "thinking", "prediction": "a", "run": LONG}), (samples, {LONG: "a"}),
        (samples, dict.fromkeys(data.COLUMNS, LONG)),
    ],
)  # fmt: skip
def test_a_long_value_is_quoted_in_part(read, row, tmp_path):
    path = tmp_path / "given.jsonl"
    path.write_text(json.dumps(row) + "\n")
    with pytest.raises(DataError, match=r"given\.jsonl:1: ") as error:
        read(path)
    assert len(str(error.value)) < 500


@pytest.mark.parametrize(
    "changed",
    [
        {"task": ["a"]}, {"length": None}, {"prediction": 3}, {"references": "7314"}, {"references": []},
        {"references": [1]},
    ],
)  # fmt: skip
def test_needle_record_of_wrong_structure_is_refused(changed, tmp_path):
    good = {"id": "t-4k-0000", "task": "t", "length": "4k", "prediction": "it is 7314", "references": ["7314"]}
    path = tmp_path / "needles.jsonl"
    settings = needle_run.RulerSettings(tasks=("t",), lengths=("4k",), samples=1)
    records.append(path, [good])
    assert needle_run.score_records(path, settings)[0].value == 100
    path.unlink()
    records.append(path, [{**good, **changed}])
    with pytest.raises(DataError, match=r"needles\.jsonl:1: not a record of a needle; remove the line"):
        needle_run.score_records(path, settings)


def test_file_size_limit_is_reported_with_its_remedy(tmp_path):
    code = (
        "import pathlib, resource; from keyquery.scores import records;resource.setrlimit(resource.RLIMIT_FSIZE, (64, "
        "64));records.append(pathlib.Path('records.jsonl'), [{'id': 'a' * 200}])"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert "records.jsonl: larger than a file may be here; raise the limit (`ulimit -f unlimited`)" in result.stderr
