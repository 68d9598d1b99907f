"""Recovery by adjacency to cross-attention layers, and the strongest result that a test could have shown."""

import pandas as pd

from boundpaper.store.frames import wide
from boundpaper.tables import Column, Table, fixed, integer, pvalue, signed
from tables._house import ends

GROUPS = {"after": "directly after a cross-attention layer", "before": "directly before one", "far": "neither"}


def table(nope_adjacency: pd.DataFrame, nope_adjacency_bounds: pd.DataFrame) -> Table:
    """Return one row per group of layers."""
    rows = wide(nope_adjacency, by=["group"])
    bounds = nope_adjacency_bounds.set_index("comparison")
    contrasts = rows["group"] + " - far"
    rows = rows.assign(
        words=rows["group"].map(GROUPS), note=["reference" if group == "far" else "" for group in rows["group"]]
    )
    for name in ("difference", "difference_low", "difference_high", "statistic_at_most", "p_at_least"):
        rows[name] = contrasts.map(bounds[name]).astype(float)
    adjacent, groups = bounds.loc["adjacent - far"], bounds.loc["after, before, far"]
    number = fixed(2)
    return Table(
        rows=rows,
        columns=[
            Column("words", "Self-attention layers"),
            Column("layers", "$n$", integer()),
            Column("mean_recovery", "Mean recovery", signed(3)),
            Column("difference", "Less the last row", signed(3), ci=ends("difference"), reason="note"),
            Column("statistic_at_most", "$|t|$ at most", fixed(2), reason="note"),
            Column("p_at_least", "$p$ at least", pvalue(), reason="note"),
        ],
        caption=(
            "Recovery by adjacency to layers without position encoding, Llama-3.2-11B-Vision, "
            f"{int(rows['layers'].sum())} self-attention layers, Finding 2 of the layer study [@shcherb2026]. Unit: "
            "one layer."
        ),
        short="Recovery by adjacency to layers without position encoding",
        note=[
            "In brackets what the rounding of both means leaves open. The study prints no standard deviations, so no "
            "test can be computed; the columns on the right bound the pooled $t$ test, two-sided, by the spread of the "
            "five layers that are printed singly, every other layer taken to lie where it adds least to the spread.",
            f"Both adjacent groups against the others: ${signed(3).show(adjacent['difference'], 'plain')}$, $|t| \\leq "
            f"{number.show(adjacent['statistic_at_most'], 'plain')}$, $p \\geq "
            f"{number.show(adjacent['p_at_least'], 'plain')}$; the three groups: $F \\leq "
            f"{number.show(groups['statistic_at_most'], 'plain')}$, $p \\geq "
            f"{number.show(groups['p_at_least'], 'plain')}$.",
        ],
    )
