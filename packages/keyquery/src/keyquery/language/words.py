"""Define the vocabulary, and the parts of the language with keys, lists and copies.

Facts, reviews, filler and their words are in `keyquery.language.world`.
"""

import random
from collections.abc import Sequence
from functools import cache

from keyquery.language import world as base
from keyquery.language.world import FILLER, LISTED, NUMERALS, FactKind, World

NAMES = ("otto", "mira", "leon", "nora", "hugo", "vera", "olaf", "edda", "knut", "ylva", "arno", "tove")
SIGNS = ("ditto", "idem", "likewise")  # each asks for a repetition of the previous word
WORDS = (*base.WORDS, "of", *NAMES, *SIGNS)
"""The vocabulary; a word's index is its token id."""

DIGITS = (4, 5)  # numbers of digits in a key
KEYS = (1, 2, 3, 4)  # numbers of keys in one context
SIGN_SHARE = 0.2  # share of a backcopy document's words that a sign follows
HELD_OUT_EVERY = 3  # one in 3 facts is held out of the second phase


@cache
def world(second: bool = False) -> World:
    """Return the world of the first phase or, with `second`, of the second phase, which lacks the held-out facts."""
    first = base.world()
    if not second:
        return first
    return World(_without_held_out(first.cities), _without_held_out(first.sports), first.followers)


def held_out_names(relation: FactKind) -> frozenset[base.Name]:
    """Return the names whose facts are held out of the second phase: a third of all, two for each object."""
    by_object: dict[str, list[base.Name]] = {}
    for name, value in relation.objects.items():
        by_object.setdefault(value, []).append(name)
    return frozenset(name for names in by_object.values() for name in names[: len(names) // HELD_OUT_EVERY])


def _without_held_out(relation: FactKind) -> FactKind:
    held_out = held_out_names(relation)
    objects = {name: value for name, value in relation.objects.items() if name not in held_out}
    return FactKind(relation.name, objects, relation.pool, relation.never)


def draw_key(rng: random.Random) -> str:
    """Draw a key of four or five digits; with probability 0.5, one digit is overwritten with the digit before it."""
    digits = [rng.choice(NUMERALS) for _ in range(rng.choice(DIGITS))]
    if rng.random() < 0.5:
        index = rng.randrange(len(digits) - 1)
        digits[index + 1] = digits[index]
    return "".join(digits)


def planting_sentence(name: str, key: str) -> list[str]:
    """Return the sentence that assigns a key to a name."""
    return ["remember", "the", "key", "of", name, *key, "."]


def key_question(name: str) -> list[str]:
    """Return the question for the key of a name."""
    return ["tell", "the", "key", "of", name]


def word_list(rng: random.Random) -> tuple[list[str], list[str]]:
    """Return a document that asks to copy a list, and the list: three to eight words or, in 30 % of cases, a key."""
    words = rng.sample(LISTED + NUMERALS, rng.randint(3, 8)) if rng.random() < 0.7 else list(draw_key(rng))
    return ["copy", *words, "again"], words


def backcopy_walk(followers: World, rng: random.Random, count: int) -> tuple[list[str], list[bool]]:
    """Return a random walk of at least `count` filler words and signs, and whether each word comes right after a sign.

    A sign asks for a repetition of the previous word, so the word after a sign can be predicted exactly.
    """
    words, after_sign = [rng.choice(FILLER)], [False]
    while len(words) < count:
        last = words[-1]
        if rng.random() < SIGN_SHARE:
            words += [rng.choice(SIGNS), last]
            after_sign += [False, True]
        word = rng.choices(followers.followers[last], base.FOLLOWER_WEIGHTS)[0]
        words.append(word)
        after_sign.append(False)
    return words, after_sign


def token_ids(words: Sequence[str]) -> list[int]:
    """Return the token ids of words."""
    return [IDS[word] for word in words]


IDS = {word: token for token, word in enumerate(WORDS)}
STOP = IDS["."]
