"""Training sequences: documents of the tiny language packed to a fixed length, with a weight for every token."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import islice

from analysis.lab import language
from analysis.lab.language import WORDS, World

ANSWER_WEIGHT = 4.0  # of a word of an answer
VERDICT_WEIGHT = 8.0  # of an answer of one word: there are fewer of these
KEYED = 0.6  # share of sequences that hold a key and questions for it
MISS_SHARES = (0.25, 0.25, 0.1, 0.4)  # of the misses that questions show; another key is the easiest to tell
IDS = {word: token for token, word in enumerate(WORDS)}

Document = tuple[list[str], list[str]]
"""Words, and the words of the answer that follow them."""


def fact(world: World, draw: random.Random) -> list[Document]:
    """A sentence, a question or a tagged statement of one fact."""
    relation = draw.choice(world.relations)
    subject = draw.choice(relation.subjects)
    true = relation.objects[subject]
    kind = draw.random()
    if kind < 0.10:
        return [(relation.stem(subject), [true])]
    if kind < 0.25:
        return [(relation.open(subject), [true])]
    right = draw.random() < 0.5
    shown = true if right else relation.wrong(subject, draw)
    if kind < 0.65:
        return [(relation.asked(subject, shown), ["yes" if right else "no"])]
    if not right and draw.random() < 0.4:
        shown = draw.choice(relation.never)
    return [(relation.statement(subject, shown), ["true" if right else "false"])]


def review(world: World, draw: random.Random) -> list[Document]:
    """A review with its verdict."""
    words, verdict = language.review(draw)
    return [(words, [verdict])]


def copied(world: World, draw: random.Random) -> list[Document]:
    """A list and its copy."""
    return [language.listed(draw)]


def filler(world: World, draw: random.Random, longest: int = 24) -> list[Document]:
    """A run of filler."""
    return [(list(islice(world.filler(draw), draw.randint(4, longest))), [])]


KINDS: tuple[tuple[Callable[[World, random.Random], list[Document]], float], ...] = (
    (fact, 0.56),
    (review, 0.12),
    (copied, 0.24),
    (filler, 0.08),
)
_MAKERS, _SHARES = zip(*KINDS, strict=True)


def short(world: World, draw: random.Random) -> list[Document]:
    """A document that needs no other, or a few that belong together."""
    made: list[Document] = draw.choices(_MAKERS, _SHARES)[0](world, draw)
    return made


def question(form: str, key: str, draw: random.Random) -> Document:
    """A question for a key given earlier: what it is, or whether it is the one shown."""
    if draw.random() < 0.4:
        return language.wanted(form), list(key)
    right = draw.random() < 0.5
    shown = key if right else language.miss(key, draw.choices(language.MISSES, MISS_SHARES)[0], draw)
    return language.checked(form, shown), ["yes" if right else "no"]


def keyed(world: World, draw: random.Random, tokens: int) -> Iterator[Document]:
    """Documents of a sequence with a key: filler and others, the key, and questions for it among more filler."""
    form, key = draw.choice(language.KEY_FORMS), language.key(draw)
    start, spent = draw.randrange(max(1, 3 * tokens // 4)), 0
    while spent < start:
        run = min(24, max(4, start - spent))
        made = filler(world, draw, run) if draw.random() < 0.5 else short(world, draw)
        spent += sum(len(words) + len(answer) + 1 for words, answer in made)
        yield from made
    yield language.planted(form, key)[:-1], []
    while True:
        for _ in range(draw.randint(0, 2)):
            yield from filler(world, draw) if draw.random() < 0.5 else short(world, draw)
        for _ in range(draw.randint(1, 3)):
            yield question(form, key, draw)


def plain(world: World, draw: random.Random) -> Iterator[Document]:
    """Endless documents without a key."""
    while True:
        yield from short(world, draw)


def sequence(world: World, draw: random.Random, tokens: int) -> tuple[list[str], list[float]]:
    """One packed sequence.

    Parameters
    ----------
    world : World
    draw : random.Random
    tokens : int
        Its length, the token of the beginning included.

    Returns
    -------
    words : list of str
        `tokens` words, the first is `<s>`; every document ends with `.`.
    weights : list of float
        Weight of each word in the loss: `VERDICT_WEIGHT` or `ANSWER_WEIGHT` in answers, 1 elsewhere.
    """
    words, weights = ["<s>"], [1.0]
    documents = keyed(world, draw, tokens) if draw.random() < KEYED else plain(world, draw)
    while len(words) < tokens:
        text, answer = next(documents)
        words += [*text, *answer, "."]
        weight = VERDICT_WEIGHT if len(answer) == 1 else ANSWER_WEIGHT
        weights += [1.0] * len(text) + [weight] * len(answer) + [1.0]
    return words[:tokens], weights[:tokens]


def batch(world: World, name: str, rows: int, tokens: int) -> tuple[list[list[int]], list[list[float]]]:
    """Rows of a training step, a function of the arguments alone: a run that resumes needs no state of a generator.

    Parameters
    ----------
    world : World
    name : str
        Of the step, `0/rope/17`.
    rows, tokens : int
        Shape.
    """
    draw = random.Random(f"documents/{name}")
    drawn = [sequence(world, draw, tokens) for _ in range(rows)]
    return [[IDS[word] for word in words] for words, _ in drawn], [weights for _, weights in drawn]
