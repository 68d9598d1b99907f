"""Secondary items of the preregistration amendment, tested on the second run."""

import pandas as pd

from boundpaper.tables import Table
from tables.population._items import items_table

FAMILIES = ("weighted", "like_for_like", "relations_aligned", "heads_aligned")


def table(retrained_tests: pd.DataFrame, population_amendment: pd.DataFrame) -> Table:
    """Return one row per item and rotation base."""
    return items_table(
        retrained_tests,
        population_amendment,
        FAMILIES,
        "Heads by the cost of removal, YaRN like for like, relations at one position: secondary items of the amendment",
        "Secondary items of the amendment",
        "Of relations and heads the difference is a mean rank correlation.",
    )
