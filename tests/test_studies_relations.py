"""Fitted lines, counts, landmarks, and the relation of bias to plasticity, checked by independent computations."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.studies.anchoring.delta_p import delta_p_counts
from analysis.studies.benchmarks.fits import length_decline_fit
from analysis.studies.benchmarks.lengths import lbp_length_tests
from analysis.studies.overview.counts import ledger_counts
from analysis.studies.training.comparison import bias_plasticity, bias_plasticity_tests
from boundpaper.store.reader import read
from committed import FAMILIES
from conftest import ROOT


def test_line_of_decline_on_drop_has_a_confidence_band_of_its_mean():
    rng = np.random.default_rng(11)
    drop = rng.uniform(0.1, 0.2, 8)
    rows = pd.DataFrame({"mode": "thinking", "in_source": [True] * 6 + [False] * 2, "ap_drop": drop})
    rows["decline"] = 2 * drop + rng.normal(0, 0.02, 8)
    result = length_decline_fit(rows)
    for sample, models in (("source", rows[:6]), ("all", rows)):
        band = result[result["sample"] == sample]
        x, y = models["ap_drop"].to_numpy(), 100 * models["decline"].to_numpy()
        line = stats.linregress(x, y)
        assert (band["slope"].iloc[0], band["intercept"].iloc[0]) == pytest.approx((line.slope, line.intercept))
        assert band["r_squared"].iloc[0] == pytest.approx(line.rvalue**2)
        assert (band["x"].min(), band["x"].max()) == pytest.approx((x.min(), x.max()))
        positions = band["x"].to_numpy()
        residual = np.sqrt(np.sum((y - line.intercept - line.slope * x) ** 2) / (len(x) - 2))
        spread = residual * np.sqrt(1 / len(x) + (positions - x.mean()) ** 2 / np.sum((x - x.mean()) ** 2))
        half_width = stats.t.ppf(0.975, len(x) - 2) * spread
        assert band["low"].to_numpy() == pytest.approx(band["fit"].to_numpy() - half_width)
        assert band["high"].to_numpy() == pytest.approx(band["fit"].to_numpy() + half_width)


def test_degraded_layers_are_counted_with_both_ends():
    marks = [
        ("llama3.2-1b", "lowest", "delta_p", -50.0), ("llama3.2-3b", "lowest", "delta_p", -42.5),
        ("llama3.2-1b", "degraded", "layer_low", 4.0), ("llama3.2-1b", "degraded", "layer_high", 11.0),
        ("llama3.2-3b", "degraded", "layer_low", 7.0), ("llama3.2-3b", "degraded", "layer_high", 20.0),
    ]  # fmt: skip
    landmarks = pd.DataFrame(marks, columns=["model", "landmark", "metric", "value"])
    models = pd.DataFrame({"model": ["llama3.2-1b", "llama3.2-3b"], "layers": [16, 28]})
    result = delta_p_counts(landmarks, models).set_index("quantity")["value"].to_dict()
    assert result == {
        "numbers": 6,
        "lowest_difference": 7.5,
        "degraded_layers_1b": 8,
        "degraded_share_1b": 0.5,
        "degraded_layers_3b": 14,
        "degraded_share_3b": 0.5,
    }


def test_verdicts_are_counted_by_kind_and_document_with_own_claims_separate():
    rows = [("statement", "002", "holds"), ("statement", "004", "holds"), ("statement", "004", "contradicted")]
    rows += [("statement", "thesis", "contradicted"), ("cell check", "004", "holds")]
    result = ledger_counts(pd.DataFrame(rows, columns=["kind", "source", "verdict"]))
    table = result.set_index(["kind", "source", "verdict"])
    assert table.loc[("statement", "all", "holds"), ["count", "total", "share"]].tolist() == [2, 4, 50]
    assert table.loc[("statement", "sources", "holds"), ["count", "total"]].tolist() == [2, 3]
    assert table.loc[("statement", "004", "contradicted"), "share"] == 50
    assert table.loc[("statement", "thesis", "contradicted"), "share"] == 100
    assert table.loc[("cell check", "004", "holds"), "total"] == 1


def test_scores_over_lengths_are_correlated_as_levels_and_changes():
    rng = np.random.default_rng(3)
    rows = pd.DataFrame({"model": "m", "mode": "thinking", "plasticity": rng.random(6), "lbp": rng.random(6)})
    unmatched = rows.assign(plasticity=np.nan, lbp=0.0)
    tests = lbp_length_tests(pd.concat([rows, unmatched], ignore_index=True), FAMILIES)
    assert (tests["unit"] == "length").all()
    levels = np.corrcoef(rows["plasticity"], rows["lbp"])[0, 1]
    changes = np.corrcoef(np.diff(rows["plasticity"]), np.diff(rows["lbp"]))[0, 1]
    result = tests.set_index("test")
    assert result.loc["pearson_levels", ["estimate", "n"]].tolist() == pytest.approx([levels, 6])
    assert result.loc["pearson_first_differences", ["estimate", "n"]].tolist() == pytest.approx([changes, 5])


def test_models_and_checkpoints_are_joined_in_one_table():
    models, checkpoints = read(ROOT, "captured_models"), read(ROOT, "training_trajectory")
    table = bias_plasticity(models, checkpoints)
    assert table["kind"].value_counts().to_dict() == {"model": len(models), "checkpoint": len(checkpoints)}
    assert table["ap_drop"].tolist() == [*models["ap_drop"], *checkpoints["ap_drop"]]
    assert set(table.loc[table["kind"] == "checkpoint", "family"]) == {"SmolLM3"}
    # trailing zeros of all biases in the first analyses are not digits; checkpoints have four decimals
    interval = table.set_index("name")[["bias_strength_low", "bias_strength_high"]]
    assert interval.loc["ministral3-3b"].tolist() == pytest.approx([2.5e-4, 3.5e-4])
    assert interval.loc["llama3.1-8b"].tolist() == pytest.approx([7.825e-4, 7.835e-4])
    assert interval.loc["stage1-step-40000"].tolist() == pytest.approx([9.15e-3, 9.25e-3])
    assert table["bias_strength"].between(table["bias_strength_low"], table["bias_strength_high"]).all()


@pytest.mark.parametrize(("bias", "label"), [("bias_strength", "per token"), ("bias_window", "per window")])
def test_bias_and_plasticity_correlation_matches_scipy(bias, label):
    models = read(ROOT, "captured_models")
    tests = bias_plasticity_tests(
        **{name: read(ROOT, name) for name in ("bias_plasticity", "training_comparison", "published_facts")},
        test_families=FAMILIES,
    )
    rows = tests[tests["comparison"] == f"{label}, captured models"].set_index("test")
    expected = stats.pearsonr(models[bias], models["ap_drop"])
    assert rows.loc["pearson", "estimate"] == pytest.approx(expected.statistic)
    assert rows.loc["pearson", "p_value"] == pytest.approx(expected.pvalue, abs=0.01)  # by permutation, not by t
    assert rows.loc["spearman", "estimate"] == pytest.approx(stats.spearmanr(models[bias], models["ap_drop"]).statistic)
    assert rows.loc["pearson", "n"] == len(models)


def test_checkpoints_of_one_run_are_noted_as_dependent():
    tests = bias_plasticity_tests(
        **{name: read(ROOT, name) for name in ("bias_plasticity", "training_comparison", "published_facts")},
        test_families=FAMILIES,
    )
    notes = tests.loc[tests["comparison"].str.endswith("checkpoints") & (tests["test"] == "pearson"), "note"]
    assert len(notes) == 4
    assert notes.str.contains("one training run").all()
