"""Plasticity drop against the loss of score, as a share of the score and in points."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, pvalue

MODES = {"nonthinking": "without thinking", "thinking": "with thinking", "both": "all variants at once"}


def table(decline_units: pd.DataFrame) -> Table:
    """Return one row per prompt mode, end length and number of models; the row of joint tests comes last."""
    keys = ["mode", "end", "n"]
    by_unit = decline_units.pivot(index=keys, columns="unit", values=["estimate", "p"])
    by_unit.columns = pd.Index([f"{column[1]}_{column[0]}" for column in by_unit.columns])
    rows = decline_units[keys].drop_duplicates().merge(by_unit, left_on=keys, right_index=True)
    rows["mode"] = rows["mode"].map(MODES)
    rows["to"] = rows["end"].str.upper()
    least = int(rows["n"].min())
    return Table(
        rows=rows.sort_values("mode", key=lambda mode: mode.map(list(MODES.values()).index), kind="stable"),
        columns=[
            Column("to", "To"),
            Column("n", "Models", fixed(0)),
            *(
                column
                for unit, group in (("share", "Share of the score"), ("points", "Points"))
                for column in (
                    Column(f"{unit}_estimate", "$r$", fixed(2), group=group),
                    Column(f"{unit}_p", "$p$", pvalue(), group=group),
                )
            ),
        ],
        groups="mode",
        size="footnotesize",
        caption=(
            "Drop of plasticity against the loss of score from 8K, the loss as a share of the score at 8K and in "
            "points. Unit: one model; exact p over relabellings, not corrected. All variants at once: the median over "
            "modes, sets of models, drops and coefficients, to 128K."
        ),
        short="Drop against loss of score, in shares and in points",
        note=(
            f"The {least} models are those of the study. Scores are published with the benchmark; those at 256K "
            "lie beyond every captured window [@longbenchpro2026; @shcherb2026]."
        ),
    )
