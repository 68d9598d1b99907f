"""LongBench Pro scores measured by this project: the models that correlations include, and tables with these scores."""

import numpy as np
import pandas as pd
import pytest

from analysis.studies.benchmarks import lbp_correlations
from analysis.studies.benchmarks.lengths import LENGTHS
from analysis.studies.measured import longbench as measured_longbench
from boundpaper.store.reader import read
from boundpaper.tables.render import render
from committed import FAMILIES
from conftest import ROOT
from tables.benchmarks import lbp_correlations as correlation_table
from tables.benchmarks import lbp_per_length
from tables.benchmarks import length_decline as decline_table

SCORES = dict(zip(LENGTHS, (50.0, 45.0, 40.0, 35.0, 30.0, 25.0), strict=True))


def scores_of(model, mode="nonthinking", scores=SCORES, **facts):
    """Return rows of one model and mode in the format of `bench lbp`."""
    values = {"overall": np.mean(list(scores.values())) if len(scores) == 6 else np.nan, **scores}
    rows = [
        {
            "model": model,
            "mode": mode,
            "slice": "overall" if key == "overall" else "length",
            "key": key,
            "metric": "lbp_rouge_t4",
            "value": value,
            "ci_low": value - 3,
            "ci_high": value + 3,
            "n": 750,
            "samples": 250,
            "data": "caskcsg/LongBench-Pro",
            "checkpoint": f"org/{model}",
            "role": "model",
            "reason": "" if value == value else "no predictions of some length",
            **facts,
        }
        for key, value in values.items()
    ]
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def sources():
    names = ("model_metrics", "captured_models", "matched_models", "models")
    return {name: read(ROOT, name) for name in names}


def study(sources, *blocks):
    lengths = measured_longbench.measured_lbp_lengths(pd.concat(blocks, ignore_index=True), sources["models"])
    return lengths, measured_longbench.measured_lbp_models(lengths, **sources)


@pytest.fixture(scope="module")
def tested(sources):
    """Return scores by length, models with their note, and tests, for one included model and a null reference."""
    rows = scores_of("llama3.2-1b"), scores_of("random-llama", role="null reference", data="smoke-set")
    lengths, correlated = study(sources, *rows)
    return (
        lengths,
        correlated,
        measured_longbench.lbp_correlations_measured(correlated, sources["matched_models"], FAMILIES),
    )


def test_lengths_are_in_order_with_display_names(sources):
    lengths, _ = study(sources, scores_of("qwen3-8b"), scores_of("qwen3-8b", mode="thinking"))
    assert list(lengths["length"]) == [*LENGTHS, "overall"] * 2
    assert set(lengths["display_name"]) == {"Qwen3-8B"}


@pytest.mark.parametrize(
    ("rows", "enters", "message"),
    [
        (scores_of("mistral-v0.2-7b"), True, ""),
        (scores_of("llama3.2-1b"), True, "r_k_a: no value; r_q_a: no value; plane_var: no value"),
        (scores_of("llama3.2-1b", role="null reference"), False, "null reference"),
        (scores_of("llama3.2-1b", data="smoke-set"), False, "scored on smoke-set, not on the benchmark's questions"),
        (scores_of("llama3.2-1b", mode="thinking"), False, "no overall score without thinking"),
        (scores_of("llama3.2-1b", scores={"8k": 50.0, "128k": 20.0}), False, "no overall score without thinking"),
        (scores_of("qwen3-8b"), False, "its published score is among the reported ones"),
        (scores_of("unheard-of"), False, "no capture of it was analysed; its family and size are not in the table"),
        (scores_of("random-llama"), False, "its family and size are not in the table of models"),
    ],
)
def test_each_model_is_included_or_excluded_with_a_reason(sources, rows, enters, message):
    _, correlated = study(sources, rows)
    [row] = correlated.to_dict("records")
    assert row["enters"] == enters
    assert str(row["note"]).startswith(message) if message else row["note"] == ""


def test_checkpoints_and_metrics_state_their_origin(sources):
    instruct = scores_of("qwen3-8b", checkpoint="Qwen/Qwen3-8B")
    base = scores_of("llama3.2-1b", checkpoint="meta-llama/Llama-3.2-1B-Instruct")
    null = scores_of("random-llama", checkpoint="random-llama", role="null reference")
    _, correlated = study(sources, instruct, base, null)
    table = correlated.set_index("model")
    assert table.loc["qwen3-8b", "checkpoint_match"] == "same checkpoint"
    captured = sources["captured_models"].set_index("model").loc["llama3.2-1b"]
    expected = f"{captured['captured_checkpoint']} captured, meta-llama/Llama-3.2-1B-Instruct scored"
    assert table.loc["llama3.2-1b", "checkpoint_match"] == expected
    assert list(table.loc[["llama3.2-1b", "random-llama"], "plasticity_origin"]) == ["reported", "measured"]
    assert table.loc["llama3.2-1b", "ap_drop"] == captured["ap_drop"]
    own_rows = sources["model_metrics"]
    own_rows = own_rows[(own_rows["model"] == "random-llama") & (own_rows["metric"] == "ap_drop")]
    assert table.loc["random-llama", "ap_drop"] == own_rows["value"].iloc[0]


def test_a_measured_model_enters_its_own_correlation(sources, tested):
    _, correlated, tests = tested
    counts = tests[tests["test"] == "pearson"].set_index("comparison")["n"]
    assert (counts["ap_drop"], counts["r_k_a"]) == (9, 8)  # the source has no rotation metrics of this model
    both = pd.concat(
        [sources["matched_models"][["lbp", "ap_drop"]], correlated.loc[correlated["enters"], ["lbp", "ap_drop"]]]
    )
    drop = tests[(tests["comparison"] == "ap_drop") & (tests["test"] == "pearson")].iloc[0]
    assert drop["estimate"] == pytest.approx(np.corrcoef(both["lbp"], both["ap_drop"])[0, 1])
    rotation = tests[(tests["comparison"] == "r_k_a") & (tests["test"] == "pearson")].iloc[0]
    assert "no value for Llama-3.2-1B" in rotation["note"]
    assert "measured: Llama-3.2-1B" in drop["note"]
    assert "measured and left out: random-llama (null reference)" in drop["note"]
    assert "guard mixed protocol: scores published" in drop["note"]
    assert "against measured (lbp_rouge_t4) (llama3.2-1b)" in drop["note"]


def test_extended_correlations_equal_the_published_ones_without_measured_models(sources):
    _, correlated = study(sources, scores_of("random-llama", role="null reference"))
    tests = measured_longbench.lbp_correlations_measured(correlated, sources["matched_models"], FAMILIES)
    extended = lbp_correlations.lbp_correlations_extended(sources["matched_models"], FAMILIES)
    assert np.allclose(tests["estimate"], extended["estimate"], equal_nan=True)
    assert all("measured: none" in note for note in tests["note"])


def test_declines_are_computed_and_missing_ones_have_a_note(sources):
    zero_scores = dict.fromkeys(LENGTHS, 0.0)
    lengths, correlated = study(
        sources,
        scores_of("llama3.2-1b"),
        scores_of("random-llama", scores=zero_scores),
        scores_of("unheard-of", scores={"8k": 9.0}),
    )
    table = measured_longbench.measured_decline(lengths, correlated).set_index("model")
    assert table.loc["llama3.2-1b", "decline"] == pytest.approx(1 - 30 / 50)
    assert table.loc["llama3.2-1b", "note"] == ""
    assert table.loc["random-llama", "note"] == "decline: the score at 8k is zero"
    assert table.loc["unheard-of", "note"] == (
        "lbp_128k: no score at this length; decline: one end is missing; "
        "ap_drop, captured_context: no capture of it was analysed"
    )


def test_tables_list_measured_models_separately(sources, tested):
    lengths, correlated, tests = tested
    decline = measured_longbench.measured_decline(lengths, correlated)
    names = (
        "published_lbp", "reported_reference_models", "reported_lbp_lengths", "reported_length_bins", "lbp_lengths",
    )  # fmt: skip
    tables = {name: read(ROOT, name) for name in (*names, "length_decline")}
    by_length = lbp_per_length.table(
        **{name: tables[name] for name in names}, matched_models=sources["matched_models"], measured_lbp_lengths=lengths
    )
    text = render(by_length, "lbp_per_length", "markdown")
    _, _, after = text.partition("*Score, without thinking, measured by this project*")
    assert "\n| Llama-3.2-1B<sup>" in after
    assert "(without thinking 250 samples); 95% intervals" in after
    assert "without thinking 34.50 to 40.50;" in after
    assert "random weights, the null reference. Measured by this project on the questions of smoke-set" in after
    declines = render(decline_table.table(tables["length_decline"], decline, lengths), "length_decline", "markdown")
    assert "40.0%" in declines
    assert "Below the rule: measured by this project" in declines
    reported = [read(ROOT, name) for name in ("lbp_correlations", "lbp_correlations_extended", "correlation_contrasts")]
    shown = render(correlation_table.table(*(*reported, tests, correlated)), "lbp_correlations", "markdown")
    assert "*These and the models that this project scored, 9 in all*" in shown
    assert "random-llama stays outside (null reference)" in shown


def test_score_on_other_questions_has_no_row_among_declines(sources):
    reported = read(ROOT, "length_decline")
    lengths, correlated = study(sources, scores_of("random-llama", role="null reference", data="smoke-set"))
    table = decline_table.table(reported, measured_longbench.measured_decline(lengths, correlated), lengths)
    assert len(table.rows) == reported["model"].nunique()
    shown = render(table, "length_decline", "markdown")
    assert "| random-llama" not in shown
    assert "and left out: random-llama (asked the questions of smoke-set)." in shown
    assert "Below the rule" not in shown
