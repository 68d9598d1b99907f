"""Passkeys found against their distance to the question: a panel per arm and base, a line per seed."""

import pandas as pd

from boundpaper.figures import Annotation, Axis, Bundle, Figure, Panel, Shade
from figures.population._arms import ARMS, BASES, LOOKS, bases, seeds_phrase

TRAINED = 128
FAR = 1.25 * TRAINED  # keys beyond this distance are far
LONG = 4.0
SHOWN_ARMS = ("B", "C", "D", "E")


def figure(population_outcomes: pd.DataFrame, population_distances: pd.DataFrame) -> Figure:
    """Return the figure: one row per rotation base; the arm without a base ends the first row."""
    is_far = (population_outcomes["outcome"] == "keys_far") & (population_outcomes["encoding"] == "own")
    far_keys = population_outcomes[is_far & (population_outcomes["multiple"] == LONG)]
    rows = population_distances[population_distances["multiple"] == LONG]
    rows = rows.assign(middle=(rows["low"] + rows["high"]) / 2)
    pairs = [(arm, base) for base in bases(far_keys) for arm in SHOWN_ARMS if arm != "E"]
    pairs.insert(len(SHOWN_ARMS) - 1, ("E", 0))
    is_near = (population_distances["high"] <= TRAINED) & (population_distances["base"] == BASES[0])
    seed_means = population_distances[is_near].groupby(["arm", "multiple", "seed"])["share"].mean()
    means = 100 * seed_means.groupby(["arm", "multiple"]).mean()
    near_means = ", ".join(f"{arm} {means[arm, LONG]:.0f} against {means[arm, 1.0]:.0f} %" for arm in ("B", "C"))
    counts = seeds_phrase(far_keys[far_keys["arm"].isin(SHOWN_ARMS)])
    panels = []
    for arm, base in pairs:
        cells = rows[(rows["arm"] == arm) & (rows["base"] == base)]
        table = cells.pivot(index="seed", columns="middle", values="share")
        mean = 100 * far_keys.loc[(far_keys["arm"] == arm) & (far_keys["base"] == base), "value"].mean()
        panels.append(
            Panel(
                title=f"{arm}, base {base:,}" if base else f"{arm}, no base",
                series=[Bundle(entity=arm, x=list(table.columns), lines=100 * table, band=False, origin="measured")],
                x=Axis(label="words to the passkey", scale="log", base=2, ticks={32: "32", 128: "128", 384: "384"}),
                y=Axis(label="passkeys found", low=-4, high=119, ticks=[0, 50, 100], percent=True),
                shades=[Shade(low=float(TRAINED), high=None)],
                annotations=[Annotation(x=16.0, y=112, text=f"beyond {FAR:g}: {mean:.1f} %", anchor="right")],
            )
        )
    return Figure(
        panels=panels,
        columns=4,
        letters=True,
        height=27,
        legend="none",
        share_y=True,
        entities=LOOKS,
        caption=(
            f"At base {bases(far_keys)[0]} retrieval with rotation stops at a distance: passkeys found in prompts of "
            f"{LONG:g} training lengths, by the distance to the question, grey beyond the training length of {TRAINED} "
            f"words. Near ones are harder to find in these prompts than in those of one training length: {near_means}. "
            + "; ".join(f"{arm}: {ARMS[arm]}" for arm in SHOWN_ARMS)
            + ". Thin lines: single seeds; thick lines: their mean; in numbers the mean share of far passkeys, beyond "
            f"{FAR:g} words (not all of the grey). {counts.capitalize()}. "
            f"{int(far_keys['n'].max())} far passkeys a model at most. Unit: one training seed."
        ),
        short="Passkeys that the population finds, by their distance to the question",
    )
