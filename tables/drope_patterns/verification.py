"""Yes/no verification: difference of P(yes) between the exact number and near-misses."""

import pandas as pd

from boundpaper.tables import Column, Table, integer, printed


def table(drope_verification: pd.DataFrame, ranking_cells: pd.DataFrame, drope_protocols: pd.DataFrame) -> Table:
    """Return one row per context, with the ranking accuracy from the same answers."""
    cells = drope_verification.pivot(index="context", columns="positional", values="printed")
    ranks = ranking_cells.pivot(index="context", columns="positional", values="share")
    rows = pd.DataFrame(
        {
            "context": cells.index,
            "rope": cells["RoPE"].to_numpy(),
            "drope": cells["DroPE"].to_numpy(),
            "rank_rope": ranks["RoPE"].to_numpy().round().astype(int),
            "rank_drope": ranks["DroPE"].to_numpy().round().astype(int),
        }
    )
    return Table(
        rows=rows,
        columns=[
            Column("context", "Context", integer(), unit="tokens"),
            Column("rope", "RoPE", printed(), group="Difference of P(yes)"),
            Column("drope", "DroPE", printed(), group="Difference of P(yes)"),
            Column("rank_rope", "RoPE", integer(), group="Ranked first, %"),
            Column("rank_drope", "DroPE", integer(), group="Ranked first, %"),
        ],
        caption=(
            "Yes/no verification, Section 11.4 of the report: mean P(yes) for the exact number minus that for "
            "near-misses, as printed, beside the ranking by the same probability [@africa2026]. Unit: trial, "
            f"{drope_protocols.set_index('section')['items']['11.4']}, unseeded."
        ),
        short="Verification by yes/no answers",
        note=(
            "No spread is printed, so the differences cannot be tested. DroPE has the larger difference at every "
            "length, RoPE the better ranking at every length."
        ),
    )
