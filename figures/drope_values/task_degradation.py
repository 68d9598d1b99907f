"""Degradation on every knowledge task (Figures D and 7 of the report), from the report's table of accuracies."""

import pandas as pd

from boundpaper.figures import Axis, Bars, Figure, Panel

TASKS = {"cities": "cities", "sports": "sports", "imdb": "IMDB", "passkey": "passkey"}
PLOTTED = {"cities": "Cities", "sports": "Sports", "imdb": "IMDB", "passkey": "Passkey"}
SERIES = {"rope": "RoPE", "drope": "DroPE"}


def figure(knowledge_tasks: pd.DataFrame, drope_figures: pd.DataFrame) -> Figure:
    """Plot relative degradation as bars with intervals, and the values read off the report's Figure D as diamonds."""
    plotted_values = drope_figures[drope_figures["figure"] == "D"].set_index(["series", "x"])["value"]
    bars = []
    for entity, name in SERIES.items():
        rows = knowledge_tasks[knowledge_tasks["positional"] == name].set_index("task").loc[list(TASKS)]
        bars.append(
            Bars(
                entity=entity,
                x=list(TASKS.values()),
                y=rows["degradation"],
                low=rows["degradation_low"].fillna(rows["degradation"]),
                high=rows["degradation_high"].fillna(rows["degradation"]).clip(lower=rows["degradation"]),
                reported=[-plotted_values[(name, PLOTTED[task])] for task in TASKS],
                reported_label="plotted in the report's Figure D, sign reversed",
            )
        )
    items = ", ".join(f"{TASKS[str(task)]} {n}" for task, n in rows["n"].items())
    return Figure(
        panels=[Panel(series=bars, y=Axis(label="degradation, % of baseline", zero=True))],
        height=60,
        width=120,
        caption=(
            "Share of the baseline accuracy lost under disruption, from the accuracies of the report's Section 4.2 "
            f"[@africa2026]; negative is a gain. Items: {items}; error bars: 95 % intervals, arms unpaired; a dash "
            "without error bar: an accuracy over an unknown number of answers. Diamonds: the coordinates of the "
            "report's Figure D, which draws losses downwards; they disagree with its own table."
        ),
        short="Degradation of the knowledge tasks",
    )
