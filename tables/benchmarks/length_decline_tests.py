"""Plasticity against scores over length: declines, orderings at each length, and changes from length to length."""

import pandas as pd

from boundpaper.store.paper_vocabulary import words
from boundpaper.tables import Column, Table, fixed, integer, pvalue
from tables._house import spread_tests


def table(
    length_decline_tests: pd.DataFrame, length_ordering_tests: pd.DataFrame, lbp_length_steps: pd.DataFrame
) -> Table:
    """Return one row per comparison, in three blocks: declines, orderings at one length, and steps."""
    declines, orderings = (_by_comparison(tests) for tests in (length_decline_tests, length_ordering_tests))
    steps = lbp_length_steps.assign(
        pearson_estimate=lbp_length_steps["estimate"],
        pearson_p_value=lbp_length_steps["p_value"],
        pearson_p_adjusted=lbp_length_steps["p_adjusted"],
        mode=lbp_length_steps["comparison"].map(words("mode")),
        label="all steps",
        group="Change of the score against change of plasticity, step by step",
    )
    declines = declines.assign(
        label=declines["first"].map(words("metric")), group="Decline of the score from 8K to 128K against the drop"
    )
    orderings = orderings.assign(
        label=orderings["first"].str.upper(), group="Score at one length against plasticity in its bin"
    )
    rows = pd.concat([declines, orderings, steps], ignore_index=True)
    columns = [
        Column("label", "Compared"),
        Column("mode", "Prompt mode"),
        Column("n", "$n$", integer()),
        Column("pearson_estimate", "$r$", fixed(2), group="Pearson"),
        Column("pearson_ci_low", "low", fixed(2), group="Pearson", missing="steps of one model are not independent"),
        Column("pearson_ci_high", "high", fixed(2), group="Pearson", missing="steps of one model are not independent"),
        Column("pearson_p_value", "$p$", pvalue(), group="Pearson"),
        Column("pearson_p_adjusted", "Holm", pvalue(), group="Pearson"),
    ]
    for test, symbol, title in (("spearman", "$\\rho$", "Spearman"), ("kendall", "$\\tau_b$", "Kendall")):
        for name, heading, style in (("estimate", symbol, fixed(2)), ("p_value", "$p$", pvalue())):
            columns.append(
                Column(f"{test}_{name}", heading, style, group=title, missing="only Pearson's coefficient is computed")
            )
    changes = str(lbp_length_steps["note"].iloc[0]).split(",")[0]
    return Table(
        rows=rows,
        columns=columns,
        groups="group",
        size="footnotesize",
        space=0,
        caption=(
            "Plasticity against LongBench Pro over length. Unit: one model. Scores as published [@longbenchpro2026], "
            "plasticity as printed in Tables 1 and 2 of the study [@shcherb2026]."
        ),
        short="Plasticity against LongBench Pro over length",
        note=(
            "All $p$ are exact, over relabelings of models. Holm's correction is within each block, over its "
            "coefficients too; low and high are Fisher's 95 % interval. The same models return at every length, so the "
            f"second block holds no replicates. In the third block {changes} are correlated after the mean change at "
            "each step is taken off, so that a trend common to all models does not count."
        ),
    )


def _by_comparison(tests: pd.DataFrame) -> pd.DataFrame:
    """Return one row per comparison, with the metric or length (`first`) and the mode that its name gives."""
    counts = tests.drop_duplicates("comparison")[["comparison", "n"]]
    rows = spread_tests(tests).merge(counts, on="comparison")
    parts = rows["comparison"].str.split(", ")
    return rows.assign(first=parts.str[0], mode=parts.str[1].map(words("mode")))
