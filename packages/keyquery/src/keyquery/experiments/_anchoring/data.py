"""Make samples for the anchoring experiment: prompts with a question and an answer that is labelled right or wrong."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from boundpaper.errors import DataError
from keyquery.measure.evaluation import ask_once
from keyquery.measure.subject import Subject
from keyquery.models.answers.scoring import options_logprobs
from keyquery.tasks.items import Item

Span = tuple[int, int]
TASK = "statements"  # name of the task in a book of items
LENGTH = 48  # tokens of a planted prompt; its question has at most half as many
DRAWN_PER_SAMPLE = 1.5  # statements; above 1, since a unit is assigned to training or test as a whole
DRAWN_PER_KNOWN_SAMPLE = 4.0  # statements, of which only those about names that the model knows are used
QUESTION, ANSWER = "question", "answer"


@dataclass(frozen=True)
class AnswerSample:
    """One answer to one question.

    Parameters
    ----------
    unit : str
        Resampling unit; samples of one unit share a fact, so they are not independent.
    text : str
        Prompt and answer; there may be more text after the answer.
    question : tuple of (int, int)
        Character spans of the decisive words of the question.
    answer : (int, int)
        Character span of the exact answer.
    right : bool
        Whether the answer is right.
    filler : (int, int)
        Character span of text unrelated to the question; empty if there is no such text.
    kind : str
        "answer" if the answer alone shows that it is wrong, "question" if the question is needed to see it; empty if
        unknown.
    """

    unit: str
    text: str
    question: tuple[Span, ...]
    answer: Span
    right: bool
    filler: Span = (0, 0)
    kind: str = ""


@dataclass(frozen=True)
class SampleSplit:
    """Samples for training probes and samples for measuring; no unit is in both.

    `asked` is the number of names that the model was asked about, and `known` the number that it knows; both are 0 if
    the model was not asked.
    """

    train: tuple[AnswerSample, ...]
    test: tuple[AnswerSample, ...]
    asked: int = 0
    known: int = 0

    def __post_init__(self) -> None:
        common_units = {sample.unit for sample in self.train} & {sample.unit for sample in self.test}
        if common_units:
            raise DataError(f"{sorted(common_units)[0]!r} is both in the training and in the test samples")
        for name, samples in (("training", self.train), ("test", self.test)):
            right = sum(sample.right for sample in samples)
            if not 1 < right < len(samples) - 1:
                raise DataError(
                    f"{right} of {len(samples)} {name} answers are right; a truth probe needs two right and two "
                    "wrong: take other data, or more samples"
                )


def plant_statements(subject: Subject, train: int, test: int, seed: int, *, known: bool = False) -> SampleSplit:
    """Return samples of statements whose truth is known by construction; training and test share no name.

    A statement whose object fits no name is recognisably wrong without the question; other statements need the
    question. With `known`, only names are used for which the model ranks the true object first among all objects of
    the relation. Raises DataError if the subject's book has no such statements, or too few names for the samples.
    """
    if TASK not in subject.book.tasks():
        raise DataError(
            f"{subject.name}: planted statements do not exist in {subject.book.name}; "
            "give --data popqa, triviaqa, hotpotqa or nq"
        )
    count = round((DRAWN_PER_KNOWN_SAMPLE if known else DRAWN_PER_SAMPLE) * (train + test))
    items = subject.book.items(TASK, count, seed, subject.tokenizer, length=LENGTH)
    names = {str(item.facts["subject"]) for item in items}
    if known:
        items = known_items(subject, items)
    samples = [
        _sample(
            item.prompt,
            [str(word) for word in item.facts["question"]],
            str(item.facts["answer_text"]),
            unit=str(item.facts["subject"]),
            right=bool(item.facts["truth"]),
            kind=ANSWER if item.facts["group"] == ANSWER and not item.facts["truth"] else QUESTION,
        )
        for item in items
    ]
    sample_split = split_units(samples, train, test, seed)
    if not known:
        return sample_split
    return replace(sample_split, asked=len(names), known=len({sample.unit for sample in samples}))


def known_items(subject: Subject, items: Sequence[Item]) -> list[Item]:
    """Return statements whose true object is the model's likeliest completion, by log-probability summed over tokens.

    Raises DataError if statements do not list the possible objects.
    """
    if not all({"true", "objects"} <= set(item.facts) for item in items):
        raise DataError(
            f"{subject.name}: statements in {subject.book.name} do not list the possible objects; remove `known` "
            "from the settings"
        )
    by_stem = {" ".join(item.facts["question"]): item for item in items}
    questions = [(stem, tuple(item.facts["objects"])) for stem, item in by_stem.items()]

    def ask() -> list[str]:
        return [scores.best for scores in options_logprobs(subject.model, subject.tokenizer, questions)]

    completions = dict(zip(by_stem, ask_once(subject, "anchoring", {"known": questions}, ask), strict=True))
    known_stems = {stem for stem, item in by_stem.items() if completions[stem] == item.facts["true"]}
    subject.tell(f"{len(known_stems)} of {len(by_stem)} names known")
    return [item for item in items if completions[" ".join(item.facts["question"])] == item.facts["true"]]


def _sample(prompt: str, question: list[str], answer: str, *, unit: str, right: bool, kind: str) -> AnswerSample:
    """Return the sample of a statement. Its prompt ends with the words of the question and the answer."""
    stem = " ".join(question)
    start = prompt.rfind(f"{stem} {answer}")
    if start < 0:
        raise DataError(f"the statement {prompt[-60:]!r} does not contain its words {stem + ' ' + answer!r}")
    answer_start = start + len(stem) + 1
    filler_end = max(0, prompt.rfind(" . ", 0, start)) or max(0, prompt.rfind(". ", 0, start))  # the last full stop
    return AnswerSample(
        unit=unit,
        text=prompt,
        question=((start, start + len(stem)),),
        answer=(answer_start, answer_start + len(answer)),
        right=right,
        filler=(0, filler_end),
        kind=kind,
    )


def split_units(samples: Sequence[AnswerSample], train_count: int, test_count: int, seed: int) -> SampleSplit:
    """Return the requested numbers of training and test samples, from disjoint sets of random units.

    Raises DataError if there are too few training or test samples.
    """
    units = sorted({sample.unit for sample in samples})
    random.Random(f"anchoring/{seed}").shuffle(units)
    test_units = set(units[: max(1, round(len(units) * test_count / (train_count + test_count)))])
    train = [sample for sample in samples if sample.unit not in test_units]
    test = [sample for sample in samples if sample.unit in test_units]
    for name, available, count in (("training", train, train_count), ("test", test, test_count)):
        if len(available) < count:
            raise DataError(
                f"only {len(available)} {name} samples, not {count} ({len(units)} units in all); give a smaller number"
            )
    return SampleSplit(tuple(train[:train_count]), tuple(test[:test_count]))
