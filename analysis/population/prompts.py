"""Make seeded prompts by length: named keys in filler, and questions of the other tasks after filler."""

import random
from collections.abc import Sequence
from itertools import islice

from analysis.population.asking import Context, Question
from keyquery.language import words as language
from keyquery.language import world as base
from keyquery.language.words import KEYS, world
from keyquery.language.world import World

MULTIPLES = (0.5, 1, 2, 4, 8)  # of the training length
TASKS = ("fact", "fact_held", "yes_no", "yes_no_held", "statement", "statement_held", "review", "copy")
QUESTION = len(language.key_question(language.NAMES[0]))


def keys(seed: int, length: int, contexts: int) -> list[Context]:
    """Return contexts with one to four named keys at random places in filler; every key is asked for.

    Parameters
    ----------
    seed : int
        Seed of the model: all arms of a seed get the same prompts.
    length : int
        Number of words per prompt, including `<s>` and the question for a key.
    contexts : int
        Number of contexts, a multiple of four: equally many have one to four keys, so there are 2.5 questions per
        context.
    """
    made = []
    for number in range(contexts):
        # a context depends only on its index: fewer contexts are a prefix of more
        rng = random.Random(f"population/keys/{seed}/{length}/{number}")
        names = rng.sample(language.NAMES, KEYS[number % len(KEYS)])
        known = {name: language.draw_key(rng) for name in names}
        plants = [language.planting_sentence(name, key) for name, key in known.items()]
        room = length - QUESTION - 1 - sum(map(len, plants))
        cuts = sorted(rng.randint(0, room) for _ in plants)
        words, start, places = ["<s>"], 0, {}
        for name, plant, cut in zip(names, plants, cuts, strict=True):
            words += _filler_words(rng, cut - start)
            places[name] = len(words) + plant.index(name) + 1
            words += plant
            start = cut
        words += _filler_words(rng, room - start)
        asks = [
            Question(
                language.key_question(name), list(key), {"keys": len(names), "distance": length - 1 - places[name]}
            )
            for name, key in known.items()
        ]
        made.append(Context(words, asks))
    return made


def _filler_words(rng: random.Random, count: int) -> list[str]:
    """Return `count` filler words, the last one a full stop, as in training documents."""
    return [*islice(world().filler(rng), count - 1), "."] if count else []


def other_task_questions(seed: int, length: int | None, contexts: int = 8, items: int = 96) -> list[Context]:
    """Return questions of the other tasks, spread over a few filler contexts of `length` words (None: no filler).

    Every fact has an open question, whether held out of the second phase or not; other kinds have `items` questions.
    """
    rng = random.Random(f"population/others/{seed}/{length}")
    asks = [*_fact_questions(rng, items), *_review_questions(rng, items), *_copy_questions(rng, items)]
    if length is None:
        return [Context(["<s>"], asks)]
    rng.shuffle(asks)
    return [Context(["<s>", *_filler_words(rng, length - 1)], asks[place::contexts]) for place in range(contexts)]


def _fact_questions(rng: random.Random, items: int) -> list[Question]:
    made: list[Question] = []
    whole = base.world()
    for relation in whole.relations:
        held = language.held_out_names(relation)
        for name in relation.subjects:
            kind = "fact_held" if name in held else "fact"
            made.append(Question(relation.open(name), [relation.objects[name]], {"task": kind}))
    for number in range(items):
        relation = whole.relations[number % 2]
        held = language.held_out_names(relation)
        out = number // 4 % 3 == 0
        name = rng.choice([name for name in relation.subjects if (name in held) == out])
        right = number // 2 % 2 == 0
        shown = relation.objects[name] if right else relation.wrong(name, rng)
        tail = "_held" if out else ""
        made.append(Question(relation.asked(name, shown), ["yes" if right else "no"], {"task": f"yes_no{tail}"}))
        word = "true" if right else "false"
        made.append(Question(relation.statement(name, shown), [word], {"task": f"statement{tail}"}))
    return made


def _review_questions(rng: random.Random, items: int) -> list[Question]:
    drawn = [base.draw_review(rng) for _ in range(items)]
    return [Question(words, [verdict], {"task": "review"}) for words, verdict in drawn]


def _copy_questions(rng: random.Random, items: int) -> list[Question]:
    drawn = [language.word_list(rng) for _ in range(items)]
    return [Question(words, answer, {"task": "copy"}) for words, answer in drawn]


def backcopy_texts(followers: World, count: int, length: int) -> list[tuple[list[str], list[bool]]]:
    """Return texts with copies after a sign, `<s>` first, and a mask of the predictable words."""
    made = []
    for number in range(count):
        rng = random.Random(f"population/backcopy/{number}/{length}")
        words, called = language.backcopy_walk(followers, rng, length)
        made.append((["<s>", *words][:length], [False, *called][:length]))
    return made


def leading_digits(answer: Sequence[int]) -> str:
    """Return the number in an answer: its digits up to the first word that is not a digit."""
    text = [language.WORDS[token] for token in answer]
    return "".join(word for word in text[: next((at for at, word in enumerate(text) if not word.isdigit()), len(text))])
