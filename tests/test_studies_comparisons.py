"""Comparisons at equal positions and summaries of the ledger, against hand-made frames, numpy and real sources."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.studies.benchmarks import contrasts
from analysis.studies.crossmodel import comparisons
from analysis.studies.ledger import hypotheses as ledger
from analysis.studies.ledger.coverage import ledger_coverage
from boundpaper.errors import DataError
from boundpaper.statistics.correlations.dependent import williams_t
from committed import FAMILIES, artifact

EXACT = {"abs": 1e-9, "rel": 1e-9}


# --- equal positions


def profile_rows(**profiles):
    rows = [{"model": name, **{f"d{i}": value for i, value in enumerate(values)}} for name, values in profiles.items()]
    return pd.DataFrame(rows)


def model_rows(**contexts):
    return pd.DataFrame(
        {
            "model": list(contexts),
            "display_name": list(contexts),
            "family": "F",
            "captured_context": list(contexts.values()),
            "ap_overall": 0.5,
            "ap_drop": 0.1,
        }
    )


def test_equal_positions_weight_deciles_by_their_part_inside_the_range():
    line = [1 - 0.1 * i for i in range(10)]
    table = comparisons.equal_positions(
        profile_rows(long=line, short=line), model_rows(long=131072, short=32768)
    ).set_index("model")
    # two and a half deciles of the long capture equal all ten of the short one
    assert table.loc["long", "mean_32k"] == pytest.approx((1 + 0.9 + 0.8 / 2) / 2.5, rel=1e-4)
    assert table.loc["short", "mean_32k"] == pytest.approx(np.mean(line))
    assert table.loc["long", "near"] == pytest.approx(1.0, rel=1e-4)
    assert table.loc["short", "near"] == pytest.approx(np.mean(line[:4]), rel=1e-4)
    assert table.loc["short", "drop_32k"] == pytest.approx(np.mean(line[:4]) - np.mean(line[4:]), rel=1e-3)
    assert list(table["ranked"]) == [1, 2]


def test_the_mean_of_a_capture_of_32k_is_the_mean_of_its_deciles():
    table = comparisons.equal_positions(artifact("decile_profiles"), artifact("captured_models")).set_index("model")
    profile = artifact("decile_profiles").set_index("model").loc["mistral-v0.2-7b"]
    deciles = [profile[f"d{number}"] for number in range(10)]
    assert table.loc["mistral-v0.2-7b", "mean_32k"] == pytest.approx(np.mean(deciles))
    assert table["mean_32k"].is_monotonic_decreasing
    assert (table["near"] > table["far"]).all()


# --- ratios, families, shapes, memory


def test_ratios_per_window_are_those_per_token_over_the_ratio_of_windows():
    table = comparisons.predecessor_ratios(artifact("captured_models"))
    assert len(table) == 3
    assert np.allclose(table["window_ratio"], table["bias_ratio"] * 32768 / 131072)
    assert np.allclose(table["bias_ratio"], 1.57e-3 / 3.00e-4)


def test_separation_is_one_for_families_without_spread_and_negative_where_they_overlap():
    models = pd.DataFrame(
        {
            "family": ["A", "A", "B", "B"],
            "ap_overall": [1.0, 1.0, 2.0, 2.5],
            "ap_last_20": [1.0, 3.0, 2.0, 4.0],
            "ap_drop": [1.0, 2.0, 5.0, 7.0],
            "captured_context": 131072,
            "in_source": True,
        }
    )
    table = comparisons.family_separation(models, models).set_index(["scope", "metric"]).loc["matched"]
    assert table.loc["ap_overall", "least_gap"] == pytest.approx(1.0)
    assert table.loc["ap_last_20", "least_gap"] == pytest.approx(-1.0)
    values = models["ap_drop"].to_numpy()
    within = ((values - [1.5, 1.5, 6, 6]) ** 2).sum()
    assert table.loc["ap_drop", "eta_squared"] == pytest.approx(1 - within / ((values - values.mean()) ** 2).sum())
    assert table.loc["ap_drop", "gap_share"] == pytest.approx(3 / 2)


def test_family_means_leave_the_score_empty_where_not_all_were_scored():
    table = comparisons.family_means(artifact("captured_models"), artifact("matched_models"))
    captured = table[table["scope"] == "captured"]
    assert captured["lbp"].isna().all()
    assert (captured["note"] != "").all()
    source = table[table["scope"] == "source"].set_index("family")
    assert source["n"].sum() == 7
    assert source.loc["Qwen3", "ap_drop"] == pytest.approx((0.161 + 0.178 + 0.186) / 3)


def test_profile_shape_is_correct_for_a_line_and_an_accelerating_profile():
    line = [1 - 0.05 * i for i in range(10)]
    late = [1 - 0.01 * i**2 for i in range(10)]
    profiles = profile_rows(line=line, late=late).assign(display_name="x", family="F")
    table = comparisons.profile_shapes(profiles).set_index("model")
    assert table.loc["line", "r_squared"] == pytest.approx(1)
    assert table.loc["line", "first_half"] == pytest.approx(table.loc["line", "second_half"])
    assert table.loc["line", "first_step"] == pytest.approx(1 / 9)
    assert table["second_half"]["late"] > table["first_half"]["late"]
    # 1 - i^2 / 100: of the fall of .81 the first step makes 1, the steps from 1 to 5 make 24, those from 5 to 9 make 56
    shares = {"first_step": 1 / 81, "last_step": 17 / 81, "early": 0.24, "late": 0.56}
    shares |= {"whole": 0.81, "first_half": 0.16, "second_half": 0.56}
    assert table.loc["late", list(shares)].astype(float).to_dict() == pytest.approx(shares)
    assert table.loc["late", "r_squared"] == pytest.approx(stats.linregress(range(10), late).rvalue ** 2)


def test_memory_is_the_sum_of_weights_and_cache():
    row = comparisons.inference_memory(artifact("matched_models")).set_index("model").loc["qwen3-8b"]
    assert row["weights_gb"] == pytest.approx(16)
    assert row["cache_gb"] == pytest.approx(36 * 8 * 128 * 2 * 2 * 131072 / 1e9)
    assert row["total_gb"] == pytest.approx(row["weights_gb"] + row["cache_gb"])


# --- contrasts


def test_contrasts_are_differences_of_absolute_correlations():
    table = contrasts.correlation_contrasts(artifact("matched_models"), FAMILIES)
    models = artifact("matched_models")
    seven = models[models["in_source"].astype(bool)]
    row = table[(table["comparison"] == "ap_drop - ap_overall, n = 7") & (table["test"] == "pearson_difference")].iloc[
        0
    ]
    drop, overall = (stats.pearsonr(seven[name], seven["lbp"]).statistic for name in ("ap_drop", "ap_overall"))
    assert row["estimate"] == pytest.approx(abs(drop) - abs(overall), **EXACT)
    assert row["ci_low"] < row["estimate"] < row["ci_high"]
    by_t = table["test"] == "williams_t"
    # one adjusted p per comparison and coefficient: Williams' t repeats the question of Pearson's
    assert (table["adjustment"][~by_t].str.startswith("Holm over 12 tests")).all()
    assert table["p_adjusted"][by_t].isna().all()
    assert len(table) == 2 * 3 * 3
    williams = table[(table["comparison"] == "ap_drop - ap_overall, n = 7") & (table["test"] == "williams_t")].iloc[0]
    assert williams["estimate"] == pytest.approx(row["estimate"])
    metric_r = abs(stats.pearsonr(seven["ap_drop"], seven["ap_overall"]).statistic)
    assert williams["statistic"] == pytest.approx(williams_t(abs(drop), abs(overall), metric_r, 7)[0])


def test_family_correlations_take_families_of_three_only():
    table = contrasts.family_correlations(artifact("matched_models"), FAMILIES)
    assert set(table["comparison"]) == {"Ministral 3", "Qwen3"}
    assert (table["n"] == 3).all()
    models = artifact("matched_models")
    qwen = models[models["family"] == "Qwen3"]
    row = table[(table["comparison"] == "Qwen3") & (table["test"] == "pearson")].iloc[0]
    # the exact p over all permutations of three
    observed = abs(stats.pearsonr(qwen["ap_drop"], qwen["lbp"]).statistic)
    orders = [abs(stats.pearsonr(order, qwen["lbp"]).statistic) for order in itertools.permutations(qwen["ap_drop"])]
    assert row["p_value"] == pytest.approx(np.mean(np.array(orders) >= observed - 1e-12))


# --- summaries of the ledger


def claim_rows(*rows):
    columns = ["claim", "kind", "source", "section", "statement", "reported", "recomputed", "n", "verdict", "reason"]
    return pd.DataFrame(rows, columns=columns)


def test_hypotheses_are_joined_by_the_names_of_their_claims():
    reported = pd.DataFrame({"hypothesis": ["H1", "H2"], "status": ["nuanced", ""], "statement": ["One", "Two"]})
    claims = claim_rows(
        ("c002_h1_order", "statement", "002", "H1", "ordered", "", "+0.29", 7, "not significant", "r"),
        ("c002_h10_other", "statement", "002", "H1", "of no hypothesis", "", "", None, "holds", "r"),
        ("c002_h2_cells.a", "cell check", "002", "H2", "cell", "", "", None, "holds", "r"),
        ("c002_h2_tracks.x", "statement", "002", "H2", "tracks", "", "", None, "holds", "r"),
    )
    table = ledger.hypotheses(reported, claims)
    assert list(table["claim"]) == ["c002_h1_order", "c002_h2_tracks.x"]
    assert list(table["evidence"]) == ["ordered", "tracks"]
    with pytest.raises(DataError, match=r"no claim c002_h2_\.\.\. judges H2"):
        ledger.hypotheses(reported, claims[claims["claim"] == "c002_h1_order"])


def test_missing_scores_are_found_among_the_published():
    names = ["reported_open_gaps", "reported_lbp_lengths", "published_lbp", "inference_memory"]
    table = ledger.gaps_status(*(artifact(name) for name in names)).set_index("gap")
    row = table.loc["per_length_scores"]
    assert (row["missing"], row["published"]) == (36, 36)
    assert pd.isna(table.loc["causal_direction", "missing"])
    assert table.loc["option_b", "memory_gb"] == pytest.approx(49.47, abs=0.01)


def section_rows():
    columns = ["document", "section", "statements", "ledger_sections", "left_out"]
    sections = [
        ("000", "Finding 1", 4, "Finding 1 | Finding 1, table", ""),
        ("000", "Finding 2", 3, "Finding 2", "a guess"),
        ("001", "Finding 1", 2, "", "all of it"),
    ]
    return pd.DataFrame(sections, columns=columns)


def ledger_rows(*other):
    entries = [
        ("000", "Finding 1", "statement", "holds"),
        ("000", "Finding 1, table", "statement", "holds after rounding"),
        ("000", "Finding 1", "statement", "not supported"),
        ("000", "Finding 1, table", "cell check", "holds"),
        ("000", "Finding 2", "statement", "contradicted"),
        ("thesis", "Methods", "statement", "holds"),
        *other,
    ]
    return pd.DataFrame(entries, columns=["source", "section", "kind", "verdict"])


def test_section_counts_the_rows_of_all_its_names():
    table = ledger_coverage(section_rows(), ledger_rows()).set_index(["document", "section"])
    assert table.loc[("000", "Finding 1"), ["judged", "holding", "cells"]].tolist() == [3, 2, 1]
    assert table.loc[("000", "Finding 2"), ["judged", "holding", "cells"]].tolist() == [1, 0, 0]
    assert table.loc[("001", "Finding 1"), ["judged", "holding", "cells"]].tolist() == [0, 0, 0]
    with pytest.raises(DataError, match="no row of claims_coverage lists 001, Finding 9"):
        ledger_coverage(section_rows(), ledger_rows(("001", "Finding 9", "statement", "holds")))
    repeated = section_rows().assign(ledger_sections=["Finding 1", "Finding 1", ""])
    with pytest.raises(DataError, match="is in two rows, Finding 1 and Finding 2"):
        ledger_coverage(repeated, ledger_rows())
