"""Outcomes of the arms outside the main contrast, and of the model from which the shorter arm starts."""

import pandas as pd

from boundpaper.tables import Table
from tables.population._arms import arms_table


def table(population_outcomes: pd.DataFrame) -> Table:
    """Return the starting model, the arm with a fifth of its steps without rotation, and the arm never rotated."""
    return arms_table(population_outcomes, "ADE", "What the start and the other arms of the population do")
