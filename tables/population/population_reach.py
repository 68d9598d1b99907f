"""Plasticity of the population by position in a text, in sections of one training length."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, integer
from tables.population._arms import ARMS


def table(population_reach_levels: pd.DataFrame) -> Table:
    """Return one row per arm and section of the text; each section is one training length long."""
    rows = population_reach_levels.copy()
    rows["training"] = rows["arm"].map(ARMS)
    rows["words"] = [f"{low + 1} to {high}" for low, high in zip(rows["low"], rows["high"], strict=True)]
    return Table(
        rows=rows,
        columns=[
            Column("arm", "Arm"),
            Column("training", "Training"),
            Column("words", "Words of the text"),
            Column("value", "Plasticity", fixed(2), ci=("ci_low", "ci_high"), reason="note"),
            Column("least", "least", fixed(2), group="Seeds"),
            Column("most", "most", fixed(2), group="Seeds"),
            Column("seeds", "number", integer(), group="Seeds"),
        ],
        space="arm",
        caption=(
            "Plasticity of the population within and beyond its training length, mean over heads and seeds with "
            "Student's interval over seeds. Unit: one training seed."
        ),
        short="Plasticity of the population beyond its training length",
        note=(
            "Queries of a quarter of texts of four training lengths, over all pairs of keys before them; all trained "
            "models of the primary base, measured after the plan."
        ),
    )
