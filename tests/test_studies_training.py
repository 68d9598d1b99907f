"""Studies of SmolLM3's training: bias by unit, equal positions, accumulated bias, a common window, and verdicts."""

import numpy as np
import pandas as pd
import pytest

from analysis.claims._training import judge_span, stated
from analysis.studies.training import comparison as training_comparison
from analysis.studies.training import positions as training_positions
from analysis.studies.training import tests as training_tests
from analysis.studies.training import trajectory as training
from boundpaper.store.frames import parsed
from boundpaper.store.reader import read
from committed import FAMILIES
from conftest import ROOT

FIRST, ANNEALED, LAST = "stage1-step-40000", "stage3-step-4720000", "lc-32k-to-64k-step-20000"


@pytest.fixture(scope="module")
def trajectory():
    return training.training_trajectory(read(ROOT, "reported_training"), read(ROOT, "checkpoints"))


@pytest.fixture(scope="module")
def positions(trajectory):
    return training_positions.training_positions(read(ROOT, "reported_training_positions"), trajectory)


def test_bias_falls_per_token_and_rises_per_window(trajectory):
    token = trajectory.set_index("checkpoint")["bias_strength"]
    window = trajectory.set_index("checkpoint")["bias_window"]
    assert token[LAST] < token[ANNEALED] / 10
    assert window[LAST] == pytest.approx(0.0018 * 65536)
    assert window[ANNEALED] == pytest.approx(0.0194 * 4096)
    assert window[LAST] > window[ANNEALED]


def test_only_one_printed_drop_disagrees_with_its_ends(trajectory):
    disagreeing = trajectory[~trajectory["ap_drop_agrees"]]
    assert list(disagreeing["checkpoint"]) == ["lc-4k-to-32k-step-20000"]
    assert disagreeing["ap_drop"].iloc[0] > disagreeing["ap_drop_high"].iloc[0]


def test_changes_lie_within_their_rounding_bounds(trajectory):
    changes = training.training_changes(trajectory, read(ROOT, "reported_training"))
    assert len(changes) == len(training.SPANS) * len(training.METRICS)
    for name in ("ratio", "fold", "difference"):
        assert (changes[f"{name}_low"] <= changes[name]).all()
        assert (changes[name] <= changes[f"{name}_high"]).all()
    assert (changes["fold"] >= 1).all()
    product = changes.pivot(index="span", columns="metric", values="ratio")
    np.testing.assert_allclose(product["mu_q"] * product["alpha_k"], product["bias_strength"])


@pytest.mark.parametrize(
    ("text", "ends"),
    [("0-256", (0, 256)), ("512-1K", (512, 1024)), ("1K-1.5K", (1024, 1536)), ("48K-64K", (49152, 65536))],
)
def test_bin_labels_are_parsed_to_tokens(text, ends):
    assert training_positions._bin_ends(text) == ends


@pytest.mark.parametrize("text", ["1K", "2K-1K", "1K to 2K", "-1K-2K"])
def test_invalid_bin_label_is_refused(text):
    with pytest.raises(ValueError, match="bin"):
        training_positions._bin_ends(text)


def test_bins_fill_each_window_without_overlap(positions):
    for _, bins in positions.groupby("checkpoint"):
        ordered = bins.sort_values("start")
        assert (ordered["end"].to_numpy()[:-1] == ordered["start"].to_numpy()[1:]).all()
        assert ordered[ordered["plasticity"].notna()]["end"].max() == bins["context"].iloc[0]


def test_equal_positions_combine_bins_by_width(trajectory, positions):
    table = training_positions.training_equal_positions(positions, trajectory).set_index("checkpoint")
    assert table.loc[ANNEALED, "at_0_1k"] == pytest.approx((0.571 + 0.558 + 2 * 0.539) / 4)
    assert table.loc[ANNEALED, "drop"] == pytest.approx(0.0535)
    assert table.loc[LAST, "bins_0_1k"] == 0
    assert np.isnan(table.loc[LAST, "drop"])
    assert "no value at 0-1K" in table.loc[LAST, "note"]
    for name in ("drop", "drop_outer"):
        known = table[table[name].notna()]
        assert (known[f"{name}_high"] - known[f"{name}_low"]).to_numpy() == pytest.approx(0.002)


def test_bins_weighted_by_width_give_the_overall_plasticity(trajectory, positions):
    means = training_positions.training_bin_means(positions, trajectory)
    assert means["difference"].abs().max() < 0.004
    assert set(means[means["covered"] < 1]["checkpoint"]) == {LAST, "lc-32k-to-64k-step-4000"}


def test_expected_plasticity_comes_from_pretraining_only(trajectory, positions):
    source = read(ROOT, "reported_training_positions")
    late = source["checkpoint"].str.startswith("lc-")
    changed = source.assign(value=source["value"].where(~late, source["value"] + 0.1))
    recomputed = training_positions.training_positions(changed, trajectory)
    pd.testing.assert_series_equal(recomputed["expected"], positions["expected"])
    known = positions[positions["expected"].notna()].sort_values("gathered_bias")
    assert (np.diff(known["expected"]) <= 1e-12).all()
    base = positions[~positions["extension"]].sort_values("gathered_bias", kind="stable")
    assert base["gap"].mean() == pytest.approx(0, abs=1e-12)
    assert base["expected"].to_numpy() == pytest.approx(_falling(base["plasticity"].tolist()))
    assert base["expected"].nunique() > 5  # a constant fit counts as falling


def _falling(values):
    """Return the non-increasing least-squares fit, as minimum over starts of the maximum over ends of the mean."""
    count = range(len(values))
    return [
        min(max(np.mean(values[low : high + 1]) for high in count if high >= i) for low in count if low <= i)
        for i in count
    ]


def test_an_empty_cell_has_a_note(trajectory, positions):
    for table in (positions, training_positions.training_equal_positions(positions, trajectory)):
        empty = table.drop(columns="note").isna().any(axis=1)
        assert (table.loc[empty, "note"] != "").all()


def test_checkpoint_tests_carry_the_dependence_guard(trajectory, positions):
    tests = training_tests.training_tests(trajectory, positions, FAMILIES)
    assert tests["note"].str.contains("guard dependent units").all()
    level = tests[(tests["test"] == "pearson") & tests["comparison"].str.startswith("ap_drop")]
    signs = dict(zip(level["comparison"], np.sign(level["estimate"]), strict=True))
    assert signs["ap_drop against bias per token, all checkpoints"] == -1
    assert signs["ap_drop against bias per window, all checkpoints"] == 1


def test_drop_and_bias_correlation_leaves_one_out_only_over_models():
    names = ("training_comparison", "published_facts")
    tests = training_comparison.bias_plasticity_tests(
        read(ROOT, "bias_plasticity"), **{name: read(ROOT, name) for name in names}, test_families=FAMILIES
    )
    comparisons = set(tests.loc[tests["test"] == "pearson_leave_one_out", "comparison"])
    assert comparisons == {
        "per token, captured models", "per window, captured models", "per token, models over the same window",
        "per token, networks over the same window",
    }  # fmt: skip


def test_residual_bias_relation_depends_on_the_form_of_the_context(trajectory, positions):
    tests = training_tests.training_tests(trajectory, positions, FAMILIES).set_index(["comparison", "test"])["estimate"]
    name = "ap_drop against bias per token, all checkpoints"
    context = trajectory["context"].to_numpy(dtype=float)
    for control, comparison in ((np.log2(context), name), (context, f"{name}, plain context")):
        columns = np.column_stack([np.ones(len(context)), control])
        residuals = [
            values - columns @ np.linalg.lstsq(columns, values, rcond=None)[0]
            for values in (trajectory[column].to_numpy(dtype=float) for column in ("bias_strength", "ap_drop"))
        ]
        assert tests[comparison, "pearson_partial"] == pytest.approx(np.corrcoef(residuals)[0, 1])


def test_the_same_window_ends_at_the_fifth_decile(trajectory):
    deciles = read(ROOT, "reported_deciles")
    table = training_comparison.training_comparison(
        read(ROOT, "captured_models"),
        trajectory,
        read(ROOT, "reported_training_comparison"),
        deciles,
        read(ROOT, "models"),
    ).set_index("model")
    deciles_of_model = deciles[deciles["model"] == "qwen3-4b"].set_index("decile")["value"]
    assert table.loc["qwen3-4b", "drop_same"] == pytest.approx(deciles_of_model.loc[0] - deciles_of_model.loc[4])
    assert 0.2 * table.loc["smollm3-3b", "captured_context"] == 0.1 * table.loc["qwen3-4b", "captured_context"]
    assert np.isnan(table.loc["mistral-v0.2-7b", "drop_same"])
    assert table.loc["smollm3-3b", "drop_same"] == table.loc["smollm3-3b", "ap_drop"]


def test_stated_word_is_read_as_its_whole_number():
    frame = parsed(pd.DataFrame({"statement": ["a", "b"], "printed": ["doubles", "~0.06"]}), words=True)
    frame["as_number"] = [2.0, np.nan]
    assert stated(frame, "a").number == 2
    assert stated(frame, "a").interval.high == 2.5
    assert stated(frame, "b").decimals == 2


@pytest.mark.parametrize(("most", "verdict"), [(0.062, "holds"), (0.066, "contradicted")])
def test_stated_range_is_judged_at_both_ends(most, verdict):
    frame = parsed(pd.DataFrame({"statement": ["a"], "printed": ["~0.04–0.06"]}))
    assert judge_span(stated(frame, "a"), pd.Series([0.04, most]), 2, "values").verdict == verdict
