"""Rows plotted by figures of the population, counted by hand, and planned analyses over all trained models."""

import pytest

from analysis.studies.population import every, points
from analysis.studies.population.profile import population_profile
from analysis.studies.population.relations import population_head_damage, population_relations
from boundpaper.store.reader import read
from conftest import ROOT
from population_made import model_name, population_tables

OUTCOMES = tuple(f"population_{each}" for each in ("models", "keys", "prompts", "tasks", "losses", "heads"))


def tables_named(tables, *names):
    return [tables[table] for table in names]


def test_keys_are_counted_by_distance_and_length_under_the_native_encoding():
    tables = population_tables(seeds=(3,), bases=(400,), arms="AC")
    table = points.population_distances(*tables_named(tables, *OUTCOMES[:3]))
    model = model_name(400, 3, "A")
    prompts = tables["population_prompts"].query("multiple == 4").sort_values("item")
    keys = tables["population_keys"]
    own_keys = keys[(keys["model"] == model) & (keys["encoding"] == "own") & (keys["multiple"] == 4)]
    answers = list(zip(own_keys["letters"].iloc[0], prompts["distance"], strict=True))
    rows = table[(table["model"] == model) & (table["multiple"] == 4)]
    # the first bin excludes its upper end
    letters_near = [letter for letter, distance in answers if 32 <= distance < 64]
    row = rows[rows["low"] == 32].iloc[0]
    assert (row["high"], row["n"], row["right"]) == (64, len(letters_near), letters_near.count("e"))
    assert row["share"] == pytest.approx(letters_near.count("e") / len(letters_near))
    assert rows["n"].sum() == len(answers)
    assert set(table["model"]) == {model, model_name(400, 3, "C")}


def test_the_profile_is_the_mean_of_the_seeds_shares():
    tables = population_tables(seeds=(1, 2, 3), bases=(400,), arms="AC")
    actual = points.population_distances(*tables_named(tables, *OUTCOMES[:3]))
    row = population_profile(actual).query("arm == 'C' and multiple == 4 and low == 192").iloc[0]
    seeds = actual[(actual["arm"] == "C") & (actual["multiple"] == 4) & (actual["low"] == 192)]["share"]
    assert (row["seeds"], row["high"]) == (3, 256)
    assert (row["value"], row["least"], row["most"]) == pytest.approx((seeds.mean(), seeds.min(), seeds.max()))
    half = 4.302653 * seeds.std() / 3**0.5  # Student's t with two degrees of freedom
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((seeds.mean() - half, seeds.mean() + half))
    alone = population_profile(actual[actual["seed"] == 1])
    assert set(alone["note"]) == {"one seed has no interval"}


def test_model_counts_only_when_it_and_its_start_met_the_criterion():
    tables = population_tables(
        seeds=(1, 2), bases=(400,), arms="ABCD", missed=(model_name(400, 1, "A"), model_name(400, 2, "D"))
    )
    table = points.population_outcomes(*tables_named(tables, *OUTCOMES))
    counted = table.groupby("model")["counted"].first()
    assert not any(counted[model_name(400, 1, arm)] for arm in "ABCD")
    assert all(counted[model_name(400, 2, arm)] for arm in "ABCD")  # D has no criterion
    assert set(table[table["outcome"] == "keys_far"]["encoding"]) >= {"own", "yarn", "temperature"}


@pytest.mark.parametrize(
    ("planned", "over_all", "names"),
    [
        (population_relations, every.population_relations_every, OUTCOMES),
        (
            population_head_damage,
            every.population_head_damage_every,
            ("population_models", "population_heads", "population_ablation"),
        ),
    ],
)
def test_analyses_over_every_model_ignore_the_criterion(planned, over_all, names):
    plan = read(ROOT, "population_plan")
    missed = population_tables(seeds=range(1, 5), missed=tuple(model_name(400, seed, "A") for seed in (1, 2)))
    all_tables = population_tables(seeds=range(1, 5))
    fewer = planned(plan, *tables_named(missed, *names))
    table = over_all(plan, *tables_named(missed, *names))
    expected = planned(plan, *tables_named(all_tables, *names))
    assert (fewer["models"] < table["models"]).any()
    assert table["models"].tolist() == expected["models"].tolist()
    assert table["rho"].to_numpy() == pytest.approx(expected["rho"].to_numpy(), nan_ok=True)
