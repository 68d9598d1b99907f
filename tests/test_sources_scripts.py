"""Values read in the repositories of the examined documents are complete, agree with print, and name their file."""

import re
from collections import Counter
from pathlib import Path

import pytest

from committed import source_rows as rows

ROOT = Path(__file__).resolve().parents[1]
PRINTED = {"3": "drope_knowledge", "4": "drope_functional", "6": "drope_layer1_tasks"}


@pytest.mark.parametrize("experiment", PRINTED)
def test_every_printed_rate_of_a_task_is_its_stored_rate_rounded(experiment: str) -> None:
    stored = {
        (row["condition"], row["positional"], row["task"]): float(row["printed"])
        for row in rows("drope_script_rates")
        if row["experiment"] == experiment
    }
    name = "metric" if experiment == "3" else "condition"
    printed = {
        (row[name], row["positional"], row["task"]): row["printed"]
        for row in rows(PRINTED[experiment])
        if row[name] != "degradation"
    }
    assert set(stored) == set(printed)
    for key, text in printed.items():
        decimals = len(text.rstrip("%").partition(".")[2])
        assert abs(100 * stored[key] - float(text.rstrip("%"))) <= 0.5 * 10**-decimals + 1e-9, key


def test_zeros_are_integers_only_where_no_answer_was_read() -> None:
    kinds = Counter((row["experiment"], row["stored"]) for row in rows("drope_script_rates"))
    assert kinds == {
        ("3", "typed"): 6,
        ("3", "fraction"): 10,
        ("4", "fraction"): 30,
        ("4", "integer"): 2,
        ("6", "cast"): 40,
    }
    integers = [row for row in rows("drope_script_rates") if row["stored"] == "integer"]
    assert {(row["positional"], row["condition"], row["task"]) for row in integers} == {
        ("RoPE", "bos_mlp_ablation", "cities"),
        ("RoPE", "bos_mlp_ablation", "sports"),
    }
    assert {row["printed"] for row in integers} == {"0"}
    assert all("." in row["printed"] for row in rows("drope_script_rates") if row["stored"] != "integer")


def test_texts_of_the_first_two_experiments_repeat() -> None:
    texts = rows("drope_text_repeats")
    sizes = Counter((row["experiment"], row["run"]) for row in texts)
    assert sizes == {("1", "totals"): 10, ("1", "layers"): 3, ("2", "perplexity"): 9, ("SmolLM", "totals"): 5}
    repeats = {name: [int(row["repeats"]) for row in texts if row["experiment"] == name] for name in ("1", "2")}
    assert (min(repeats["1"]), max(repeats["1"])) == (4, 10)
    assert (min(repeats["2"]), max(repeats["2"])) == (10, 30)
    sets = {row["text"] for row in rows("drope_published_disruption_texts")}
    assert {row["text_set"] for row in texts if row["experiment"] == "2"} == sets


def test_first_run_differs_from_the_printed_one() -> None:
    first = [float(row["printed"]) for row in rows("drope_first_sink_rates")]
    later = [
        float(row["printed"])
        for row in rows("drope_published_series")
        if (row["positional"], row["metric"]) == ("RoPE", "sink_rate")
    ]
    assert len(first) == len(later) == 32
    assert sum(first) / 32 == pytest.approx(0.919, abs=5e-4)
    assert sum(later) / 32 == pytest.approx(0.978, abs=5e-4)
    assert sum(before != after for before, after in zip(first, later, strict=True)) > 2


def test_smollm_has_every_layer_in_both_variants() -> None:
    counts = Counter((row["variant"], row["tensor"]) for row in rows("drope_smollm_massive"))
    assert set(counts.values()) == {32}
    assert len(counts) == 6


def test_recalibration_trains_on_billions_of_tokens() -> None:
    runs = {row["run"]: row for row in rows("drope_recalibration")}
    tokens = {run: int(row["steps"]) * int(row["sequences"]) * int(row["sequence_tokens"]) for run, row in runs.items()}
    assert tokens["llama2_7b_drope"] == pytest.approx(10e9, rel=0.06)
    assert tokens["llama2_7b_drope_qk_norm"] == pytest.approx(30e9, rel=0.06)
    assert {run.endswith("qk_norm") for run, row in runs.items() if row["normalisation"] != "none"} == {True}


def test_every_captured_model_has_its_own_settings() -> None:
    models = {row["model"]: row for row in rows("models") if row["subject"] == "captured"}
    settings = {row["model"]: row for row in rows("capture_settings")}
    assert set(settings) == set(models)
    for model, row in settings.items():
        assert row["capture_tokens"] == models[model]["captured_context"]
        assert (row["heads_sampled"], row["seed"]) == ("300", "0")
        assert int(row["heads_sampled"]) < int(models[model]["layers"]) * int(models[model]["query_heads"])
        assert model in row["path"]
    facts = {row["fact"]: row["printed"] for row in rows("published_facts")}
    for model in ("llama3.1-8b", "llama3.2-1b", "llama3.2-3b", "llama3.2-11b"):
        assert float(settings[model]["factor"]) == float(facts[f"rope_factor_{model}"])
    assert {row["scaled_by"] for model, row in settings.items() if model.startswith("qwen3")} == {"capture"}


def test_facts_name_repository_commit_and_file() -> None:
    for row in rows("script_facts"):
        assert row["repository"].startswith("arXiv") or re.fullmatch(r"[0-9a-f]{40}", row["commit"]), row["fact"]
        assert row["path"]
        assert row["does"] != row["consequence"]
