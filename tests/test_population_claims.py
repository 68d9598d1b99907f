"""Claims on the population, with effects in both directions and without data; reported tests agree with the plan."""

import pandas as pd
import pytest

from analysis.claims.thesis.population import bases as larger
from analysis.claims.thesis.population import contrasts as claims
from analysis.claims.thesis.population import distance, learning
from analysis.studies.population import contrasts as population
from analysis.studies.population import every
from analysis.studies.population import relations as population_relations
from analysis.studies.population.near import population_near
from boundpaper.store.reader import read
from conftest import ROOT
from population_made import FAR, population_tables

NAMES = ("models", "keys", "prompts", "tasks", "losses", "heads")


@pytest.fixture(scope="module")
def plan():
    return read(ROOT, "population_plan")


def arguments(tables):
    return [tables[f"population_{name}"] for name in NAMES]


def verdicts(plan, tables):
    verdicts = claims.thesis_population_contrasts(population.population_contrasts(plan, *arguments(tables)))
    return {each.key: each.verdict for each in verdicts}


def test_an_effect_is_found_in_its_direction_and_in_no_other(plan):
    tables = population_tables(bases=(400,))
    judged = verdicts(plan, tables)
    assert judged["keys_far_4x"] == "holds"
    assert judged["training_on"] in ("not significant", "not supported")  # decided by the sign that occurred by chance
    assert judged["base_interaction"] == "not testable"
    swapped = population_tables(bases=(400,), far={**FAR, "B": FAR["C"], "C": FAR["B"]})
    assert verdicts(plan, swapped)["keys_far_4x"] == "contradicted"


def test_few_seeds_give_untestable_verdicts(plan):
    three_seeds = population_tables(seeds=(1, 2, 3), bases=(400,))
    assert set(verdicts(plan, three_seeds).values()) == {"not testable"}
    judged = claims.thesis_population_contrasts(population.population_contrasts(plan, *arguments(three_seeds)))
    (far,) = (each for each in judged if each.key == "keys_far_4x")
    assert "so few seeds give no corrected p below 0.75" in far.reason


def row(item, **changes):
    """Return one row of a relation: positive and significant by default."""
    cells = {"item": item, "models": 40, "seeds": 8, "rho": 0.6, "low": 0.4, "high": 0.8, "p": 0.001, "p_least": 1e-6}
    return pd.Series({**cells, "p_holm": 0.004, "p_holm_least": 4e-6, "note": "", **changes})


OUTCOMES = [
    ({}, "holds", "contradicted"),
    ({"rho": -0.6, "low": -0.8, "high": -0.4}, "contradicted", "holds"),
    ({"low": -0.1, "p_holm": 0.2}, "not significant", "not supported"),
    ({"p_holm": 0.2}, "not supported", "not supported"),  # the exact test decides, not the interval
    ({"p_holm_least": 0.0625, "p_holm": 0.0625}, "not testable", "not testable"),
    ({"low": None, "high": None}, "not testable", "not testable"),
    (
        {"rho": None, "low": None, "high": None, "p": None, "p_least": None, "p_holm": None, "p_holm_least": None},
        "not testable",
        "",
    ),
]


@pytest.mark.parametrize(("changes", "above", "below"), OUTCOMES)
def test_a_relation_is_judged_by_its_corrected_test(changes, above, below):
    table = pd.DataFrame([row(item, **changes) for item in claims.RELATIONS])
    verdicts = {each.key: each for each in claims.thesis_population_relations(table)}
    assert verdicts["h3_bias"].verdict == above
    assert verdicts["h1_plasticity"].verdict == (below or above)  # the relation expected to be negative
    heads = claims.thesis_population_heads(pd.DataFrame([row("head_damage", **changes)]))
    assert heads.verdict == above
    every = {each.key: each for each in claims.thesis_population_relations_every(table)}
    assert {key: each.verdict for key, each in every.items()} == {key: each.verdict for key, each in verdicts.items()}
    assert all("post hoc" in each.statement for each in every.values())
    damages = pd.DataFrame([row(item, **changes) for item in claims.DAMAGES])
    assert {each.verdict for each in claims.thesis_population_heads_every(damages)} == {above}


@pytest.mark.parametrize(("changes", "above", "below"), OUTCOMES)
def test_relations_at_the_larger_base_are_judged_by_the_same_rule(changes, above, below):
    relations = pd.DataFrame([row(item, of=of, **changes) for of in ("10000", "both") for item in claims.RELATIONS])
    verdicts = {each.key: each for each in larger.thesis_population_relations_bases(relations)}
    assert {verdicts[f"h3_bias-{of}"].verdict for of in ("10000", "both")} == {above}
    assert verdicts["h1_plasticity-both"].verdict == (below or above)
    assert verdicts["h1_plasticity-10000"].statement.startswith("At base 10,000, whether or not")
    damages = pd.DataFrame([row(item, **changes) for item in claims.DAMAGES])
    assert {each.verdict for each in larger.thesis_population_heads_bases(damages)} == {above}
    rows = [{**row(item, of="10000", **changes)} for item in larger.ASKED]
    rows = [{**each, "difference": each["rho"]} for each in rows]
    rows += [{**each, "of": "400", "difference": -9.0} for each in rows]
    verdicts = {each.key: each for each in larger.thesis_population_bases(pd.DataFrame(rows))}
    assert list(verdicts) == list(larger.ASKED)
    assert verdicts["training_on"].verdict == above
    assert verdicts["plasticity_drops"].verdict == (below or above)
    assert all("post hoc" in each.statement for each in verdicts.values())


def near(low, high, seeds=8):
    """Return counts of right passkeys near the question: shares `low` at 2x and `high` at 8x, for arms B and C."""
    rows = []
    for seed in range(1, seeds + 1):
        for multiple, shares in {2.0: low, 8.0: high}.items():
            for arm, share in zip("BC", shares, strict=True):
                common = {"base": 400, "arm": arm, "seed": seed, "multiple": multiple, "n": 100}
                right = share + (seed if arm == "C" else 0)
                rows += [
                    {**common, "low": 0, "high": 32, "right": right},
                    {**common, "low": 96, "high": 128, "right": right},
                    {**common, "low": 128, "high": 160, "right": 0},  # no near key
                ]
    return population_near(pd.DataFrame(rows))


def test_near_keys_are_those_within_the_training_length():
    table = near((50, 80), (60, 20)).set_index(["compared", "multiple"])
    assert table.loc[("B", 2.0), ["value", "least", "most", "seeds"]].tolist() == [0.5, 0.5, 0.5, 8]
    difference = table.loc[("C minus B", 8.0)]
    assert difference["value"] == pytest.approx(-0.4 + 0.045)
    assert (difference["p"], difference["p_least"], difference["p_holm"]) == (2 / 256, 2 / 256, 4 / 256)
    assert table["p"].notna().sum() == 2


@pytest.mark.parametrize(
    ("low", "high", "seeds", "verdict"),
    [
        ((50, 80), (60, 20), 8, ["holds", "holds"]),
        ((80, 50), (20, 60), 8, ["contradicted", "contradicted"]),
        ((50, 80), (60, 20), 3, ["not testable", "not testable"]),
    ],
)
def test_near_keys_claim_is_judged_in_both_directions(low, high, seeds, verdict):
    verdicts = {each.key: each for each in distance.thesis_population_near(near(low, high, seeds))}
    assert [verdicts[key].verdict for key in ("2x", "8x")] == verdict
    assert "post hoc" in verdicts["2x"].statement


def test_near_keys_without_seeds_are_not_judged_while_the_other_base_is():
    larger_base = near((50, 80), (60, 20)).assign(base=10_000)
    verdicts = {each.key: each for each in distance.thesis_population_near(larger_base)}
    assert {verdicts[key].verdict for key in ("2x", "8x")} == {"not testable"}
    assert {verdicts[key].verdict for key in ("10000-2x", "10000-8x")} == {"holds"}
    assert verdicts["10000-8x"].statement.startswith("At base 10,000")


def test_the_interval_and_both_p_of_a_relation_are_kept():
    verdict = claims.thesis_population_heads(pd.DataFrame([row("head_damage")]))
    assert (verdict.estimate, verdict.ci_low, verdict.ci_high) == (0.6, 0.4, 0.8)
    assert (verdict.p_value, verdict.p_adjusted, verdict.n) == (0.001, 0.004, 8)


@pytest.fixture(scope="module")
def reported(plan):
    tables = {name: rows.iloc[:0] for name, rows in population_tables(seeds=(1,), bases=(400,), arms="A").items()}
    frames = arguments(tables)
    damage = [tables[f"population_{each}"] for each in ("models", "heads", "ablation")]
    return [
        population.population_contrasts(plan, *frames),
        population_relations.population_relations(plan, *frames),
        population_relations.population_head_damage(plan, *damage),
    ]


def test_reported_tests_equal_the_planned_ones(plan, reported):
    assert claims.thesis_population_planned(plan, *reported).verdict == "holds"


def test_missing_or_additional_test_contradicts_the_plan_claim(plan, reported):
    contrasts, *rest = reported
    extra = pd.concat([contrasts, contrasts.iloc[:1].assign(item="later")], ignore_index=True)
    for changes in (extra, contrasts.iloc[1:]):
        assert claims.thesis_population_planned(plan, changes, *rest).verdict == "contradicted"


def test_unmeasured_items_are_not_testable(reported):
    contrasts, relations, damage = reported
    verdicts = [*claims.thesis_population_contrasts(contrasts), *claims.thesis_population_relations(relations)]
    verdicts.append(claims.thesis_population_heads(damage))
    verdicts += [*claims.thesis_population_relations_every(relations), *claims.thesis_population_heads_every(damage)]
    assert {each.verdict for each in verdicts} == {"not testable"}
    assert all("Not measured yet" in each.reason for each in verdicts)


def cliff(base, right, arm="B", other=0):
    """Return rows of six seeds without a right far key, except in seed 1: `right` of arm A and `other` of `arm`."""
    rows = []
    for seed in range(1, 7):
        common = {"base": base, "seed": seed, "n": 200}
        answers = (right, other) if seed == 1 else (0, 0)
        rows += [
            {**common, "model": f"{seed}-A", "arm": "A", "low": 192, "right": answers[0]},
            {**common, "model": f"{seed}-{arm}-2", "arm": arm, "low": 256, "right": answers[1]},
            {**common, "model": f"{seed}-A", "arm": "A", "low": 160, "right": 90, "n": 100},  # before the drop
        ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("right", "arm", "verdict"),
    [((0, 0), "B", "holds"), ((0, 3), "B", "contradicted"), ((0, 3), "C", "holds"), ((0, 1), "A", "holds")],
)
def test_a_cliff_needs_every_model_with_rotation_to_miss_far_keys(right, arm, verdict):
    small, large = distance.thesis_population_cliff(cliff(400, right[0], arm, right[1]))
    assert (small.key, small.verdict) == ("400", verdict)
    assert (large.key, large.verdict) == ("10000", "not testable")


def test_cliff_is_judged_separately_per_base():
    rows = pd.concat([cliff(400, 0), cliff(10_000, 90)])
    assert [each.verdict for each in distance.thesis_population_cliff(rows)] == ["holds", "contradicted"]


def test_a_cliff_of_few_seeds_is_not_judged():
    rows = cliff(400, 0)
    verdicts = distance.thesis_population_cliff(rows[rows["seed"] < 6])
    assert [each.verdict for each in verdicts] == ["not testable", "not testable"]
    assert verdicts[0].reason.startswith("Seeds with a model at this base: 5;")


def test_a_cliff_is_not_judged_without_models():
    columns = ["model", "base", "seed", "arm", "low", "right", "n"]
    verdicts = distance.thesis_population_cliff(pd.DataFrame(columns=columns))
    assert {each.verdict for each in verdicts} == {"not testable"}


def test_models_that_missed_the_criterion_are_compared_post_hoc(plan):
    tables = population_tables(bases=(400,), missed=tuple(f"b400-s{seed}-B" for seed in range(1, 9)))
    planned = population.population_contrasts(plan, *arguments(tables))
    all_models = every.population_contrasts_every(plan, *arguments(tables))
    assert planned.set_index("item").loc["keys_far_4x", "seeds"] == 0
    assert all_models.set_index("item").loc["keys_far_4x", "seeds"] == 8
    verdicts = {each.key: each for each in claims.thesis_population_every(all_models)}
    assert verdicts["keys_far_4x"].verdict == "holds"
    assert "post hoc" in verdicts["keys_far_4x"].statement


def outcomes(near, late=0.7, decline=0.5):
    """Return outcomes by seed and arm: share of right keys at the training length, late plasticity, and decline."""
    rows = []
    for seed, arms in near.items():
        for place, (arm, share) in enumerate(arms.items()):
            values = {"keys_all": share, "ap_last_20": late - 0.1 * place, "decline": decline}
            values["decline"] += 0.1 * place * (-1 if arms["B"] > 0.5 else 1)
            rows += [
                {"seed": seed, "arm": arm, "base": 400, "encoding": "own", "outcome": key, "multiple": 1.0}
                | {"value": value, "n": 500}
                for key, value in values.items()
            ]
    return pd.DataFrame(rows)


PROMPTS = pd.DataFrame({"seed": [1, 1, 1, 2, 2, 2], "multiple": 1.0, "keys": [5, 2, 2, 5, 2, 2]})
LEARNED, NOT = {"A": 0.9, "B": 0.95, "C": 0.99}, {"A": 0.38, "B": 0.41, "C": 0.99}


@pytest.mark.parametrize(
    ("near", "verdict", "recomputed"),
    [
        ({1: LEARNED, 2: NOT}, "holds", "1 of 2"),
        ({1: LEARNED, 2: LEARNED}, "not supported", "2 of 2"),
        ({1: LEARNED, 2: {**NOT, "C": 0.41}}, "not supported", "1 of 2"),
        ({1: {"A": 0.9, "B": 0.9}}, "not testable", ""),
    ],
)
def test_learned_choice_is_distinguished_from_guessing(near, verdict, recomputed):
    judged = learning.thesis_population_learned(outcomes(near), PROMPTS)
    assert (judged.verdict, judged.recomputed) == (verdict, recomputed)
    larger = learning.thesis_population_learned_larger(outcomes(near).assign(base=10_000), PROMPTS)
    assert (larger.verdict, larger.recomputed, larger.reason) == (verdict, recomputed, judged.reason)
    assert learning.thesis_population_learned_larger(outcomes(near), PROMPTS).verdict == "not testable"
    if verdict != "not testable":
        assert "guessing gives 40%" in judged.reason


def test_order_of_arms_is_judged_by_what_the_control_learned():
    all_models = outcomes({1: LEARNED, 2: NOT})
    judged = learning.thesis_population_turns(all_models, PROMPTS)
    assert (judged.verdict, judged.recomputed) == ("holds", "1 of 2")
    assert "+1.00 to +1.00 where the control learned" in judged.reason
    metric = all_models["outcome"] == "ap_last_20"
    mirrored = all_models.assign(value=all_models["value"].where(~metric, -all_models["value"]))
    assert learning.thesis_population_turns(mirrored, PROMPTS).verdict == "not supported"
    for rows, verdict in ((all_models, "holds"), (mirrored, "not supported")):
        assert learning.thesis_population_turns_larger(rows.assign(base=10_000), PROMPTS).verdict == verdict
    assert learning.thesis_population_turns_larger(all_models, PROMPTS).verdict == "not testable"
    assert learning.thesis_population_turns(outcomes({1: LEARNED}), PROMPTS).verdict == "not testable"


@pytest.mark.parametrize(
    ("after", "seeds", "verdict", "recomputed"),
    [
        (0.1, 6, "holds", "6 of 6"), (0.95, 6, "not supported", "0 of 6"), (0.1, 5, "not testable", ""),
        (None, 6, "not testable", ""),
    ],
)  # fmt: skip
def test_short_second_phase_is_compared_with_its_start(after, seeds, verdict, recomputed):
    arms = {"A": 0.9, "B": 0.95} if after is None else {"A": 0.9, "B": 0.95, "D": after}
    judged = learning.thesis_population_brief(outcomes(dict.fromkeys(range(1, seeds + 1), arms)))
    assert (judged.verdict, judged.recomputed) == (verdict, recomputed)


def test_one_seed_against_five_is_not_supported():
    arms = {seed: {"A": 0.9, "B": 0.95, "D": 1.0 if seed == 1 else 0.85} for seed in range(1, 7)}
    assert learning.thesis_population_brief(outcomes(arms)).verdict == "not supported"


def test_arm_order_uses_only_its_three_arms():
    all_models = outcomes({1: LEARNED | {"D": 0.1}, 2: NOT | {"D": 0.1}})
    three = learning.thesis_population_turns(all_models[all_models["arm"] != "D"], PROMPTS)
    assert learning.thesis_population_turns(all_models, PROMPTS) == three


def sloped(near, far, seeds=8):
    """Return keys that arm B finds at base 10,000 in bins beginning at 192 and 384, and rows that the claim ignores."""
    rows = []
    for seed in range(1, seeds + 1):
        for low, share in ((192, near), (384, far)):
            row = {"base": 10_000, "arm": "B", "multiple": 4.0, "seed": seed, "low": low, "n": 100}
            rows.append({**row, "right": round(100 * share) + (seed % 3) * (share > 0)})
            rows += [{**row, "arm": "C", "right": 90}, {**row, "base": 400, "right": 0}]
            rows.append({**row, "multiple": 8.0, "right": 0})
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("near", "far", "seeds", "verdicts"),
    [
        (0.4, 0.1, 8, ["holds", "holds"]), (0.4, 0.5, 8, ["holds", "contradicted"]),
        (0.0, 0.0, 8, ["contradicted", "not supported"]), (0.4, 0.1, 5, ["not testable", "not testable"]),
    ],
)  # fmt: skip
def test_keys_beyond_the_cliff_must_decrease_with_distance(near, far, seeds, verdicts):
    assert [each.verdict for each in distance.thesis_population_slope(sloped(near, far, seeds))] == verdicts
