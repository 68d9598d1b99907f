"""The anchoring experiment: marked tokens, attention cut in all layers or layer by layer, planted known answers."""

import dataclasses
import io
import re
import types
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from boundpaper.errors import DataError
from boundpaper.store.paths import SCHEMA
from boundpaper.store.table_file import table_text

pytest.importorskip("torch")
pytest.importorskip("sklearn")

from sklearn.metrics import roc_auc_score

import anchoring_planted as planting
import models_tiny
from keyquery.experiments import anchoring
from keyquery.experiments._anchoring.data import LENGTH, AnswerSample, SampleSplit, plant_statements
from keyquery.experiments._anchoring.probe import auroc, auroc_by_layer, summary, train_probes
from keyquery.experiments._anchoring.states import MarkedSample, mark_question, states_at_end
from keyquery.measure.rows import frame
from keyquery.measure.subject import Options
from keyquery.models.interventions import Intervention, applied

pytestmark = pytest.mark.models
SMALL = {"train": 240, "test": 120}


@pytest.fixture(autouse=True)
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keyquery.experiments._anchoring.groups.DRAWS", 200)


def table(rows: Any) -> pd.DataFrame:
    results = frame(rows, "rope", "fp32")
    assert not results.duplicated(["condition", "layer", "seed", "metric"]).any()
    return results


def values(results: pd.DataFrame, condition: str, metric: str) -> np.ndarray:
    selected = results[(results["condition"] == condition) & (results["metric"] == metric)].sort_values("layer")
    assert len(selected), f"no {condition} {metric}"
    return selected["value"].to_numpy()


# Tokens


def test_marked_finds_question_and_answer_tokens_and_equally_many_controls() -> None:
    sample = AnswerSample("u", "w4 w5 w6 w7 w8 w9 w10 w11", ((9, 14),), (15, 17), True)  # w7 w8, then w9
    marks = mark_question(planting.words(), sample, seed=3)
    assert marks.ids == (1, 4, 5, 6, 7, 8, 9)  # up to the last token of the answer
    assert marks.question == (4, 5)
    assert len(marks.control) == 2
    assert set(marks.control) <= {1, 2, 3}
    assert mark_question(planting.words(), sample, seed=3) == marks
    assert mark_question(planting.words(), sample, seed=3, read="end").ids == (1, *range(4, 12))
    around = AnswerSample("u", "w4 w5 w6 w7 w8 w9 w10 w11", ((9, 14),), (15, 17), True, filler=(0, 5))
    assert marks.filler == ()
    assert mark_question(planting.words(), around, seed=3).filler == (1, 2)
    crowded = AnswerSample("u", "w4 w5 w6 w7", ((0, 8),), (9, 11), True)
    assert mark_question(planting.words(), crowded, seed=3).control == ()


def test_question_tokens_are_found_when_the_tokenizer_joins_space_and_word() -> None:
    text = "Question: Who wrote Emma?\nAnswer: Jane Austen"
    tokenizer = planting.byte_level([text])
    span = (text.index("Emma"), text.index("Emma") + 4)
    answer = (text.index("Jane"), len(text))
    marks = mark_question(tokenizer, AnswerSample("u", text, (span,), answer, True), seed=0)
    assert tokenizer.decode([marks.ids[index] for index in marks.question]).strip() == "Emma"
    assert tokenizer.decode(marks.ids).endswith("Austen")
    assert 0 not in marks.control


def test_tokenizer_without_a_beginning_token_is_refused() -> None:
    with pytest.raises(DataError, match="beginning token"):
        mark_question(planting.words(begin=False), AnswerSample("u", "w4 w5 w6", ((0, 2),), (6, 8), True), seed=0)


def test_blocked_question_tokens_still_see_each_other() -> None:
    mask = MarkedSample((1, 4, 5, 6, 7), (1, 3), ()).blocked((1, 3), 5)
    assert mask.tolist() == [
        [False] * 5,
        [False] * 5,
        [False, True, False, False, False],
        [False] * 5,  # a token of the question itself
        [False, True, False, True, False],
    ]


# States


@pytest.mark.parametrize("name", ["llama", "ministral", "qwen3", "gemma3"])
def test_attention_cut_in_all_layers_at_once_equals_cuts_layer_by_layer(name: str) -> None:
    model = models_tiny.built(name)
    samples = [MarkedSample((1, *range(4 + shift, 16 + shift)), (3, 4, 6), (2, 5, 8)) for shift in range(4)]
    all_layers = states_at_end(model, samples, lambda sample: sample.question)
    assert all_layers.shape[:2] == (4, 3)
    for layer in range(3):
        up_to_layer = states_at_end(model, samples, lambda sample: sample.question, layers=tuple(range(layer + 1)))
        assert np.array_equal(up_to_layer[:, layer], all_layers[:, layer])
    untouched = states_at_end(model, samples)
    assert np.abs(untouched - all_layers).max() > 1e-2
    assert np.abs(states_at_end(model, samples, lambda sample: sample.control) - all_layers).max() > 1e-2


def test_states_equal_a_plain_forward_for_any_batch() -> None:
    import torch

    model = models_tiny.built("llama")
    samples = [MarkedSample((1, *range(4, 4 + length)), (2,), ()) for length in (9, 4, 13)]
    together = states_at_end(model, samples, tokens=20)
    assert np.allclose(together, states_at_end(model, samples), atol=1e-5)
    for sample, vectors in zip(samples, together, strict=True):
        with torch.no_grad():
            plain = model(torch.tensor([sample.ids]), output_hidden_states=True).hidden_states
        assert np.allclose(vectors[:-1], [layer[0, -1] for layer in plain[1:-1]], atol=1e-5)
        normed = model.model.norm(torch.tensor(vectors[-1]))  # the last entry follows the final norm
        assert torch.allclose(normed, plain[-1][0, -1], atol=1e-5)


# Planted models


def test_answer_without_context_is_answer_anchored_and_loses_nothing() -> None:
    subject = planting.subject()
    without_attention = Intervention("attention", "zero")
    with applied(subject.model, [without_attention]):
        results = table(anchoring.measure(subject, Options(), **SMALL))
    for split in ("all/all", "layer/answer", "design/question", "design/answer"):
        assert (values(results, f"planted/{split}", "delta_p") == 0).all()
        assert (values(results, f"planted/{split}", "control") == 0).all()
    assert (values(results, "planted/all/all", "question_share") == 0).all()
    empty = results[(results["condition"] == "planted/layer/question") & (results["metric"] == "delta_p")]
    assert (empty["n"] == 0).all()
    assert (empty["reason"] != "").all()
    # a truth that the answer shows is still found, and one that needs the question is not
    assert (values(results, "planted/probe/all", "auroc") > 0.6).all()
    assert (values(results, "planted/probe/question", "auroc") < 0.95).all()
    lower_bounds = results[(results["condition"] == "planted/probe/question") & (results["metric"] == "auroc_low")]
    reason = re.compile(r"a bootstrap over 1\d units covers less than it says")
    assert all(map(reason.fullmatch, lower_bounds["reason"]))


@pytest.fixture(scope="module")
def product() -> pd.DataFrame:
    """Return rows of a model whose first two blocks multiply a feature of the question by a feature of the answer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("keyquery.experiments._anchoring.groups.DRAWS", 200)
        return table(anchoring.measure(planting.subject(), Options(seeds=(0, 1)), **SMALL))


def test_truth_that_needs_question_and_answer_is_lost_without_the_question(product: pd.DataFrame) -> None:
    assert values(product, "planted/probe/question", "auroc")[0] < 0.65  # the first block computes no product
    for layer in (1, 2):
        assert values(product, "planted/probe/question", "auroc_low")[layer] > 0.99
        assert values(product, "planted/design/question", "delta_p_high")[layer] < -25
        assert values(product, "planted/design/question", "question_share")[layer] > 25
        assert values(product, "planted/design/answer", "question_share")[layer] < 5
        assert abs(values(product, "planted/design/answer", "delta_p")[layer]) < 5
        for kind in ("question", "answer"):
            for control in ("control", "filler"):
                assert abs(values(product, f"planted/design/{kind}", control)[layer]) < 2
        assert values(product, "planted/design/question", "excess_high")[layer] < -25
    assert set(values(product, "planted/seed/all", "reference_layer")) <= {1, 2}


def test_groups_partition_the_samples_and_units_count_once(product: pd.DataFrame) -> None:
    total = 2 * SMALL["test"]
    for split in ("layer", "reference", "half", "design"):
        counts = [values(product, f"planted/{split}/{kind}", "samples") for kind in ("question", "answer")]
        assert (np.add(*counts) == total).all()
    everything = product[(product["condition"] == "planted/all/all") & (product["metric"] == "delta_p")]
    assert (everything["n"] <= planting.SUBJECTS).all()
    flipped = values(product, "planted/layer/question", "delta_p_high")
    assert np.isfinite(flipped[1:]).all()
    assert (flipped[np.isfinite(flipped)] < 0).all()  # by construction
    assert (values(product, "planted/layer/answer", "delta_p_low") >= -50).all()  # by construction


def test_the_rows_can_be_saved(product: pd.DataFrame, tmp_path: Path) -> None:
    from keyquery.measure.measurements import save

    (tmp_path / "artifacts").mkdir()
    (tmp_path / SCHEMA).write_text("name: measured\ntitle: Measured\nresources: []\n")
    [path] = save(tmp_path, {"anchoring": product}, "planted", {"thresholds": anchoring.SETTINGS})
    assert len(pd.read_csv(io.StringIO(table_text(path)))) == len(product)
    assert anchoring.file_name("m") == "m"
    assert anchoring.file_name("m", data="popqa") == "m-popqa"


def test_planted_statements_never_share_a_name_between_training_and_test() -> None:
    subject = planting.subject()
    split = plant_statements(subject, 60, 30, seed=1)
    assert len(split.train) == 60
    assert len(split.test) == 30
    assert all(len(sample.text.split()) == LENGTH - 1 for sample in split.test)
    assert {sample.unit for sample in split.train}.isdisjoint(sample.unit for sample in split.test)
    false_by_answer = [sample for sample in split.test if sample.kind == "answer"]
    assert false_by_answer
    assert not any(sample.right for sample in false_by_answer)
    for sample in split.test:
        [(start, end)] = sample.question
        assert sample.text[start:end] == f"{sample.unit} is"
        assert end + 1 == sample.answer[0]
        assert sample.text[: sample.filler[1]].split() == sample.text.split()[: LENGTH - 6]
    with pytest.raises(DataError, match="both in the training and in the test"):
        SampleSplit(split.train, split.train)


def test_only_statements_about_names_that_the_model_knows_are_kept() -> None:
    subject = planting.subject()
    split = plant_statements(subject, 60, 30, seed=1, known=True)
    units = {sample.unit for sample in (*split.train, *split.test)}
    assert {int(unit.removeprefix("s")) % 2 for unit in units} == {0}  # names whose object is the first of the two
    assert len(units) <= split.known < split.asked <= planting.SUBJECTS
    rows = anchoring.measure(subject, Options(), known=True, train=60, test=30)
    [share] = values(table(rows), "planted/seed/all", "known_share")
    assert 40 < share < 60
    mute = dataclasses.replace(subject, book=planting.Statements(objects=False))
    with pytest.raises(DataError, match="do not list the possible objects"):
        plant_statements(mute, 60, 30, seed=1, known=True)
    with pytest.raises(DataError, match="known = true only applies to planted statements"):
        anchoring.measure(subject, Options(), data="popqa", known=True)


def test_single_class_answers_and_models_without_statements_are_refused() -> None:
    samples = tuple(AnswerSample(str(number), "w4 w5", ((0, 2),), (3, 5), True) for number in range(12))
    with pytest.raises(DataError, match="two right and two wrong"):
        SampleSplit(samples[:6], samples[6:])
    silent = types.SimpleNamespace(name="Latin", tasks=lambda: ("passkey",))
    with pytest.raises(DataError, match="planted statements do not exist in Latin; give --data popqa"):
        plant_statements(dataclasses.replace(planting.subject(), book=silent), 20, 10, 0)
    with pytest.raises(DataError, match="too few"):
        anchoring.measure(planting.subject(), Options(), train=2, test=2)
    with pytest.raises(DataError, match="another --data"):
        anchoring.measure(planting.subject(), Options(), data_file="x.jsonl", **SMALL)


# Statistics


def test_summary_averages_units_not_samples() -> None:
    values_by_sample = np.array([[1.0], [1.0], [1.0], [5.0], [np.nan]])
    intervals = summary(values_by_sample, np.array([0, 0, 0, 1, 2]), np.ones((5, 1), dtype=bool), 500)
    assert intervals.mean[0] == 3
    assert intervals.sd[0] == pytest.approx(np.sqrt(8))
    assert (intervals.n[0], intervals.samples[0]) == (2, 4)
    low, high = stats.t.interval(0.95, 1, 3, 2)
    assert (intervals.low[0], intervals.high[0]) == pytest.approx((low, high))
    none = summary(values_by_sample, np.array([0, 0, 0, 1, 2]), np.zeros((5, 1), dtype=bool), 50)
    assert none.n[0] == 0
    assert np.isnan(none.mean[0])


def test_summary_interval_is_that_of_the_mean() -> None:
    sample = np.random.default_rng(0).normal(7, 2, (400, 1))
    intervals = summary(sample, np.arange(400), np.ones((400, 1), dtype=bool), 2000)
    half = 1.96 * sample.std(ddof=1) / 20
    assert intervals.low[0] == pytest.approx(sample.mean() - half, abs=0.05)
    assert intervals.high[0] == pytest.approx(sample.mean() + half, abs=0.05)


@pytest.mark.parametrize("units", [3, 8])
def test_summary_interval_of_few_units_is_students(units: int) -> None:
    sample = np.random.default_rng(units).normal(7, 2, (units, 2))
    intervals = summary(sample, np.arange(units), np.ones(sample.shape, dtype=bool), 200)
    low, high = stats.t.interval(0.95, units - 1, sample.mean(axis=0), stats.sem(sample))
    assert intervals.low == pytest.approx(low)  # for comparison, a bootstrap of 3 or 8 units covers .76 and .88
    assert intervals.high == pytest.approx(high)


def test_summary_interval_needs_spread_and_stays_within_bounds() -> None:
    values_by_unit = np.array([[0.0, 4.0], [100.0, 4.0], [100.0, 4.0]])
    intervals = summary(values_by_unit, np.arange(3), np.ones((3, 2), dtype=bool), 50, (0.0, 100.0))
    assert (intervals.low[0], intervals.high[0]) == (0, 100)
    assert np.isnan([intervals.low[1], intervals.high[1]]).all()
    alone = summary(values_by_unit[:1], np.arange(1), np.ones((1, 2), dtype=bool), 50)
    assert np.isnan([alone.low, alone.high, alone.sd]).all()


def test_auroc_of_few_units_has_no_interval() -> None:
    scores = np.arange(24.0)[:, None]
    right = np.arange(24) % 3 == 0
    for units, has_interval in ((19, False), (20, True)):
        value, low, high = auroc(scores, right, np.arange(24) % units, 50)
        assert np.isfinite(value[0])
        assert np.isfinite([low[0], high[0]]).tolist() == [has_interval, has_interval]


def test_auroc_matches_scikit_learn_with_ties() -> None:
    rng = np.random.default_rng(1)
    right = rng.random(200) < 0.4
    scores = np.round(rng.normal(size=(200, 2)) + right[:, None] * [[0.0, 1.5]], 1)
    expected = [roc_auc_score(right, scores[:, layer]) for layer in range(2)]
    assert auroc_by_layer(scores, right) == pytest.approx(expected)
    value, low, high = auroc(scores, right, np.arange(200), 300)
    assert value == pytest.approx(expected)
    assert low[0] < 0.5 < high[0]
    assert low[1] > 0.5
    assert np.isnan(auroc(scores, np.ones(200, dtype=bool), np.arange(200), 10)[0]).all()


def test_probes_match_scikit_learn_on_standardised_states() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(2)
    states = rng.normal(3, [1, 10, 0.1], (150, 2, 3)).astype(np.float32)
    right = states[:, 0, 0] + rng.normal(size=150) > 3
    probability = train_probes(states, right, 0.5).probability(states)
    for layer in range(2):
        pipeline = make_pipeline(StandardScaler(), LogisticRegression(C=0.5, max_iter=2000))
        expected = pipeline.fit(states[:, layer].astype(float), right).predict_proba(states[:, layer].astype(float))[
            :, 1
        ]
        assert probability[:, layer] == pytest.approx(expected, abs=1e-6)
