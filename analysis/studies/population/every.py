"""Repeat the planned analyses over every model that was trained, whether or not it met the criterion.

The analyses were not planned, but added after arms of the first two seeds missed the criterion. Excluding models by
their outcome is a selection; these results avoid it, and are given in addition to the planned ones.
"""

import pandas as pd

from analysis.studies.population.contrasts import population_contrasts
from analysis.studies.population.relations import population_head_damage, population_relations


def population_contrasts_every(
    population_plan: pd.DataFrame,
    population_models: pd.DataFrame,
    population_keys: pd.DataFrame,
    population_prompts: pd.DataFrame,
    population_tasks: pd.DataFrame,
    population_losses: pd.DataFrame,
    population_heads: pd.DataFrame,
) -> pd.DataFrame:
    """Return contrasts as in `population_contrasts`, over all trained models."""
    tables = (population_keys, population_prompts, population_tasks, population_losses, population_heads)
    return population_contrasts(population_plan, _count_all(population_models), *tables)


def population_relations_every(
    population_plan: pd.DataFrame,
    population_models: pd.DataFrame,
    population_keys: pd.DataFrame,
    population_prompts: pd.DataFrame,
    population_tasks: pd.DataFrame,
    population_losses: pd.DataFrame,
    population_heads: pd.DataFrame,
) -> pd.DataFrame:
    """Return relations as in `population_relations`, over all trained models."""
    tables = (population_keys, population_prompts, population_tasks, population_losses, population_heads)
    return population_relations(population_plan, _count_all(population_models), *tables)


def population_head_damage_every(
    population_plan: pd.DataFrame,
    population_models: pd.DataFrame,
    population_heads: pd.DataFrame,
    population_ablation: pd.DataFrame,
) -> pd.DataFrame:
    """Return head damage as in `population_head_damage`, over all trained models."""
    return population_head_damage(population_plan, _count_all(population_models), population_heads, population_ablation)


def _count_all(models: pd.DataFrame) -> pd.DataFrame:
    return models.assign(reached=True)
