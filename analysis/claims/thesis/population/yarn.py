"""Dropping the rotation beside YaRN, at each length: which of the two finds more far keys. Post hoc."""

from __future__ import annotations

import pandas as pd

from analysis.claims import Verdict, directed
from analysis.statistics.multiplicity import holm_p

SIGNS = {2.0: (1, "two"), 4.0: (-1, "four"), 8.0: (-1, "eight")}
"""By training lengths of the prompt: what was seen at the primary base, and how the length is said."""

ASKED = {"own": "", "temperature": " with a temperature"}


def thesis_population_yarn(population_yarn: pd.DataFrame) -> list[Verdict]:
    """The order of dropping the rotation and stretching it by YaRN turns with the length of the prompt.

    Post hoc but for four lengths; exact sign flips, Holm over the lengths of a base and a way of asking.

    Source: thesis, A population of small models.
    """
    verdicts = []
    for (base, encoding), rows in population_yarn.groupby(["base", "encoding"]):
        known = rows[rows["multiple"].isin(list(SIGNS)) & rows["low"].notna()]
        for adjusted, (_, row) in zip(holm_p(known["p"].tolist()), known.iterrows(), strict=True):
            sign, length = SIGNS[float(row["multiple"])]
            verdicts.append(
                directed(
                    float(row["difference"]),
                    (float(row["low"]), float(row["high"])),
                    sign,
                    f"C finds {row['dropped']:.0%}, B under YaRN {row['stretched']:.0%}: "
                    f"{100 * row['difference']:+.0f} points over {int(row['seeds'])} seeds.",
                    recomputed=f"{100 * row['difference']:+.0f}",
                    n=int(row["seeds"]),
                    p_value=float(row["p"]),
                    p_adjusted=float(adjusted),
                    key=f"{base}-{encoding}-{row['multiple']:g}x",
                    statement=(
                        f"At base {base:,} and {length} training lengths the model without rotation"
                        f"{ASKED[str(encoding)]} finds {'more' if sign > 0 else 'fewer'} far keys than its control "
                        "under YaRN (post hoc)."
                    ),
                )
            )
    return verdicts
