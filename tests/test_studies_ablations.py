"""Ablations at the first token and attention patterns of document 004, computed independently of the studies."""

import math

import numpy as np
import pytest
from scipy import stats

from analysis.studies.drope_patterns.content import layer_norms
from analysis.studies.drope_patterns.patterns import attention_experiments, attention_layers, attention_tests
from analysis.studies.drope_sinks.bos_write import baseline_perplexities, bos_ablation_contrasts, bos_ablations
from analysis.studies.drope_sinks.interventions import bos_mlp_effects
from boundpaper.store.reader import read
from committed import FAMILIES, source_rows
from conftest import ROOT


def printed(name, **where):
    """Return the number printed in the only row of the source `name` with the cells `where`."""
    (row,) = [row for row in source_rows(name) if all(row[key] == value for key, value in where.items())]
    return float(row["printed"].replace(",", "").rstrip("x%×"))


def study(function, **changed):
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return function(**{name: changed[name] if name in changed else read(ROOT, name) for name in names})


@pytest.fixture(scope="module")
def effects():
    return study(bos_mlp_effects)


@pytest.fixture(scope="module")
def ablations(effects):
    return study(bos_ablations, bos_mlp_effects=effects)


@pytest.mark.parametrize("model", ["RoPE", "DroPE"])
def test_loss_without_the_first_tokens_mlp_is_computed_in_nats(effects, model):
    row = effects[(effects["experiment"] == 4) & (effects["positional"] == model)].iloc[0]
    base, ablated = (
        printed("drope_bos_mlp", positional=model, metric=f"{name}_ppl") for name in ("baseline", "ablated")
    )
    assert row["layer"] == printed("drope_stated", statement=f"s5_2_{model.lower()}_spike_layer")
    assert row["ratio"] == pytest.approx(ablated / base)
    assert row["nats"] == pytest.approx(math.log(ablated / base))
    assert row["nats_low"] < row["nats"] < row["nats_high"]
    assert row["write_share"] == pytest.approx(100 * row["mlp_write"] / row["norm_after"])
    of_six = effects[(effects["experiment"] == 6) & (effects["positional"] == model)].iloc[0]
    base, ablated = (
        printed("drope_layer1_perplexity", positional=model, condition=name, metric="ppl")
        for name in ("baseline", "layer1_bos_only")
    )
    assert (of_six["layer"], of_six["nats"]) == (1, pytest.approx(math.log(ablated / base)))


def test_ablation_layers_are_matched_only_when_equal_in_both_models(ablations):
    by_ablation = {(row["experiment"], row["ablation"], row["positional"]): row for _, row in ablations.iterrows()}
    assert len(by_ablation) == 8
    for (experiment, ablation, _), row in by_ablation.items():
        layers = {cells["layers"] for key, cells in by_ablation.items() if key[:2] == (experiment, ablation)}
        assert row["matched"] == (len(layers) == 1)
    assert {row["matched"] for row in by_ablation.values()} == {True, False}
    compared = {(row["ablation"], row["positional"]) for row in source_rows("drope_ablation_comparison")}
    assert all(row["in_comparison"] == ((key[1], key[2]) in compared) for key, row in by_ablation.items())


def test_value_ablation_keeps_its_printed_ratio(ablations):
    for model in ("RoPE", "DroPE"):
        row = ablations[(ablations["ablation"] == "bos_value_all_layers") & (ablations["positional"] == model)].iloc[0]
        ratio = printed(
            "drope_bos_value_ablation", condition="bos_value_all_layers", positional=model, metric="ppl_ratio"
        )
        assert (row["ratio"], row["layers"]) == (pytest.approx(ratio), "all")
        assert row["nats"] == pytest.approx(math.log(ratio))


def test_the_contrast_of_two_models_is_a_ratio_of_ratios(ablations):
    contrasts = bos_ablation_contrasts(ablations).set_index("ablation")
    ratios = ablations.set_index(["ablation", "positional"])["ratio"]
    for ablation, row in contrasts.iterrows():
        assert row["ratio"] == pytest.approx(ratios[ablation, "RoPE"] / ratios[ablation, "DroPE"])
        assert row["gap_nats"] == pytest.approx(math.log(row["ratio"]))
        assert row["ratio_low"] <= row["ratio"] <= row["ratio_high"]


def test_baselines_are_compared_with_the_last_experiments():
    result = study(baseline_perplexities).set_index(["experiment", "positional"])
    for model in ("RoPE", "DroPE"):
        last = printed("drope_layer1_perplexity", positional=model, condition="baseline", metric="ppl")
        first = printed("drope_bos_mlp", positional=model, metric="baseline_ppl")
        assert result.loc[(4, model), "percent_above_last"] == pytest.approx(100 * (first - last) / last)
        assert result.loc[(6, model), "percent_above_last"] == 0
        assert result.loc[(6, model), "rounds_from_last"]


def test_norms_of_queries_keys_and_values_with_their_ratio():
    norms = study(layer_norms).set_index(["layer", "tensor"])
    raw = read(ROOT, "drope_published_content").set_index(["positional", "layer", "metric"])["value"]
    for (layer, tensor), row in norms.iterrows():
        letter = {"query": "q", "queries": "q", "key": "k", "keys": "k", "value": "v", "values": "v"}[tensor.lower()]
        for scope in ("mean", "bos"):
            rope, drope = (raw[model, layer, f"{letter}_norm_{scope}"] for model in ("RoPE", "DroPE"))
            assert (row[f"{scope}_rope"], row[f"{scope}_ratio"]) == pytest.approx((rope, drope / rope))


@pytest.fixture(scope="module")
def patterns():
    """Return the published attention in percent, as an array over layers by (kind, model)."""
    frame = read(ROOT, "drope_published_series")
    frame = frame[frame["experiment"] == "exp7_attention_patterns"].sort_values("layer")
    return {
        (kind, model): 100 * frame[(frame["metric"] == f"{kind}_attention") & (frame["positional"] == model)]["value"]
        for kind in ("bos", "local")
        for model in ("RoPE", "DroPE")
    }


@pytest.mark.parametrize("kind", ["bos", "local"])
@pytest.mark.parametrize(("group", "first"), [("all layers", 0), ("layers 2-31", 2)])
def test_attention_is_compared_by_layer_and_dependence_is_noted(patterns, kind, group, first):
    tests = attention_tests(study(attention_layers), FAMILIES).set_index(["comparison", "test"])
    rope, drope = (patterns[kind, model].to_numpy()[first:] for model in ("RoPE", "DroPE"))
    paired = tests.loc[(f"{kind}, {group}", "paired_t")]
    expected = stats.ttest_rel(drope, rope)
    assert (paired["estimate"], paired["p_value"]) == pytest.approx((np.mean(drope - rope), expected.pvalue))
    runs = tests.loc[(f"{kind}, {group}", "pearson")]
    assert runs["estimate"] == pytest.approx(np.corrcoef(drope, rope)[0, 1])
    for row in (paired, runs):
        assert row["n"] == 32 - first
        assert "one residual stream" in row["note"]


def test_experiments_on_one_quantity_are_shown_side_by_side():
    result = study(attention_experiments).set_index(["quantity", "layers", "experiment"])
    for model in ("rope", "drope"):
        name = {"rope": "RoPE", "drope": "DroPE"}[model]
        seven = printed("drope_attention", positional=name, metric="bos_attention")
        five = printed("drope_bos_write", positional=name, metric="bos_attention_mass")
        assert result.loc[("attention to BOS", "all layers", 7), model] == pytest.approx(seven)
        assert result.loc[("attention to BOS", "all layers", 5), model] == pytest.approx(five)
    assert (result["difference"] == result["drope"] - result["rope"]).all()
    assert len(result) == 6
