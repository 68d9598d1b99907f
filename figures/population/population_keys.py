"""Keys that the population finds, by the length of the prompt and by their distance to the question; every seed."""

import pandas as pd

from figures import Axis, Bundle, Figure, Panel, Rule
from figures._press.series import Series
from figures.population._arms import ARMS, LOOKS, of_base, seeds

BASE = 400
TRAINED = 128
LONG = 4.0


def figure(population_outcomes: pd.DataFrame, population_distances: pd.DataFrame) -> Figure:
    """Return the figure."""
    lengths = of_base(population_outcomes, BASE)
    lengths = lengths[(lengths["outcome"] == "keys_all") & (lengths["encoding"] == "own")]
    far = of_base(population_distances, BASE)
    far = far[far["multiple"] == LONG]
    far = far.assign(middle=(far["low"] + far["high"]) / 2)
    return Figure(
        panels=[
            Panel(
                title="by length",
                series=bundles(lengths, "multiple", "value"),
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
                title=f"by distance, at {LONG:g} training lengths",
                series=bundles(far, "middle", "share"),
                x=Axis(
                    label="words from key to question",
                    scale="log",
                    base=2,
                    ticks={16.0: "16", 32.0: "32", 64.0: "64", 128.0: "128", 256.0: "256"},
                ),
                y=Axis(label="keys found", low=0, high=102, percent=True),
                rules=[Rule(at=float(TRAINED), axis="x", label="training length")],
            ),
        ],
        columns=2,
        letters=True,
        share_y=True,
        entities=LOOKS,
        caption=(
            f"Keys that models of the population find (base {BASE}; {seeds(lengths)}): by the length of the prompt in "
            f"training lengths, and in prompts of {LONG:g} of them by the distance from key to question. Thin lines: "
            "single seeds; thick lines: their mean. "
            f"{int(lengths['n'].max())} questions a length and model, the same for all arms of a seed. Unit: one "
            "training seed."
        ),
        short="Keys that the population finds",
    )


def bundles(rows: pd.DataFrame, across: str, value: str) -> list[Series]:
    """One bundle an arm, a line a seed."""
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
