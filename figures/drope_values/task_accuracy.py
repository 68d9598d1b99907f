"""Accuracy of every knowledge task before and under disruption (Figure 10 of the report), with Wilson intervals."""

import pandas as pd

from analysis.vocabulary import PAIR
from boundpaper.figures import Axis, Bars, Figure, Panel, Rule

TASKS = {"cities": "cities", "sports": "sports", "imdb": "IMDB", "passkey": "passkey"}
ARMS = {"base": "baseline", "disrupted": "disrupted"}


def figure(knowledge_tasks: pd.DataFrame) -> Figure:
    """Plot one panel per model."""
    panels = []
    for model in PAIR:
        rows = knowledge_tasks[knowledge_tasks["positional"] == model].set_index("task").loc[list(TASKS)]
        for arm in ARMS:
            # if the denominator is unknown, the interval reaches down to the lowest possible share of all items
            lowest_share = rows[arm] * rows[f"{arm}_n_low"] / rows["n"]
            rows[f"{arm}_low"] = rows[f"{arm}_low"].fillna(lowest_share)
            rows[f"{arm}_high"] = rows[f"{arm}_high"].fillna(rows[arm])
        bars = [
            Bars(entity=name, x=list(TASKS.values()), y=rows[arm], low=rows[f"{arm}_low"], high=rows[f"{arm}_high"])
            for arm, name in ARMS.items()
        ]
        panels.append(
            Panel(
                title=model,
                series=bars,
                y=Axis(label="accuracy, %", low=0, high=100),
                rules=[Rule(at=float(rows["chance"].max()))],
            )
        )
    items = ", ".join(f"{TASKS[str(task)]} {n}" for task, n in rows["n"].items())
    return Figure(
        panels=panels,
        letters=True,
        share_y=True,
        height=50,
        caption=(
            "Accuracy before and after one massive dimension per head is replaced by its mean, Section 4.2 of the "
            f"report [@africa2026]. Items: {items}; bars of cities and sports are of the answers that could be read. "
            "Error bars are 95 % Wilson intervals where the number of answers is known; elsewhere they reach down to "
            "the share of all items, if as many answers were left out as the printed share allows. Dashed: chance of "
            "the tasks with two answers (all but the passkey)."
        ),
        short="Accuracy of the knowledge tasks before and under disruption",
    )
