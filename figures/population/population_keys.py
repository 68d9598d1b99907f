"""Keys that the population finds, by the length of the prompt and by their distance to the question; every seed."""

import pandas as pd

from boundpaper.figures import Axis, Bundle, Figure, Panel, Rule
from boundpaper.figures.series import Series
from figures.population._arms import ARMS, LOOKS, bases, of_base, seeds

TRAINED = 128
LONG = 4.0


def figure(population_outcomes: pd.DataFrame, population_distances: pd.DataFrame) -> Figure:
    """Return the figure: a row per base of the rotation."""
    keys = (population_outcomes["outcome"] == "keys_all") & (population_outcomes["encoding"] == "own")
    lengths = population_outcomes[keys]
    far = population_distances[population_distances["multiple"] == LONG]
    far = far.assign(middle=(far["low"] + far["high"]) / 2)
    panels = []
    for base in bases(lengths):
        panels += [
            Panel(
                title=f"base {base:,}, by length",
                series=bundles(of_base(lengths, base), "multiple", "value"),
                x=Axis(
                    label=f"length of the prompt ({TRAINED} words)",
                    scale="log",
                    base=2,
                    ticks={0.5: "0.5", 1.0: "1", 2.0: "2", 4.0: "4", 8.0: "8"},
                ),
                y=Axis(label="keys found", low=0, high=102, percent=True),
                rules=[Rule(at=1.0, axis="x", label="training length")],
            ),
            Panel(
                title=f"base {base:,}, by distance at {LONG:g} lengths",
                series=bundles(of_base(far, base), "middle", "share"),
                x=Axis(
                    label="words from key to question",
                    scale="log",
                    base=2,
                    ticks={16.0: "16", 32.0: "32", 64.0: "64", 128.0: "128", 256.0: "256"},
                ),
                y=Axis(label="keys found", low=0, high=102, percent=True),
                rules=[Rule(at=float(TRAINED), axis="x", label="training length")],
            ),
        ]
    return Figure(
        panels=panels,
        columns=2,
        letters=True,
        share_y=True,
        entities=LOOKS,
        caption=(
            f"Keys that models of the population find ({seeds(lengths)}): by the length of the prompt in "
            f"training lengths, and in prompts of {LONG:g} of them by the distance from key to question. Thin lines: "
            "single seeds; thick lines: their mean. E has no base and is in both rows. "
            f"{int(lengths['n'].max())} questions a length and model, the same for all arms of a seed. Unit: one "
            "training seed."
        ),
        short="Keys that the population finds",
    )


def bundles(rows: pd.DataFrame, across: str, value: str) -> list[Series]:
    """One bundle per arm, a line per seed."""
    series: list[Series] = []
    for arm, part in rows.groupby("arm"):
        wide = part.pivot(index="seed", columns=across, values=value)
        name = str(arm)
        series.append(
            Bundle(
                entity=name,
                label=f"{name}: {ARMS[name]}",
                x=list(wide.columns),
                lines=100 * wide,
                band=False,
                origin="measured",
            )
        )
    return series
