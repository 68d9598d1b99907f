"""Correlate metrics with the decline, over models, and with the damage of a head's removal, over heads."""

import pandas as pd

from analysis.studies.population._outcomes import key_questions, outcomes
from analysis.studies.population._ranks import head_damage_rows, head_damages, relation_rows

BASE = 400  # base of the planned relations


def population_relations(
    population_plan: pd.DataFrame,
    population_models: pd.DataFrame,
    population_keys: pd.DataFrame,
    population_prompts: pd.DataFrame,
    population_tasks: pd.DataFrame,
    population_losses: pd.DataFrame,
    population_heads: pd.DataFrame,
) -> pd.DataFrame:
    """Return each planned relation of head metrics with the decline; `rho` is the mean rank correlation within seeds.

    `low` and `high` are the 95 % Student interval of `rho` over seeds, `p` is from permutations within seeds. `slope`
    and its interval, for information only, come from a mixed model with the seed as group and standardised variables.
    The models are those of all counted arms of the base.
    """
    questions = key_questions(population_keys, population_prompts, population_models)
    table = outcomes(population_models, questions, population_tasks, population_losses, population_heads)
    return relation_rows(population_plan, table, (BASE,))


def population_head_damage(
    population_plan: pd.DataFrame,
    population_models: pd.DataFrame,
    population_heads: pd.DataFrame,
    population_ablation: pd.DataFrame,
) -> pd.DataFrame:
    """Return each planned relation between the damage of removing a head and the head's metrics, within layers.

    `rho` is the rank correlation of damage (nats of a key at the training length, above the whole model's) and the
    metric over the heads of a layer, averaged over layers, models of a seed, and seeds; `low` and `high` are Student's
    95 % interval over seeds, `p` is from sign flips, and `least` and `most` are the extremes over seeds. `slope`
    is from a mixed model with layers as levels and the model as group.
    """
    table = head_damages(population_models, population_heads, population_ablation)
    return head_damage_rows(population_plan, table[table["base"] == BASE])
