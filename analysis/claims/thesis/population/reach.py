"""Claims on plasticity beyond the training length, where the population's rotary models find no passkey; post hoc."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims.thesis._open import left_open
from analysis.claims.thesis.population._judged import judge_both, seeds_in_words
from boundpaper.claims import Verdict, claim, pick

STATEMENTS = {
    "B_change": (-1, "With rotation kept, plasticity is lower beyond the training length than within it."),
    "C_change": (-1, "With rotation dropped, plasticity is lower beyond the training length than within it."),
    "C_less_B": (1, "Beyond the training length models without rotation are more plastic than those with it."),
}


@claim("thesis, A population of small models")
def thesis_population_reach(population_reach_tests: pd.DataFrame) -> Iterator[Verdict]:
    """Where models with rotation find no passkeys, position leaves less influence to content.

    Post hoc, over all heads of models that were trained further: if position crowds out content, plasticity falls.
    """
    for item in population_reach_tests["item"]:
        sign, statement = STATEMENTS[str(item).removesuffix("_10000")]
        statement += " At base 10,000." if str(item).endswith("_10000") else ""
        row = pick(population_reach_tests, item=item)
        yield left_open(judge_both(row, "difference", sign, item, statement, f"{seeds_in_words(row)} (post hoc)"))
