"""Decline of passkey accuracy with length, plotted against metrics of the heads, one point per model."""

import pandas as pd

from boundpaper.figures import Annotation, Axis, Figure, Panel, Points
from boundpaper.typeset.numbers import signed
from figures.population._arms import ARMS, BASES, LOOKS, bases, seeds_phrase

METRICS = {
    "ap_last_20": ("late plasticity", 1.0),
    "ap_drop": ("drop of plasticity", 1.0),
    "bias_strength": ("bias per token ($\\times 10^{-3}$)", 1e3),
}


def figure(
    population_outcomes: pd.DataFrame,
    population_relations_every: pd.DataFrame,
    population_relations_bases: pd.DataFrame,
) -> Figure:
    """Return the figure: one row per rotation base; models without a rotation have no base and are not shown."""
    rows = population_outcomes[(population_outcomes["encoding"] == "own") & (population_outcomes["base"] > 0)]
    decline = rows[rows["outcome"] == "decline"].set_index("model")["value"]
    relations = pd.concat([population_relations_every.assign(of=str(BASES[0])), population_relations_bases])
    relations = relations.dropna(subset="rho")
    number = signed(2)
    rho = {
        (row["of"], row["outcome"]): f"{number.show(row['rho'], 'plain')} "
        f"[{number.show(row['low'], 'plain')}, {number.show(row['high'], 'plain')}]"
        for _, row in relations.iterrows()
    }
    panels = []
    for base in bases(rows):
        for metric, (label, factor) in METRICS.items():
            cells = rows[(rows["base"] == base) & (rows["outcome"] == metric) & rows["model"].isin(decline.index)]
            panels.append(
                Panel(
                    title=f"base {base:,}",
                    annotations=[
                        Annotation(x=factor * cells["value"].min(), y=128, text=f"$\\rho$ {text}", anchor="right")
                        for text in [rho.get((str(base), metric))]
                        if text
                    ],
                    series=[
                        Points(
                            entity=str(arm),
                            label=f"{arm}: {ARMS[str(arm)]}",
                            legend=metric == "ap_last_20",
                            x=factor * group["value"],
                            y=100 * group["model"].map(decline),
                            origin="measured",
                        )
                        for arm, group in cells.groupby("arm")
                    ],
                    x=Axis(label=label),
                    y=Axis(label="passkeys lost, 1× to 4×", percent=True, high=140, ticks=[-50, 0, 50, 100]),
                )
            )
    return Figure(
        panels=panels,
        letters=True,
        share_y=True,
        height=30,
        entities=LOOKS,
        caption=(
            "Loss of keys from one to four training lengths against what was measured in the heads of the same models "
            f"({seeds_phrase(rows)}); each point is one model, its value the mean over its heads. In the "
            "panels: the rank correlation within a seed, averaged over seeds, whose models differ in their arm alone, "
            "with its 95 % interval over seeds."
        ),
        short="Loss over length against the heads' metrics in the population",
    )
