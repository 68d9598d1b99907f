"""Make items and texts in the small models' language, in the form that experiments need (see `keyquery.tasks.items`).

Keys belong to names, as in training. There are no verification or ranking items, since no document of the language
asks whether a key is correct.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from boundpaper.errors import DataError
from keyquery.language import documents
from keyquery.language import words as language
from keyquery.language.words import world
from keyquery.language.world import FactKind, World, draw_review
from keyquery.tasks.items import NO, YES, Item, Unwritable

LENGTH = 128  # training length, and default length of a prompt with a key
KEYED = "passkey"  # the task whose prompts have a key
KINDS = ("mixed", "filler")  # the first is the default: texts as in training


@dataclass(frozen=True)
class Draft:
    """An item without its number and filler; its prompt ends with `words`.

    `key_sentence` states the key and is put into the filler at the requested depth; it is empty for prompts without a
    key.
    """

    words: list[str]
    answer: str
    options: tuple[str, ...]
    facts: Mapping[str, Any]
    key_sentence: Sequence[str] = ()


def _yes_no_draft(relation: FactKind, rng: random.Random, number: int) -> Draft:
    subject = rng.choice(relation.subjects)
    correct = number % 2 == 0
    candidate = relation.objects[subject] if correct else relation.wrong(subject, rng)
    facts = {"subject": " ".join(subject), "shown": candidate, "true": relation.objects[subject]}
    return Draft(relation.asked(subject, candidate), YES if correct else NO, (YES, NO), facts)


def _open_draft(relation: FactKind, rng: random.Random, number: int) -> Draft:
    subject = relation.subjects[number % len(relation.subjects)]
    return Draft(relation.open(subject), relation.objects[subject], (), {"subject": " ".join(subject)})


def _statement_draft(world: World, rng: random.Random, number: int) -> Draft:
    relation = world.relations[number % 2]
    subject = rng.choice(relation.subjects)
    truth, group = number // 2 % 2 == 0, ("question", "answer")[number // 4 % 2]
    candidate = relation.objects[subject]
    if not truth:
        candidate = relation.wrong(subject, rng) if group == "question" else rng.choice(relation.never)
    facts = {
        "subject": " ".join(subject),
        "property": relation.name,
        "question": relation.stem(subject),
        "answer_text": candidate,
        "truth": truth,
        "group": group,
    }
    return Draft(relation.statement(subject, candidate), "true" if truth else "false", ("true", "false"), facts)


def _sentiment_draft(world: World, rng: random.Random, number: int) -> Draft:
    words, verdict = draw_review(rng)
    return Draft(words, verdict, ("good", "bad"), {"opinions": words.count(".")})


def _copy_draft(world: World, rng: random.Random, number: int) -> Draft:
    words, answer = language.word_list(rng)
    return Draft(words, " ".join(answer), (), {"words": len(answer)})


def _passkey_draft(rng: random.Random) -> Draft:
    name, key = rng.choice(language.NAMES), language.draw_key(rng)
    facts = {"key": " ".join(key), "form": FORM, "name": name}
    return Draft(language.key_question(name), " ".join(key), (), facts, language.planting_sentence(name, key))


KEYLESS_DRAFTS: Mapping[str, Callable[[World, random.Random, int], Draft]] = {
    "cities": lambda world, rng, number: _yes_no_draft(world.cities, rng, number),
    "sports": lambda world, rng, number: _yes_no_draft(world.sports, rng, number),
    "sentiment": _sentiment_draft,
    "copy": _copy_draft,
    "cities_open": lambda world, rng, number: _open_draft(world.cities, rng, number),
    "sports_open": lambda world, rng, number: _open_draft(world.sports, rng, number),
    "statements": _statement_draft,
}
FORM = "named"  # the only wording of a prompt with a key
TASKS = ("cities", "sports", "sentiment", "passkey", "copy", "cities_open", "sports_open", "statements")
"""Names of the tasks; the first four are the tasks of the DroPE report."""


class SmallBook:
    """A book in the small models' language; in `items`, `length` is for all tasks, `depth` and `form` for passkeys."""

    name = "population"

    def tasks(self) -> Sequence[str]:
        """Return the names of the tasks, with the four tasks of the DroPE report first."""
        return TASKS

    def kinds(self) -> Sequence[str]:
        """Return the kinds of texts: `mixed` has documents as in training, `filler` is a random walk over words."""
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
        """Return `count` items of a task; the parameters are those of `keyquery.tasks.items.Book.items`.

        Without `length`, prompts with a key have the training length, and prompts without a key have no filler. The
        only `form` is `named`. Raises DataError when the task, the form or a word is unknown, the depth is not between
        0 and 1, or the length is too short for the prompt.
        """
        if task not in TASKS:
            raise DataError(f"the small models' language has no task {task!r}; it has {', '.join(TASKS)}")
        if form not in (None, FORM):
            raise DataError(f"the small models' language has no form {form!r} of a question for a key; give {FORM}")
        if depth is not None and not 0 <= depth <= 1:
            raise DataError(f"a depth is between 0 and 1, not {depth}")
        rng, items = random.Random(f"items/{seed}/{task}/{length}"), []
        for number in range(count):
            key_depth, tokens = 0.0, length
            if task == KEYED:
                draft, tokens = _passkey_draft(rng), length or LENGTH
                key_depth = depth if depth is not None else (number + 0.5) / count
            else:
                draft = KEYLESS_DRAFTS[task](world(), rng, number)
            prompt, facts = _prompt_words(draft, tokens, key_depth, rng), dict(draft.facts)
            if task == KEYED:
                facts |= {"depth": key_depth, "length": tokens}
            items.append(Item(f"{task}-{number:04d}", task, " ".join(prompt), draft.answer, draft.options, facts))
        _require_known_words(tokenizer, [f"{item.prompt} {item.answer}" for item in items])
        return items

    def texts(self, kind: str, count: int, tokens: int, seed: int, tokenizer: Any) -> list[str]:
        """Return `count` texts of `tokens` tokens each, including the beginning-of-sequence token.

        Raises DataError when the kind is unknown.
        """
        if kind not in KINDS:
            raise DataError(f"the small models' language has no text of kind {kind!r}; it has {', '.join(KINDS)}")
        texts = []
        for number in range(count):
            rng = random.Random(f"texts/{seed}/{kind}/{number}")
            if kind == "filler":
                words = list(islice(world().filler(rng), tokens - 1))
            else:
                words = documents.sequence(world(), rng, tokens)[0][1:]
            texts.append(" ".join(words))
        _require_known_words(tokenizer, texts)
        return texts


BOOK = SmallBook()


def _prompt_words(draft: Draft, tokens: int | None, depth: float, rng: random.Random) -> list[str]:
    if tokens is None:
        return list(draft.words)
    filler_length = tokens - 1 - len(draft.key_sentence) - len(draft.words)
    # Before the key sentence and before the question, the filler ends with a full stop, as in training documents.
    if filler_length < 4:
        raise DataError(f"a prompt of {tokens} tokens is too short; it needs {tokens - filler_length + 4} at least")
    if not draft.key_sentence:
        return [*islice(world().filler(rng), filler_length - 1), ".", *draft.words]
    start = round(depth * (filler_length - 4))
    before = [*islice(world().filler(rng), start + 1), "."]
    after = [*islice(world().filler(rng), filler_length - len(before) - 1), "."]
    return [*before, *draft.key_sentence, *after, *draft.words]


def _require_known_words(tokenizer: Any, texts: list[str]) -> None:
    if tokenizer is None:
        return
    unknown = tokenizer.unk_token_id
    for text in texts:
        tokens = tokenizer(text)["input_ids"]
        if unknown not in tokens and len(tokens) == len(text.split()):
            raise Unwritable(
                "the model's tokenizer adds no beginning token, but models of this language were "
                "trained with one; save it with a post-processor that adds it"
            )
        if unknown in tokens or len(tokens) != len(text.split()) + 1:
            raise Unwritable(
                "the model's tokenizer does not encode each word of the small models' language as one token; "
                "its items are for models trained with `python build.py lab population`"
            )
