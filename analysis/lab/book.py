"""Items and texts of the tiny language, in the shape that experiments ask for (see `analysis.tasks.items`)."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from analysis.lab import documents, language
from analysis.lab.language import Relation, World, world
from analysis.tasks.items import NO, YES, Item
from artifacts.errors import DataError

LENGTH = 128  # tokens of training; of a prompt with a key when none is asked
LONGEST = 4 * LENGTH
KINDS = ("mixed", "filler")  # the first is the default: what the models were trained on


@dataclass(frozen=True)
class Draft:
    """An item before it has a number: the words in front of any filler, the prompt's own words, and the answer.

    Parameters
    ----------
    words : list of str
        What stands last in the prompt.
    answer : str
    options : tuple of str
    facts : mapping
    plant : list of str
        What stands at the depth asked for, with filler around it; nothing for prompts without a key.
    """

    words: list[str]
    answer: str
    options: tuple[str, ...]
    facts: Mapping[str, Any]
    plant: Sequence[str] = ()


def _yes_no(relation: Relation, draw: random.Random, number: int) -> Draft:
    subject = draw.choice(relation.subjects)
    right = number % 2 == 0
    shown = relation.objects[subject] if right else relation.wrong(subject, draw)
    facts = {"subject": " ".join(subject), "shown": shown, "true": relation.objects[subject]}
    return Draft(relation.asked(subject, shown), YES if right else NO, (YES, NO), facts)


def _open(relation: Relation, draw: random.Random, number: int) -> Draft:
    subject = relation.subjects[number % len(relation.subjects)]
    return Draft(relation.open(subject), relation.objects[subject], (), {"subject": " ".join(subject)})


def _statement(world: World, draw: random.Random, number: int) -> Draft:
    relation = world.relations[number % 2]
    subject = draw.choice(relation.subjects)
    truth, group = number // 2 % 2 == 0, ("question", "answer")[number // 4 % 2]
    shown = relation.objects[subject]
    if not truth:
        shown = relation.wrong(subject, draw) if group == "question" else draw.choice(relation.never)
    facts = {
        "subject": " ".join(subject),
        "property": relation.name,
        "question": relation.stem(subject),
        "answer_text": shown,
        "truth": truth,
        "group": group,
    }
    return Draft(relation.statement(subject, shown), "true" if truth else "false", ("true", "false"), facts)


def _sentiment(world: World, draw: random.Random, number: int) -> Draft:
    words, verdict = language.review(draw)
    return Draft(words, verdict, ("good", "bad"), {"opinions": words.count(".")})


def _copy(world: World, draw: random.Random, number: int) -> Draft:
    words, answer = language.listed(draw)
    return Draft(words, " ".join(answer), (), {"words": len(answer)})


def _passkey(world: World, draw: random.Random, number: int, form: str) -> Draft:
    key = language.key(draw)
    facts = {"key": " ".join(key), "form": form}
    return Draft(language.wanted(form), " ".join(key), (), facts, language.planted(form, key))


def _verification(world: World, draw: random.Random, number: int, form: str) -> Draft:
    key = language.key(draw)
    kind = "exact" if number % 2 == 0 else language.MISSES[number // 2 % len(language.MISSES)]
    shown = key if kind == "exact" else language.miss(key, kind, draw)
    facts = {"kind": kind, "shown": " ".join(shown), "true": " ".join(key), "form": form}
    answer = YES if kind == "exact" else NO
    return Draft(language.checked(form, shown), answer, (YES, NO), facts, language.planted(form, key))


def _ranking(world: World, draw: random.Random, number: int, form: str) -> Draft:
    key = language.key(draw)
    shown = {key}
    for kind in ("one-digit", "swapped", "other"):
        while (other := language.miss(key, kind, draw)) in shown:
            kind = "one-digit"
        shown.add(other)
    candidates = sorted(shown)
    draw.shuffle(candidates)
    facts = {"candidates": [" ".join(other) for other in candidates], "true": " ".join(key), "form": form}
    return Draft(language.wanted(form), " ".join(key), (), facts, language.planted(form, key))


PLAIN: Mapping[str, Callable[[World, random.Random, int], Draft]] = {
    "cities": lambda world, draw, number: _yes_no(world.cities, draw, number),
    "sports": lambda world, draw, number: _yes_no(world.sports, draw, number),
    "sentiment": _sentiment,
    "copy": _copy,
    "cities_open": lambda world, draw, number: _open(world.cities, draw, number),
    "sports_open": lambda world, draw, number: _open(world.sports, draw, number),
    "statements": _statement,
}
KEYED: Mapping[str, Callable[[World, random.Random, int, str], Draft]] = {
    "passkey": _passkey,
    "verification": _verification,
    "ranking": _ranking,
}


_FIRST = ("cities", "sports", "sentiment", "passkey")


@dataclass(frozen=True)
class LabBook:
    """A tiny language as a book of items. Every task takes `length`; tasks with a key take `depth` and `form` too.

    Parameters
    ----------
    name : str
    plain, keyed : mapping
        What drafts an item of each task, without a key and with one.
    forms : tuple of str
        Wordings of prompts with a key, as `keyed` take them.
    packed : callable
        A sequence of `tokens` words as in training, `<s>` first, and the weights of its words.
    """

    name: str
    plain: Mapping[str, Callable[[World, random.Random, int], Draft]]
    keyed: Mapping[str, Callable[[World, random.Random, int, str], Draft]]
    forms: tuple[str, ...]
    packed: Callable[[World, random.Random, int], tuple[list[str], list[float]]]

    def tasks(self) -> Sequence[str]:
        """The four tasks of the source first, then further ones."""
        return (*_FIRST, *(name for name in (*self.keyed, *self.plain) if name not in _FIRST))

    def kinds(self) -> Sequence[str]:
        """`filler` is a random walk over words, `mixed` are documents as in training."""
        return KINDS

    def items(
        self,
        task: str,
        count: int,
        seed: int,
        tokenizer: Any,
        *,
        length: int | None = None,
        depth: float | None = None,
        form: str | None = None,
    ) -> list[Item]:
        """`count` items of a task.

        Parameters
        ----------
        task : str
        count, seed : int
        tokenizer : Any
            Of transformers, with the words of the language; None leaves it unchecked.
        length : int or None
            Tokens of the whole prompt, the beginning token included; filler makes it so long. None is the training
            length for prompts with a key and no filler for others.
        depth : float or None
            Where the key stands in the filler, 0 first and 1 last; None spreads the items evenly.
        form : str or None
            Wording of the prompt with a key, one of `forms`; None takes turns.

        Raises
        ------
        DataError
            When the task, the form or a word is unknown, or the length too short for the prompt.
        """
        if task not in self.plain and task not in self.keyed:
            raise DataError(f"the tiny language has no task {task!r}; it has {', '.join(self.tasks())}")
        if form is not None and form not in self.forms:
            raise DataError(f"a key is asked for in the wordings {' and '.join(self.forms)}, not {form!r}")
        if depth is not None and not 0 <= depth <= 1:
            raise DataError(f"a depth is between 0 and 1, not {depth}")
        draw, items = random.Random(f"items/{seed}/{task}/{length}"), []
        for number in range(count):
            place, tokens = 0.0, length
            if task in self.keyed:
                wording = form or self.forms[number % len(self.forms)]
                draft, tokens = self.keyed[task](world(), draw, number, wording), length or LENGTH
                place = depth if depth is not None else (number + 0.5) / count
            else:
                draft = self.plain[task](world(), draw, number)
            prompt, facts = _prompt(draft, tokens, place, draw), dict(draft.facts)
            if task in self.keyed:
                facts |= {"depth": place, "length": tokens}
            if task == "ranking":
                facts["prompts"] = [
                    _swap(prompt, draft.words, language.checked(facts["form"], other.replace(" ", "")))
                    for other in facts["candidates"]
                ]
            items.append(Item(f"{task}-{number:04d}", task, " ".join(prompt), draft.answer, draft.options, facts))
        _known(tokenizer, [f"{item.prompt} {item.answer}" for item in items])
        return items

    def texts(self, kind: str, count: int, tokens: int, seed: int, tokenizer: Any) -> list[str]:
        """`count` texts of `tokens` tokens each (the beginning token included).

        Raises
        ------
        DataError
            When the kind is unknown.
        """
        if kind not in KINDS:
            raise DataError(f"the tiny language has no text of kind {kind!r}; it has {', '.join(KINDS)}")
        texts = []
        for number in range(count):
            draw = random.Random(f"texts/{seed}/{kind}/{number}")
            if kind == "filler":
                words = list(islice(world().filler(draw), tokens - 1))
            else:
                words = self.packed(world(), draw, tokens)[0][1:]
            texts.append(" ".join(words))
        _known(tokenizer, texts)
        return texts


BOOK = LabBook("lab", PLAIN, KEYED, language.KEY_FORMS, documents.sequence)


def _prompt(draft: Draft, tokens: int | None, depth: float, draw: random.Random) -> list[str]:
    if tokens is None:
        return list(draft.words)
    room = tokens - 1 - len(draft.plant) - len(draft.words)
    # The filler ends with a full stop before the plant and before the question, as documents do in training.
    if room < 4:
        raise DataError(f"a prompt of {tokens} tokens is too short; it takes {tokens - room + 4} at least")
    if not draft.plant:
        return [*islice(world().filler(draw), room - 1), ".", *draft.words]
    before = round(depth * (room - 4))
    first = [*islice(world().filler(draw), before + 1), "."]
    last = [*islice(world().filler(draw), room - len(first) - 1), "."]
    return [*first, *draft.plant, *last, *draft.words]


def _swap(prompt: list[str], words: list[str], other: list[str]) -> str:
    return " ".join([*prompt[: len(prompt) - len(words)], *other])


def _known(tokenizer: Any, texts: list[str]) -> None:
    if tokenizer is None:
        return
    unknown = tokenizer.unk_token_id
    for text in texts:
        tokens = tokenizer(text)["input_ids"]
        if unknown not in tokens and len(tokens) == len(text.split()):
            raise DataError(
                "the model's tokenizer puts no beginning token in front, which models of the tiny language were "
                "trained with; save it with a post-processor that does"
            )
        if unknown in tokens or len(tokens) != len(text.split()) + 1:
            raise DataError(
                "the model's tokenizer does not write the words of the tiny language one by one; "
                "its items are for models trained with `python build.py lab train`"
            )
