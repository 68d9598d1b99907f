"""What the arms do that the main contrast leaves out, beside where the shorter one begins."""

import pandas as pd

from boundpaper.tables import Table
from tables.population._arms import arms


def table(population_outcomes: pd.DataFrame) -> Table:
    """The start, a fifth of the steps without rotation, and no rotation from scratch."""
    return arms(population_outcomes, "ADE", "What the start and the other arms of the population do")
