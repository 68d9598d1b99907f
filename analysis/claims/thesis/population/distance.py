"""Claims on whether retrieval in the population fails with a key's distance or with the prompt's length."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._shared import rows_where
from analysis.claims.thesis.population._judged import judge_both, seeds_in_words
from boundpaper.claims import Verdict, claim, directed, judge, untestable
from boundpaper.statistics.locations.permutation import sign_flip_p
from boundpaper.statistics.locations.student import student_interval

LENGTHS = {2.0: (1, "two"), 8.0: (-1, "eight")}
EFFECTS = {1: "finds more of the passkeys near the question", -1: "costs passkeys near the question"}
BEYOND = (192, 384)  # distances in words at which two ranges begin, past the cliff and past three training lengths
LONG = 4.0  # training lengths of the prompts that ask for keys at these distances
SLOPES = {
    "past": "At base 10,000 models trained further with rotation find more than one in a hundred passkeys between "
    "one and a half and two training lengths from the question (post hoc).",
    "lost": "At base 10,000 models trained further with rotation find fewer passkeys beyond three training lengths "
    "than between one and a half and two (post hoc).",
}
ASKED = ((400, "In prompts", ""), (10_000, "At base 10,000, in prompts", "10000-"))
"""Base of the rotation, and the beginnings of its statements and of its keys."""

BASES = (400, 10_000)  # rotary bases
TRAINED = 128  # words in a training sequence
CLIFF = 1.5  # distance of a key, in training lengths, from which rotary models find few
STRAY = 0.01  # share of keys that chance may find
FEWEST = 6  # number of seeds below which no test of the plan can decide


@claim("thesis, A population of small models")
def thesis_population_near(population_near: pd.DataFrame) -> Iterator[Verdict]:
    """Dropping the rotation changes how many passkeys near the question are found in long prompts.

    The effect was seen at the primary base, so it is post hoc there; at the other base the same direction was asked
    before the reported models were measured.
    """
    contrast = population_near[population_near["compared"] == "C minus B"]
    for base, where, prefix in ASKED:
        for multiple, (sign, words) in LENGTHS.items():
            statement = f"{where} of {words} training lengths dropping the rotation {EFFECTS[sign]} (post hoc)."
            rows = rows_where(contrast, base=base, multiple=multiple)
            key = f"{prefix}{multiple:g}x"
            if rows.empty:
                reason = "No seed has both arms at this length; those of the plan would decide it."
                yield untestable(reason, key=key, statement=statement)
                continue
            row = rows.iloc[0]
            yield judge_both(row, "value", sign, key, statement, seeds_in_words(row))


@claim("thesis, A population of small models")
def thesis_population_cliff(population_distances: pd.DataFrame) -> Iterator[Verdict]:
    """Models with rotation find fewer than 1 in 100 passkeys that are at least one and a half training lengths away.

    Post hoc at the base where it was observed; at the other base the claim was written before any model was trained.
    """
    far_rows = population_distances[
        population_distances["arm"].isin(["A", "B"]) & (population_distances["low"] >= CLIFF * TRAINED)
    ]
    for base in BASES:
        statement = (
            f"At base {base:,} models with rotation find fewer than one in a hundred keys that are one and a half "
            "training lengths off or farther."
        )
        at_base = far_rows[far_rows["base"] == base]
        counts = at_base.groupby("model")[["right", "n"]].sum()
        if (seeds := at_base["seed"].nunique()) < FEWEST:
            reason = f"Seeds with a model at this base: {seeds}; the others of the plan would decide it."
            yield untestable(reason, key=str(base), statement=statement)
            continue
        share = counts["right"] / counts["n"]
        yield judge(
            bool((share < STRAY).all()),
            f"Of the farther keys {len(counts)} models with rotation find {int(counts['right'].sum()):,} of "
            f"{int(counts['n'].sum()):,}; the one that finds most finds {share.max():.1%}.",
            recomputed=f"{int(counts['right'].sum()):,} of {int(counts['n'].sum()):,}",
            n=len(counts),
            key=str(base),
            statement=statement,
        )


@claim("thesis, A population of small models")
def thesis_population_slope(population_distances: pd.DataFrame) -> Iterator[Verdict]:
    """At base 10,000, rotary models find passkeys at distances where rotary models of base 400 find none.

    Post hoc: written when two seeds of base 10,000 were measured. The tests are over seeds, in prompts of four
    training lengths.
    """
    rows = rows_where(population_distances, base=BASES[1], arm="B", multiple=LONG, low=BEYOND)
    rows = rows.assign(share=rows["right"] / rows["n"])  # not the stored shares: rounding them creates or breaks ties
    seeds = rows.pivot_table(index="seed", columns="low", values="share").reindex(columns=list(BEYOND)).dropna()
    if len(seeds) < FEWEST:
        reason = f"Seeds of this base that are there: {len(seeds)}; the others of the plan would decide it."
        for key, statement in SLOPES.items():
            yield untestable(reason, key=key, statement=statement)
        return
    values_and_signs = {"past": (seeds[BEYOND[0]] - STRAY, 1), "lost": (seeds[BEYOND[1]] - seeds[BEYOND[0]], -1)}
    shares = [f"{seeds[low].mean():.0%} from {low} words on" for low in BEYOND]
    for key, (values, sign) in values_and_signs.items():
        by_seed = values.to_numpy(dtype=float)
        yield directed(
            float(by_seed.mean()),
            student_interval(by_seed) or (float(by_seed.mean()),) * 2,
            sign,
            f"Of such keys they find {' and '.join(shares)} on average over {len(seeds)} seeds (post hoc).",
            recomputed=f"{seeds[BEYOND[key == 'lost']].mean():.0%}",
            n=len(seeds),
            p_value=sign_flip_p(by_seed).p_value,
            key=key,
            statement=SLOPES[key],
        )
