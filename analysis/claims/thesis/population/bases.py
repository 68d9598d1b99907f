"""Claims that repeat the plan's questions at base 10,000 and over both bases, added before base 10,000 was measured."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims.thesis.population._judged import judge_both, models_in_words, seeds_in_words
from analysis.claims.thesis.population.contrasts import CONTRASTS, DAMAGES, RELATIONS
from boundpaper.claims import Verdict, claim, pick

LARGER = "10000"
AT_LARGER = "At base 10,000"
EVERY_MODEL = "whether or not models met the criterion (post hoc)"
ASKED = tuple("training_on brief_drop never_rotated keys_near_1x facts_held plasticity_drops bias_window_drops".split())
"""Contrasts that the plan has only at base 400."""


@claim("thesis, A population of small models")
def thesis_population_bases(population_bases: pd.DataFrame) -> Iterator[Verdict]:
    """At the larger base, dropping the rotation has effects in the direction expected at the smaller base."""
    for item in ASKED:
        sign, statement_at_400 = CONTRASTS[item]
        row = pick(population_bases, item=item, of=LARGER)
        statement = f"{AT_LARGER}, {EVERY_MODEL}: {_lower_first_letter(statement_at_400)}"
        yield judge_both(row, "difference", sign, item, statement, seeds_in_words(row))


@claim("thesis, A population of small models")
def thesis_population_relations_bases(population_relations_bases: pd.DataFrame) -> Iterator[Verdict]:
    """Properties of models correlate with how many passkeys they lose with length, at the larger base and over both."""
    for base, where in ((LARGER, AT_LARGER), ("both", "Over both bases")):
        for item, (sign, sentence) in RELATIONS.items():
            row = pick(population_relations_bases, item=item, of=base)
            statement = f"{where}, {EVERY_MODEL}: {_lower_first_letter(sentence)}"
            yield judge_both(row, "rho", sign, f"{item}-{base}", statement, models_in_words(row))


@claim("thesis, A population of small models")
def thesis_population_heads_bases(population_head_damage_bases: pd.DataFrame) -> Iterator[Verdict]:
    """At the larger base, within a layer, properties of a head correlate with the cost of its removal."""
    for item, (sign, sentence) in DAMAGES.items():
        row = pick(population_head_damage_bases, item=item)
        statement = f"{AT_LARGER}, {EVERY_MODEL}: {_lower_first_letter(sentence)}"
        yield judge_both(row, "rho", sign, item, statement, models_in_words(row))


def _lower_first_letter(statement: str) -> str:
    return statement[0].lower() + statement[1:]
