"""Passkey retrieval under disruption in two experiments (Figure 8 of the report shows the first)."""

import pandas as pd

from analysis.vocabulary import PAIR
from boundpaper.figures import Axis, Bars, Figure, Panel

ARMS = {"base": "baseline", "disrupted": "disrupted"}


def figure(knowledge_protocols: pd.DataFrame) -> Figure:
    """Plot one panel per experiment."""
    rows = knowledge_protocols[knowledge_protocols["task"] == "passkey"].set_index("positional").loc[list(PAIR)]
    panels = []
    for experiment in ("3", "4"):
        bars = [
            Bars(entity=name, x=list(PAIR), y=share, low=low, high=high)
            for arm, name in ARMS.items()
            for share, low, high in [[rows[f"{arm}{end}_{experiment}"] for end in ("", "_low", "_high")]]
        ]
        precision = rows[f"precision_{experiment}"].iloc[0]
        panels.append(
            Panel(
                title=f"Experiment {experiment}, {precision}",
                series=bars,
                y=Axis(label="passkey accuracy, %", low=0, high=100),
            )
        )
    first = rows.iloc[0]
    return Figure(
        panels=panels,
        letters=True,
        share_y=True,
        height=45,
        width=120,
        caption=(
            f"Retrieval of a passkey of {first['digits_3']} digits with and without disruption of massive dimensions "
            f"of queries and keys, in Experiments 3 and 4 of the report [@africa2026]; n = {first['n_3']} items a bar, "
            "error bars are 95 % Wilson intervals. The report draws its conclusion from the first; in the second the "
            "model without rotary positions loses the passkey too."
        ),
        short="Passkey retrieval under disruption in two experiments",
    )
