"""Massive less random disruption per text set, in nats and as a ratio of percentages (Figure 4 of the source)."""

import pandas as pd

from figures import Axis, Bars, Figure, Forest, Panel

SELECTED_ON = ("literary",)  # the set from which the source takes its ratio
SERIES = {"rope": "RoPE", "drope": "DroPE"}
MEANS = {
    "RoPE": "RoPE: massive against random",
    "DroPE": "DroPE: massive against random",
    "difference": "RoPE against DroPE: massive less random",
}


def figure(
    disruption_by_text: pd.DataFrame,
    disruption_ratios: pd.DataFrame,
    disruption_tests: pd.DataFrame,
    drope_disruption_statistics: pd.DataFrame,
) -> Figure:
    """Nats per text set, their means, and the ratio of percent increases."""
    sets = list(disruption_ratios["text"])
    bars = []
    for entity, name in SERIES.items():
        rows = disruption_by_text[disruption_by_text["positional"] == name].set_index("text").loc[sets]
        bars.append(Bars(entity=entity, x=sets, y=rows["mr_nats"], values=True, decimals=1))
    tests = disruption_tests[disruption_tests["unit"] == "text set"].set_index("comparison").loc[list(MEANS.values())]
    means = Forest(
        rows=list(MEANS),
        estimate=tests["estimate"],
        low=tests["ci_low"],
        high=tests["ci_high"],
        entities=["rope", "drope", "neutral"],
        legend=False,
    )
    printed = drope_disruption_statistics[drope_disruption_statistics["statistic"] == "reliance_ratio"]
    text, value = str(printed["printed"].iloc[0]), float(printed["value"].iloc[0])
    ratio = Bars(
        entity="neutral",
        x=sets,
        y=disruption_ratios["ratio_of_percentages"],
        values=True,
        decimals=0,
        reported=[value if name in SELECTED_ON else None for name in sets],
        legend=False,
    )
    return Figure(
        panels=[
            Panel(title="by set", series=bars, y=Axis(label="massive less random, nats", zero=True)),
            Panel(title="mean over sets", series=[means], x=Axis(label="nats", zero=True)),
            Panel(
                title="ratio of percentages",
                series=[ratio],
                y=Axis(label="RoPE over DroPE", zero=True, high=100),
            ),
        ],
        columns=3,
        letters=True,
        height=45,
        caption=(
            f"Massive less random disruption on {len(sets)} text sets, published perplexities [@africa2026]. (a) "
            "Increase of log-perplexity, one value per model and set. (b) Mean over the sets with Student's 95 % "
            "intervals, and RoPE less DroPE. (c) Percent increase of RoPE over that of DroPE; diamond: the ratio of "
            f"{text} that the source states from the literary set, on which the massive dimensions were chosen."
        ),
        short="Massive less random disruption by text set",
    )
