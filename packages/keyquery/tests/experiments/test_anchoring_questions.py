"""Questions of published data sets in local files, their decisive words, and a model's answers."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
import transformers

pytest.importorskip("sklearn")

import anchoring_planted as planting
import models_tiny
from boundpaper.errors import DataError
from keyquery.experiments import anchoring
from keyquery.experiments._anchoring.questions import DATA, PROMPT, answer_questions, questions, sample_of_answer
from keyquery.experiments._anchoring.words import answer_span, decisive_spans, is_alias, normal, subject_spans
from keyquery.measure.subject import Options, Subject
from keyquery.models.answers.generation import greedy
from keyquery.tasks.english import BOOK

pytestmark = pytest.mark.models

ROWS: dict[str, list[dict[str, Any]]] = {
    "popqa": [
        {"id": 42, "subj": "George Rankin", "prop": "occupation", "obj": "politician",
         "question": "What is George Rankin's occupation?", "possible_answers": '["politician", "political leader"]'},
        {"id": 43, "subj": "Unfound", "prop": "capital", "question": "What is the capital of Peru?",
         "possible_answers": '["Lima"]'},
    ],
    "triviaqa": [
        {"question_id": "tc_1", "question": "Who wrote 'Emma'?",
         "answer": {"value": "Jane Austen", "aliases": ["Jane Austen", "Austen"], "normalized_aliases": []}},
    ],
    "hotpotqa": [{"id": "5a8", "question": "Were Scott Derrickson and Ed Wood Americans?", "answer": "yes"}],
    "nq": [{"question": "who sang first in 1969 at woodstock", "answer": ["Richie Havens", "Havens"]}],
}  # fmt: skip
WORDS = {
    "popqa": ["George Rankin", "occupation"],
    "triviaqa": ["wrote", "Emma"],
    "hotpotqa": ["Scott", "Derrickson", "Ed", "Wood", "Americans"],
    "nq": ["sang", "first", "1969", "woodstock"],
}


def write(folder: Path, name: str, rows: list[dict[str, Any]], form: str) -> Path:
    path = folder / f"{name}.{form}"
    if form == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    else:
        pd.DataFrame(rows).to_parquet(path)
    return path


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
@pytest.mark.parametrize("name", list(DATA))
def test_questions_are_read_from_a_local_file(name: str, form: str, tmp_path: Path) -> None:
    pool = questions(name, write(tmp_path, name, ROWS[name], form))
    assert len(pool) == 1  # a subject missing from the question cannot be cut
    [question] = pool
    assert [question.text[start:end] for start, end in question.spans] == WORDS[name]
    answer = {"popqa": "politician", "triviaqa": "Jane Austen", "hotpotqa": "yes", "nq": "Richie Havens"}[name]
    assert question.aliases[0] == answer
    assert questions(name, tmp_path) == pool


def test_faulty_question_file_is_reported_with_its_line(tmp_path: Path) -> None:
    good = json.dumps(ROWS["nq"][0])
    (tmp_path / "cut.jsonl").write_text(f'{good}\n{{"question": "wh', encoding="utf-8")
    with pytest.raises(DataError, match=r"cut\.jsonl:2: not JSON"):
        questions("nq", tmp_path / "cut.jsonl")
    with pytest.raises(DataError, match="no column subj, prop, possible_answers"):
        questions("popqa", write(tmp_path, "wrong", [{"id": 1, "question": "?"}], "jsonl"))
    with pytest.raises(DataError, match=r"bad\.jsonl:1: not a row"):
        questions("triviaqa", write(tmp_path, "bad", [{"question_id": "1", "question": "x", "answer": "y"}], "jsonl"))
    with pytest.raises(DataError, match="instead of an object"):
        questions("nq", write(tmp_path, "list", [[1]], "jsonl"))  # type: ignore[list-item]
    (tmp_path / "x.parquet").write_bytes(b"no")
    with pytest.raises(DataError, match="not valid Parquet"):
        questions("nq", tmp_path / "x.parquet")
    with pytest.raises(DataError, match="no data set 'squad'"):
        questions("squad")


def test_decisive_words_of_a_question_are_found() -> None:
    def words(question: str) -> list[str]:
        return [question[start:end] for start, end in decisive_spans(question)]

    assert words('In which year was "The Old Man" by E. Hemingway published?') == [
        *("year", "The Old Man", "E", "Hemingway", "published")
    ]
    assert words("Who is Tom's wife?") == ["Tom's", "wife"]
    assert words("what is it") == []


def test_subject_and_property_of_a_question_are_found() -> None:
    def words(question: str, subject: str, relation: str) -> list[str]:
        return [question[start:end] for start, end in subject_spans(question, subject, relation)]

    assert words("In what city was Ada Lovelace born?", "Ada Lovelace", "place of birth") == [
        *("city", "Ada Lovelace", "born")
    ]
    assert words("Who is the author of The Author?", "The Author", "author") == ["author", "The Author"]
    assert words("Who is the director of Her?", "Her", "director") == ["director", "Her"]


def test_exact_answer_is_cut_from_a_reply() -> None:
    def answer(text: str) -> str | None:
        span = answer_span(text)
        return None if span is None else text[span[0] : span[1]]

    assert answer(' "Paris". It is large') == "Paris"
    assert answer(" J. R. R. Tolkien, who\nmore") == "J. R. R. Tolkien, who"
    assert answer(" in St. Petersburg.") == "in St. Petersburg"
    assert answer("3.5 million; no") == "3.5 million"
    assert answer(" \n .. ") is None
    assert answer("") is None


def test_aliases_match_whole_words() -> None:
    assert normal("The  Beatles!") == "beatles"
    assert is_alias("it was Jane Austen", ["Austen"])
    assert not is_alias("Austenland", ["Austen"])
    assert not is_alias("anything", ["the", ""])  # an alias that is only an article matches nothing


def test_a_sample_ends_with_the_answer(tmp_path: Path) -> None:
    [question] = questions("popqa", write(tmp_path, "popqa", ROWS["popqa"], "jsonl"))
    sample = sample_of_answer(question, "a politician. He")
    assert sample is not None
    assert sample.text == "Question: What is George Rankin's occupation?\nAnswer: a politician"
    assert [sample.text[start:end] for start, end in sample.question] == WORDS["popqa"]
    assert sample.text[slice(*sample.answer)] == "a politician"
    assert sample.right
    assert sample_of_answer(question, "\n") is None


@pytest.fixture(scope="module")
def english() -> Subject:
    """Return a model with random weights and a tokenizer trained on the questions; its answers are meaningless."""
    texts = [f"{PROMPT[0]}{colour_question(number)}{PROMPT[1]} a b c d e" for number in range(60)]
    tokenizer = planting.byte_level(texts)
    sizes = {**models_tiny.SIZES, "vocab_size": len(tokenizer), "max_position_embeddings": 128}
    torch.manual_seed(1)
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**sizes)).eval()
    return Subject(name="random", model=model, tokenizer=tokenizer, book=BOOK, positional="rope")


def colour_question(number: int) -> str:
    return f"What is the colour of thing {number} in the old house?"


def test_answers_of_a_model_are_judged(english: Subject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keyquery.experiments._anchoring.groups.DRAWS", 50)
    prompts = [PROMPT[0] + colour_question(number) + PROMPT[1] for number in range(60)]
    continuations = greedy(english.model, english.tokenizer, prompts, 24, stop=("\n",))
    rows = []
    for number, text in enumerate(continuations):  # every second answer counts as right, so labels are known
        span = answer_span(text)
        alias = text[span[0] : span[1]] if span and number % 2 == 0 and normal(text[slice(*span)]) else "nothing"
        rows.append({"question": colour_question(number), "answer": [alias]})
    file = write(tmp_path, "nq", rows, "jsonl")
    split = answer_questions(english, "nq", file, 30, 15, seed=0)
    for sample in (*split.train, *split.test):
        question = sample.text.removeprefix(PROMPT[0]).partition(PROMPT[1])[0]
        number = next(index for index in range(60) if colour_question(index) == question)
        assert sample.right == (rows[number]["answer"] != ["nothing"])
    assert answer_questions(english, "nq", file, 30, 15, seed=0) == split
    measured = anchoring.measure(english, Options(seeds=(0,)), data="nq", data_file=file, train=30, test=15)
    conditions = {row["condition"] for row in measured}
    assert "nq/layer/question" in conditions
    assert not any("design" in condition for condition in conditions)
    with pytest.raises(DataError, match=r"only 60 questions can be used, not 50 \+ 20"):
        answer_questions(english, "nq", file, 50, 20, seed=0)
