"""Make training sequences: documents packed to a fixed length, with a loss weight for every word."""

import random
from collections.abc import Iterator, Sequence
from itertools import islice

from keyquery.language import words as language
from keyquery.language.world import World, draw_review

ANSWER = 4.0  # loss weight of an answer's words and full stop; other words have weight 1
KEYED_SHARE = 0.75  # share of sequences with keys and questions for them
SHARES = {"fact": 0.54, "review": 0.10, "copied": 0.14, "filler": 0.08, "backcopy": 0.14}
RUN = 24  # longest run of filler, in words

Document = tuple[list[str], list[float]]
"""Words, with the final full stop, and the loss weight of each word."""


def document_with_answer(words: Sequence[str], answer: Sequence[str]) -> Document:
    """Return a document of words, of an answer, if `answer` is not empty, and of a full stop."""
    stop_weight = ANSWER if answer else 1.0
    return [*words, *answer, "."], [1.0] * len(words) + [ANSWER] * len(answer) + [stop_weight]


def short_document(world: World, rng: random.Random, run: int = RUN) -> Document:
    """Return a document without a key: a fact, a review, a list to copy, a walk with repetition signs, or filler."""
    kind = rng.choices(tuple(SHARES), tuple(SHARES.values()))[0]
    if kind == "copied":
        return document_with_answer(*language.word_list(rng))
    if kind == "backcopy":
        words, after_sign = language.backcopy_walk(world, rng, rng.randint(6, RUN))
        return [*words, "."], [ANSWER if predictable else 1.0 for predictable in after_sign] + [1.0]
    if kind == "filler":
        return filler_document(world, rng, run)
    if kind == "fact":
        return document_with_answer(*fact_document(world, rng))
    words, verdict = draw_review(rng)
    return document_with_answer(words, [verdict])


def fact_document(world: World, rng: random.Random) -> tuple[list[str], list[str]]:
    """Return a sentence, question or tagged statement about a fact: the words before the answer, and the answer."""
    relation = rng.choice(world.relations)
    subject = rng.choice(relation.subjects)
    true_object = relation.objects[subject]
    draw = rng.random()
    if draw < 0.10:
        return relation.stem(subject), [true_object]
    if draw < 0.25:
        return relation.open(subject), [true_object]
    correct = rng.random() < 0.5
    candidate = true_object if correct else relation.wrong(subject, rng)
    if draw < 0.65:
        return relation.asked(subject, candidate), ["yes" if correct else "no"]
    if not correct and rng.random() < 0.4:
        candidate = rng.choice(relation.never)
    return relation.statement(subject, candidate), ["true" if correct else "false"]


def filler_document(world: World, rng: random.Random, run: int = RUN) -> Document:
    """Return a document of 4 to `run` filler words, or of 4 if `run` is less."""
    return document_with_answer(list(islice(world.filler(rng), rng.randint(4, max(4, run)))), [])


def question_document(keys: dict[str, str], rng: random.Random) -> Document:
    """Return a question about one of the keys given so far."""
    name = rng.choice(tuple(keys))
    return document_with_answer(language.key_question(name), list(keys[name]))


def keyed_documents(world: World, rng: random.Random, tokens: int) -> Iterator[Document]:
    """Yield documents endlessly: one to four assign keys to names, and others ask for such a key or have no key."""
    names = rng.sample(language.NAMES, rng.choice(language.KEYS))
    starts = sorted(rng.randrange(max(1, 3 * tokens // 4)) for _ in names)
    keys: dict[str, str] = {}
    length = 1
    for name, start in zip(names, starts, strict=True):
        while length < start:
            if keys and rng.random() < 0.4:
                document = question_document(keys, rng)
            else:
                run = min(RUN, start - length)
                document = filler_document(world, rng, run) if rng.random() < 0.5 else short_document(world, rng, run)
            length += len(document[0])
            yield document
        keys[name] = language.draw_key(rng)
        words = language.planting_sentence(name, keys[name])
        length += len(words)
        yield words, [1.0] * len(words)
    while True:
        for _ in range(rng.randint(0, 2)):
            yield filler_document(world, rng) if rng.random() < 0.5 else short_document(world, rng)
        for _ in range(rng.randint(1, 3)):
            yield question_document(keys, rng)


def keyless_documents(world: World, rng: random.Random) -> Iterator[Document]:
    """Yield documents without a key, endlessly."""
    while True:
        yield short_document(world, rng)


def sequence(world: World, rng: random.Random, tokens: int) -> Document:
    """Return one packed sequence of `tokens` words, beginning with `<s>`, and the loss weight of each word."""
    words, weights = ["<s>"], [1.0]
    documents = keyed_documents(world, rng, tokens) if rng.random() < KEYED_SHARE else keyless_documents(world, rng)
    while len(words) < tokens:
        document_words, document_weights = next(documents)
        words += document_words
        weights += document_weights
    return words[:tokens], weights[:tokens]


def batch(world: World, name: str, rows: int, tokens: int) -> tuple[list[list[int]], list[list[float]]]:
    """Return the token ids and loss weights of one training step, both of shape (`rows`, `tokens`).

    Both depend only on the arguments, so a resumed training needs no saved random state. `world` is the world of the
    training phase, and `name` the step's name, such as `3/first/17`.
    """
    rng = random.Random(f"population/{name}")
    sequences = [sequence(world, rng, tokens) for _ in range(rows)]
    return [language.token_ids(words) for words, _ in sequences], [weights for _, weights in sequences]
