"""Make samples for the anchoring experiment from published questions and a model's own answers to them."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boundpaper.errors import DataError
from keyquery.experiments._anchoring.data import AnswerSample, SampleSplit, Span
from keyquery.experiments._anchoring.words import (
    RULE,
    RULE_SUBJECT,
    answer_span,
    decisive_spans,
    is_alias,
    subject_spans,
)
from keyquery.measure.evaluation import ask_once
from keyquery.measure.subject import Subject
from keyquery.models.answers.generation import greedy
from keyquery.tasks.published import hub_rows, local_rows

PROMPT = ("Question: ", "\nAnswer:")
NEW_TOKENS = 24
POPQA_COLUMNS = ("id", "question", "subj", "prop", "possible_answers")
TRIVIAQA_COLUMNS = ("question_id", "question", "answer")
CHUNK = 64  # number of questions after which answers are saved
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Question:
    """A question, the character spans of its decisive words, and every answer that counts as right."""

    id: str
    text: str
    spans: tuple[Span, ...]
    aliases: tuple[str, ...]


@dataclass(frozen=True)
class DataSet:
    """A published data set.

    `hub`, `configuration` (may be empty) and `split` locate it on the Hub. `rule` describes how the decisive words
    are found. `read` makes a question of a row and its number; the number is the question's id if the data has no ids.
    """

    hub: str
    configuration: str
    split: str
    columns: tuple[str, ...]
    rule: str
    read: Callable[[Row, int], Question]


def _popqa_question(row: Row, number: int) -> Question:
    aliases = row["possible_answers"]
    answers = json.loads(aliases) if isinstance(aliases, str) else list(aliases)
    text = str(row["question"])
    return Question(str(row["id"]), text, subject_spans(text, str(row["subj"]), str(row["prop"])), _as_texts(answers))


def _triviaqa_question(row: Row, number: int) -> Question:
    answer = row["answer"]
    text, aliases = str(row["question"]), _as_texts([answer["value"], *answer["aliases"]])
    return Question(str(row["question_id"]), text, decisive_spans(text), aliases)


def _hotpotqa_question(row: Row, number: int) -> Question:
    text = str(row["question"])
    return Question(str(row["id"]), text, decisive_spans(text), _as_texts([row["answer"]]))


def _nq_question(row: Row, number: int) -> Question:
    text = str(row["question"])
    return Question(f"nq-{number}", text, decisive_spans(text), _as_texts(row["answer"]))


def _as_texts(values: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(value) for value in list(values)))


DATA: Mapping[str, DataSet] = {
    "popqa": DataSet("akariasai/PopQA", "", "test", POPQA_COLUMNS, RULE_SUBJECT, _popqa_question),
    "triviaqa": DataSet(
        "mandarjoshi/trivia_qa", "rc.nocontext", "validation", TRIVIAQA_COLUMNS, RULE, _triviaqa_question
    ),
    "hotpotqa": DataSet(
        "hotpotqa/hotpot_qa", "distractor", "validation", ("id", "question", "answer"), RULE, _hotpotqa_question
    ),
    "nq": DataSet("google-research-datasets/nq_open", "", "validation", ("question", "answer"), RULE, _nq_question),
}


def questions(name: str, file: Path | None = None) -> list[Question]:
    """Return the questions of a data set that have decisive words and known answers, in order.

    `name` is one of `DATA`. `file` is a .jsonl, .json or .parquet file, or a folder of such files, with the data set's
    columns; if None, the Hub is read. Raises DataError when the data set is unknown, cannot be read, lacks a column,
    or has a malformed row.
    """
    if name not in DATA:
        raise DataError(f"no data set {name!r}; choose from planted, {', '.join(DATA)}")
    source = DATA[name]
    usable = []
    rows = (
        hub_rows(source.hub, source.split, "--data-file", configuration=source.configuration, columns=source.columns)
        if file is None
        else local_rows(file)
    )
    for number, (where, row) in enumerate(rows):
        if not isinstance(row, dict):
            raise DataError(f"{where}: a {type(row).__name__} instead of an object with columns; mend the row")
        absent = [column for column in source.columns if column not in row]
        if absent:
            raise DataError(f"{where}: no column {', '.join(absent)}; {source.hub} has {', '.join(source.columns)}")
        try:
            question = source.read(row, number)
        except (KeyError, TypeError, ValueError) as error:
            fault = f"not a row of {source.hub} ({type(error).__name__}: {error})"
            raise DataError(f"{where}: {fault}; mend or remove it") from None
        if question.spans and question.aliases:
            usable.append(question)
    if not usable:
        raise DataError(f"{file or source.hub}: no question has known answers and decisive words; give other data")
    return usable


def answer_questions(subject: Subject, data: str, file: Path | None, train: int, test: int, seed: int) -> SampleSplit:
    """Return training and test samples of a model's greedy answers to randomly drawn questions.

    Answers are saved, so a rerun resumes a stopped run. A question is skipped if the model's answer has no words.
    Raises DataError when there are too few questions, or too few answers.
    """
    pool = questions(data, file)
    random.Random(f"questions/{data}/{seed}").shuffle(pool)
    total = train + test
    if len(pool) < total:
        raise DataError(f"{data}: only {len(pool)} questions can be used, not {train} + {test}; give smaller numbers")
    samples: dict[str, AnswerSample] = {}
    for start in range(0, len(pool), CHUNK):
        chunk = pool[start : start + CHUNK]
        for question, answer in zip(chunk, _model_answers(subject, chunk), strict=True):
            sample = sample_of_answer(question, answer)
            if sample is not None:
                samples.setdefault(sample.unit, sample)
        subject.tell(f"{min(len(samples), total)} of {total} answers to {data}")
        if len(samples) >= total:
            break
    if len(samples) < total:
        raise DataError(f"{data}: {len(samples)} of {len(pool)} questions were answered, not {total}; ask for fewer")
    answered = tuple(samples.values())
    return SampleSplit(answered[:train], answered[train:total])


def _model_answers(subject: Subject, chunk: Sequence[Question]) -> list[str]:
    prompts = [PROMPT[0] + question.text + PROMPT[1] for question in chunk]

    def ask() -> list[str]:
        return greedy(subject.model, subject.tokenizer, prompts, NEW_TOKENS, stop=("\n",))

    call = {"prompts": prompts, "new_tokens": NEW_TOKENS}
    return [str(answer) for answer in ask_once(subject, "anchoring", call, ask)]


def sample_of_answer(question: Question, text: str) -> AnswerSample | None:
    """Return the sample of a question and the model's continuation `text`; None if the model gave no answer.

    The sample's text ends with the exact answer. If `text` does not begin with a space, which tokenizers may drop, a
    space is added.
    """
    text = text if text[:1].isspace() else f" {text}"
    span = answer_span(text)
    if span is None:
        return None
    start, end = span
    prompt = PROMPT[0] + question.text + PROMPT[1]
    shift = len(PROMPT[0])
    return AnswerSample(
        unit=question.id,
        text=prompt + text[:end],
        question=tuple((first + shift, last + shift) for first, last in question.spans),
        answer=(len(prompt) + start, len(prompt) + end),
        right=is_alias(text[start:end], question.aliases),
    )
