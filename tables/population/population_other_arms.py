"""Outcomes of the arms that the main contrast leaves out, and of the model from which the shorter one starts."""

import pandas as pd

from boundpaper.tables import Table
from tables.population._arms import arms_table


def table(population_outcomes: pd.DataFrame) -> Table:
    """Show the start, the arm with a fifth of the steps without rotation, and the arm without rotation from scratch."""
    return arms_table(population_outcomes, "ADE", "What the start and the other arms of the population do")
