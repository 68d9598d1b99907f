"""Prompt formats within the training length: DroPE with each format, and the test between the formats."""

import pandas as pd

from boundpaper.store.frames import pick
from boundpaper.tables import Column, Table, fixed, integer, pvalue, signed


def table(context_cells: pd.DataFrame, context_tests: pd.DataFrame) -> Table:
    """Return one row per context."""
    cells = context_cells[context_cells["protocol"] == "formats"].set_index(["context", "positional", "format"])
    rows = []
    for context in dict.fromkeys(cells.index.get_level_values("context")):
        test = pick(context_tests, study="formats", comparison=str(context))
        row = {
            "context": context,
            "difference": 100 * test["estimate"],
            "low": 100 * test["ci_low"],
            "high": 100 * test["ci_high"],
            "p": test["p_value"],
            "holm": test["p_adjusted"],
        }
        for name, key in (
            ("rope", (context, "RoPE", "ruler")),
            ("ruler", (context, "DroPE", "ruler")),
            ("simple", (context, "DroPE", "simple")),
        ):
            row |= {f"{name}_{field}": cells[field][key] for field in ("share", "ci_low", "ci_high")}
        rows.append(row)
    pooled = pick(context_tests, study="formats", comparison="both contexts")
    digits = cells.groupby("format")["digits"].first()
    return Table(
        rows=pd.DataFrame(rows),
        columns=[
            Column("context", "Context", integer(), unit="tokens"),
            Column("rope_share", "RoPE,\nany", fixed(0), ci=("rope_ci_low", "rope_ci_high")),
            Column("ruler_share", "RULER", fixed(0), ci=("ruler_ci_low", "ruler_ci_high"), group="DroPE, %"),
            Column("simple_share", "simple", fixed(0), ci=("simple_ci_low", "simple_ci_high"), group="DroPE, %"),
            Column("difference", "difference", signed(0), ci=("low", "high"), group="DroPE, %"),
            Column("p", "Fisher $p$", pvalue()),
            Column("holm", "Holm $p$", pvalue()),
        ],
        caption=(
            "Passkey accuracy by prompt format, Section 11.7 of the report [@africa2026], in percent with 95 % Wilson "
            f"intervals (differences: Newcombe's). Unit: trial, {cells['trials'].iloc[0]} per cell, unseeded."
        ),
        short="Passkey accuracy by prompt format",
        note=(
            f"Over both contexts the difference is {100 * pooled['estimate']:.0f} points, Fisher $p = "
            f"{pooled['p_value']:.3f}$, Holm over three tests $p = {pooled['p_adjusted']:.3f}$. The number has "
            f"{digits['ruler']} digits with RULER's format and {digits['simple']} with the simple one. RoPE's value is "
            "printed once for both formats."
        ),
    )
