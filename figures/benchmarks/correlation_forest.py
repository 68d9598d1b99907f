"""All correlations with LongBench Pro and their intervals: three coefficients, the source's models and all."""

import pandas as pd

from artifacts.typeset.wording import metric
from figures import Axis, Figure, Forest, Panel, Rule

COEFFICIENTS = {"pearson": "Pearson's $r$", "spearman": "Spearman's $\\rho$", "kendall": "Kendall's $\\tau_b$"}


def figure(lbp_correlations: pd.DataFrame, lbp_correlations_extended: pd.DataFrame) -> Figure:
    """Return the figure."""
    samples = {"series-1": lbp_correlations, "series-2": lbp_correlations_extended}
    counts = {entity: int(tests["n"].max()) for entity, tests in samples.items()}
    panels = []
    for test, title in COEFFICIENTS.items():
        series = []
        for entity, tests in samples.items():
            rows = tests[tests["test"] == test]
            series.append(
                Forest(
                    entity=entity,
                    label=f"$n = {counts[entity]}$",
                    rows=[metric(key) for key in rows["comparison"]],
                    estimate=rows["estimate"],
                    low=rows["ci_low"],
                    high=rows["ci_high"],
                )
            )
        panels.append(
            Panel(
                series=series,
                x=Axis(label=title, low=-1, high=1, ticks=[-1, -0.5, 0, 0.5, 1]),
                rules=[Rule(at=0, axis="x")],
            )
        )
    every = pd.concat(list(samples.values()))
    least = every.loc[every["test"].isin(list(COEFFICIENTS)), "p_adjusted"].min()
    seven, eight = counts.values()
    return Figure(
        panels=panels,
        share_y=True,
        caption=(
            f"Correlation of every metric with LongBench Pro, over the {seven} models that the source compares and "
            f"over all {eight} with a score [@shcherb2026; @longbenchpro2026]. Unit: one model. Bars: 95 % intervals "
            "(Fisher, "
            f"Bonett and Wright, Fieller). The smallest Holm-corrected exact $p$ of any of them is {least:.2f}."
        ),
        short="Correlation of every metric with LongBench Pro",
    )
