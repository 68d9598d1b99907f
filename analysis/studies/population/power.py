"""Compute the power of the population's seeds: the smallest effect that is detected with power .8."""

import math

import pandas as pd
from scipy import stats

from analysis.studies.population._outcomes import records
from boundpaper.statistics.power import ALPHA, smallest_d_flips

DIFFERENCE = "400 minus 10000"  # a difference of two differences, at most 2 for shares
SHARES = ("keys_far", "keys_far_extended", "keys_all", "facts_held")  # outcomes that are shares, at most 1


def population_power(population_bases: pd.DataFrame) -> pd.DataFrame:
    """Return the smallest effect of each contrast, at and between both bases, that is detected with power .8.

    `deviations` is the effect in standard deviations over seeds, at .05; `corrected` this effect at the first step of
    Holm in a family of `tests`; `detectable` is `corrected` in the unit of the outcome, using the observed
    `deviation` over seeds.
    """
    sizes = population_bases.groupby(["of", "family"])["item"].transform("size")
    rows = []
    for row, tests in zip(records(population_bases), sizes, strict=True):
        facts = {name: getattr(row, name) for name in ("item", "outcome", "first", "second", "multiple", "of", "seeds")}
        seeds = int(row.seeds)
        effect = smallest_d_flips(seeds) if seeds else None
        corrected_effect = smallest_d_flips(seeds, alpha=ALPHA / tests) if seeds else None
        deviation, detectable, note = None, None, ""
        if corrected_effect is None:
            note = f"{seeds} seeds cannot reach .05, corrected for {tests} tests"
        else:
            half_width = (float(row.high) - float(row.low)) / 2
            deviation = half_width * math.sqrt(seeds) / float(stats.t.ppf(1 - ALPHA / 2, seeds - 1))
            detectable = corrected_effect * deviation
            if not deviation:
                detectable, note = None, "the seeds do not differ"
            elif row.outcome in SHARES and detectable > 1 + (row.of == DIFFERENCE):
                detectable, note = None, "more than all there is"
        facts |= {"tests": int(tests), "deviations": effect, "corrected": corrected_effect}
        rows.append({**facts, "deviation": deviation, "detectable": detectable, "note": note})
    return pd.DataFrame(rows)
