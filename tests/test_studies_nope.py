"""The layer study, against values computed by hand, and bounds checked on random data with the printed means."""

import math
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.claims.s003 import reading as s003_reading
from analysis.studies.nope import recovery as nope
from analysis.studies.nope import tests as nope_tests
from boundpaper.errors import DataError
from boundpaper.statistics import fired
from boundpaper.store.reader import read
from committed import FAMILIES
from conftest import ROOT


@pytest.fixture(scope="module")
def source():
    return partial(read, ROOT)


@pytest.fixture(scope="module")
def recovery(source):
    names = ("reported_deciles", "decile_profiles", "nope_recovery", "nope_layer_kinds", "published_facts")
    return nope.nope_recovery_recomputed(*map(source, names)).set_index("model")


@pytest.fixture(scope="module")
def groups(source):
    return nope.nope_groups(source("nope_layer_kinds"), source("nope_adjacency_layers"))


@pytest.fixture(scope="module")
def cells(source):
    return nope.nope_layer_cells(source("nope_layers"), source("nope_layer_kinds"))


def test_recovery_of_one_model_matches_values_computed_by_hand(recovery):
    row = recovery.loc["llama3.1-8b"]
    assert row["dip"] == pytest.approx((0.499 + 0.506) / 2)
    assert row["level"] == pytest.approx((0.526 + 0.537) / 2)
    assert (row["recovery"], row["recovery_low"], row["recovery_high"]) == pytest.approx((0.029, 0.028, 0.030))
    assert (row["rise_from"], row["rise_to"]) == (4, 7)
    assert (row["rise_from_tokens"], row["rise_to_tokens"]) == pytest.approx((52428.8, 104857.6))


def test_all_models_have_a_recovery_and_only_one_printed_value_is_unreachable(recovery):
    assert len(recovery) == 13
    assert recovery["reported"].notna().sum() == 10
    assert list(recovery.index[recovery["agreement"] == "contradicted"]) == ["llama3.2-3b"]
    assert (recovery.loc[recovery["reported"].isna(), "note"] != "").all()


def test_vision_model_counts_its_text_layers_and_names_its_network(recovery):
    row = recovery.loc["llama3.2-11b"]
    assert (row["layers"], row["text_layers"], row["network"]) == (40, 32, "llama3.1-8b")
    assert recovery["network"].nunique() == 12


def test_rise_is_placed_at_the_largest_draw_up(recovery, source):
    deciles = source("reported_deciles").pivot(index="model", columns="decile", values="value")
    for model, row in recovery[recovery["rise_from"].notna()].iterrows():
        assert deciles.loc[model, row["rise_to"]] - deciles.loc[model, row["rise_from"]] == pytest.approx(
            row["draw_up"]
        )


def test_every_self_attention_layer_has_one_group_and_its_place_in_the_text_network(groups):
    assert list(groups["text_layer"]) == list(range(32))
    assert groups["group"].value_counts().to_dict() == {"far": 16, "after": 8, "before": 8}
    assert (groups["group"] == groups["listed"]).all()


def test_a_cross_attention_layer_has_no_group(source):
    layers = source("nope_layers").replace({"layer": {15: 8}})
    with pytest.raises(DataError, match=r"layer 8 of llama3.2-11b is a cross-attention layer"):
        nope.nope_layer_cells(layers, source("nope_layer_kinds"))


def test_layer_cells_are_recomputed_from_their_levels(cells):
    assert cells["recovery_recomputed"].to_numpy() == pytest.approx((cells["d67"] - cells["d45"]).to_numpy())
    assert cells["agreement"].value_counts().to_dict() == {"holds": 8, "holds after rounding": 2}
    vision = cells[cells["model"] == "llama3.2-11b"].set_index("layer")
    assert vision["text_layer"].to_dict() == {15: 12, 7: 6, 29: 23, 5: 4, 11: 9}


def test_missing_layer_cell_is_refused(source):
    layers = source("nope_layers")
    gap = layers[~((layers["layer"] == 30) & (layers["metric"] == "recovery"))]
    with pytest.raises(DataError, match="0 cells of recovery of layer 30"):
        nope.nope_layer_cells(gap, source("nope_layer_kinds"))


def test_pairs_match_equal_text_layers(cells, groups, source):
    pairs = nope.nope_layer_pairs(cells, source("nope_extremes"), groups)
    assert dict(zip(pairs["text_layer"], pairs["layer"], strict=True)) == {5: 6, 14: 17}
    low = (0.695 + 0.605 + 0.661 + 0.583 + 0.583) / 5
    assert pairs.set_index("text_layer").loc[14, "overall_low"] == pytest.approx(low)
    assert (pairs["gap"] > 0.05).all()


def test_twin_differences_match_their_profiles(recovery, source):
    twins = nope.nope_twins(recovery.reset_index(), source("decile_profiles"), source("nope_stated")).set_index(
        "quantity"
    )
    assert twins.loc["recovery", ["value", "low", "high"]].tolist() == pytest.approx([0.006, 0.004, 0.008])
    assert twins.loc["decile_largest", "value"] == pytest.approx(0.538 - 0.499, abs=0.0011)


def test_twins_need_two_models_with_one_network(recovery, source):
    alone = recovery.reset_index().assign(network=lambda rows: rows["model"])
    with pytest.raises(DataError, match="0 models share"):
        nope.nope_twins(alone, source("decile_profiles"), source("nope_stated"))


def test_layer_counts_carry_the_guard_on_shared_weights(source):
    tests = nope_tests.nope_count_tests(source("nope_stated"), source("published_facts"), FAMILIES).set_index(
        "comparison"
    )
    assert "dependent units" in fired(tests.loc["between models", "note"])
    table = [[29, 3], [26, 6]]
    assert tests.loc["between models", "p_value"] == pytest.approx(stats.fisher_exact(table).pvalue)
    assert tests.loc["fewest discordant layers", "p_value"] == pytest.approx(2 * 0.5**3)
    assert tests.loc["most discordant layers", "p_value"] == pytest.approx(stats.binomtest(6, 9).pvalue)


@pytest.fixture(scope="module")
def bounds(source, groups):
    return nope_tests.nope_adjacency_bounds(source("nope_adjacency"), source("nope_layers"), groups).set_index(
        "comparison"
    )


def test_simulated_data_stay_within_the_bounds(bounds):
    # for any values of the unprinted layers that fit the printed values and means, the tests stay within the bounds
    rng = np.random.default_rng(3)
    known = {"after": [0.051], "before": [0.051], "far": [0.051, 0.045, 0.041]}
    means, sizes = {"after": 0.019, "before": 0.021, "far": 0.025}, {"after": 8, "before": 8, "far": 16}
    for scale in (0, 0.001, 0.01, 0.03) * 25:
        arms = {}
        for group, values in known.items():
            unprinted = rng.normal(size=sizes[group] - len(values)) * scale
            unprinted += (sizes[group] * means[group] - sum(values) - unprinted.sum()) / len(unprinted)
            arms[group] = np.concatenate([values, unprinted])
        adjacent = np.concatenate([arms["after"], arms["before"]])
        assert (
            abs(stats.ttest_ind(adjacent, arms["far"]).statistic) <= bounds.loc["adjacent - far", "statistic_at_most"]
        )
        for group in ("after", "before"):
            test = stats.ttest_ind(arms[group], arms["far"])
            assert abs(test.statistic) <= bounds.loc[f"{group} - far", "statistic_at_most"]
            assert test.pvalue >= bounds.loc[f"{group} - far", "p_at_least"]
        assert stats.f_oneway(*arms.values()).pvalue >= bounds.loc["after, before, far", "p_at_least"]


def test_least_spread_sets_all_unknown_values_equal():
    known, mean = [0.05, 0.04], 0.02
    unknown = (6 * mean - sum(known)) / 4
    values = np.array([*known, unknown, unknown, unknown, unknown])
    assert nope_tests._least_squares(known, 6, mean) == pytest.approx(((values - mean) ** 2).sum())


def test_bounds_exclude_a_significant_difference(bounds):
    assert (bounds["p_at_least"] > 0.1).all()
    assert bounds.loc["adjacent - far", "difference"] == pytest.approx(-0.005)


def test_depth_test_enumerates_every_choice_of_five_layers(cells, groups):
    tests = nope_tests.nope_depth_tests(cells, groups, FAMILIES).set_index("comparison")
    top = sorted(cells.loc[cells["model"] == "llama3.1-8b", "text_layer"])
    sums = np.array([sum(choice) for choice in combinations(range(32), 5)])
    distance = abs(sum(top) - sums.mean())
    assert tests.loc["llama3.1-8b", "p_value"] == pytest.approx(np.mean(abs(sums - sums.mean()) >= distance - 1e-9))
    assert tests.loc["layers in both fives", "estimate"] == 0


def test_expected_shared_layers_follow_the_size_of_both_groups(cells, groups):
    cells_of_vision = cells[cells["model"] != "llama3.1-8b"]
    fewer = cells[cells["model"] == "llama3.1-8b"].head(3)
    five = fewer.assign(text_layer=[*cells_of_vision["text_layer"].head(1), *fewer["text_layer"].tail(2)])
    row = (
        nope_tests.nope_depth_tests(pd.concat([five, cells_of_vision]), groups, FAMILIES)
        .set_index("comparison")
        .iloc[-1]
    )
    # three and five of 32 layers: the expected overlap is 15 / 32; p sums the terms for 0 and 1
    ways = [math.comb(5, shared) * math.comb(27, 3 - shared) for shared in range(4)]
    assert (row["estimate"], row["statistic"]) == (1, pytest.approx(15 / 32))
    assert row["p_value"] == pytest.approx(sum(ways[:2]) / sum(ways))


def test_families_count_networks_once(recovery, source):
    tests = nope_tests.nope_family_tests(recovery.reset_index(), source("published_facts"), FAMILIES)
    rows = tests.set_index(["comparison", "unit"])
    assert rows.loc[("Llama against others, study", "model"), "p_value"] == pytest.approx(6 / 45)
    assert rows.loc[("Llama against others, all captured", "network"), "p_value"] == pytest.approx(3 / 12)
    assert rows.loc[("depth within Llama, all captured", "network"), "p_value"] == pytest.approx(1 / 3)
    models = tests[tests["unit"] == "model"]
    assert all("dependent units" in fired(note) for note in models["note"])
    assert (tests["p_value"] > 0.05).all()


def test_second_recovering_llama_network_would_lower_p(recovery, source):
    with_second_network = recovery.reset_index()
    with_second_network.loc[with_second_network["model"] == "llama3.2-3b", "recovers"] = True
    before, after = (
        nope_tests.nope_family_tests(rows, source("published_facts"), FAMILIES).set_index(["comparison", "unit"])[
            "p_value"
        ]
        for rows in (recovery.reset_index(), with_second_network)
    )
    key = ("Llama against others, all captured", "network")
    assert after[key] < before[key]


def test_reason_on_a_longer_phase_states_its_share_of_depth(source):
    landmarks, models = source("delta_p_landmarks"), source("models")
    assert "but a smaller part of the depth" in s003_reading.c003_longer_phase(landmarks, models).reason
    deeper = models.assign(layers=models["layers"].mask(models["model"] == "llama3.2-1b", 28))
    assert "a larger part of the depth" in s003_reading.c003_longer_phase(landmarks, deeper).reason
