"""Studies of sinks, the first token and layer 1, on invented series and against known results of the published data."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.studies._perplexity import PerplexityRatio, effect
from analysis.studies.drope_sinks._tasks import against_baseline, items_and_chance, shares
from analysis.studies.drope_sinks.bos_write import bos_value_norms, write_layers, write_summary
from analysis.studies.drope_sinks.interventions import functional_categories, functional_shares, functional_tests
from analysis.studies.drope_sinks.layer1_ablation import (
    layer1_contrasts,
    layer1_effects,
    layer1_task_shares,
    layer1_task_tests,
)
from analysis.studies.drope_sinks.phase import entropy_room, phase_layers, phase_metrics, phase_summary
from analysis.studies.drope_sinks.sinks import (
    sink_rate_bands,
    sink_rate_layers,
    sink_rate_tests,
    sink_summary,
    uniform_sink,
)
from boundpaper.errors import DataError
from boundpaper.statistics import wilson_interval
from boundpaper.statistics.rounding import Interval
from boundpaper.store.frames import pick
from claims_cases import rows
from committed import FAMILIES, artifact


@pytest.fixture(scope="module")
def series():
    return artifact("drope_published_series")


@pytest.fixture(scope="module")
def phases(series):
    layers = phase_layers(series)
    content = artifact("drope_published_content")
    return layers, phase_metrics(layers, artifact("drope_phase"), artifact("drope_stated"), content)


def planted(metric, experiment, rope, drope, spread=0.0):
    """Return a series in the published format, with the given values per layer of both models."""
    rows = [
        {"positional": model, "experiment": experiment, "metric": metric, "layer": layer, "value": value}
        for model, values in (("RoPE", rope), ("DroPE", drope))
        for layer, value in enumerate(values)
    ]
    return pd.DataFrame(rows).assign(std_over_prompts=spread)


def printed_cells(**columns):
    """Return a source in long form, with the numbers of its column `printed` parsed."""
    from boundpaper.store.frames import parsed

    return parsed(pd.DataFrame(columns).assign(reason="", source="here"), words=True)


# sinks


def test_uniform_attention_has_a_first_token_score_of_mean_one_over_t():
    table = uniform_sink(artifact("drope_protocols"), artifact("drope_stated")).set_index("tokens")
    for tokens in (2, 9, 28):
        weights = np.tril(np.ones((tokens, tokens))) / np.arange(1, tokens + 1)[:, None]
        assert weights.sum(axis=1) == pytest.approx(1)
        assert table.loc[tokens, "score"] == pytest.approx(weights[:, 0].mean())
        assert table.loc[tokens, "later"] == pytest.approx(weights[1:, 0].mean())


def test_uniform_attention_exceeds_the_sink_threshold_up_to_nine_tokens():
    table = uniform_sink(artifact("drope_protocols"), artifact("drope_stated")).set_index("tokens")
    assert table.index[table["sink"]].max() == 9
    assert not table.loc[10, "sink"]
    assert table.loc[6, "used_in"] == table.loc[11, "used_in"] == "sink rates"
    assert table.loc[12, "used_in"] == "none"
    assert table.loc[28, "used_in"] == "attention patterns"


def test_sink_rate_bands_are_compared_by_means_and_extremes():
    layers = sink_rate_layers(planted("sink_rate", "x", [0.664, 0.9, 0.97], [0.5, 0.94, 1.0]))
    cells = printed_cells(
        layers=["0", "1-2", "1-2", "average"],
        positional=["RoPE", "RoPE", "DroPE", "RoPE"],
        printed=["66%", "90-97%", "94-99%", "84.4%"],
    )
    table = sink_rate_bands(layers, cells)
    assert list(table["agreement"]) == ["holds", "holds", "contradicted", "contradicted"]
    assert table["largest"].iloc[2] == pytest.approx(100)
    assert table["mean"].iloc[3] == pytest.approx((66.4 + 90 + 97) / 3)


def test_sink_rates_are_tested_with_the_sample_deviation(series):
    tests = sink_rate_tests(sink_rate_layers(series), artifact("drope_protocols"), FAMILIES).set_index("comparison")
    scale = math.sqrt(10 / 9)
    t = stats.ttest_ind_from_stats(78.125, 11.775888 * scale, 10, 30.625, 1.25 * scale, 10, equal_var=False)
    assert tests.loc["layer 1", "p_value"] == pytest.approx(t.pvalue, rel=1e-3)
    assert tests.loc["layer 1", "p_adjusted"] < 1e-4
    assert pd.isna(tests.loc["layer 3", "p_value"])
    assert "zero variance" in tests.loc["layer 3", "note"]


def test_published_deviations_have_divisor_n(series):
    """Eight prompts with 10 of 32 sink heads and two prompts with 9 give the published mean and deviation exactly."""
    prompts = np.array([10] * 8 + [9] * 2) / 32
    row = pick(sink_rate_layers(series), layer=1)
    assert row["drope"] == pytest.approx(100 * prompts.mean())
    assert row["drope_sd"] == pytest.approx(100 * prompts.std(ddof=0))


def test_averages_over_layers_hide_the_gap_of_layer_1(series):
    layers = sink_rate_layers(series)
    tests = sink_rate_tests(layers, artifact("drope_protocols"), FAMILIES)
    summary = sink_summary(layers, uniform_sink(artifact("drope_protocols"), artifact("drope_stated")), tests)
    value = summary.set_index("quantity")["value"]
    assert value["gap_average"] < 3 < 40 < value["gap_layer_1"]
    assert value["layers_above_90_in_both"] == 30


def test_sink_rate_summary_can_start_after_layer_1():
    rope, drope = (0.5, 0.9, 0.91, 0.94, 0.97), (0.6, 0.4, 0.99, 0.93, 0.93)
    layers = sink_rate_layers(planted("sink_rate", "x", rope, drope))
    uniform = rows(
        "used_in tokens score sink threshold",
        ("sink rates", 4, 0.52, True, 0.3),
        ("sink rates", 9, 0.31, True, 0.3),
        ("attention patterns", 14, 0.23, False, 0.3),
        ("attention patterns", 20, 0.18, False, 0.3),
    )
    tests = rows("p_value p_adjusted", (0.01, 0.04), (0.02, 0.06), (np.nan, np.nan))
    value = sink_summary(layers, uniform, tests).set_index("quantity")["value"]
    expected = {
        "layers": 5,
        "layers_above_90_in_both": 3,
        "rope_after_layer_1": 94,
        "drope_after_layer_1": 95,
        "gap_layer_1": 50,
        "largest_gap_after_layer_1": 8,
        "layers_apart": 1,
        "layers_tested": 2,
        "shortest_prompt": 4,
        "longest_prompt": 9,
        "even_score_shortest": 0.52,
        "even_score_longest": 0.31,
        "longest_even_sink": 9,
        "shortest_pattern_text": 14,
        "longest_pattern_text": 20,
        "even_score_shortest_pattern_text": 0.23,
        "even_score_longest_pattern_text": 0.18,
        "threshold": 0.3,
    }
    assert value[list(expected)].to_dict() == pytest.approx(expected)


# the first token


def test_spike_definitions_differ_on_planted_series():
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
    table = phase_metrics(layers, artifact("drope_phase"), artifact("drope_stated"), content).set_index("quantity")
    assert list(table.loc["spike_first_above", ["rope", "drope"]]) == [0, 1]
    assert list(table.loc["spike_largest_ratio", ["rope", "drope"]]) == [1, 2]
    assert list(table.loc["spike_largest_rise", ["rope", "drope"]]) == [1, 1]
    assert list(table.loc["spike_mlp_write", ["rope", "drope"]]) == [1, 1]
    assert list(table.loc["layers_with_more_entropy", ["rope", "drope"]]) == [1, 3]
    assert table.loc["peak_norm_layer", "drope"] == 2
    assert layers["other_rope"].iloc[0] == pytest.approx(2)


def test_norms_of_both_models_rise_most_in_layer_1(phases):
    _, metrics = phases
    value = phase_summary(metrics).set_index("quantity")["value"]
    assert value["largest_rise_delay"] == 0
    assert value["largest_ratio_delay"] == 1
    assert value["peak_gap_percent"] == pytest.approx(47.17, abs=0.01)


def test_first_tokens_norm_is_the_same_in_every_prompt(phases):
    layers, _ = phases
    assert (layers["norm_sd_rope"] == 0).all()
    assert (layers["norm_sd_drope"] / layers["norm_drope"]).max() < 1e-3


def test_entropy_bound_follows_from_two_singular_values():
    """The states are one spike and k orthogonal tokens of equal norm, for which the bound allows at least k tokens."""
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


def test_effect_keeps_its_rounding_interval():
    cells = printed_cells(printed=["10.2", "12,766"])
    result = effect(cells.iloc[0], cells.iloc[1])
    assert result.ratio == pytest.approx(12766 / 10.2)
    assert result.within.low == pytest.approx(12765.5 / 10.25)
    assert result.columns["nats"] == pytest.approx(math.log(12766) - math.log(10.2))
    assert result.columns["nats_low"] < result.columns["nats"] < result.columns["nats_high"]
    assert PerplexityRatio(1.0, Interval(0.9, 1.1)).columns["increase_percent"] == 0


def test_layer_1_contrasts_are_ratios_of_perplexity_effects():
    table = artifact("drope_layer1_perplexity")
    effects = layer1_effects(table)
    result = layer1_contrasts(effects, table).set_index(["contrast", "positional"])
    mlp_over_attention = result.loc[("mlp_over_attention", "RoPE")]
    assert mlp_over_attention["ratio"] == pytest.approx(18630 / 25.77)
    assert mlp_over_attention["ratio_high"] < 724.5
    assert mlp_over_attention["nats_ratio"] == pytest.approx(math.log(18630 / 10.26) / math.log(25.77 / 10.26))
    assert result.loc[("additivity", "DroPE"), "nats_ratio"] == pytest.approx(0.5, abs=0.01)
    assert result.loc[("bos_only_over_mlp", "DroPE"), "nats_ratio"] > 0.95


def test_only_three_ratios_agree_after_rounding_only():
    effects = layer1_effects(artifact("drope_layer1_perplexity"))
    rounded = effects[effects["agreement"] == "holds after rounding"]
    assert set(zip(rounded["condition"], rounded["positional"], strict=True)) == {
        ("layer1_mlp", "RoPE"),
        ("layer1_attn", "DroPE"),
        ("layer1_bos_only", "RoPE"),
    }
    assert "contradicted" not in set(effects["agreement"])


# tasks


def stored_rates(task="cities", **rates):
    rows = [
        {"experiment": "4", "condition": condition, "positional": "RoPE", "task": task, "value": value, "stored": kind}
        for condition, (value, kind) in rates.items()
    ]
    return pd.DataFrame(rows)


def share_table(task="cities", **rates):
    cells = printed_cells(
        condition=list(rates),
        positional=["RoPE"] * len(rates),
        task=[task] * len(rates),
        printed=[f"{100 * value:.0f}%" for value, _ in rates.values()],
    )
    return shares(cells, stored_rates(task, **rates), artifact("drope_protocols"), "5 (tasks)", "4").set_index(
        "condition"
    )


def test_share_of_read_answers_has_a_range_of_counts_and_no_interval():
    table = share_table(baseline=(0.99, "fraction"), hit=(0.6, "fraction"))
    assert table["share"].tolist() == [99, 60]
    assert table["n_low"].tolist() == [100, 5]
    assert table["n_high"].tolist() == [200, 200]
    assert table["right_low"].tolist() == [49.5, 1.5]
    assert table[["low", "high", "n", "count"]].isna().all(axis=None)
    assert set(table["against_chance"]) == {"unknown"}
    assert table.loc["hit", "lost"] == pytest.approx(100 * 39 / 49)
    assert against_baseline(table.reset_index(), "functional_tests", FAMILIES) == []


def test_share_that_fits_only_one_count_has_an_interval_and_a_test():
    table = share_table(baseline=(0.895, "fraction"), hit=(115 / 192, "fraction")).reset_index()
    assert table["n"].tolist() == [200, 192]
    assert table["count"].tolist() == [179, 115]
    assert table["low"].iloc[1] == pytest.approx(100 * wilson_interval(115, 192)[0])
    (test,) = against_baseline(table, "functional_tests", FAMILIES)
    assert test.p_value == pytest.approx(stats.fisher_exact([[115, 77], [179, 21]]).pvalue)
    assert "answers that could be read" in test.note


@pytest.mark.parametrize(("kind", "most"), [("integer", 0), ("cast", 200), ("fraction", 200)])
def test_a_zero_has_a_share_only_where_an_answer_was_read(kind, most):
    row = share_table(baseline=(0.895, "fraction"), hit=(0.0, kind)).loc["hit"]
    assert pd.isna(row["share"]) == (kind != "fraction")
    assert (row["n_high"], row["right_high"]) == (most, 0)
    assert row["n_low"] == (1 if kind == "fraction" else 0)


def test_tasks_that_count_every_item_keep_their_tests():
    table = share_table("imdb", baseline=(0.5, "fraction"), hit=(0.05, "cast")).reset_index()
    assert table["n"].tolist() == [100, 100]
    (test,) = against_baseline(table, "functional_tests", FAMILIES)
    assert test.p_value == pytest.approx(stats.fisher_exact([[5, 95], [50, 50]]).pvalue)


def test_printed_share_that_differs_from_the_stored_one_is_refused():
    cells = printed_cells(condition=["baseline"], positional=["RoPE"], task=["cities"], printed=["98%"])
    with pytest.raises(DataError, match=r"98% is printed, 99\.0 % is stored"):
        shares(cells, stored_rates(baseline=(0.99, "fraction")), artifact("drope_protocols"), "5 (tasks)", "4")


def tables_of_tasks():
    rates, protocols = artifact("drope_script_rates"), artifact("drope_protocols")
    return (
        functional_shares(artifact("drope_functional"), rates, protocols),
        layer1_task_shares(artifact("drope_layer1_tasks"), rates, protocols),
    )


def test_cities_and_sports_rows_have_no_interval_or_p_from_assumed_counts():
    for table, tests in zip(tables_of_tasks(), (functional_tests, layer1_task_tests), strict=True):
        open_ended = table[table["n_low"] < table["n_high"]]
        assert len(open_ended) > 8
        assert set(open_ended["task"]) == {"cities", "sports"}
        assert open_ended[["low", "high", "n", "count"]].isna().all(axis=None)
        unknown = {f"{row['positional']}, {row['task']}, {row['condition']}" for _, row in open_ended.iterrows()}
        untested = {name.rpartition(", ")[0] for name in unknown if name.endswith("baseline")}
        for name in tests(table, FAMILIES)["comparison"]:
            arm = name.removesuffix(" against baseline")
            assert arm not in unknown
            assert arm.rpartition(", ")[0] not in untested


def test_possible_answer_counts_follow_from_the_stored_shares():
    functional, layer1 = (
        table.set_index(["positional", "condition", "task"]).sort_index() for table in tables_of_tasks()
    )
    ablated = layer1.loc[("RoPE", "layer1_attn")]
    assert ablated.loc[["cities", "sports"], "n"].tolist() == [192, 97]
    assert ablated.loc[["cities", "sports"], "count"].tolist() == [115, 68]
    missing_row = functional.loc[("RoPE", "bos_mlp_ablation")].loc[["cities", "sports"]]
    assert missing_row["n_high"].tolist() == [0, 0]
    assert functional.loc[("DroPE", "qk_disruption", "cities"), "n_high"] == 174
    assert functional.loc[("RoPE", "combined", "cities"), ["n_low", "n_high"]].tolist() == [96, 192]


def test_protocol_lists_items_per_task_and_passkey_chance():
    items, chance = items_and_chance(artifact("drope_protocols"), "5 (tasks)")
    assert items == {"cities": 200, "sports": 100, "imdb": 100, "passkey": 20}
    assert chance["passkey"] == pytest.approx(1e-5)
    with pytest.raises(DataError, match="lists items for"):
        items_and_chance(artifact("drope_protocols"), "8")


def test_holm_covers_all_tests_of_experiment_four():
    table, _ = tables_of_tasks()
    tests = against_baseline(table, "functional_tests", FAMILIES)
    assert len(tests) == 12
    assert all("Holm over 12 tests" in test.adjustment for test in tests)


def test_task_means_of_experiment_four():
    table, _ = tables_of_tasks()
    means = functional_categories(table)
    row = pick(means, positional="DroPE", condition="bos_mlp_ablation", category="parametric")
    # the report averages the rounded cells, 60 and 71
    assert row["mean"] == 65.25
    assert row["change"] == 0.25
    missing_row = pick(means, positional="RoPE", condition="bos_mlp_ablation", category="parametric")
    assert pd.isna(missing_row["mean"])
    assert missing_row["note"]


# values


def test_write_scores_differ_from_products_of_means(series):
    layers = write_layers(series)
    table = write_summary(layers, artifact("drope_bos_write")).set_index("quantity")
    for model in ("rope", "drope"):
        assert table.loc["effective_write", model] < layers[f"product_{model}"].mean()
        assert layers[f"product_{model}"].mean() < table.loc["product_of_means", model]
    assert table.loc["layers_with_more_write", "drope"] == 30
    assert table.loc["max_write_layer", "drope"] == 1


def test_sinks_of_layer_2_have_small_values():
    table = bos_value_norms(artifact("drope_published_content")).set_index(["positional", "layer"])["percent"]
    assert table["RoPE", 2] < 5
    assert table["DroPE", 2] < 10
    assert table["RoPE", 0] > 100
