"""Outcomes of arms D and E, which are outside the main contrast, and of arm A, from which D starts."""

import pandas as pd

from boundpaper.tables import Table
from tables.population._arms import arms_table


def table(population_outcomes: pd.DataFrame) -> Table:
    """Return a table of arms A (rotated), D (A, then trained without rotation) and E (trained without rotation)."""
    return arms_table(population_outcomes, "ADE", "What the start and the other arms of the population do")
