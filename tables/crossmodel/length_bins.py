"""Plasticity by length bin, with the total drop as printed and as recomputed."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, signed

BINS = ("0-8K", "8K-16K", "16K-32K", "32K-64K", "64K-128K")


def table(bin_profiles: pd.DataFrame) -> Table:
    """Return one row per model with reported length bins."""
    differs = bin_profiles["total_rounded"] != bin_profiles["total_drop"]
    rows = bin_profiles.assign(mark=["half" if differ else "" for differ in differs])
    rounded = fixed(3)
    drops = [rounded.show(drop, "plain") for drop in bin_profiles.loc[differs, "total_rounded"]]
    return Table(
        rows=rows,
        columns=[
            Column("display_name", "Model"),
            *(Column(name, name.replace("-", "–"), fixed(4), group="Plasticity in the bin (tokens)") for name in BINS),
            Column("total_drop", "printed", signed(3), group="Last bin $-$ first"),
            Column("total_recomputed", "recomputed", signed(4), mark="mark", group="Last bin $-$ first"),
        ],
        groups="family",
        group_style="rule",
        marks={
            "half": (
                "Lies halfway between two printed values; with halves away from zero it would be printed as "
                f"${', '.join(drops)}$. Both agree with the bins"
            )
        },
        caption=(
            f"Plasticity by length bin and its total drop, {len(rows)} models, from Table 2 of the study "
            "[@shcherb2026]. Unit: one model, mean over heads."
        ),
        short="Plasticity by length bin and its total drop",
        note="No length bins are reported for the other captured models.",
    )
