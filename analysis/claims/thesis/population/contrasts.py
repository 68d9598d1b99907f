"""Claims of the thesis on its population of small models, and on the completeness of the planned tests."""

import pandas as pd

from analysis.claims.thesis.population._judged import judge_both, models_in_words, seeds_in_words
from boundpaper.claims import Verdict, claim, judge, pick

Items = dict[str, tuple[int, str]]
CONTRASTS: Items = {
    "keys_far_4x": (1, "Trained further without rotation, a model finds more far passkeys than with it."),
    "training_on": (1, "Further training with rotation by itself lets a model find more far passkeys."),
    "brief_drop": (1, "A fifth of the steps without rotation is enough to find more far passkeys."),
    "never_rotated": (1, "A model that never rotated finds more far passkeys than one that dropped its rotation."),
    "keys_near_1x": (-1, "Within the training length dropping the rotation costs passkeys."),
    "facts_held": (-1, "Dropping the rotation costs facts that the second phase left out."),
    "plasticity_drops": (-1, "Dropping the rotation lowers the plasticity of heads."),
    "bias_window_drops": (1, "Dropping the rotation raises the positional bias over the window."),
    "base_interaction": (1, "The smaller base of the rotation gains more from dropping it."),
    "keys_far_4x_10000": (
        1,
        "At base 10,000, a model trained further without rotation finds more far passkeys than one with it.",
    ),
}
RELATIONS: Items = {
    "h1_plasticity": (-1, "Models whose late plasticity is higher lose fewer passkeys with length."),
    "h3_bias": (1, "Models with a larger positional bias per token lose more passkeys with length."),
    "h3_bias_window": (1, "Models with a larger positional bias over the window lose more passkeys with length."),
    "drop_decline": (1, "Models whose plasticity drops more within the window lose more passkeys with length."),
}

DAMAGES: Items = {
    "head_damage": (1, "Within a layer, the more plastic a head is, the more retrieval loses by its removal."),
    "head_damage_late": (1, "Within a layer, the more plastic a head is for late queries, the more its removal costs."),
    "head_damage_bias": (
        1,
        "Within a layer, the larger a head's bias per token is, the more its removal costs retrieval.",
    ),
}
EVERY_MODEL = ", whether or not models met the criterion (post hoc)."


@claim("thesis, A population of small models")
def thesis_population_planned(
    population_plan: pd.DataFrame,
    population_contrasts: pd.DataFrame,
    population_relations: pd.DataFrame,
    population_head_damage: pd.DataFrame,
) -> Verdict:
    """The tests on the population that the thesis reports as planned are exactly those of the plan."""
    planned_items = set(population_plan["item"])
    reported_items = {*population_contrasts["item"], *population_relations["item"], *population_head_damage["item"]}
    return judge(
        planned_items == reported_items,
        f"{len(planned_items & reported_items)} tests are planned and reported, {len(planned_items - reported_items)} "
        f"planned only, {len(reported_items - planned_items)} reported only.",
        recomputed=f"{len(planned_items & reported_items)} of {len(planned_items | reported_items)}",
        n=len(planned_items),
    )


@claim("thesis, A population of small models")
def thesis_weights_shipped(subjects: pd.DataFrame, population_record: pd.DataFrame) -> Verdict:
    """Few of the population's models have their weights in the repository."""
    shipped_count, trained_count = int((subjects["role"] == "lab").sum()), len(population_record)
    return judge(
        0 < shipped_count < trained_count / 10,
        f"{shipped_count} of {trained_count} models ship with their weights; the record has a hash of the others'.",
        recomputed=f"{shipped_count} of {trained_count}",
        n=trained_count,
    )


@claim("thesis, A population of small models")
def thesis_population_contrasts(population_contrasts: pd.DataFrame) -> list[Verdict]:
    """Dropping the rotation has the effects that the plan names, compared with further training that keeps it."""
    return _judge_items(population_contrasts, CONTRASTS, "difference")


@claim("thesis, A population of small models")
def thesis_population_relations(population_relations: pd.DataFrame) -> list[Verdict]:
    """Properties of models correlate with how many passkeys they lose with length, where nothing else varies."""
    return _judge_items(population_relations, RELATIONS, "rho")


@claim("thesis, A population of small models")
def thesis_population_heads(population_head_damage: pd.DataFrame) -> Verdict:
    """Within a layer, the more plastic a head is, the more retrieval loses by its removal."""
    row = pick(population_head_damage, item="head_damage")
    return judge_both(row, "rho", 1, "", "", models_in_words(row))


@claim("thesis, A population of small models")
def thesis_population_every(population_contrasts_every: pd.DataFrame) -> list[Verdict]:
    """Over all trained models, dropping the rotation has the effects that the plan names (post hoc)."""
    return _judge_items(population_contrasts_every, CONTRASTS, "difference", EVERY_MODEL)


@claim("thesis, A population of small models")
def thesis_population_relations_every(population_relations_every: pd.DataFrame) -> list[Verdict]:
    """Over all trained models, their properties correlate with how many passkeys they lose with length (post hoc)."""
    return _judge_items(population_relations_every, RELATIONS, "rho", EVERY_MODEL)


@claim("thesis, A population of small models")
def thesis_population_heads_every(population_head_damage_every: pd.DataFrame) -> list[Verdict]:
    """Over all models, within a layer, properties of a head correlate with the cost of its removal (post hoc)."""
    return _judge_items(population_head_damage_every, DAMAGES, "rho", EVERY_MODEL)


def _judge_items(table: pd.DataFrame, items: Items, column: str, ending: str = ".") -> list[Verdict]:
    """Return a verdict per item; each statement ends in `ending`."""
    in_words = models_in_words if column == "rho" else seeds_in_words
    return [
        judge_both(row, column, sign, item, f"{statement[:-1]}{ending}", in_words(row))
        for item, (sign, statement) in items.items()
        for row in [pick(table, item=item)]
    ]
