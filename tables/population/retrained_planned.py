"""The planned items of the amendment, asked of the second run."""

import pandas as pd

from boundpaper.tables import Table
from tables.population._items import items_table

FAMILIES = ("reach_aligned", "exchange", "widths")


def table(retrained_tests: pd.DataFrame, population_amendment: pd.DataFrame) -> Table:
    """One row per item and base of the rotation."""
    return items_table(
        retrained_tests,
        population_amendment,
        FAMILIES,
        "What position decides, in the second run: planned items of the amendment",
        "Planned items of the amendment",
        "Aligned queries, in bins of 16 words unless an item names another width.",
    )
