"""Planned items of the preregistration amendment, tested on the second run."""

import pandas as pd

from boundpaper.tables import Table
from tables.population._items import items_table

FAMILIES = ("reach_aligned", "exchange", "widths")


def table(
    retrained_tests: pd.DataFrame, population_amendment: pd.DataFrame, plasticity_settings: pd.DataFrame
) -> Table:
    """Return one row per item and rotation base."""
    width = int(plasticity_settings.set_index("setting")["value"]["second_bin"])
    return items_table(
        retrained_tests,
        population_amendment,
        FAMILIES,
        "What position decides, in the second run: planned items of the amendment",
        "Planned items of the amendment",
        f"Aligned queries, in bins of {width} words or as named. Of the mean lead, in spreads, the position part "
        "turns with the exchange (positive: for the nearer key), the content part stays. Linear share: part of the "
        "squared mean leads that a line in their distance explains.",
    )
