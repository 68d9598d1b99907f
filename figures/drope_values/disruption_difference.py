"""Massive minus random disruption per text set, for both models and their difference (Figure 4 of the report)."""

import math

import pandas as pd

from boundpaper.figures import Axis, Figure, Forest, Panel, Rule

SERIES = {"rope": "RoPE", "drope": "DroPE"}
DIFFERENCE = "RoPE against DroPE: massive minus random"
MEAN = "mean, 95% interval"


def figure(disruption_by_text: pd.DataFrame, disruption_tests: pd.DataFrame) -> Figure:
    """Plot massive minus random in nats, per text set and as a mean, for each model and for RoPE minus DroPE."""
    nats = disruption_by_text.pivot(index="text", columns="positional", values="mr_nats")
    sets = list(dict.fromkeys(disruption_by_text["text"]))
    nats = nats.loc[sets]
    selection_sets = set(disruption_by_text.loc[disruption_by_text["selected"], "text"])
    names = [f"{name} (chosen on)" if name in selection_sets else str(name) for name in sets]
    tests = disruption_tests[disruption_tests["unit"] == "text set"].set_index("comparison")
    models: list[Forest] = [
        _forest_series(entity, names, nats[name], tests.T[f"{name}: massive against random"])
        for entity, name in SERIES.items()
    ]
    difference = _forest_series("neutral", names, nats["RoPE"] - nats["DroPE"], tests.T[DIFFERENCE])
    limit = math.ceil(max(float(series.high[-1]) for series in (*models, difference))) + 0.5
    least, largest = min(difference.estimate), max(difference.estimate)
    axis = Axis(label="nats per token", low=-0.5, high=limit)
    zero = (Rule(at=0, axis="x", dash="solid"),)
    return Figure(
        panels=[
            Panel(title="both models", series=models, x=axis, rules=zero),
            Panel(title="RoPE minus DroPE", series=[difference], x=axis, rules=zero),
        ],
        letters=True,
        share_y=True,
        height=34,
        caption=(
            f"Zeroing massive dimensions costs RoPE {least:.1f} to {largest:.1f} nats per token more than DroPE, "
            "beyond what random ones cost: increase of the mean log-perplexity, as published [@africa2026]. Unit: text "
            f"set, one value each without a spread; below, the mean over {len(sets)} sets with Student's 95 % "
            f"interval. The massive dimensions were chosen on the {' and '.join(sorted(selection_sets))} set."
        ),
        short="Massive minus random disruption by text set",
    )


def _forest_series(entity: str, names: list[str], values: pd.Series, test: pd.Series) -> Forest:
    """Return single values as rows without an interval, followed by their mean with its interval."""
    return Forest(
        entity=entity,
        legend=entity != "neutral",
        rows=[*names, MEAN],
        groups=["text set"] * len(names) + ["all sets"],
        estimate=[*values, test["estimate"]],
        low=[*values, test["ci_low"]],
        high=[*values, test["ci_high"]],
    )
