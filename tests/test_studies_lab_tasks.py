"""What the pair learned, its keys by length, its errors and its heads: planted rows, answers worked out apart."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.studies.lab.errors import lab_error_classes
from analysis.studies.lab.gaps import lab_globality_means, lab_head_ablations, lab_head_tests, lab_text_differences
from analysis.studies.lab.tasks import (
    lab_context_differences,
    lab_context_scores,
    lab_curves,
    lab_pair_models,
    lab_prompt_tests,
    lab_task_scores,
)
from artifacts.errors import DataError
from artifacts.store.reader import read
from conftest import ROOT

FAMILIES = read(ROOT, "test_families")

NAMES = {
    ("rope", 0): "tiny-rope",
    ("rope", 1): "tiny-rope-s1",
    ("drope", 0): "tiny-drope",
    ("drope", 1): "tiny-drope-s1",
}
FACTS = {"parameters": 10, "layers": 5, "heads": 4, "width": 8, "training_length": 128, "steps": 30, "tokens": 900}


def training(rows):
    return pd.DataFrame(rows, columns=["model", "step", "phase", "metric", "value", "n"])


def recipe(model):
    return [(model, 0, "recipe", name, value, 1) for name, value in FACTS.items()]


def measured(rows):
    """Rows of (side, seed, condition, metric, value[, unit_id, layer, head])."""
    made = []
    for side, seed, condition, metric, value, *rest in rows:
        unit, layer, head = (*rest, *("", np.nan, np.nan)[len(rest) :])
        made.append(
            {
                "model": NAMES[side, seed],
                "condition": condition,
                "metric": metric,
                "value": value,
                "unit_id": unit,
                "layer": layer,
                "head": head,
                "seed": 0,
                "n": 20,
                "reason": "",
            }
        )
    return pd.DataFrame(made)


def test_a_models_facts_and_the_losses_of_its_last_step():
    curve = [
        ("tiny-rope", 10, "pretraining", "loss", 3.0, 1),
        ("tiny-rope", 30, "pretraining", "loss", 2.0, 1),
        ("tiny-rope", 30, "pretraining", "answer_loss", 0.5, 1),
        ("tiny-rope", 30, "final", "loss", 9.0, 1),
    ]
    (row,) = lab_pair_models(training(recipe("tiny-rope") + curve)).to_dict("records")
    assert (row["loss"], row["answer_loss"]) == (2.0, 0.5)
    assert {name: row[name] for name in FACTS} == FACTS
    assert (row["side"], row["training_seed"]) == ("rope", 0)


def test_a_model_without_a_fact_is_named():
    with pytest.raises(DataError, match=r"lab_training/tiny-rope\.csv: no tokens"):
        lab_pair_models(training([row for row in recipe("tiny-rope") if row[3] != "tokens"]))


def test_scores_are_means_over_seeds_and_reached_asks_every_seed_of_both():
    final = [
        (NAMES[side, seed], 30, "final", metric, value, n)
        for (side, seed), value, n in zip(NAMES, (1.0, 0.94, 1.0, 1.0), (200, 100, 200, 200), strict=True)
        for metric in ("passkey_1x", "copy")
    ]
    final += [(model, 30, "final", "passkey_2x", 0.5, 200) for model in NAMES.values()]
    final += [(model, 30, "final", "cities", 0.95, 200) for model in NAMES.values()]
    scores = lab_task_scores(training(final)).set_index(["task", "length"])
    assert scores.loc[("passkey", "1x"), "rope"] == pytest.approx(0.97)
    assert scores.loc[("passkey", "1x"), "n"] == 100
    assert scores["reached"].to_dict() == {
        ("passkey", "1x"): "no",
        ("copy", ""): "no",
        ("passkey", "2x"): "",
        ("cities", ""): "yes",
    }


def test_curves_keep_the_spread_of_seeds():
    rows = [(NAMES["rope", seed], 10, "pretraining", "loss", value, 1) for seed, value in ((0, 1.0), (1, 4.0))]
    (row,) = lab_curves(training([*rows, ("tiny-rope", 10, "final", "loss", 7.0, 1)])).to_dict("records")
    assert (row["value"], row["least"], row["most"], row["seeds"]) == (2.5, 1.0, 4.0, 2)


def test_keys_by_length_know_whose_encoding_it_is():
    rows = [("rope", seed, "own/2x", "passkey_exact", value) for seed, value in ((0, 0.2), (1, 0.6))]
    rows += [("drope", 0, "own/2x", "passkey_exact", 0.9), ("rope", 0, "yarn/2x", "passkey_exact", 1.0)]
    rows += [("rope", 0, "own/2x/depth:3", "passkey_exact", 0.0), ("rope", 0, "own/2x", "passkey_exact_low", 0.1)]
    scores = lab_context_scores(measured(rows)).set_index(["encoding", "ratio"])
    assert scores["value"].to_dict() == pytest.approx({("rope", 2.0): 0.4, ("drope", 2.0): 0.9, ("yarn", 2.0): 1.0})
    assert (scores.loc[("rope", 2.0), "least"], scores.loc[("rope", 2.0), "most"]) == (0.2, 0.6)
    assert scores["seeds"].tolist() == [1, 2, 1]


def test_keys_that_were_not_measured_are_an_error_with_its_reason():
    rows = measured([("rope", 0, "own/2x", "passkey_exact", np.nan)]).assign(reason="too long")
    with pytest.raises(DataError, match="too long"):
        lab_context_scores(rows)


def test_differences_are_drope_less_rope_and_wins_count_seeds():
    values = {("rope", 0): 0.2, ("rope", 1): 0.7, ("drope", 0): 0.8, ("drope", 1): 0.6}
    (row,) = lab_context_differences(
        measured([(*key, "own/4x", "passkey_exact", value) for key, value in values.items()])
    ).to_dict("records")
    half = stats.t.ppf(0.975, 1) * np.std([0.6, -0.1], ddof=1) / np.sqrt(2)
    assert (row["ratio"], row["wins"], row["seeds"]) == (4.0, 1, 2)
    assert row["difference"] == pytest.approx(0.25)
    assert (row["difference_low"], row["difference_high"]) == pytest.approx((0.25 - half, 0.25 + half))


def test_prompts_are_paired_and_the_sign_is_that_of_drope_less_rope():
    outcomes = {"rope": [1, 1, 0, 0, 0, 0, 0, 0], "drope": [1, 0, 1, 1, 1, 1, 1, 1]}
    rows = [(side, 0, "own/2x", "passkey_right", v, f"p{i}") for side, vs in outcomes.items() for i, v in enumerate(vs)]
    (row,) = lab_prompt_tests(measured(rows), FAMILIES).to_dict("records")
    assert row["p_value"] == pytest.approx(stats.binomtest(1, 7).pvalue)  # 6 prompts for DroPE, 1 for RoPE
    assert row["estimate"] == pytest.approx((6 - 1) / 8)
    assert row["comparison"] == "2x, seed 0, drope - rope"


def test_error_classes_are_shares_of_errors_and_truncations_are_told_apart():
    counts = {"exact": 80, "run_deletion": 6, "run_deletion_at_end": 2, "insertion": 2}
    rows = [("rope", 0, "own/2x", f"class_{kind}", count) for kind, count in counts.items()]
    rows += [("rope", 1, "own/2x", "class_insertion", 4), ("rope", 0, "pi/2x", "class_insertion", 50)]
    rows += [("drope", 0, "own/2x", "class_exact", 10), ("drope", 0, "own/2x", "class_insertion", 0)]
    found = lab_error_classes(measured(rows)).set_index(["side", "kind"])
    assert found.loc[("rope", "insertion"), ["count", "errors", "seeds"]].tolist() == [6, 12, 2]
    assert found.loc[("rope", "run_deletion"), ["count", "at_end", "share"]].tolist() == [6, 2, 0.5]
    assert found.loc[("rope", "insertion"), "at_end"] == 0
    low, high = stats.binomtest(6, 12).proportion_ci(method="wilson")
    assert found.loc[("rope", "insertion"), ["share_low", "share_high"]].tolist() == pytest.approx([low, high])
    assert "exact" not in found.loc["rope"].index
    assert np.isnan(found.loc[("drope", "insertion"), "share"])
    assert found.loc[("drope", "insertion"), "note"] == "no wrong key"


def ablated(values):
    """Head ablation rows: baseline, the ranked heads, and draws of random ones, by side and seed."""
    rows = []
    for (side, seed), (high, low, draws) in values.items():
        for metric in ("passkey_accuracy", "delta_nats"):
            rows.append((side, seed, "baseline", metric, 1.0))
            rows += [(side, seed, f"{rank}:2", metric, value) for rank, value in (("highest", high), ("lowest", low))]
            rows += [(side, seed, f"random:2:{draw}", metric, value) for draw, value in enumerate(draws)]
    return measured(rows)


def test_ranked_heads_stand_beside_random_ones():
    found = lab_head_ablations(ablated({("rope", 0): (0.1, 0.8, [0.1, 0.5, 0.9, 0.05])}))
    row = found[(found["metric"] == "passkey_accuracy") & (found["rank"] == "highest")].iloc[0]
    assert (row["baseline"], row["value"], row["heads"], row["draws"]) == (1.0, 0.1, 2, 4)
    assert row["random"] == pytest.approx(0.3875)
    assert row["random_sd"] == pytest.approx(np.std([0.1, 0.5, 0.9, 0.05], ddof=1))
    assert row["difference"] == pytest.approx(0.1 - 0.3875)
    assert row["place"] == pytest.approx((1 + 0.5) / 4)  # one draw below, one tied


def test_the_test_of_ranked_heads_pairs_seeds():
    values = {("rope", 0): (0.1, 0.8, [0.4, 0.6]), ("rope", 1): (0.2, 0.9, [0.5, 0.9])}
    tests = lab_head_tests(lab_head_ablations(ablated(values)), FAMILIES).set_index("comparison")
    row = tests.loc["rope, passkey_accuracy, highest 2 heads - random"]
    known = stats.ttest_rel([0.1, 0.2], [0.5, 0.7])
    assert row["estimate"] == pytest.approx(-0.45)
    assert row["p_value"] == pytest.approx(known.pvalue)
    assert len(tests) == 4


def test_globality_is_a_correlation_over_the_heads_of_each_model():
    rng = np.random.default_rng(5)
    rows, known = [], []
    for side, seed in itertools.product(("rope", "drope"), (0, 1)):
        plastic, changes = rng.random(6), rng.random(6)
        known.append((side, np.corrcoef(plastic, changes)[0, 1], changes.mean()))
        for head in range(6):
            for metric, value in (("ap_overall", plastic[head]), ("top_changes", changes[head]), ("top_first", 0.1)):
                rows.append((side, seed, "", metric, value, "", head // 3, head % 3))
    found = lab_globality_means(measured(rows)).set_index("metric")
    for side in ("rope", "drope"):
        own = [item for item in known if item[0] == side]
        assert found.loc["correlation", side] == pytest.approx(np.mean([item[1] for item in own]))
        assert found.loc["top_changes", side] == pytest.approx(np.mean([item[2] for item in own]))


def test_text_differences_are_first_kind_less_second():
    rows = []
    for (side, seed), (mixed, prose) in {("rope", 0): (0.8, 0.6), ("drope", 0): (0.5, 0.4)}.items():
        rows += [(side, seed, "mixed", "ap_overall", mixed), (side, seed, "prose", "ap_overall", prose)]
        rows += [(side, seed, "mixed", "ap_overall", 0.0, "", 1.0, 1.0)]
    (row,) = lab_text_differences(measured(rows)).to_dict("records")
    assert row["comparison"] == "mixed minus prose"
    assert (row["rope"], row["drope"], row["difference"]) == pytest.approx((0.2, 0.1, -0.1))
