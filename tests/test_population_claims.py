"""Claims on the population: both directions, what is missing, and that the plan is what is reported."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis.claims import thesis_population as claims
from analysis.studies import population, population_relations
from artifacts.store import read
from conftest import ROOT
from population_made import FAR, made

NAMES = ("models", "keys", "prompts", "tasks", "losses", "heads")


@pytest.fixture(scope="module")
def plan():
    return read(ROOT, "population_plan")


def verdicts(plan, tables):
    given = [tables[f"population_{each}"] for each in NAMES]
    found = claims.thesis_population_contrasts(population.population_contrasts(plan, *given))
    return {each.key: each.verdict for each in found}


def test_an_effect_is_found_in_its_direction_and_in_no_other(plan):
    tables = made(bases=(400,))
    there = verdicts(plan, tables)
    assert there["keys_far_4x"] == "holds"
    assert there["training_on"] == "not significant"
    assert there["base_interaction"] == "not testable"
    swapped = made(bases=(400,), far={**FAR, "B": FAR["C"], "C": FAR["B"]})
    assert verdicts(plan, swapped)["keys_far_4x"] == "contradicted"


def test_few_seeds_decide_nothing(plan):
    assert verdicts(plan, made(seeds=(1, 2, 3), bases=(400,)))["keys_far_4x"] == "not significant"


@pytest.fixture(scope="module")
def reported(plan):
    tables = {each: rows.iloc[:0] for each, rows in made(seeds=(1,), bases=(400,), arms="A").items()}
    given = [tables[f"population_{each}"] for each in NAMES]
    damage = [tables[f"population_{each}"] for each in ("models", "heads", "ablation")]
    return [
        population.population_contrasts(plan, *given),
        population_relations.population_relations(plan, *given),
        population_relations.population_head_damage(plan, *damage),
    ]


def test_the_tests_that_are_reported_are_the_planned_ones(plan, reported):
    assert claims.thesis_population_planned(plan, *reported).verdict == "holds"


def test_a_test_too_many_or_too_few_is_seen(plan, reported):
    contrasts, *rest = reported
    extra = pd.concat([contrasts, contrasts.iloc[:1].assign(item="later")], ignore_index=True)
    for changed in (extra, contrasts.iloc[1:]):
        assert claims.thesis_population_planned(plan, changed, *rest).verdict == "contradicted"


def test_what_is_not_measured_is_not_testable(reported):
    contrasts, relations, damage = reported
    found = [*claims.thesis_population_contrasts(contrasts), *claims.thesis_population_relations(relations)]
    found.append(claims.thesis_population_heads(damage))
    assert {each.verdict for each in found} == {"not testable"}
    assert all("not measured yet" in each.reason for each in found)
