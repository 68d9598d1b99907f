"""Sinks, the first token and layer 1: the studies on planted series, and what the shipped numbers must give."""

import math

import numpy as np
import pandas as pd
import pytest

from analysis.claims.s004_bos_tasks import c004_qk_passkey, c004_rope_cannot_function
from analysis.claims.s004_layer1_ablation import c004_mlp_over_attention
from analysis.claims.s004_phase import c004_fig15_higher_throughout, c004_spike_layers
from analysis.claims.s004_sinks import c004_sink_threshold_disproportionate
from analysis.statistics.rounding import Interval
from analysis.studies._perplexity import Effect, effect, one
from analysis.studies._tasks import against_baseline, losses, protocol, shares
from analysis.studies.drope_bos_write import bos_value_norms, write_layers, write_summary
from analysis.studies.drope_interventions import functional_categories, functional_shares, functional_tests
from analysis.studies.drope_layer1_ablation import layer1_contrasts, layer1_effects
from analysis.studies.drope_phase import entropy_room, phase_layers, phase_metrics, phase_summary
from analysis.studies.drope_sinks import sink_rate_bands, sink_rate_layers, sink_rate_tests, sink_summary, uniform_sink
from artifacts.errors import DataError
from artifacts.store import read
from conftest import ROOT

FAMILIES = read(ROOT, "test_families")


def source(name):
    return read(ROOT, name)


@pytest.fixture(scope="module")
def series():
    return source("drope_published_series")


@pytest.fixture(scope="module")
def phases(series):
    layers = phase_layers(series)
    content = source("drope_published_content")
    return layers, phase_metrics(layers, source("drope_phase"), source("drope_stated"), content)


def planted(metric, experiment, rope, drope, spread=0.0):
    """A published series with the values given per layer."""
    rows = [
        {"positional": model, "experiment": experiment, "metric": metric, "layer": layer, "value": value}
        for model, values in (("RoPE", rope), ("DroPE", drope))
        for layer, value in enumerate(values)
    ]
    return pd.DataFrame(rows).assign(std_over_prompts=spread)


def printed(**columns):
    """A long source as the store gives it: printed text with its value and rounding interval."""
    from artifacts.frames import parsed

    return parsed(pd.DataFrame(columns).assign(reason="", source="here"), words=True)


# sinks


def test_even_attention_scores_the_mean_of_one_over_t():
    table = uniform_sink(source("drope_protocols"), source("drope_stated")).set_index("tokens")
    for tokens in (2, 9, 28):
        weights = np.tril(np.ones((tokens, tokens))) / np.arange(1, tokens + 1)[:, None]
        assert weights.sum(axis=1) == pytest.approx(1)
        assert table.loc[tokens, "score"] == pytest.approx(weights[:, 0].mean())
        assert table.loc[tokens, "later"] == pytest.approx(weights[1:, 0].mean())


def test_even_attention_passes_the_threshold_up_to_nine_tokens():
    table = uniform_sink(source("drope_protocols"), source("drope_stated")).set_index("tokens")
    assert table.index[table["sink"]].max() == 9
    assert not table.loc[10, "sink"]
    assert table.loc[6, "used_in"] == table.loc[11, "used_in"] == "sink rates"
    assert table.loc[12, "used_in"] == "none"
    assert table.loc[28, "used_in"] == "attention patterns"


def test_bands_compare_means_and_extremes():
    layers = sink_rate_layers(planted("sink_rate", "x", [0.664, 0.9, 0.97], [0.5, 0.94, 1.0]))
    cells = printed(
        layers=["0", "1-2", "1-2", "average"],
        positional=["RoPE", "RoPE", "DroPE", "RoPE"],
        printed=["66%", "90-97%", "94-99%", "84.4%"],
    )
    table = sink_rate_bands(layers, cells)
    assert list(table["agreement"]) == ["holds", "holds", "contradicted", "contradicted"]
    assert table["largest"].iloc[2] == pytest.approx(100)
    assert table["mean"].iloc[3] == pytest.approx((66.4 + 90 + 97) / 3)


def test_sink_rates_are_tested_with_the_sample_deviation(series):
    tests = sink_rate_tests(sink_rate_layers(series), source("drope_protocols"), FAMILIES).set_index("comparison")
    from scipy import stats

    scale = math.sqrt(10 / 9)
    t = stats.ttest_ind_from_stats(78.125, 11.775888 * scale, 10, 30.625, 1.25 * scale, 10, equal_var=False)
    assert tests.loc["layer 1", "p_value"] == pytest.approx(t.pvalue, rel=1e-3)
    assert tests.loc["layer 1", "p_adjusted"] < 1e-4
    assert pd.isna(tests.loc["layer 3", "p_value"])
    assert "zero variance" in tests.loc["layer 3", "note"]


def test_published_deviations_have_divisor_n(series):
    """Eight prompts with ten sink heads of 32 and two with nine: mean and deviation as published, to the last digit."""
    prompts = np.array([10] * 8 + [9] * 2) / 32
    row = one(sink_rate_layers(series), layer=1)
    assert row["drope"] == pytest.approx(100 * prompts.mean())
    assert row["drope_sd"] == pytest.approx(100 * prompts.std(ddof=0))


def test_averages_hide_layer_one(series):
    layers = sink_rate_layers(series)
    tests = sink_rate_tests(layers, source("drope_protocols"), FAMILIES)
    value = sink_summary(layers, uniform_sink(source("drope_protocols"), source("drope_stated")), tests)
    value = value.set_index("quantity")["value"]
    assert value["gap_average"] < 3 < 40 < value["gap_layer_1"]
    assert value["layers_above_90_in_both"] == 30
    found = c004_sink_threshold_disproportionate(value.reset_index(), source("drope_stated"))
    assert found.verdict == "not supported"


# the first token


def test_spike_definitions_differ_where_they_should():
    norm = planted("bos_norm", "exp4_phase_metrics", [5, 100, 101, 50], [40, 500, 505, 90])
    ratio = planted("bos_ratio", "exp4_phase_metrics", [2.5, 100, 90, 10], [0.5, 40, 50, 4])
    flat = [planted(name, "exp4_phase_metrics", [1, 2, 3, 4], [2, 1, 4, 5]) for name in ("entropy", "anisotropy")]
    layers = phase_layers(pd.concat([norm, ratio, *flat]))
    content = pd.DataFrame(
        [
            {"positional": model, "layer": layer, "metric": "mlp_output_norm_bos", "value": value}
            for model in ("RoPE", "DroPE")
            for layer, value in enumerate((1.0, 90.0, 3.0))
        ]
    )
    table = phase_metrics(layers, source("drope_phase"), source("drope_stated"), content).set_index("quantity")
    assert list(table.loc["spike_first_above", ["rope", "drope"]]) == [0, 1]
    assert list(table.loc["spike_largest_ratio", ["rope", "drope"]]) == [1, 2]
    assert list(table.loc["spike_largest_rise", ["rope", "drope"]]) == [1, 1]
    assert list(table.loc["spike_mlp_write", ["rope", "drope"]]) == [1, 1]
    assert list(table.loc["layers_with_more_entropy", ["rope", "drope"]]) == [1, 3]
    assert table.loc["peak_norm_layer", "drope"] == 2
    assert layers["other_rope"].iloc[0] == pytest.approx(2)


def test_both_norms_rise_in_layer_one(phases):
    _, metrics = phases
    value = phase_summary(metrics).set_index("quantity")["value"]
    assert value["largest_rise_delay"] == 0
    assert value["largest_ratio_delay"] == 1
    assert value["layer_2_share_of_norm"] < 2 < 99 < value["layer_1_share_of_norm"]
    assert value["peak_gap_percent"] == pytest.approx(47.17, abs=0.01)


def test_first_tokens_norm_is_the_same_in_every_prompt(phases):
    layers, _ = phases
    assert (layers["norm_sd_rope"] == 0).all()
    assert (layers["norm_sd_drope"] / layers["norm_drope"]).max() < 1e-3


def test_claims_on_the_phase_metrics(phases):
    _, metrics = phases
    assert [one.verdict for one in c004_spike_layers(metrics, source("drope_stated"))] == ["contradicted"] * 2
    assert c004_fig15_higher_throughout(metrics, source("drope_captions")).verdict == "contradicted"


def test_entropy_room_is_that_of_two_singular_values():
    """One spike and k equal tokens at right angles to it: squares leave room for at least these k."""
    norm, other, tokens = 500.0, 10.0, 60
    squares = np.array([norm**2, *[other**2] * tokens])
    shares_of_squares = squares / squares.sum()
    entropy = float(-(shares_of_squares * np.log(shares_of_squares)).sum())
    row = {
        "layer": 1,
        **{
            f"{name}_{model}": value
            for model in ("rope", "drope")
            for name, value in (("entropy", entropy), ("norm", norm), ("other", other))
        },
    }
    table = entropy_room(pd.DataFrame([row]))
    assert (table["tokens_squared"] >= tokens).all()
    assert (table["tokens_printed_formula"] < tokens / 5).all()
    share = table["largest_share"].iloc[0]
    assert -share * math.log(share) - (1 - share) * math.log(1 - share) == pytest.approx(entropy)


# perplexity


def test_effect_keeps_what_rounding_leaves_open():
    cells = printed(printed=["10.2", "12,766"])
    found = effect(cells.iloc[0], cells.iloc[1])
    assert found.ratio == pytest.approx(12766 / 10.2)
    assert found.within.low == pytest.approx(12765.5 / 10.25)
    assert found.columns["nats"] == pytest.approx(math.log(12766) - math.log(10.2))
    assert found.columns["nats_low"] < found.columns["nats"] < found.columns["nats_high"]
    assert Effect(1.0, Interval(0.9, 1.1)).columns["increase_percent"] == 0


def test_one_says_what_is_missing():
    with pytest.raises(DataError, match="0 rows have layer=9"):
        one(pd.DataFrame({"layer": [1, 2]}), layer=9)


def test_layer_one_contrasts():
    table = source("drope_layer1_perplexity")
    effects = layer1_effects(table)
    found = layer1_contrasts(effects, table).set_index(["contrast", "positional"])
    over = found.loc[("mlp_over_attention", "RoPE")]
    assert over["ratio"] == pytest.approx(18630 / 25.77)
    assert over["ratio_high"] < 724.5
    assert over["nats_ratio"] == pytest.approx(math.log(18630 / 10.26) / math.log(25.77 / 10.26))
    assert found.loc[("additivity", "DroPE"), "nats_ratio"] == pytest.approx(0.5, abs=0.01)
    assert found.loc[("bos_only_over_mlp", "DroPE"), "nats_ratio"] > 0.95
    verdicts = {one.key: one.verdict for one in c004_mlp_over_attention(found.reset_index(), source("drope_stated"))}
    assert verdicts == {"number": "contradicted", "meaning": "not supported"}


def test_only_three_ratios_need_their_rounding():
    effects = layer1_effects(source("drope_layer1_perplexity"))
    rounded = effects[effects["agreement"] == "holds after rounding"]
    assert set(zip(rounded["condition"], rounded["positional"], strict=True)) == {
        ("layer1_mlp", "RoPE"),
        ("layer1_attn", "DroPE"),
        ("layer1_bos_only", "RoPE"),
    }
    assert "contradicted" not in set(effects["agreement"])


# tasks


def test_counts_that_round_to_a_percentage():
    cells = printed(condition=["baseline", "hit"], positional=["RoPE"] * 2, task=["cities"] * 2, printed=["99%", "60%"])
    table = shares(cells, source("drope_protocols"), "5 (tasks)")
    assert list(table["count"]) == [198, 120]
    assert list(table["count_low"]) == [197, 119]
    assert list(table["against_chance"]) == ["above", "above"]


def test_protocol_lists_the_items_and_the_passkeys_chance():
    items, chance = protocol(source("drope_protocols"), "5 (tasks)")
    assert items == {"cities": 200, "sports": 100, "imdb": 100, "passkey": 20}
    assert chance["passkey"] == pytest.approx(1e-5)
    with pytest.raises(DataError, match="lists items for"):
        protocol(source("drope_protocols"), "8")


def test_holm_runs_over_all_tests_and_losses_stop_at_chance():
    table = functional_shares(source("drope_functional"), source("drope_protocols"))
    tests = against_baseline(table, "functional_tests", FAMILIES)
    assert len(tests) == 24
    assert all("Holm over 24 tests" in test.adjustment for test in tests)
    found = {loss.comparison: loss for loss in losses(table, "x")}
    assert found["RoPE, imdb, qk_disruption"].estimate is None
    assert "below chance" in found["RoPE, cities, bos_mlp_ablation"].note
    assert found["RoPE, cities, qk_disruption"].estimate == pytest.approx((0.99 - 0.58) / 0.49)


def test_tasks_of_experiment_four():
    table = functional_shares(source("drope_functional"), source("drope_protocols"))
    means = functional_categories(table)
    row = one(means, positional="DroPE", condition="bos_mlp_ablation", category="parametric")
    assert row["mean"] == 65.5
    assert row["change"] == 0.5
    verdicts = {each.key: each.verdict for each in c004_qk_passkey(table, functional_tests(table, FAMILIES))}
    assert verdicts == {"rope": "holds", "drope": "not significant"}
    assert c004_rope_cannot_function(table).verdict == "not supported"


# values


def test_write_scores_are_no_products_of_means(series):
    layers = write_layers(series)
    table = write_summary(layers, source("drope_bos_write")).set_index("quantity")
    for model in ("rope", "drope"):
        assert table.loc["effective_write", model] < layers[f"product_{model}"].mean()
        assert layers[f"product_{model}"].mean() < table.loc["product_of_means", model]
    assert table.loc["layers_with_more_write", "drope"] == 30
    assert table.loc["max_write_layer", "drope"] == 1


def test_sinks_of_layer_two_have_next_to_no_values():
    table = bos_value_norms(source("drope_published_content")).set_index(["positional", "layer"])["percent"]
    assert table["RoPE", 2] < 5
    assert table["DroPE", 2] < 10
    assert table["RoPE", 0] > 100
