"""Studies of the population on invented tables with known effects: with all seeds, few seeds, and none."""

from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest

from analysis.studies.population import _effects, _ranks, bases, points, power
from analysis.studies.population import _outcomes as _population
from analysis.studies.population import contrasts as population
from analysis.studies.population import relations as population_relations
from boundpaper.errors import DataError
from boundpaper.statistics.locations.permutation import sign_flip_p
from boundpaper.store.reader import read
from conftest import ROOT
from population_made import FAR, model_name, population_tables

FROM_TABLES = ("models", "keys", "prompts", "tasks", "losses", "heads")


def frames(tables, names=FROM_TABLES):
    return [tables[f"population_{name}"] for name in names]


@pytest.fixture(scope="module")
def plan():
    return read(ROOT, "population_plan")


def outcomes_of(tables):
    models, keys, prompts, *rest = frames(tables)
    return _population.outcomes(models, _population.key_questions(keys, prompts, models), *rest)


def contrasts_of(plan, tables):
    return population.population_contrasts(plan, *frames(tables)).set_index("item")


@pytest.fixture(scope="module")
def tables():
    return population_tables()


@pytest.fixture(scope="module")
def outcomes(tables):
    return outcomes_of(tables)


@pytest.fixture(scope="module")
def contrasts(plan, tables):
    return contrasts_of(plan, tables)


def test_far_keys_are_counted_from_the_letters_and_the_prompts(tables, outcomes):
    model = model_name(400, 3, "C")
    prompts = tables["population_prompts"]
    selected = prompts[(prompts["seed"] == 3) & (prompts["multiple"] == 4)]
    keys = tables["population_keys"]
    [letters] = keys.loc[(keys["model"] == model) & (keys["encoding"] == "own") & (keys["multiple"] == 4), "letters"]
    far = [letter for letter, distance in zip(letters, selected["distance"], strict=True) if distance > 160]
    row = outcomes[(outcomes["model"] == model) & (outcomes["outcome"] == "keys_far") & (outcomes["multiple"] == 4)]
    row = row[row["encoding"] == "own"].iloc[0]
    assert (row["value"], row["n"]) == (far.count("e") / len(far), len(far))


def test_every_planned_contrast_has_a_row_and_all_seeds(plan, contrasts):
    planned = plan[~plan["unit"].isin(population.UNITS)]
    assert list(contrasts.index) == list(planned["item"])
    assert set(contrasts["seeds"]) == {8}


def test_primary_contrast_recovers_the_planted_effect(contrasts):
    row = contrasts.loc["keys_far_4x"]
    assert row["difference"] == pytest.approx(0.7, abs=0.05)
    assert row["low"] < 0.7 < row["high"]
    assert (row["p"], row["p_least"]) == (2 / 256, 2 / 256)
    assert row["p_holm"] == pytest.approx(3 * 2 / 256)  # three lengths, all with the smallest p
    assert contrasts.loc["training_on", "low"] < 0 < contrasts.loc["training_on", "high"]


def test_interval_over_seeds_and_contexts_covers_the_planted_effect(plan):
    for shift in (20, 40, 60):
        tables = population_tables(seeds=range(shift, shift + 8), bases=(400,))
        row = contrasts_of(plan, tables).loc["keys_far_4x"]
        assert row["drawn_low"] < 0.7 < row["drawn_high"]
        assert 0.01 < row["drawn_high"] - row["drawn_low"] < 0.2


def test_extensions_are_compared_on_the_questions_that_they_were_asked(contrasts, outcomes):
    rows = outcomes[(outcomes["outcome"] == "keys_far_extended") & (outcomes["multiple"] == 4)]
    sizes = rows.groupby("seed")["n"].nunique()
    assert set(sizes) == {1}
    assert contrasts.loc["yarn_b", "difference"] > 0.5


@pytest.mark.parametrize("count", [1, 2, 5])
def test_contrasts_of_few_seeds_are_noted(plan, count):
    rows = contrasts_of(plan, population_tables(seeds=range(1, count + 1), bases=(400,)))
    row = rows.loc["keys_far_4x"]
    assert row["seeds"] == count
    assert row["p"] >= 2 / 2**count == row["p_least"]
    assert "no test of signs can reach .05" in row["note"]
    assert pd.isna(row["low"]) == (count == 1)
    assert rows.loc["keys_far_4x_10000", "note"] == "no seed with both arms yet"


def test_model_that_missed_the_criterion_is_excluded_with_its_descendants(plan):
    tables = population_tables(bases=(400,), missed=(model_name(400, 2, "C"), model_name(400, 5, "A")))
    assert contrasts_of(plan, tables).loc["keys_far_4x", "seeds"] == 6
    members = pd.DataFrame(
        {
            "model": [
                model_name(400, 2, "C"),
                model_name(400, 5, "B"),
                model_name(400, 1, "B"),
                model_name(10_000, 1, "A"),
            ]
        }
    )
    record = population.population_record(members.assign(place=1), tables["population_models"])
    assert list(record["status"]) == ["excluded", "excluded", "counted", "not trained"]


def test_the_brief_arm_has_no_criterion():
    models = population_tables(seeds=(1,), bases=(400,), missed=(model_name(400, 1, "D"),))["population_models"]
    assert all(_population.counted_by_plan(models).values())


def test_more_answers_than_prompts_are_refused(tables):
    keys = tables["population_keys"].copy()
    keys.loc[0, "letters"] += "e"
    with pytest.raises(DataError, match="more answers than prompts"):
        _population.key_questions(keys, tables["population_prompts"], tables["population_models"])


def test_heads_that_matter_are_found_within_layers(plan, tables):
    names = ("models", "heads", "ablation")
    rows = population_relations.population_head_damage(plan, *(tables[f"population_{part}"] for part in names))
    rows = rows.set_index("item")
    assert rows.loc["head_damage", "rho"] == pytest.approx(1)
    assert rows.loc["head_damage", "p"] == 2 / 256
    assert rows.loc["head_damage", "low"] == pytest.approx(1)
    low, rho, high = (rows[name]["head_damage_bias"] for name in ("low", "rho", "high"))
    assert low < rho < high
    assert abs(rho) < 0.3
    assert rows.loc["head_damage", "slope_low"] > 0


def test_cost_of_a_head_is_compared_with_the_whole_model():
    tables = population_tables(seeds=(1,), bases=(400,), arms="A")
    names = ("models", "heads", "ablation")
    ablation = tables["population_ablation"]
    ablation.loc[ablation["layer"] < 0, ["right_1x", "right_4x", "nats_1x", "text_nats"]] = (90, 30, 0.1, 1.5)
    ablation.loc[ablation["layer"] == 2, ["right_1x", "right_4x", "nats_1x", "text_nats"]] = (70, 10, 0.4, 2.25)
    table = points.population_ablations(*(tables[f"population_{part}"] for part in names))
    removed = table[table["layer"] == 2]
    # 90 of 100 fall to 70 of 100, and 30 of 40 fall to 10 of 40
    costs = {"lost_1x": 0.2, "lost_4x": 0.5, "nats_1x": 0.3, "text_nats": 0.75}
    assert len(removed) == 4
    for column, cost in costs.items():
        assert removed[column].to_numpy() == pytest.approx(np.full(4, cost))
    assert table.loc[table["layer"] != 2, "lost_1x"].to_numpy() == pytest.approx(np.zeros(16), abs=1e-12)


def test_difference_between_layers_alone_gives_no_relation_of_heads(plan, tables):
    """Damage and plasticity both grow with the layer here, which says nothing about heads within a layer."""
    changed = {each: tables[f"population_{each}"].copy() for each in ("models", "heads", "ablation")}
    rng = np.random.default_rng(3)
    out = changed["ablation"]["layer"] >= 0
    changed["ablation"].loc[out, "nats_1x"] = changed["ablation"]["layer"] + rng.normal(size=len(out)) * 0.01
    rows = population_relations.population_head_damage(plan, *changed.values()).set_index("item")
    assert abs(rows.loc["head_damage", "rho"]) < 0.3


def test_an_interval_over_seeds_is_students():
    """For .1, .2, .3 the mean is .2, the standard error .1 / sqrt 3, and t (with two degrees of freedom) 4.3027."""
    low, high = _effects.seed_interval(np.array([0.1, 0.2, 0.3]))
    assert (low, high) == pytest.approx((0.2 - 0.24841, 0.2 + 0.24841), abs=1e-5)
    assert _effects.seed_interval(np.array([0.5, 0.5])) == (0.5, 0.5)
    assert _effects.seed_interval(np.array([0.5])) == (None, None)


def test_relations_are_asked_within_seeds(plan, outcomes):
    """A value ranked like the decline within each seed is related to it. A value that differs between seeds is not."""
    changed = outcomes.copy()
    own = changed["encoding"] == "own"
    decline = changed[own & (changed["outcome"] == "decline")].set_index("model")["value"]
    late = own & (changed["outcome"] == "ap_last_20")
    changed.loc[late, "value"] = -changed.loc[late, "model"].map(decline)
    between = own & (changed["outcome"] == "bias_strength")
    changed.loc[between, "value"] = changed.loc[between, "seed"].astype(float)
    rows = _ranks.relation_rows(plan, changed, (400,)).set_index("item")
    assert rows.loc["h1_plasticity", "rho"] == pytest.approx(-1)
    assert rows.loc["h1_plasticity", "p"] < 0.001
    assert rows.loc["h3_bias", "rho"] == 0
    assert rows.loc["h3_bias", "p"] == 1


def test_studies_with_one_arm_only_note_what_is_missing(plan):
    tables = population_tables(seeds=(1,), bases=(400,), arms="A")
    assert set(contrasts_of(plan, tables)["note"]) == {"no seed with both arms yet"}
    rows = population_relations.population_relations(plan, *frames(tables))
    assert set(rows["note"]) == {"no seed with 3 models yet"}


def test_studies_without_models_note_what_is_missing(plan):
    tables = {each: rows.iloc[:0] for each, rows in population_tables(seeds=(1,), bases=(400,), arms="A").items()}
    assert set(contrasts_of(plan, tables)["note"]) == {"no seed with both arms yet"}
    rows = population_relations.population_relations(plan, *frames(tables))
    assert set(rows["note"]) == {"no seed with 3 models yet"}
    rows = population_relations.population_head_damage(plan, *frames(tables, ("models", "heads", "ablation")))
    assert set(rows["note"]) == {"no model that counts yet"}
    record = population.population_record(read(ROOT, "population_members"), tables["population_models"])
    assert len(record) == 72
    assert set(record["status"]) == {"not trained"}


def test_contrast_is_computed_at_both_bases_and_between_them(plan):
    """Far keys are gained only at the smaller base, so the difference of the two effects equals the effect there."""
    small, large = (
        population_tables(bases=(400,)),
        population_tables(bases=(10_000,), arms="ABCD", far={**FAR, "A": 0.8, "B": 0.8}),
    )
    both = {each: pd.concat([small[each], large[each]], ignore_index=True) for each in small}
    both["population_prompts"] = small["population_prompts"]
    table = bases.population_bases(plan, *frames(both)).set_index(["item", "of"])
    assert set(table.index.get_level_values("item")) == set(
        plan.loc[(plan["base"].astype(str) == "400") & (plan["unit"] == "seed"), "item"]
    )
    far = table.loc["keys_far_4x"]
    assert far.loc["400", "difference"] == pytest.approx(0.7, abs=0.05)
    assert abs(far.loc["10000", "difference"]) < 0.06
    shift, differences = far.loc["400 minus 10000"], far["difference"]
    assert shift["difference"] == pytest.approx(differences["400"] - differences["10000"])
    assert (shift["p"], shift["p_holm"], shift["seeds"]) == (2 / 256, 2 / 256, 8)  # in a separate family
    assert table.loc[("keys_far_2x", "400 minus 10000"), "p_holm"] == pytest.approx(2 * 2 / 256)
    assert far.loc["10000", "mean_second"] == pytest.approx(0.8, abs=0.05)
    assert table.loc[("keys_far_4x", "400 minus 10000"), "family"] == "bases"  # the plan has this contrast separately
    never = table.loc["never_rotated"]  # the arm has no base, but its counterpart has one
    assert never.loc["10000", "mean_first"] == never.loc["400", "mean_first"]
    assert never.loc["10000", "seeds"] == 8
    assert list(never.index) == ["400", "10000"]  # it cancels in a difference of bases


def test_contrast_at_the_planned_base_equals_the_planned_contrast(plan, tables, contrasts):
    table = bases.population_bases(plan, *frames(tables))
    own = table[table["of"] == "400"].set_index("item")
    for column in ("mean_first", "difference", "low", "high", "least", "most", "p", "p_holm"):
        assert own[column].to_numpy() == pytest.approx(contrasts.loc[own.index, column].to_numpy(dtype=float)), column


def test_missing_bases_are_noted(plan):
    table = bases.population_bases(plan, *frames(population_tables(bases=(400,)))).set_index(["item", "of"])
    assert table.loc[("keys_far_4x", "10000"), "note"] == "no seed with both arms yet"
    assert "both bases" in table.loc[("keys_far_4x", "400 minus 10000"), "note"]
    assert pd.isna(table.loc[("keys_far_4x", "10000"), "p"])


def test_relations_are_computed_at_the_larger_base_and_over_both(plan, outcomes, tables):
    rows = bases.population_relations_bases(plan, *frames(tables)).set_index(["item", "of"])
    assert rows.loc[("h1_plasticity", "10000"), "models"] == 32  # four arms with eight seeds each
    assert rows.loc[("h1_plasticity", "both"), "models"] == 64
    assert rows.loc[("h1_plasticity", "both, A to C"), "models"] == 48
    alone = bases.population_relations_bases(plan, *frames(population_tables(bases=(400,))))
    assert set(alone["note"]) == {"no seed with 3 models yet"}  # models of one base are not models of both
    larger = _ranks.relation_rows(plan, outcomes, (10_000,)).set_index("item")
    assert rows.loc[("h1_plasticity", "10000"), "rho"] == larger.loc["h1_plasticity", "rho"]
    incomplete = {
        each: rows[rows["model"] != model_name(10_000, 2, "D")] for each, rows in tables.items() if "model" in rows
    }
    incomplete["population_prompts"] = tables["population_prompts"]
    uneven = bases.population_relations_bases(plan, *frames(incomplete)).set_index(["item", "of"])
    assert uneven.loc[("h1_plasticity", "both"), "models"] == 56  # the seed with differing arms is left out
    damage = bases.population_head_damage_bases(
        plan, *(tables[f"population_{part}"] for part in ("models", "heads", "ablation"))
    )
    assert set(damage["models"]) == {32}
    assert damage.set_index("item").loc["head_damage", "rho"] == pytest.approx(1)


def test_detectable_effect_has_the_power_of_the_exact_test(plan, tables):
    """An effect of this size is found in four of five new draws. A corrected test needs a larger effect."""
    table = power.population_power(bases.population_bases(plan, *frames(tables)))
    row = table[(table["item"] == "keys_far_4x") & (table["of"] == "400")].iloc[0]
    draws = np.random.default_rng(5).normal(size=(2000, 8))
    for size, level in ((row["deviations"], 0.05), (row["corrected"], 0.05 / 3)):
        actual = np.mean([sign_flip_p(draw).p_value <= level for draw in draws + size])
        assert actual == pytest.approx(0.8, abs=0.03)
    assert row["tests"] == 3
    measured = outcomes_of(tables)
    arms = [_population.by_seed(measured, "keys_far", arm, 400, 4) for arm in "CB"]
    assert row["deviation"] == pytest.approx((arms[0] - arms[1]).std(), rel=1e-6)
    assert row["detectable"] == pytest.approx(row["corrected"] * row["deviation"])


@pytest.mark.parametrize(
    ("rows", "note"),
    [
        ({"seeds": 7}, "7 seeds cannot reach .05, corrected for 4 tests"),  # 4 of 2/128
        ({"low": 0.1, "high": 0.1}, "the seeds do not differ"),
        ({"low": -0.9, "high": 0.9}, "more than all there is"),
    ],
)
def test_undetectable_effects_are_left_empty(plan, tables, rows, note):
    table = bases.population_bases(plan, *frames(tables))
    family = table[(table["of"] == "400") & (table["family"] == "extensions")].assign(**rows)
    result = power.population_power(family)
    assert set(result["note"]) == {note}
    assert result["detectable"].isna().all()


def test_smallest_p_depends_on_seeds_and_on_tests_after_holm():
    columns = _effects.effect_columns(np.array([0.1, 0.2, 0.3, 0.2, 0.1, 0.0]))
    assert (columns["p"], columns["p_least"]) == (
        2 / 2**5,
        2 / 2**6,
    )  # a zero has no sign to flip, but counts as a seed
    table = pd.DataFrame({"family": ["a"] * 3 + ["b"], "p": 0.03125, "p_least": 0.03125})
    assert list(_effects.corrected(table, "family")["p_holm_least"]) == pytest.approx([0.09375] * 3 + [0.03125])


@pytest.mark.parametrize("base", [400, 10_000])
def test_exact_test_counts_ties_as_in_integer_arithmetic(base):
    """Two seeds of the committed rows have exactly equal absolute differences, which must count as ties."""
    models = read(ROOT, "population_models")
    questions = _population.key_questions(read(ROOT, "population_keys"), read(ROOT, "population_prompts"), models)
    questions = questions[(questions["multiple"] == 4) & questions["far"]]
    few = questions.loc[questions["encoding"] == "yarn", "item"].max()
    gaps = []
    for seed in range(1, 9):
        shares = []
        for arm, encoding in (("C", "own"), ("B", "yarn")):
            asked = questions[(questions["model"] == model_name(base, seed, arm)) & (questions["encoding"] == encoding)]
            right = asked[asked["item"] <= few]["right"]
            shares.append(Fraction(int(right.sum()), len(right)))
        gaps.append(shares[0] - shares[1])
    flips = [
        abs(sum(sign * gap for sign, gap in zip(signs, gaps, strict=True)))
        for signs in product((1, -1), repeat=len(gaps))
    ]
    reached = sum(flip >= abs(sum(gaps)) for flip in flips)
    rows = pd.read_csv(ROOT / "artifacts/results/population_bases.csv").query("item == 'yarn_b'").set_index("of")
    assert rows.loc[str(base), "p"] == reached / len(flips)
