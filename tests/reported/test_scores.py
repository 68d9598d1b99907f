"""Scores of answers with unfinished thoughts, and of files with missing answers or fields."""

import json
from pathlib import Path
from typing import Any

import pytest

from boundpaper.errors import DataError
from keyquery.models.answers.thoughts import has_thought_marks, opens_thinking, split_thoughts
from keyquery.scores.lbp import data as lbp_data
from keyquery.scores.lbp.predictions import read_predictions
from keyquery.scores.lbp.scores import score_samples
from keyquery.scores.lbp.smoke import make_set as write_smoke

DRAFT = "Let me draft. [Answer]\nred house"


def write_predictions(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


@pytest.mark.reported("TensorRT-LLM#13969", "omlx#3772", "AssetOpsBench#418", outcome="right")
@pytest.mark.parametrize(
    "answer",
    [
        f"<think>{DRAFT}",
        f"<thinking>\n{DRAFT}",
        f"[THINK]{DRAFT}",
        f"<|begin_of_thought|>{DRAFT}",
        f"<seed:think>{DRAFT}",
        f"<|START_THINKING|>{DRAFT}",
        f"\u25c1think\u25b7{DRAFT}",
        f"<|channel>thought\n{DRAFT}",
        f"<|channel|>analysis<|message|>{DRAFT}",
        f"<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary<|message|>{DRAFT}",
        f"analysis{DRAFT}",
        f"<Think type='long'>{DRAFT}",
        f"<think>a</think><think>{DRAFT}",
    ],
)
def test_unfinished_thought_is_not_scored_as_an_answer(answer: str) -> None:
    """Score a prediction whose thought, cut off at the token limit, contains a draft of the answer."""
    assert split_thoughts(answer).answer == ""
    assert DRAFT in split_thoughts(answer).thoughts


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize(
    "answer",
    [
        f"<think>{DRAFT}</think>\n[Answer]\nblue",
        f"{DRAFT}</think>[Answer]\nblue",
        f"<think>a<think>{DRAFT}</think> b</think>[Answer]\nblue",
        f"<thinking>{DRAFT}</thinking>first<think>more</think>[Answer]\nblue",
        f"[THINK]{DRAFT}[/THINK][Answer]\nblue",
        f"<|begin_of_thought|>{DRAFT}<|end_of_thought|>\n[Answer]\nblue",
        f"<|channel>thought\n{DRAFT}<channel|>[Answer]\nblue",
        f"<|channel|>analysis<|message|>{DRAFT}<|end|><|start|>assistant<|channel|>final<|message|>[Answer]\nblue<|return|>",
        f"analysis{DRAFT}assistantfinal[Answer]\nblue",
        "[Answer]\nblue",
        "<|channel|>final<|message|>[Answer]\nblue",
    ],
)
def test_text_after_thoughts_is_the_answer(answer: str) -> None:
    """Score predictions with several kinds of thoughts: nested, repeated, or with a closing mark only."""
    assert split_thoughts(answer).answer == "[Answer]\nblue"
    assert not has_thought_marks(split_thoughts(answer).answer + split_thoughts(answer).thoughts)


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize(
    "answer", ["analysis of the text: blue", "I think, therefore <b>blue</b>", "a < think > 3", "The thought: blue"]
)
def test_answers_without_thoughts_are_kept_whole(answer: str) -> None:
    """Score answers with words of thought marks but no mark, and one answer with a mark that contains spaces."""
    expected = answer if "< think >" not in answer else "a"  # a mark may contain spaces
    assert split_thoughts(answer).answer == expected


@pytest.mark.reported(outcome="right")
def test_prompt_that_opens_a_thought_is_recognised() -> None:
    """Recognise whether a chat template opens a thought."""
    assert opens_thinking("question<|im_start|>assistant\n<think>\n")
    assert opens_thinking("question[THINK]")
    assert not opens_thinking("question<think>\n\n</think>\n\n")
    assert not opens_thinking("think of <think> marks")


@pytest.mark.reported(outcome="right")
def test_thoughts_in_prediction_files_are_not_scored(tmp_path: Path) -> None:
    """Score right answers without thoughts, after thoughts, inside thoughts, and inside unfinished thoughts."""
    samples = lbp_data.load_samples(str(write_smoke(tmp_path)), ("8k",))
    values = {}
    for form in ("{}", "<think>a\n[Answer] b</think>{}", "<think>{}</think>", "<think>{}"):
        rows = [
            {"id": sample.id, "mode": "nonthinking", "prediction": form.format("[Answer]\n" + "\n".join(sample.answer))}
            for sample in samples
        ]
        predictions = read_predictions([write_predictions(tmp_path / "p.jsonl", rows)])
        values[form] = score_samples(samples, [prediction for _, prediction in predictions])["score"].mean()
    plain, after, within, unfinished = values.values()
    assert plain == after > 0.9
    assert within == unfinished == 0


@pytest.mark.reported("THUDM/LongBench#100", outcome="refused")
@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": "a", "mode": "nonthinking", "prediction": None}, "prediction is null; write an empty text"),
        ({"id": None, "mode": "nonthinking", "prediction": ""}, "id is null; write the id"),
        ({"id": "a", "mode": None, "prediction": ""}, "mode is null; write how it was asked: nonthinking or thinking"),
        ({"id": "a", "mode": "nonthinking", "prediction": "", "run": None}, "run is null; number the runs from 1"),
        ({"id": "a", "mode": "nonthinking"}, "no field prediction; it has id, mode"),
        ({"id": "a", "mode": "nonthinking", "prediction": float("nan")}, "prediction is a float, not a text"),
    ],
)
def test_null_fields_of_predictions_are_refused(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    """Score a file in which a failed call left null as the answer, or in another field."""
    with pytest.raises(DataError, match=f"p.jsonl:1: {message}"):
        read_predictions([write_predictions(tmp_path / "p.jsonl", [row])])


@pytest.mark.reported(outcome="refused")
@pytest.mark.parametrize("name", ["answer", "context", "token_length"])
def test_null_columns_of_samples_are_refused(tmp_path: Path, name: str) -> None:
    """Read a data set in which one column of a sample is null."""
    path = write_smoke(tmp_path)
    first, *others = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([json.dumps(json.loads(first) | {name: None}), *others]), encoding="utf-8")
    with pytest.raises(DataError, match=f":1: {name} is null"):
        lbp_data.load_samples(str(path), ("8k",))
