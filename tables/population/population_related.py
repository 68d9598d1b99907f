"""Planned relations between outcomes and metrics, and planned questions on heads, of the population."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, integer
from tables.population._related import METRICS

GROUPS = {
    "relations": "Of a model, against its loss of passkeys from one to four training lengths",
    "head_level": "Of a head, against the passkeys lost by its removal, within its layer",
}


def table(
    population_relations: pd.DataFrame,
    population_relations_every: pd.DataFrame,
    population_head_damage: pd.DataFrame,
    population_head_damage_every: pd.DataFrame,
) -> Table:
    """Return one row per planned question: columns for all trained models, and for the models that the plan counts."""
    rows = pd.concat([population_relations_every, population_head_damage_every], ignore_index=True)
    planned = pd.concat([population_relations, population_head_damage]).set_index("item")
    rows["what"] = rows["item"].map(METRICS)
    rows["group"] = rows["family"].map(GROUPS)
    for name in ("rho", "seeds", "p_holm", "note"):
        rows[f"counted_{name}"] = rows["item"].map(planned[name])
    return Table(
        rows=rows,
        columns=[
            Column("what", "Of"),
            Column("rho", "$\\rho$", fixed(2), ci=("low", "high"), group="All", reason="note"),
            Column("seeds", "seeds", integer(), group="All"),
            Column("p", "$p$", fixed(3), group="All", reason="note"),
            Column("p_holm", "Holm", fixed(3), group="All", reason="note"),
            Column("counted_rho", "$\\rho$", fixed(2), group="Counted", reason="counted_note"),
            Column("counted_seeds", "seeds", integer(), group="Counted"),
            Column("counted_p_holm", "Holm", fixed(3), group="Counted", reason="counted_note"),
        ],
        groups="group",
        size="footnotesize",
        caption=(
            "Planned questions on what goes with what in the population: mean rank correlations within seeds, with "
            "Student's interval over seeds. Unit: one training seed."
        ),
        short="What goes with what in the population, as planned",
        note=(
            "All: every trained model of the primary base, which is post hoc; counted: those that the plan counts. p "
            "of permutations within seeds (models) and of sign flips over seeds (heads), Holm within either part."
        ),
    )
