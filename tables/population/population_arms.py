"""What the arms of the population do that are compared, and what their heads are."""

import pandas as pd

from boundpaper.tables import Table
from tables.population._arms import arms


def table(population_outcomes: pd.DataFrame) -> Table:
    """The start and the two ways on from it."""
    return arms(population_outcomes, "ABC", "What the arms of the population do")
