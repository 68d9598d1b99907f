"""RULER scores measured by this project: the models that correlations include, and tables with these scores."""

import pandas as pd
import pytest

from analysis.studies.measured import rulers as study
from boundpaper.tables import render as _render
from committed import FAMILIES, artifact
from keyquery.scores.ruler import needles as ruler_needles
from keyquery.scores.ruler.scores import MEAN, TASKS, Score, tabulate
from tables.benchmarks import ruler_correlations, ruler_scores

LENGTHS = ("4k", "8k", "16k", "32k", "64k", "128k")


def score_rows(model, scores, tasks=TASKS, mean=MEAN, role="model", data="RULER", checkpoint=None):
    """Return rows in the format of a measurement, with the same score for every task."""
    cells = [Score(task=task, length=length, value=value, n=40) for length, value in scores.items() for task in tasks]
    rows = tabulate(cells, tasks, mean).assign(data=data, checkpoint=checkpoint or model, role=role)
    return rows.assign(model=model)


FALLING = dict(zip(LENGTHS, (97.0, 80.0, 90.0, 70.0, 60.0, 50.0), strict=True))


@pytest.fixture(scope="module")
def frames():
    """Return rows, scores by length, and models: a new one, a published one, a null reference, an incomplete one."""
    scores = [Score(task=task, length="128k", value=40.0, n=40) for task in TASKS[:-1]]
    incomplete = tabulate(scores, TASKS, MEAN)
    rows = pd.concat(
        [
            score_rows("qwen3-1.7b", FALLING, checkpoint="Qwen/Qwen3-1.7B"),
            score_rows("qwen3-4b", FALLING, checkpoint="Qwen/Qwen3-4B"),
            score_rows("random", FALLING, role="null reference"),
            incomplete.assign(data="RULER", checkpoint="other/Llama", role="model", model="llama3.2-1b"),
            score_rows("qwen3-1.7b", {"4k": 100.0}, ruler_needles.TASKS, ruler_needles.MEAN, data="needles in noise"),
        ],
        ignore_index=True,
    )
    lengths = study.measured_ruler_lengths(rows, artifact("models"))
    models = study.measured_ruler_models(
        rows, lengths, artifact("model_metrics"), artifact("captured_models"), artifact("models")
    )
    return rows, lengths, models


def test_only_a_model_with_new_data_enters_the_correlations(frames):
    *_, models = frames
    by_model = models.set_index("model")
    assert list(models.loc[models["enters"], "model"]) == ["qwen3-1.7b"]
    assert by_model.loc["qwen3-1.7b", "checkpoint_match"] == "same checkpoint"
    assert by_model.loc["qwen3-1.7b", "plasticity_origin"] == "reported"
    assert by_model.loc["qwen3-1.7b", "ruler_128k"] == 50, "needle rates are not RULER scores"
    assert by_model.loc["qwen3-1.7b", "effective_length"] == 16384
    assert by_model.loc["qwen3-1.7b", "effective_length_unbroken"] == 4096
    assert "published score" in by_model.loc["qwen3-4b", "note"]
    assert by_model.loc["random", "note"].startswith("null reference")
    assert "no mean of the 13 tasks at 128K" in by_model.loc["llama3.2-1b", "note"]
    assert by_model.loc["llama3.2-1b", "checkpoint_match"] == "meta-llama/Llama-3.2-1B captured, other/Llama scored"


def test_needle_scores_alone_do_not_count():
    rows = score_rows("qwen3-1.7b", {"4k": 100.0}, ruler_needles.TASKS, ruler_needles.MEAN, data="needles in noise")
    lengths = study.measured_ruler_lengths(rows, artifact("models"))
    models = study.measured_ruler_models(
        rows, lengths, artifact("model_metrics"), artifact("captured_models"), artifact("models")
    )
    assert not models["enters"].any()
    assert models["note"].iloc[0].startswith("needles in noise only")
    assert models["ruler_128k"].isna().all()


def test_correlations_include_the_measured_model_and_name_it(frames):
    *_, models = frames
    captured = artifact("captured_models")
    tests = study.ruler_correlations_measured(models, captured, FAMILIES)
    published = captured["ruler_128k"].notna().sum()
    overall = tests[(tests["comparison"] == "ap_overall") & (tests["test"] == "pearson")].iloc[0]
    assert overall["n"] == published + 1
    both = captured.loc[captured["ruler_128k"].notna() | (captured["model"] == "qwen3-1.7b")]
    scores = both["ruler_128k"].fillna(50.0)
    assert overall["estimate"] == pytest.approx(both["ap_overall"].corr(scores))
    assert "measured: Qwen3-1.7B" in overall["note"]
    assert "random (null reference)" in overall["note"]
    assert "measured by this project" in overall["note"], "the note says who scored the model"
    alone = study.ruler_correlations_measured(models.assign(enters=False), captured, FAMILIES)
    reported = artifact("ruler_correlations")
    columns = ["comparison", "test", "n", "estimate", "p_value"]
    pd.testing.assert_frame_equal(alone[columns], reported[columns], check_dtype=False, rtol=1e-6)


def test_tables_list_measured_models_separately_with_a_mark(frames):
    _, lengths, models = frames
    table = ruler_scores.table(artifact("ruler_summary"), artifact("ruler_lengths"), lengths, models)
    text = _render.render(table, "ruler_scores", "markdown")
    published, _, measured_part = text.partition("Measured by this project, mean of the 13 tasks")
    assert "Qwen3-1.7B" not in published
    row = next(line for line in measured_part.split("\n") if "Qwen3-1.7B" in line)
    assert "<sup>" in row
    assert [cell.strip() for cell in row.split("|")[2:8]] == ["97.0", "80.0", "90.0", "70.0", "60.0", "50.0"]
    assert "16K" in row
    noise = measured_part.partition("needles in generated noise, no RULER score")[2]
    assert "100.0" in next(line for line in noise.split("\n") if "Qwen3-1.7B" in line)
    assert "A network with random weights, the null reference" in text
    assert "a length shorter than the effective one is not above the threshold" in text
    assert "No mean, since a task is missing: 128K" in text
    captured = artifact("captured_models")
    measured_tests = study.ruler_correlations_measured(models, captured, FAMILIES)
    signs = artifact("ruler_correlation_signs")
    reported = artifact("ruler_correlations")
    full = artifact("ruler_correlations_full_context")
    table = ruler_correlations.table(reported, full, signs, captured, measured_tests, models)
    text = _render.render(table, "ruler_correlations", "markdown")
    assert "All of them and the models that this project scored, 6 in all" in text
    assert "Qwen3-1.7B enters the last group only (same checkpoint, plasticity reported over 131,072 tokens)" in text
    assert "random stays outside (null reference)" in text
