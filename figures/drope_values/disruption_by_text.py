"""Disruption of massive dimensions per text set, beside the values that Section 3.3 of the report prints."""

import pandas as pd

from boundpaper.figures import Axis, Bars, Figure, Panel

SERIES = {"rope": "RoPE", "drope": "DroPE"}


def figure(disruption_by_text: pd.DataFrame) -> Figure:
    """Plot published increases as bars on a logarithmic axis, and printed increases as diamonds."""
    sets = list(disruption_by_text["text"].drop_duplicates())
    bars = []
    for entity, name in SERIES.items():
        rows = disruption_by_text[disruption_by_text["positional"] == name].set_index("text").loc[sets]
        bars.append(
            Bars(
                entity=entity,
                x=sets,
                y=rows["massive_increase"],
                values=[f"{value:,.0f}" for value in rows["massive_increase"]],
                reported=rows["increase_printed"],
                reported_label="printed in the report",
            )
        )
    return Figure(
        panels=[Panel(series=bars, y=Axis(label="perplexity increase, %", scale="log", low=100))],
        height=55,
        width=110,
        caption=(
            "Increase of perplexity with massive dimensions zeroed, by text set, from the published perplexities "
            "[@africa2026]; one value per model and set. Diamonds: percentages printed in Section 3.3, nearly equal "
            "for the three sets, where the published ones differ. The dimensions were chosen on the literary set."
        ),
        short="Disruption of massive dimensions by text set",
    )
