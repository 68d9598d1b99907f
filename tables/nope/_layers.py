"""Common layout of the two tables of layers with the largest recovery."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boundpaper.tables import Column, Table, fixed, integer, signed
from tables._house import ends

if TYPE_CHECKING:
    import pandas as pd

WINDOWS = {"d01": "0–20", "d45": "40–60", "d67": "60–80", "d89": "80–100"}


def layers_table(rows: pd.DataFrame, model: str, exhibit: str, columns: tuple[Column, ...], note: str) -> Table:
    """Return the table of one model's five layers: plasticity in four windows, printed and recomputed recovery."""
    rows = rows.assign(
        mark=["rounding" if agreement == "holds after rounding" else "" for agreement in rows["agreement"]],
        floor=["" if flag else "level" for flag in rows["below_dip"].astype(bool)],
    )
    return Table(
        rows=rows,
        columns=[
            Column("layer", "Layer", integer()),
            *columns,
            *(
                Column(
                    name,
                    title,
                    fixed(3),
                    group="Plasticity (% of the context)",
                    mark="floor" if name == "d89" else None,
                )
                for name, title in WINDOWS.items()
            ),
            Column("recovery", "printed", signed(3), mark="mark", group="Recovery"),
            Column("recovery_recomputed", "recomputed", signed(3), ci=ends("recovery"), group="Recovery"),
        ],
        space=0,
        caption=(
            f"The {len(rows)} layers of {model} with the largest recovery, {exhibit} of the layer study "
            "[@shcherb2026]. Unit: one layer, mean over its captured heads."
        ),
        short=f"Layers with the largest recovery, {model}",
        marks={
            "rounding": "Not the difference of the printed levels, but within their rounding.",
            "level": "Ends no lower than its dip.",
        },
        note=(
            "Dip: 40–60 % of the context; recovery: the level at 60–80 % minus the dip, in brackets what rounding "
            f"leaves open. {note}"
        ),
    )
