"""The population's language as a book of items, so that the experiments of the DroPE report can ask its models.

Facts, reviews and statements are those of the tiny language; keys belong to names, as in training. There is no
verification and no ranking: no document of the population asks whether a key is the one shown.
"""

from __future__ import annotations

import random

from analysis.lab import book as lab
from analysis.lab.book import Draft, LabBook
from analysis.lab.language import World
from analysis.population import documents, language


def _passkey(world: World, draw: random.Random, number: int, form: str) -> Draft:
    name, key = draw.choice(language.NAMES), language.key(draw)
    facts = {"key": " ".join(key), "form": form, "name": name}
    return Draft(language.wanted(name), " ".join(key), (), facts, language.planted(name, key))


def _copy(world: World, draw: random.Random, number: int) -> Draft:
    words, answer = language.listed(draw)
    return Draft(words, " ".join(answer), (), {"words": len(answer)})


BOOK = LabBook("population", {**lab.PLAIN, "copy": _copy}, {"passkey": _passkey}, ("named",), documents.sequence)
