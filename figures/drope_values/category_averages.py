"""Lost share of the accuracy, and of the accuracy above chance, by category of knowledge (Figure 9 of the report)."""

import pandas as pd

from boundpaper.figures import Axis, Bars, Figure, Panel

CATEGORIES = ("parametric", "contextual")
SERIES = {"rope": "RoPE", "drope": "DroPE"}
PANELS = {"degradation": "of the baseline accuracy", "above_chance": "of the accuracy above chance"}


def figure(knowledge_categories: pd.DataFrame) -> Figure:
    """Plot one panel for each measure of lost accuracy."""
    panels = []
    for column, title in PANELS.items():
        bars = []
        for entity, name in SERIES.items():
            rows = knowledge_categories[knowledge_categories["positional"] == name].set_index("category")
            rows = rows.loc[list(CATEGORIES)]
            y = rows[column]
            low, high = rows[f"{column}_low"].fillna(y), rows[f"{column}_high"].fillna(y).clip(lower=y)
            bars.append(Bars(entity=entity, x=list(CATEGORIES), y=y, low=low, high=high))
        panels.append(Panel(title=title, series=bars, y=Axis(label="mean share lost, %", zero=True)))
    task_counts = knowledge_categories.set_index(["positional", "category"])["tasks_above_chance"]
    return Figure(
        panels=panels,
        letters=True,
        share_y=True,
        height=50,
        caption=(
            "Mean degradation by category under disruption, from the accuracies of the report's Section 4.2 "
            "[@africa2026]; negative is a gain. (a) Share of the baseline accuracy, two tasks per category, as the "
            "report counts it. (b) Share of the accuracy above chance, from the tasks whose baseline is above chance: "
            f"{task_counts[('RoPE', 'parametric')]} parametric, {task_counts[('RoPE', 'contextual')]} contextual. "
            "Error bars are 95 % intervals over items; a bare dash marks an accuracy of an unknown number of answers."
        ),
        short="Degradation by category of knowledge",
    )
