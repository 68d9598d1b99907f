"""Perplexity with massive or random dimensions zeroed (Figures C and 3 of the report), on a logarithmic axis."""

import pandas as pd

from boundpaper.figures import Axis, Bars, Figure, Panel

ARMS = {"baseline": "baseline", "random": "random zeroed", "massive": "massive zeroed"}
METRICS = {"baseline": "baseline_ppl", "random": "random_zeroed_ppl", "massive": "massive_zeroed_ppl"}
SERIES = {"rope": "RoPE", "drope": "DroPE"}


def figure(disruption_trials: pd.DataFrame, drope_disruption: pd.DataFrame) -> Figure:
    """Plot published trials as bars and printed cells as diamonds."""
    trials = {str(row["positional"]): row for row in disruption_trials.to_dict("records")}
    cells = drope_disruption.set_index(["positional", "metric"])["value"]
    bars = [
        Bars(
            entity=entity,
            x=list(ARMS.values()),
            y=[trials[name][f"{arm}_ppl"] for arm in ARMS],
            values=[_perplexity_text(trials[name][f"{arm}_ppl"]) for arm in ARMS],
            reported=[cells[(name, METRICS[arm])] for arm in ARMS],
            reported_label="printed in the report",
        )
        for entity, name in SERIES.items()
    ]
    return Figure(
        panels=[Panel(series=bars, y=Axis(label="perplexity", scale="log", low=1))],
        height=55,
        width=110,
        caption=(
            "Perplexity on the literary text set when massive or as many random dimensions of queries and keys are "
            f"zeroed: published trials [@africa2026]; random is the mean over {int(trials['RoPE']['seeds'])} seeds, "
            "whose deviation is smaller than the line width; the other two arms have one value each. Logarithmic axis "
            "from 1, the smallest possible perplexity. Diamonds: values printed in Section 3.2."
        ),
        short="Perplexity with massive or random dimensions zeroed",
    )


def _perplexity_text(perplexity: float) -> str:
    return f"{perplexity:,.0f}" if perplexity >= 1000 else f"{perplexity:.{1 if perplexity >= 10 else 2}f}"
