"""Summary of the replication of Jin et al. (Figure 11 of the report): categories, and tasks in both experiments."""

from dataclasses import replace

import pandas as pd

from boundpaper.figures import Axis, Bars, Figure, Panel

TASKS = {"cities": "cities", "sports": "sports", "imdb": "IMDB", "passkey": "passkey"}
SERIES = {"rope": "RoPE", "drope": "DroPE"}
CATEGORIES = {"parametric": "parametric", "contextual": "contextual"}


def figure(knowledge_categories: pd.DataFrame, knowledge_protocols: pd.DataFrame, drope_stated: pd.DataFrame) -> Figure:
    """Plot categories beside the values of Jin et al., then the change of every task in Experiments 3 and 4."""
    statements = drope_stated.set_index("statement")["value"]
    jin = [float(statements[f"s4_1_jin_{category}"]) for category in CATEGORIES]

    def bars(rows: pd.DataFrame, key: str, names: dict[str, str], columns: tuple[str, str, str]) -> list[Bars]:
        series = []
        for entity, name in SERIES.items():
            cells = rows[rows["positional"] == name].set_index(key).loc[list(names)]
            value, low, high = (cells[column] for column in columns)
            reported = jin if entity == "rope" and names is CATEGORIES else None
            low, high = (end.fillna(value) for end in (low, high))  # an unknown end is drawn at the value
            bars_of_model = Bars(entity=entity, x=list(names.values()), y=value, low=low, high=high, reported=reported)
            series.append(replace(bars_of_model, reported_label="Jin et al."))
        return series

    averages = bars(
        knowledge_categories, "category", CATEGORIES, ("degradation", "degradation_low", "degradation_high")
    )
    panels = [Panel(title="categories", series=averages, y=Axis(label="degradation, %", zero=True))]
    axis = Axis(label="change, points", low=-105, high=30, ticks=[-100, -75, -50, -25, 0, 25])
    for experiment in ("3", "4"):
        columns = (f"change_{experiment}", f"change_low_{experiment}", f"change_high_{experiment}")
        changes = bars(knowledge_protocols, "task", TASKS, columns)
        panels.append(Panel(title=f"tasks, Experiment {experiment}", series=changes, y=axis))
    first = knowledge_protocols.iloc[0]
    return Figure(
        panels=panels,
        letters=True,
        height=45,
        caption=(
            "Disruption of massive dimensions and knowledge [@africa2026]. (a) Mean degradation by category in "
            f"Experiment 3, with the values that the report quotes [@jin2025], {jin[0]:.0f} % and "
            f"{jin[1]:.0f} %. (b), (c) Change of accuracy in Experiment 3, {first['precision_3']}, and in "
            f"Experiment 4, {first['precision_4']}. Error bars are 95 % intervals over items; a bare dash marks an "
            "accuracy of an unknown number of answers."
        ),
        short="Disruption of massive dimensions and knowledge",
    )
