"""The replication of Jin et al. in one view (Figure 11 of the report): categories, and tasks in both experiments."""

import pandas as pd

from boundpaper.figures import Axis, Bars, Figure, Panel

TASKS = {"cities": "cities", "sports": "sports", "imdb": "IMDB", "passkey": "passkey"}
SERIES = {"rope": "RoPE", "drope": "DroPE"}
CATEGORIES = ("parametric", "contextual")


def figure(knowledge_categories: pd.DataFrame, knowledge_protocols: pd.DataFrame, drope_stated: pd.DataFrame) -> Figure:
    """Categories beside the values that Jin et al. report, then the change of every task in Experiments 3 and 4."""
    stated = drope_stated.set_index("statement")["value"]
    jin = [float(stated[f"s4_1_jin_{category}"]) for category in CATEGORIES]
    averages = []
    for entity, name in SERIES.items():
        rows = knowledge_categories[knowledge_categories["positional"] == name].set_index("category")
        rows = rows.loc[list(CATEGORIES)]
        averages.append(
            Bars(
                entity=entity,
                x=list(CATEGORIES),
                y=rows["degradation"],
                low=rows["degradation_low"].fillna(rows["degradation"]),
                high=rows["degradation_high"].fillna(rows["degradation"]),
                reported=jin if entity == "rope" else None,
                reported_label="Jin et al.",
            )
        )
    panels = [Panel(title="categories", series=averages, y=Axis(label="degradation, %", zero=True))]
    for experiment in ("3", "4"):
        bars = []
        for entity, name in SERIES.items():
            rows = knowledge_protocols[knowledge_protocols["positional"] == name].set_index("task").loc[list(TASKS)]
            change = rows[f"change_{experiment}"]
            bars.append(
                Bars(
                    entity=entity,
                    x=list(TASKS.values()),
                    y=change,
                    low=rows[f"change_low_{experiment}"].fillna(change),
                    high=rows[f"change_high_{experiment}"].fillna(change),
                )
            )
        panels.append(
            Panel(
                title=f"tasks, Experiment {experiment}",
                series=bars,
                y=Axis(label="change, points", low=-105, high=30, ticks=[-100, -75, -50, -25, 0, 25]),
            )
        )
    first = knowledge_protocols.iloc[0]
    return Figure(
        panels=panels,
        columns=3,
        letters=True,
        height=45,
        caption=(
            "Disruption of massive dimensions and knowledge [@africa2026]. (a) Mean degradation by category in "
            f"Experiment 3, with the values that the report quotes [@jin2025], {jin[0]:.0f} % and "
            f"{jin[1]:.0f} %. (b), (c) Change of accuracy in Experiment 3, {first['precision_3']}, and in "
            f"Experiment 4, {first['precision_4']}. Error bars are 95 % intervals over items; a bare dash stands "
            "where it is not known of how many answers an accuracy is."
        ),
        short="Disruption of massive dimensions and knowledge",
    )
