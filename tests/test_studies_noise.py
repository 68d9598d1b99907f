"""The joint test of plasticity drop and score loss over all variants, and metrics with the noise of their capture."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.studies.benchmarks.capture_noise import capture_noise
from analysis.studies.benchmarks.decline_variants import decline_joint
from boundpaper.statistics.guards import fired
from boundpaper.store.reader import read
from committed import FAMILIES
from conftest import ROOT

MODES = ("nonthinking", "thinking")
SOURCES = read(ROOT, "published_facts"), read(ROOT, "reported_plasticity")


def planted(drops, falls, seed=0):
    """Return four models of the source and one other, with the given drops and relative falls of the score to 128K."""
    names = [f"m{i}" for i in range(len(drops))]
    generator = np.random.default_rng(seed)
    rows = [
        {"model": model, "mode": mode, "length": length, "lbp": 100 * (1 - fall * weight)}
        for model, fall in zip(names, falls, strict=True)
        for mode in MODES
        for length, weight in (("8k", 0.0), ("16k", 0.1), ("32k", 0.2), ("128k", 1.0), ("256k", generator.random()))
    ]
    models = pd.DataFrame(
        {
            "model": names,
            "family": ["a", "a", "b", "b", "c"][: len(names)],
            "ap_drop": drops,
            "total_drop": [*(-2.0 * drop for drop in drops[:-1]), np.nan],
            "in_source": [*[True] * (len(names) - 1), False],
        }
    )
    return pd.DataFrame(rows), models


def test_the_joint_p_counts_relabelings_of_the_models_of_the_source():
    drops, falls = [0.1, 0.2, 0.35, 0.4, 0.3], [0.2, 0.1, 0.5, 0.4, 0.9]
    tests = decline_joint(*(*planted(drops, falls), FAMILIES)).set_index("comparison")

    def median(order):
        x = np.array([drops[i] for i in order])
        coefficients = []
        for n in (4, 5, 4):
            a, b = x[:n], np.array(falls[:n])
            coefficients += [
                stats.pearsonr(a, b).statistic,
                stats.spearmanr(a, b).statistic,
                stats.kendalltau(a, b).statistic,
            ]
        return np.median(coefficients)

    observed = median(range(5))
    # both modes are equal here, so every coefficient counts twice, which leaves the median
    null = [abs(median([*order, 4])) for order in itertools.permutations(range(4))]
    row = tests.loc["drop and loss, variants from 8k"]
    assert row["estimate"] == pytest.approx(observed)
    assert row["p_value"] == pytest.approx(np.mean(np.array(null) >= abs(observed) - 1e-12))
    assert "18 variants" in row["note"]
    assert "exact p over 24 relabelings" in row["note"]


def test_joint_test_finds_a_relation_in_all_variants_and_no_false_one():
    drops = [0.1, 0.2, 0.3, 0.4, 0.5]
    perfect = decline_joint(*(*planted(drops, drops), FAMILIES)).set_index("comparison")
    # two-sided: the order of the drops and its reverse
    assert perfect["p_value"].min() == pytest.approx(2 / 24)
    unrelated = decline_joint(*(*planted(drops, [0.3, 0.1, 0.5, 0.2, 0.4]), FAMILIES)).set_index("comparison")
    assert unrelated.loc["drop and loss, variants from every start", "p_value"] > 0.3


def test_relation_of_three_families_is_reported_without_significance():
    tests = decline_joint(read(ROOT, "lbp_lengths"), read(ROOT, "matched_models"), FAMILIES)
    rows = tests[tests["unit"] == "family"]
    assert set(rows["n"]) == {3}
    assert (rows["p_value"] > 0.05).all()
    assert all("smallest attainable p" in fired(note) for note in rows["note"])
    decline = read(ROOT, "length_decline")
    means = decline[decline["mode"] == "thinking"].groupby("family")[["ap_drop", "decline"]].mean()
    row = rows[(rows["test"] == "pearson") & rows["comparison"].str.endswith(", thinking")].iloc[0]
    assert row["estimate"] == pytest.approx(np.corrcoef(means["ap_drop"], means["decline"])[0, 1])


@pytest.fixture
def noise_row():
    """Return a function that gives the noise of `ap_drop` if the two captures of one network differ by `difference`."""
    captured, matched = read(ROOT, "captured_models"), read(ROOT, "matched_models")

    def row(difference):
        table = captured.copy().set_index("model")
        table.loc["llama3.2-11b", "ap_drop"] = table.loc["llama3.1-8b", "ap_drop"] + difference
        rows = capture_noise(table.reset_index(), matched, read(ROOT, "length_decline"), *SOURCES)
        return rows.set_index(["outcome", "metric"]).loc[("lbp", "ap_drop")]

    return row


def test_noise_is_the_difference_of_two_captures_over_root_two(noise_row):
    row = noise_row(0.03)
    assert row["noise_sd"] == pytest.approx(0.03 / math.sqrt(2))
    matched = read(ROOT, "matched_models")
    source = matched[matched["in_source"].astype(bool)]
    spread = source["ap_drop"].std(ddof=1)
    assert row["reliability"] == pytest.approx(1 - 0.03**2 / 2 / spread**2)
    r = stats.pearsonr(source["ap_drop"], source["lbp"]).statistic
    assert row["r_corrected"] == pytest.approx(r / math.sqrt(row["reliability"]))
    # the interval for a standard deviation with one degree of freedom
    scaled = [row["noise_sd"] ** 2 / row[end] ** 2 for end in ("noise_high", "noise_low")]
    assert stats.chi2.cdf(scaled, 1) == pytest.approx([0.025, 0.975])


def test_recaptures_spread_with_the_noise(noise_row):
    none, small, large = noise_row(1e-9), noise_row(0.02), noise_row(0.2)
    assert (none["again_low"], none["again_high"]) == pytest.approx((none["r"], none["r"]), abs=1e-6)
    assert none["turns"] == 0
    assert small["again_high"] - small["again_low"] < large["again_high"] - large["again_low"]
    assert 0.05 < large["turns"] < 0.5
    assert pd.isna(large["r_corrected"])
    assert "noise alone would spread the models as far" in large["note"]


def test_corrected_r_removes_the_attenuation_by_noise():
    generator = np.random.default_rng(4)
    n, noise = 500, 0.8
    truth = generator.normal(size=n)
    table = pd.DataFrame({"model": [f"m{i}" for i in range(n)], "lbp": truth + generator.normal(size=n)})
    for name in ("ap_drop", "ap_last_20", "ap_first_20", "ap_overall", "bias_strength", "r_k_a", "r_q_a", "plane_var"):
        table[name] = truth + noise * generator.normal(size=n)
    table = table.assign(captured_context=1, in_source=True, bias_half=0.0)
    captured = pd.concat([table, table.iloc[:2].assign(model=["llama3.2-11b", "llama3.1-8b"])])
    captured = captured.set_index("model")
    captured.loc["llama3.2-11b", "ap_drop"] = captured["ap_drop"]["llama3.1-8b"] + noise * math.sqrt(2)
    decline = pd.DataFrame({"model": table["model"], "mode": "nonthinking", "decline": table["lbp"]})
    result = capture_noise(captured.reset_index(), table, decline, *SOURCES)
    row = result.set_index(["outcome", "metric"]).loc[("lbp", "ap_drop")]
    assert abs(row["r"]) < math.sqrt(0.5) - 0.08
    assert row["r_corrected"] == pytest.approx(math.sqrt(0.5), abs=0.06)


def test_noise_is_a_range_when_its_captures_are_rounded():
    models, matched, decline = (read(ROOT, name) for name in ("captured_models", "matched_models", "length_decline"))
    rows = capture_noise(models, matched, decline, *SOURCES)
    actual = rows[rows["outcome"] == "lbp"].set_index("metric")
    # 7.00 and 7.83, the first of a column of multiples of 1e-4: 6.5 to 7.5 against 7.825 to 7.835
    bias = actual.loc["bias_strength"]
    interval = [bias[f"noise_{end}"] * math.sqrt(2) for end in ("least", "most")]
    assert interval == pytest.approx([0.325e-4, 1.335e-4])
    # .169 and .158, half a unit of the third digit each
    drop = actual.loc["ap_drop"]
    assert [drop[f"noise_{end}"] * math.sqrt(2) for end in ("least", "most")] == pytest.approx([0.010, 0.012])
    for _, row in actual[actual["noise_sd"].notna()].iterrows():
        assert row["noise_least"] <= row["noise_sd"] <= row["noise_most"]
        assert row["reliability_least"] <= row["reliability"] <= row["reliability_most"]
    assert actual.loc["r_k_a", ["noise_least", "noise_most"]].isna().all()


def test_captures_equal_within_rounding_may_have_zero_noise():
    models, matched, decline = (read(ROOT, name) for name in ("captured_models", "matched_models", "length_decline"))
    close = models.set_index("model")
    close.loc["llama3.2-11b", "bias_strength"] = close["bias_strength"]["llama3.1-8b"] + 0.2e-4
    row = capture_noise(close.reset_index(), matched, decline, *SOURCES).set_index(["outcome", "metric"])
    bias = row.loc[("lbp", "bias_strength")]
    assert bias["noise_least"] == 0
    assert bias["reliability_most"] == 1
    assert bias["noise_most"] > bias["noise_sd"] > 0
