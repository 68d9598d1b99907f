"""Massive values by tensor with and without rotary positions: reported totals, and totals of the published layers."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, printed, pvalue, signed

NAMES = {"query": "query", "key": "key", "value": "value", "all": "all three"}


def table(massive_counts: pd.DataFrame, massive_tests: pd.DataFrame, drope_massive_counts: pd.DataFrame) -> Table:
    """Return the reported totals with their tests, then the totals of the published layers."""
    tests = massive_tests.rename(columns={"comparison": "tensor"})[["tensor", "p_adjusted", "effect"]]
    changes = drope_massive_counts[drope_massive_counts["metric"] == "change_from_rope"][["tensor", "printed"]]
    is_reported = massive_counts["rope_sd"].notna()
    with_tests = massive_counts[is_reported].merge(tests, on="tensor").merge(changes, on="tensor")
    rows = pd.concat([with_tests, massive_counts[~is_reported]], ignore_index=True)
    protocol = zip(rows["run"], rows["texts"], rows["precision"], strict=True)
    rows = rows.assign(
        name=rows["tensor"].map(NAMES),
        heading=[f"{run}: {texts} texts, {precision}" for run, texts, precision in protocol],
    )
    n = int(massive_counts.loc[is_reported, "texts"].iloc[0])
    reason = "The published counts are means over the texts, without deviations; the report prints no change for them."
    return Table(
        rows=rows,
        columns=[
            Column("name", "Tensor"),
            Column("rope_mean", "RoPE", fixed(1), uncertainty="rope_sd", missing=reason),
            Column("drope_mean", "DroPE", fixed(1), uncertainty="drope_sd", missing=reason),
            Column("printed", "printed", printed(), group="Change, %", missing=reason),
            Column("change", "recomputed", signed(1), group="Change, %"),
            Column("effect", "Hedges' $g$", fixed(1), missing=reason),
            Column("p_adjusted", "Holm $p$", pvalue(), missing=reason),
        ],
        groups="heading",
        caption=(
            "Massive values summed over layers, heads and dimensions, with (RoPE) and without (DroPE) rotary "
            f"positions: the totals of the report's Section 2.2, mean and standard deviation over {n} texts, and the "
            "totals of the counts published per layer [@africa2026]. Change: DroPE from RoPE."
        ),
        short="Massive values with and without rotary positions",
        note=(
            f"Welch's test from the printed means and standard deviations, n = {n} texts per model, unit: text; the "
            "deviations, whose divisor is $n$ in the source's script, are scaled to $n - 1$. The texts are the same "
            "for both models, but counts per text are not published, so the pairing cannot be used. Holm over the "
            f"{len(massive_tests)} tensors. The tests generalise to further texts for these two models, which share "
            "their pretrained weights. The two runs differ in texts, length and precision: fp16 is half precision, NF4 "
            "a format of four bits for the weights."
        ),
    )
