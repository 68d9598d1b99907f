"""Plasticity of the population beyond the training length, where models with rotation find no key. Post hoc."""

from __future__ import annotations

import pandas as pd

from analysis.claims import Verdict, directed, pick, untestable
from analysis.claims.thesis._open import left_open

STATEMENTS = {
    "B_change": (-1, "With rotation kept, plasticity is lower beyond the training length than within it."),
    "C_change": (-1, "With rotation dropped, plasticity is lower beyond the training length than within it."),
    "C_less_B": (1, "Beyond the training length models without rotation are more plastic than those with it."),
}


def thesis_population_reach(population_reach_tests: pd.DataFrame) -> list[Verdict]:
    """Where models with rotation lose their keys, position leaves less room to content.

    Post hoc: what crowding out says of the far end, of models that were trained on, over all of their heads.

    Source: thesis, A population of small models.
    """
    verdicts = []
    for item, (sign, statement) in STATEMENTS.items():
        row = pick(population_reach_tests, item=item)
        if pd.isna(row["p"]):
            verdicts.append(
                untestable(
                    f"{row['note'] or 'The seeds do not differ'}; other seeds of the plan would decide it.",
                    key=item,
                    statement=statement,
                )
            )
            continue
        verdicts.append(
            directed(
                float(row["difference"]),
                (float(row["low"]), float(row["high"])),
                sign,
                f"The difference is {row['difference']:+.3f} over {int(row['seeds'])} seeds, {row['least']:+.3f} to "
                f"{row['most']:+.3f} in single ones (post hoc).",
                recomputed=f"{row['difference']:+.3f}",
                n=int(row["seeds"]),
                p_value=float(row["p"]),
                p_adjusted=float(row["p_holm"]),
                key=item,
                statement=statement,
            )
        )
    return [left_open(verdict) for verdict in verdicts]
