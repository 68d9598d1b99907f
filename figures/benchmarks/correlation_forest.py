"""Correlations of every metric with LongBench Pro and their intervals, by value and by rank."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Forest, Panel, Rule, Style
from boundpaper.store.paper_vocabulary import printed_word
from boundpaper.typeset.numbers import fixed, interval

COEFFICIENTS = {"pearson": ("by value", "Pearson's $r$"), "spearman": ("by rank", "Spearman's $\\rho$")}
WORDS = {"r_k_a": "keys with position", "r_q_a": "queries with position"}  # in place of their symbols
KINDS = {True: "plasticity", False: "rotation"}


def figure(lbp_correlations: pd.DataFrame, lbp_correlations_extended: pd.DataFrame) -> Figure:
    """Plot one panel per coefficient and one row per metric."""
    samples = {"total": lbp_correlations, "every": lbp_correlations_extended}
    counts = {entity: int(tests["n"].max()) for entity, tests in samples.items()}
    names = {"total": f"{counts['total']} models of the study", "every": f"all {counts['every']} models"}
    number, bracket = fixed(2), interval(2)
    panels = []
    for test, (title, label) in COEFFICIENTS.items():
        series = []
        for entity, tests in samples.items():
            rows = tests[tests["test"] == test]
            rows = rows.assign(kind=rows["comparison"].str.startswith("ap_").map(KINDS))
            series.append(
                Forest(
                    entity=entity,
                    label=names[entity],
                    rows=[WORDS.get(key) or printed_word("metric", key) for key in rows["comparison"]],
                    groups=rows["kind"],
                    estimate=rows["estimate"],
                    low=rows["ci_low"],
                    high=rows["ci_high"],
                    texts=[
                        f"${number.show(estimate, 'plain')}\\;{bracket.show(ends, 'plain')}$"
                        for estimate, *ends in rows[["estimate", "ci_low", "ci_high"]].itertuples(index=False)
                    ]
                    if entity == "total"
                    else None,
                )
            )
        panels.append(
            Panel(
                series=series,
                title=title,
                x=Axis(label=label, low=-1.05, high=1.05, ticks=[-1, 0, 1]),
                rules=[Rule(at=0, axis="x", dash="solid")],
            )
        )
    tests = pd.concat(list(samples.values()))
    smallest_p = tests.loc[tests["test"].isin(["pearson", "spearman", "kendall"]), "p_adjusted"].min()
    return Figure(
        panels=panels,
        height=50,
        share_y=True,
        letters=True,
        entities={"every": Style(color="okgrey", mark="square*")},
        caption=(
            "No metric's correlation with LongBench Pro survives a correction for the metrics tried, (a) by value or "
            f"(b) by rank, over the {counts['total']} models that the study compares or all {counts['every']} with a "
            "score [@shcherb2026; @longbenchpro2026]. Unit: one model. Bars: 95 % intervals (Fisher; Bonett and "
            f"Wright), in numbers for the {counts['total']} models. The smallest exact $p$ after Holm's correction is "
            f"{smallest_p:.2f}."
        ),
        short="Correlation of every metric with LongBench Pro",
    )
