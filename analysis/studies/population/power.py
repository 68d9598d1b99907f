"""What the seeds of the population could have shown: the smallest effect that they find with a power of .8."""

from __future__ import annotations

import math

import pandas as pd
from scipy import stats

from analysis.statistics.power import smallest_d_z
from analysis.studies.population._outcomes import each

LESS = "400 less 10000"
DIGITS = 3  # beyond which the search for the effect says nothing


def population_power(population_bases: pd.DataFrame) -> pd.DataFrame:
    """Smallest paired effect of each contrast that Student's test at .05 finds with a power of .8, at either base.

    `deviations` in standard deviations over seeds, for so many seeds; `detectable` the same in the unit of the outcome,
    by the `deviation` over seeds that was seen. The exact test of signs, which decides, has hardly more power, and a
    corrected one less.
    """
    rows = []
    for row in each(population_bases[population_bases["of"] != LESS]):
        told = {name: getattr(row, name) for name in ("item", "outcome", "first", "second", "multiple", "of", "seeds")}
        least = round(smallest_d_z(int(row.seeds)), DIGITS) if row.seeds > 1 else None
        spread = None
        if least is not None and not pd.isna(row.low):
            half = (float(row.high) - float(row.low)) / 2
            spread = half * math.sqrt(row.seeds) / float(stats.t.ppf(0.975, row.seeds - 1))
        told |= {"deviations": least, "deviation": spread}
        told["detectable"] = None if least is None or spread is None else least * spread
        told["note"] = "" if least is not None else "fewer than two seeds"
        rows.append(told)
    return pd.DataFrame(rows)
