"""Studies that relate plasticity to benchmarks, against scipy, enumeration and frames with known results."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.studies import _metrics
from analysis.studies.benchmarks import fits, lbp_correlations, lengths, ruler, ruler_correlations
from analysis.studies.crossmodel import models, profiles
from analysis.studies.overview import effects
from boundpaper.errors import DataError
from boundpaper.statistics import guards
from boundpaper.statistics.correlations import correlation
from boundpaper.store.reader import read
from committed import FAMILIES, artifact
from conftest import ROOT
from keyquery.scores.ruler.effective_length import LENGTHS

EXACT = {"abs": 1e-9, "rel": 1e-9}


@pytest.fixture(scope="module")
def captured():
    names = ["models", "reported_plasticity", "reported_mechanistic", "reported_rotation_ruler", "reported_length_bins"]
    names += ["published_lbp", "published_ruler"]
    return models.captured_models(*(artifact(name) for name in names))


@pytest.fixture(scope="module")
def matched(captured):
    return models.matched_models(captured, artifact("reported_mechanistic"))


@pytest.fixture(scope="module")
def by_length():
    return lengths.lbp_lengths(artifact("published_lbp"), artifact("reported_length_bins"), artifact("models"))


def only_row(tests, **where):
    for field, value in where.items():
        tests = tests[tests[field] == value]
    assert len(tests) == 1, where
    return tests.iloc[0]


# --- models


def test_every_captured_model_is_there_once_in_falling_order_of_plasticity(captured):
    facts = artifact("models")
    assert sorted(captured["model"]) == sorted(facts.loc[facts["subject"] == "captured", "model"])
    assert captured["ap_overall"].is_monotonic_decreasing


def test_bias_per_window_is_bias_per_token_times_captured_tokens(captured):
    row = captured.set_index("model").loc["mistral-v0.2-7b"]
    assert row["bias_window"] == pytest.approx(1.57e-3 * 32768)
    assert "captured over 32768 tokens only" in row["note"]
    assert captured.loc[captured["captured_context"] == 131072, "note"].str.contains("tokens only").sum() == 0


def test_recomputed_drops_follow_from_the_printed_ends(captured):
    drops = captured["ap_first_20"] - captured["ap_last_20"]
    assert np.allclose(captured["ap_drop_recomputed"], drops, atol=1e-12)
    assert (captured["ap_drop_low"] < captured["ap_drop_recomputed"]).all()
    assert (captured["ap_drop_recomputed"] < captured["ap_drop_high"]).all()
    halves = captured[captured["ap_drop_rounded"] != captured["ap_drop"]]
    assert set(halves["model"]) == {"qwen3-14b", "qwen3-1.7b"}
    assert np.allclose((1000 * halves["ap_drop_recomputed"]) % 1, 0.5), "only a tie may round up or down"


def test_wrong_printed_drop_is_contradicted():
    printed_values = {"ap_first_20": ("0.7000", 4), "ap_last_20": ("0.5000", 4), "ap_drop": ("0.300", 3)}
    rows = [
        {"model": "m", "metric": name, "value": float(printed), "decimals": digits,
         "low": float(printed) - 0.5 * 10**-digits, "high": float(printed) + 0.5 * 10**-digits}
        for name, (printed, digits) in printed_values.items()
    ]  # fmt: skip
    drop = models._drops(pd.DataFrame(rows)).iloc[0]
    assert drop["ap_drop_recomputed"] == pytest.approx(0.2)
    assert drop["ap_drop_agreement"] == "contradicted"


def test_matched_models_are_those_with_a_score(matched):
    assert len(matched) == 8
    assert list(matched.loc[~matched["in_source"], "model"]) == ["llama3.1-8b"]
    assert matched["lbp"].is_monotonic_decreasing
    reported = artifact("reported_plasticity")
    printed = reported[reported["metric"] == "lbp"].set_index("model")["value"].dropna()
    assert (matched.set_index("model").loc[printed.index, "lbp"] == printed).all()


def test_table_without_any_score_is_refused(captured):
    with pytest.raises(DataError, match="no captured model has a LongBench Pro score"):
        models.matched_models(captured.assign(lbp=np.nan), artifact("reported_mechanistic"))


# --- correlations


@pytest.mark.parametrize("metric", ["ap_drop", "ap_last_20", "ap_overall", "plane_var", "bias_strength"])
def test_coefficients_equal_scipys(matched, metric):
    seven = matched[matched["in_source"]]
    tests = lbp_correlations.lbp_correlations(matched, FAMILIES)
    x, y = seven[metric].to_numpy(float), seven["lbp"].to_numpy(float)
    pearson = stats.pearsonr(x, y)
    row = only_row(tests, comparison=metric, test="pearson")
    assert row["estimate"] == pytest.approx(pearson.statistic, **EXACT)
    interval = pearson.confidence_interval()
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((interval.low, interval.high), **EXACT)
    assert only_row(tests, comparison=metric, test="spearman")["estimate"] == pytest.approx(
        stats.spearmanr(x, y).statistic
    )
    assert only_row(tests, comparison=metric, test="kendall")["estimate"] == pytest.approx(
        stats.kendalltau(x, y).statistic
    )


def test_exact_p_counts_all_permutations(matched):
    seven = matched[matched["in_source"]]
    x, y = seven["ap_drop"].to_numpy(float), seven["lbp"].to_numpy(float)
    observed = abs(np.corrcoef(x, y)[0, 1])
    reached = sum(
        abs(np.corrcoef(x[list(order)], y)[0, 1]) >= observed - 1e-12 for order in itertools.permutations(range(7))
    )
    row = only_row(lbp_correlations.lbp_correlations(matched, FAMILIES), comparison="ap_drop", test="pearson")
    assert row["p_value"] == pytest.approx(reached / math.factorial(7))


def test_holm_is_over_all_metrics_and_coefficients(matched):
    tests = lbp_correlations.lbp_correlations(matched, FAMILIES)
    family = tests[tests["test"].isin(["pearson", "spearman", "kendall"])].sort_values("p_value")
    stepped = np.maximum.accumulate(family["p_value"] * np.arange(len(family), 0, -1)).clip(upper=1)
    assert np.allclose(family["p_adjusted"], stepped)
    assert family["adjustment"].unique().tolist() == ["Holm over 24 tests of lbp_correlations"]
    partial = tests[tests["test"] == "pearson_partial"]
    assert set(partial["adjustment"]) == {"Holm over 8 tests of lbp_correlations, given size, post hoc"}
    leave_one_out = tests[tests["test"] == "pearson_leave_one_out"]
    assert leave_one_out["p_adjusted"].isna().all()
    assert set(leave_one_out["adjustment"]) == {"none, sensitivity"}


def test_leave_one_out_and_partial_correlations_match_values_computed_by_hand(matched):
    seven = matched[matched["in_source"]]
    x, y, z = (seven[name].to_numpy(float) for name in ("ap_drop", "lbp", "log_parameters"))
    correlations = [np.corrcoef(np.delete(x, i), np.delete(y, i))[0, 1] for i in range(7)]
    tests = lbp_correlations.lbp_correlations(matched, FAMILIES)
    row = only_row(tests, comparison="ap_drop", test="pearson_leave_one_out")
    assert (row["effect_ci_low"], row["effect_ci_high"]) == pytest.approx(
        (min(correlations), max(correlations)), **EXACT
    )
    xy, xz, yz = (np.corrcoef(a, b)[0, 1] for a, b in ((x, y), (x, z), (y, z)))
    partial = (xy - xz * yz) / math.sqrt((1 - xz**2) * (1 - yz**2))
    assert only_row(tests, comparison="ap_drop", test="pearson_partial")["estimate"] == pytest.approx(partial, **EXACT)


def test_bias_per_window_is_omitted_when_contexts_are_equal(matched, captured):
    assert "bias_window" not in _metrics.compared_metrics(matched)
    assert "bias_window" in _metrics.compared_metrics(captured)


def test_unequal_checkpoints_are_noted_in_every_row(matched):
    tests = lbp_correlations.lbp_correlations_extended(matched, FAMILIES)
    assert all(guards.MIXED_PROTOCOL in guards.fired(note) for note in tests["note"])
    one_checkpoint = matched.assign(checkpoint_match="same checkpoint")
    notes = lbp_correlations.lbp_correlations_extended(one_checkpoint, FAMILIES)["note"]
    assert not any(guards.MIXED_PROTOCOL in guards.fired(note) for note in notes)


# --- RULER


def test_ruler_correlations_use_five_and_four_models(captured):
    tests = ruler_correlations.ruler_correlations(captured, FAMILIES)
    full = ruler_correlations.ruler_correlations_full_context(captured, FAMILIES)
    assert set(tests.loc[tests["test"] == "pearson", "n"]) == {5}
    assert set(full.loc[full["test"] == "pearson", "n"]) == {4}
    assert "bias_window" in set(tests["comparison"])
    assert "bias_window" not in set(full["comparison"])


def test_short_context_model_reverses_the_sign_of_the_drop_correlation(captured):
    signs = ruler_correlations.ruler_correlation_signs(captured).set_index("metric")
    scored = captured[captured["ruler_128k"].notna()]
    four = scored[scored["model"] != "mistral-v0.2-7b"]
    all_models = stats.pearsonr(scored["ap_drop"], scored["ruler_128k"]).statistic
    without_mistral = stats.pearsonr(four["ap_drop"], four["ruler_128k"]).statistic
    assert signs.loc["ap_drop", ["r_all", "r_full"]].tolist() == pytest.approx([all_models, without_mistral])
    assert all_models > 0 > without_mistral
    assert signs.loc["ap_drop", "turns"]


def test_guard_of_the_smallest_p_fires_for_so_few_models(captured, matched):
    few = ruler_correlations.ruler_correlations_full_context(captured, FAMILIES)
    tests = few[few["test"].isin(["pearson", "spearman", "kendall"])]
    assert all(guards.SMALLEST_P in guards.fired(note) for note in tests["note"])
    assert (tests["p_adjusted"] > 0.05).all()
    enough = lbp_correlations.lbp_correlations(matched, FAMILIES)
    assert not any(guards.SMALLEST_P in guards.fired(note) for note in enough.loc[enough["test"] == "pearson", "note"])


def test_effective_length_and_weighted_averages_match_their_definition():
    scores = dict(zip(LENGTHS, (90.0, 89.0, 88.0, 86.0, 85.6, 80.0), strict=True))
    published = pd.DataFrame(
        [
            {"model": "m", "length": length, "value": value, "effective_reported": "64k", "origin": "README"}
            for length, value in scores.items()
        ]
    )
    facts = pd.DataFrame(
        [
            {
                "model": "m",
                "display_name": "M",
                "family": "F",
                "captured_context": 1,
                "checkpoint_match": "same checkpoint",
            }
        ]
    )
    row = ruler.ruler_summary(published, facts).iloc[0]
    assert row["effective"] == "32k", "a score at the threshold is not above it"
    assert row["average"] == pytest.approx(sum(scores.values()) / 6)
    weights = np.arange(1, 7)
    assert row["weighted_longer"] == pytest.approx(np.average(list(scores.values()), weights=weights))
    assert row["weighted_shorter"] == pytest.approx(np.average(list(scores.values()), weights=weights[::-1]))


def test_one_printed_ruler_score_differs_from_the_published():
    table = ruler.ruler_lengths(artifact("reported_ruler_plasticity"), artifact("published_ruler"), artifact("models"))
    different = table[table["differs"]]
    assert different[["model", "length"]].values.tolist() == [["llama3.1-8b", "32k"]]
    first = table[table["position"] == 0]
    assert first["ruler_step"].isna().all()
    assert (first["note"] != "").all()
    levels = only_row(ruler.ruler_tests(table, FAMILIES), comparison="llama3.1-8b", test="pearson_levels")
    rows = table[table["model"] == "llama3.1-8b"]
    assert levels["estimate"] == pytest.approx(stats.pearsonr(rows["plasticity"], rows["ruler"]).statistic)


# --- lengths


def test_declines_are_relative_to_the_score_at_8k(by_length, matched):
    table = lengths.length_decline(by_length, matched)
    assert len(table) == 16
    assert np.allclose(table["decline"], 1 - table["lbp_128k"] / table["lbp_8k"])
    tests = lengths.length_decline_tests(table, FAMILIES)
    rows = table[(table["mode"] == "nonthinking") & table["in_source"]]
    row = only_row(tests, comparison="ap_drop, nonthinking, n = 7", test="pearson")
    assert row["estimate"] == pytest.approx(stats.pearsonr(rows["ap_drop"], rows["decline"]).statistic)
    assert len(tests) == 18
    assert set(tests["adjustment"].str.extract(r"over (\d+)")[0]) == {"18"}


def test_total_drop_counts_as_steeper_when_more_is_lost(by_length, matched):
    tests = lengths.length_decline_tests(lengths.length_decline(by_length, matched), FAMILIES)
    row = only_row(tests, comparison="total_drop, nonthinking, n = 7", test="pearson")
    assert row["estimate"] > 0


def test_orderings_use_the_bin_that_ends_at_the_length(by_length, matched):
    tests = lengths.length_ordering_tests(by_length, matched, FAMILIES)
    bins = artifact("reported_length_bins")
    plasticity = bins[bins["bin"] == "64K-128K"].set_index("model")["value"]
    scores = artifact("published_lbp")
    benchmark = scores[(scores["mode"] == "thinking") & (scores["length"] == "128k")].set_index("model")["value"]
    expected = stats.pearsonr(plasticity, benchmark.loc[plasticity.index]).statistic
    row = only_row(tests, comparison="128k, thinking", test="pearson")
    assert (row["estimate"], row["n"]) == (pytest.approx(expected), 7)


def test_step_correlations_ignore_common_changes():
    generator = np.random.default_rng(3)
    walks = generator.normal(size=(5, 5)).cumsum(axis=1)
    trend = np.linspace(0, -9, 5)
    rows = [
        {"model": f"m{i}", "mode": mode, "position": j, "plasticity": walks[i, j] + trend[j],
         "lbp": 3 * walks[i, j] + 7 * trend[j]}
        for i in range(5)
        for j in range(5)
        for mode in lengths.MODES
    ]  # fmt: skip
    tests = lengths.lbp_length_steps(pd.DataFrame(rows), FAMILIES)
    assert tests["estimate"].tolist() == pytest.approx([1.0, 1.0])
    assert tests["p_value"].tolist() == pytest.approx([1 / math.factorial(5)] * 2)


def test_total_drops_follow_from_the_bins():
    table = lengths.bin_profiles(artifact("reported_length_bins"), artifact("models"))
    assert np.allclose(table["total_recomputed"], table["64K-128K"] - table["0-8K"], atol=1e-12)
    assert set(table.loc[table["total_rounded"] != table["total_drop"], "model"]) == {"qwen3-14b"}


# --- profiles


def deciles(*rows):
    return pd.DataFrame(
        [
            {"model": name, "decile": i, "value": value, "decimals": 3, "low": value - 0.0005, "high": value + 0.0005}
            for name, profile in rows
            for i, value in enumerate(profile)
        ]
    )


def test_profile_shapes_are_judged_within_rounding():
    falling = [0.7 - 0.01 * i for i in range(10)]
    undecided = [*falling[:5], falling[4] + 0.001, *falling[6:]]
    rising = [*falling[:5], falling[4] + 0.003, *falling[6:]]
    facts = pd.DataFrame(
        {"model": list("abc"), "display_name": list("ABC"), "family": "F", "layers": 1, "captured_context": 1}
    )
    table = profiles.decile_profiles(deciles(("a", falling), ("b", undecided), ("c", rising)), facts)
    assert table["shape"].tolist() == ["falls", "open", "rises"]
    assert table["rise_shown"].tolist() == [False, False, True]
    assert table["draw_up"].tolist() == pytest.approx([-0.01, 0.001, 0.003])
    assert table["draw_up_low"].tolist() == pytest.approx([-(0.09 + 0.001) / 9, 0.0, 0.002], abs=1e-9)
    assert table["draw_up_high"].tolist() == pytest.approx([-0.009, 0.002, 0.004], abs=1e-9)
    assert table["rises"].tolist() == [0, 1, 1]
    assert table["rises_sure"].tolist() == [0, 0, 1]


def test_recovery_is_of_deciles_six_and_seven_over_four_and_five():
    profile = [0.7, 0.7, 0.6, 0.6, 0.50, 0.52, 0.55, 0.57, 0.4, 0.4]
    facts = pd.DataFrame({"model": ["a"], "display_name": ["A"], "family": "F", "layers": 1, "captured_context": 1})
    table = profiles.decile_profiles(deciles(("a", profile)), facts)
    assert table["recovery"].iloc[0] == pytest.approx(0.05)
    assert table["drop"].iloc[0] == pytest.approx(0.3)


def test_draw_ups_of_the_printed_profiles_are_found():
    table = profiles.decile_profiles(artifact("reported_deciles"), artifact("models")).set_index("model")
    assert len(table) == 13
    assert table.loc["llama3.1-8b", "draw_up"] == pytest.approx(0.537 - 0.499)
    assert set(table.index[table["rise_shown"]]) == {"ministral3-14b", "llama3.2-1b", "llama3.2-11b", "llama3.1-8b"}


# --- fits


def test_fit_equals_scipys_line_and_the_textbook_band(matched):
    table = fits.ap_drop_fit(matched)
    rows = table[table["sample"] == "all"]
    x, y = matched["ap_drop"].to_numpy(float), matched["lbp"].to_numpy(float)
    line = stats.linregress(x, y)
    assert rows["slope"].iloc[0] == pytest.approx(line.slope)
    assert rows["r_squared"].iloc[0] == pytest.approx(line.rvalue**2)
    assert np.allclose(rows["fit"], line.intercept + line.slope * rows["x"])
    spread = math.sqrt(np.sum((y - line.intercept - line.slope * x) ** 2) / (len(x) - 2))
    leverage = 1 / len(x) + (rows["x"] - x.mean()) ** 2 / np.sum((x - x.mean()) ** 2)
    half_width = stats.t.ppf(0.975, len(x) - 2) * spread * np.sqrt(leverage)
    assert np.allclose(rows["high"] - rows["fit"], half_width)
    assert np.allclose(rows["fit"] - rows["low"], half_width)
    assert (rows["x"].min(), rows["x"].max()) == (x.min(), x.max())


def test_a_line_needs_three_models_of_different_drop(matched):
    with pytest.raises(DataError, match="a line needs three"):
        fits.ap_drop_fit(matched.head(2))
    with pytest.raises(DataError, match="a line needs three"):
        fits.ap_drop_fit(matched.assign(ap_drop=0.1))


@pytest.mark.parametrize(("test", "reached"), [("pearson", 1), ("spearman", 2), ("kendall", 2)])
def test_smallest_p_guard_counts_permutations_that_reach_the_extreme(test, reached):
    x = np.array([1.0, 2.0, 3.0, 4.5])
    y = np.array([0.1, 0.2, 0.4, 0.9])
    statistic = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}[test]
    values = [abs(statistic(x, np.array(order)).statistic) for order in itertools.permutations(y)]
    assert sum(value >= max(values) - 1e-12 for value in values) == reached
    row = getattr(correlation, test)(x, y, study="s", comparison="c", unit="model")
    note = _metrics.guarded(row, 8).note.split("; ")[-1]
    assert note.startswith("guard smallest attainable p: after Holm over 8 tests")
    assert note.endswith(f"below {8 * reached / 24:.4g}")


def test_effects_are_scaled_with_their_interval():
    overview = read(ROOT, "effect_overview").set_index("claim")
    tests = read(ROOT, "knowledge_tests").query("test == 'fisher_exact'").set_index("comparison")
    row, test = overview.loc["c004_rope_passkey"], tests.loc["RoPE passkey"]
    names = effects.effect_overview.__code__.co_varnames[: effects.effect_overview.__code__.co_argcount]
    recomputed = effects.effect_overview(**{name: read(ROOT, name) for name in names}).set_index("claim").loc[row.name]
    for effect_row in (row, recomputed):
        assert effect_row["estimate"] == pytest.approx(-100 * test["estimate"])
        assert (effect_row["low"], effect_row["high"]) == pytest.approx((-100 * test["ci_high"], -100 * test["ci_low"]))
        assert effect_row["low"] <= effect_row["estimate"] < effect_row["high"]
