"""Tests of the plan's amendment on an invented second run with known effects: both signs, few seeds, both margins."""

import inspect
import itertools

import numpy as np
import pandas as pd
import pytest

from analysis.claims.thesis.population import retrained as claims
from analysis.claims.thesis.population._judged import judge_equal
from analysis.studies.population import retrained as studies
from analysis.studies.population._effects import corrected_as_planned, equivalence_p
from analysis.studies.population._retrained import head_costs, head_values, model_values, parse_side, quarters
from boundpaper.errors import DataError
from boundpaper.statistics.locations.permutation import sign_flip_p
from boundpaper.store.reader import read
from conftest import ROOT
from retrained_made import PLASTICITY, SWAY, retrained

APART = claims.thesis_retrained_apart
CLAIMS = [claim for name, claim in vars(claims).items() if name.startswith("thesis_retrained") and claim is not APART]


def run(study=studies.retrained_tests, bases=(400,), **options):
    tables = retrained(bases=bases, **options)
    tables |= {name: read(ROOT, name) for name in ("population_amendment", "population_members")}
    return study(**{name: tables[name] for name in inspect.signature(study).parameters})


@pytest.fixture(scope="module")
def tests_of_eight_seeds():
    return run(bases=(400, 10_000)).set_index("item", drop=False)


def verdicts(table):
    return {each.key: each for claim in CLAIMS for each in claim(table)}


def test_every_item_with_a_test_has_a_row_and_a_claim(tests_of_eight_seeds):
    amendment = read(ROOT, "population_amendment")
    assert list(tests_of_eight_seeds["item"]) == list(amendment.loc[amendment["role"] != "exploratory", "item"])
    assert set(verdicts(tests_of_eight_seeds.reset_index(drop=True))) == set(tests_of_eight_seeds["item"])


def test_planted_effects_are_recovered_with_exact_p(tests_of_eight_seeds):
    assert tests_of_eight_seeds.loc["B_change", "value"] == pytest.approx(-0.06, abs=0.003)
    assert tests_of_eight_seeds.loc["C_less_B_within", "value"] == pytest.approx(-0.16, abs=0.003)
    assert tests_of_eight_seeds.loc["B_position_beyond", ["mean_first", "mean_second"]].tolist() == pytest.approx(
        [-0.3, 0.0]
    )
    assert tests_of_eight_seeds.loc["C_nearer", "value"] == pytest.approx(0.2)
    assert tests_of_eight_seeds.loc[["B_change", "B_sway_change"], "p"].tolist() == [2 / 256] * 2
    assert tests_of_eight_seeds.loc["B_change", "p_holm"] == pytest.approx(10 / 256)  # the family has five items
    assert tests_of_eight_seeds.loc["B_change", "p_same"] == 1.0
    assert tests_of_eight_seeds.loc["C_less_B", "outcome"] == "different within the margin"
    assert tests_of_eight_seeds.loc["B_width_within", "outcome"] == "equivalent"
    assert tests_of_eight_seeds.loc["drop_aligned", "outcome"] == "open"


@pytest.mark.parametrize("seeds", [(1,), (1, 2, 3), range(1, 8)])
def test_items_with_too_few_seeds_stay_open(seeds):
    table = run(seeds=seeds).set_index("item", drop=False)
    row = table.loc["B_change"]
    assert row["outcome"] == "open"
    assert row["note"].startswith(f"{len(seeds)} of 8 seeds; so few cannot show a difference")
    assert ("within the margin" in row["note"]) == (len(seeds) < 6)
    judged = verdicts(table.reset_index(drop=True))
    assert judged["B_change"].verdict == "not testable"
    assert f"{len(seeds)} of 8 seeds" in judged["B_change"].reason
    assert judged["B_change_10000"].reason.startswith("Not measured yet: 0 of 8 seeds")


def test_claims_change_with_the_planted_effects(tests_of_eight_seeds):
    reversed_plasticity = {**PLASTICITY, "B": (0.55, 0.65), "C": (0.6, 0.5)}
    reversed_verdicts = verdicts(run(plasticity=reversed_plasticity, sway={**SWAY, "B": (0.3, 0.2)}))
    planted_verdicts = verdicts(tests_of_eight_seeds.reset_index(drop=True))
    for item in ("B_change", "C_change", "C_less_B_within", "weighted_B_change", "B_sway_change"):
        assert (planted_verdicts[item].verdict, reversed_verdicts[item].verdict) == ("holds", "contradicted"), item
    wide = verdicts(run(width_adds=0.05))
    assert (planted_verdicts["B_width_within"].verdict, wide["B_width_within"].verdict) == ("holds", "contradicted")


def test_previously_seen_and_uncounted_seeds_are_reported_separately():
    missed = [f"b400-s{seed}-B" for seed in (1, 2, 3)]
    table = run(missed=missed).set_index("item")
    row = table.loc["B_change"]
    assert row[["seeds", "counted_seeds"]].tolist() == [8, 5]
    assert row["counted_p"] == 2 / 32
    assert row["unseen_p"] == 2 / 128
    assert np.isnan(table.loc["B_change_10000", "unseen_p"])


def test_heads_are_weighted_by_the_cost_of_their_removal():
    heads = pd.DataFrame({"model": "m", "layer": 0, "head": [0, 1, 2], "plasticity": [0.2, 0.4, 0.9]})
    aligned = heads.assign(estimator="aligned_full", width=16, low=0, high=128)
    ablation = pd.DataFrame({"model": "m", "layer": [-1, 0, 0, 0], "head": [-1, 0, 1, 2]})
    ablation = ablation.assign(nats_1x=[0.1, 0.4, 0.2, 0.05], nats_4x=0.1)
    costs = head_costs(ablation)
    assert costs["cost"].tolist() == pytest.approx([0.3, 0.1, 0.0])
    values = head_values(aligned, run_exchange())
    weighed = quarters(model_values(values, costs, "cost"))
    assert weighed["value"].tolist() == pytest.approx([(0.3 * 0.2 + 0.1 * 0.4) / 0.4])
    assert quarters(model_values(values, costs, "all"))["value"].tolist() == pytest.approx([0.5])
    assert model_values(values, costs, "cost_4x").empty  # removing a head there costs nothing


def run_exchange():
    return retrained(seeds=(1,), bases=(400,))["retrained_exchange"].iloc[:0]


def test_unknown_words_in_a_planned_side_are_refused():
    assert parse_side("B last quarter", "x").quarter == 4
    assert parse_side("C with YaRN's temperature", "x").temperature == 2
    assert parse_side("B in bins of 16", "x").width == 16
    for unknown in ("B next quarter", "F", "C under NTK", "B in bins of few"):
        with pytest.raises(DataError, match="item x"):
            parse_side(unknown, "x")


@pytest.mark.parametrize("margin", [0.02, 0.05])
def test_equivalence_test_is_two_one_sided_exact_tests(margin):
    seeds = np.array([0.01, -0.012, 0.004, 0.015, 0.03, -0.006])
    flips = np.array(list(itertools.product((1, -1), repeat=6)))
    above = np.mean((flips * (seeds + margin)).mean(1) >= (seeds + margin).mean() - 1e-12)
    below = np.mean((flips * (seeds - margin)).mean(1) <= (seeds - margin).mean() + 1e-12)
    assert equivalence_p(seeds, margin) == (pytest.approx(max(above, below)), 1 / 64)
    assert equivalence_p(np.array([]), margin) == (None, None)
    assert equivalence_p(np.full(8, 0.5), margin)[0] == 1.0


def test_one_sided_sign_flip_p_is_the_share_of_all_flips():
    seeds = np.array([0.5, -0.1, 0.2])
    flips = np.array([(np.array(signs) * seeds).mean() for signs in itertools.product((1, -1), repeat=3)])
    assert sign_flip_p(seeds, alternative="greater").p_value == np.mean(flips >= seeds.mean() - 1e-12)
    assert sign_flip_p(seeds, alternative="less").p_value == np.mean(flips <= seeds.mean() + 1e-12)
    with pytest.raises(ValueError, match="sideways"):
        sign_flip_p(seeds, alternative="sideways")


def test_unmeasured_items_count_in_their_holm_family():
    p = pd.Series([0.01, np.nan, 0.02])
    family = pd.Series(["a"] * 3)
    assert corrected_as_planned(p, family).tolist() == pytest.approx([0.03, np.nan, 0.04], nan_ok=True)


LAST = 384  # first position of the last quarter
PLANNED: dict[str, tuple[str, tuple[str, int], tuple[str, int] | float]] = {  # quantity, arm and quarter, less what
    **{f"{arm}_change": ("plasticity", (arm, LAST), (arm, 0)) for arm in "ABC"},
    "C_less_B_within": ("plasticity", ("C", 0), ("B", 0)), "C_less_B": ("plasticity", ("C", LAST), ("B", LAST)),
    "B_sway_change": ("sway", ("B", LAST), ("B", 0)), "B_content_change": ("content_part", ("B", LAST), ("B", 0)),
    "B_position_within": ("position_part", ("B", 0), 0.0), "B_position_beyond": ("position_part", ("B", LAST), 0.0),
    "C_nearer": ("nearer_wins", ("C", LAST), 0.5), "C_less_B_linear": ("linear_share", ("C", LAST), ("B", LAST)),
}  # fmt: skip


@pytest.mark.parametrize(("base", "end"), [(400, ""), (10_000, "_10000")])
@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_printed_outcomes_stay_at_every_width(width, base, end):
    """In the committed rows, the same items are significant, with the same signs, for aligned bins of every width."""
    tests = read(ROOT, "retrained_tests").set_index("item")
    members = read(ROOT, "retrained_models").query(f"base == {base}")[["model", "arm", "seed"]]
    aligned = read(ROOT, "retrained_aligned").query(f"estimator == 'aligned_full' and width == {width}")
    exchanged = read(ROOT, "retrained_exchange").query("apart_high - apart_low == away_high == 512")
    exchanged = exchanged[exchanged["width"] == width]
    assert exchanged.empty == (width not in (1, 16))
    for family, rows in [("reach_aligned", aligned), ("exchange", exchanged)][: 1 if exchanged.empty else 2]:
        level = rows.merge(members, on="model").groupby(["arm", "low", "seed"]).mean(numeric_only=True)
        printed, p = tests[tests["family"] == f"{family}{end}"], pd.Series(dtype=float)
        for item in printed.index:
            name, first, second = PLANNED[item.removesuffix(end)]
            seeds = level[name][first] - (level[name][second] if isinstance(second, tuple) else second)
            p[item] = sign_flip_p(seeds.to_numpy()).p_value
            assert printed.loc[item, "outcome"] == "open" or (seeds.mean() < 0) == (printed.loc[item, "value"] < 0)
        decided = corrected_as_planned(p, pd.Series(family, index=p.index)) < 0.05
        assert decided.to_dict() == (printed["outcome"] != "open").to_dict()


def test_equivalence_is_judged_by_its_own_test():
    names = ("value", "margin", "low", "high", "least", "most", "seeds")
    row: dict[str, float | str] = dict(zip(names, (0.001, 0.02, -0.03, 0.03, -0.02, 0.03, 8), strict=True))
    row |= {"p_same": 0.004, "p_same_holm": 0.016, "p_same_holm_least": 0.016, "note": ""}
    assert judge_equal(pd.Series(row), "k", "s", "8").verdict == "holds"
    assert judge_equal(pd.Series(row | {"p_same_holm": 0.2}), "k", "s", "8").verdict == "not supported"
    assert judge_equal(pd.Series(row | {"p_same_holm": 0.9, "least": 0.03}), "k", "s", "8").verdict == "contradicted"
    assert judge_equal(pd.Series(row | {"p_same_holm_least": 0.06}), "k", "s", "8").verdict == "not testable"


def test_levels_state_how_many_planned_seeds_are_present():
    levels = run(studies.retrained_levels, seeds=(1, 2, 3))
    at = levels.query("arm == 'B' and quantity == 'plasticity' and estimator == 'aligned_full' and width == 16")
    assert set(at["weights"]) == {"all", "cost", "cost_4x"}
    assert set(at["seeds"]) == {3}
    assert set(at["planned"]) == {8}
    first = at.query("weights == 'all' and low == 0")["value"].item()
    assert first == pytest.approx(0.63, abs=0.003)
    distances = run(studies.retrained_distances, seeds=(1,))
    assert set(distances["apart_high"]) == {32, 64, 512}
    assert set(distances["note"]) == {"one seed has no interval"}
    points = run(studies.retrained_points, seeds=(1, 2))
    assert points.query("quantity == 'keys_far' and arm == 'C' and place == 4")["seed"].tolist() == [1, 2]


def test_heads_of_a_small_model_are_analysed_in_memory():
    pytest.importorskip("torch")
    from transformers import AutoModelForCausalLM

    from analysis.population import geometry
    from keyquery.heads.plasticity import PlasticityOptions
    from keyquery.measure.heads.finding import analyse

    model = AutoModelForCausalLM.from_pretrained(
        ROOT / "packages/keyquery/src/keyquery/tiny/tiny-rope", attn_implementation="eager"
    ).eval()
    vectors = geometry.capture_vectors(model, 128, geometry.held_out_documents(128)[: geometry.PASS])
    assert vectors.window(0) == (None, False)  # no file states it, and none is looked for
    finding = analyse(vectors, vectors.heads[0], PlasticityOptions(min_queries=8))
    assert 0 < finding.metrics["ap_overall"] < 1


@pytest.mark.parametrize(("near", "middle", "verdict"), [(0.01, 0.03, "holds"), (0.01, 0.06, "not supported")])
def test_growth_at_one_distance_is_compared_with_that_over_all_pairs(near, middle, verdict):
    cells = {"base": 400, "arm": "B", "quantity": "sway", "seeds": 8, "planned": 8}
    ends = [(0, 32, near), (32, 64, middle), (0, 512, 0.09)]
    rows = pd.DataFrame([{**cells, "apart_low": low, "apart_high": high, "value": value} for low, high, value in ends])
    late = {**cells, "quantity": "position_part", "low": 384, "high": 512, "away_low": 0, "away_high": 512}
    close = pd.DataFrame([{**late, "apart_high": 32, "value": 0.01, "ci_low": -middle, "ci_high": middle}])
    both = [table.loc[table.index.repeat(2)].assign(base=[400, 10_000] * len(table)) for table in (rows, close)]
    verdicts = {each.key: each.verdict for each in APART(*both)}
    assert verdicts["sway-400"] == verdicts["sway-10000"] == verdict
    assert verdicts["position-400"] == "not supported"


def test_change_at_one_distance_is_last_less_first_of_the_same_models():
    change = run(studies.retrained_apart, seeds=(1, 2, 3)).query("arm == 'B' and quantity == 'sway'")
    widest = change.query("apart_low == 0 and apart_high == 512").iloc[0]
    assert widest["seeds"] == 3
    assert widest["value"] == pytest.approx(SWAY["B"][1] - SWAY["B"][0], abs=0.02)
