"""Relations between outcomes and metrics, and questions on heads, at the larger rotation base and over both bases."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, integer
from tables.population._related import METRICS

GROUPS = {
    "10000": "Of a model of base 10,000, against its loss of passkeys from one to four training lengths",
    "both": "Of a model of either base, against the same",
    "both, A to C": "Of a model of either base but for D, against the same",
    "heads": "Of a head at base 10,000, against the passkeys lost by its removal, within its layer",
}


def table(population_relations_bases: pd.DataFrame, population_head_damage_bases: pd.DataFrame) -> Table:
    """Return one row per question and group of models."""
    rows = pd.concat([population_relations_bases, population_head_damage_bases.assign(of="heads")], ignore_index=True)
    rows = rows.assign(what=rows["item"].map(METRICS), group=rows["of"].map(GROUPS))
    return Table(
        rows=rows.sort_values("of", key=lambda of: of.map(list(GROUPS).index), kind="stable", ignore_index=True),
        columns=[
            Column("what", "Of"),
            Column("rho", "$\\rho$", fixed(2), ci=("low", "high"), reason="note"),
            Column("models", "Models", integer()),
            Column("seeds", "Seeds", integer()),
            Column("p", "$p$", fixed(3), reason="note"),
            Column("p_holm", "Holm", fixed(3), reason="note"),
        ],
        groups="group",
        size="footnotesize",
        caption=(
            "The planned questions on what goes with what in the population at base 10,000, and over both bases: mean "
            "rank correlations within seeds, with Student's interval over seeds. Unit: one training seed."
        ),
        short="What goes with what in the population at base 10,000 and over both bases",
        note=(
            "All trained models; post hoc, added before the models of base 10,000 that are reported were measured. "
            "D, which finds hardly any passkeys to lose, was left out after the result with it was seen. "
            "p of permutations within seeds (models) and of sign flips over seeds (heads), Holm within a group of rows."
        ),
    )
