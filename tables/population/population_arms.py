"""Outcomes and head properties of the compared arms of the population."""

import pandas as pd

from boundpaper.tables import Table
from tables.population._arms import arms_table


def table(population_outcomes: pd.DataFrame) -> Table:
    """Return a table with a column for the starting model and one for each of the two arms that continue from it."""
    return arms_table(population_outcomes, "ABC", "What the arms of the population do")
