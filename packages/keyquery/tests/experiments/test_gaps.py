"""Ablated heads, kinds of text and changes of the top key, measured on models with planted answers."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import models_planted as planted
from boundpaper.errors import DataError
from keyquery.experiments import head_ablation, softmax_globality, text_kinds
from keyquery.measure.evaluation import BASELINE
from keyquery.measure.heads import captured
from keyquery.measure.heads.finding import HeadResult
from keyquery.measure.rows import Row
from keyquery.measure.subject import Options, Subject
from keyquery.models.checkpoints.loading import ModelSource, load
from keyquery.models.surveys.forward import SurveyOptions, survey_text
from models_planted import PlantedBook, only_row

pytestmark = pytest.mark.models

OPTIONS = Options(texts=2, items=4, seeds=(0, 1))
LENGTH = 32


@dataclasses.dataclass(frozen=True)
class TwoKinds(PlantedBook):
    """A book whose two kinds have equal texts: any effect of the kind is measurement noise."""

    def kinds(self) -> tuple[str, ...]:
        return ("one", "other")


def on_disk(model: Any, folder: Path, **changes: Any) -> Subject:
    """Return a subject that can be captured: its model is saved in a folder."""
    model.save_pretrained(folder / "planted")
    planted.tokenizer().save_pretrained(folder / "planted")
    source = ModelSource(str(folder / "planted"), device="cpu")
    loaded = load(source)
    fields = {"source": source, "folder": folder / "out/answers", "facts": loaded.facts, "training_length": LENGTH}
    return planted.subject(loaded.model, **(fields | changes))


def one_writing_head() -> Any:
    """Return a two-layer model in which only one head, in layer 1, writes anything."""
    model = planted.model(layers=2)
    with torch.no_grad():
        model.model.layers[0].self_attn.o_proj.weight.zero_()
        model.model.layers[1].self_attn.o_proj.weight[:, 8:] = 0
    return model


# Ablated heads ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ablated() -> tuple[Subject, list[Row], list[tuple[int, int]]]:
    """Return a subject, rows of its ablations, and four heads in assumed order of plasticity; only the last writes."""
    subject = planted.subject(one_writing_head())
    order = [(0, 3), (0, 0), (1, 2), (1, 0)]
    return subject, head_ablation._ablation_rows(subject, OPTIONS, order), order


def test_ablating_heads_has_an_effect_only_for_the_head_that_writes(ablated: Any) -> None:
    _, rows, _ = ablated
    planted.assert_unique_with_reasons(rows)
    assert only_row(rows, "delta_nats", condition="lowest:1")["value"] == 0
    assert only_row(rows, "delta_nats", condition="lowest:2")["value"] == 0
    assert abs(only_row(rows, "delta_nats", condition="highest:1")["value"]) > 1e-3
    alone, with_silent_head = (only_row(rows, "delta_nats", condition=f"highest:{count}")["value"] for count in (1, 2))
    assert alone == pytest.approx(with_silent_head, abs=1e-9)
    assert {r["value"] for r in rows if r["metric"] == "heads" and r["condition"] == "highest:2"} == {2}
    assert {r["seed"] for r in rows if r["metric"] == "passkey_accuracy"} == {0}


def test_without_items_ablated_heads_are_judged_by_the_loss_alone(ablated: Any) -> None:
    subject, rows, order = ablated
    loss_rows = head_ablation._ablation_rows(subject, dataclasses.replace(OPTIONS, items=0), order)
    assert loss_rows == [row for row in rows if row["metric"] != "passkey_accuracy"]


def test_random_head_ablation_has_an_effect_only_when_it_includes_the_writing_head(ablated: Any) -> None:
    _, rows, order = ablated
    draws = [r for r in rows if r["metric"] == "delta_nats" and r["condition"] == "random:1"]
    assert len(draws) == head_ablation.DRAWS
    effect = only_row(rows, "delta_nats", condition="highest:1")["value"]
    assert all(r["value"] == 0 or r["value"] == pytest.approx(effect, abs=1e-9) for r in draws)
    hits = sum(r["value"] != 0 for r in draws)
    assert 0 < hits < len(draws)
    random = np.random.default_rng(0)
    picks = [order[random.choice(4, 1, replace=False)[0]] for _ in draws]
    assert hits == sum(head == (1, 0) for head in picks)


def test_head_ablation_equals_zeroing_its_output_projection_columns(ablated: Any) -> None:
    """With grouped queries, only one query head is removed; the other query head of its key head stays."""
    subject = planted.subject(planted.model(layers=2))
    condition = head_ablation._ablation(subject, "x", [(1, 2)])
    without_head = head_ablation._condition_rows(subject, OPTIONS, condition, "", 1)
    by_hand = planted.model(layers=2)
    with torch.no_grad():
        by_hand.model.layers[1].self_attn.o_proj.weight[:, 16:24] = 0
    expected = head_ablation._condition_rows(planted.subject(by_hand), OPTIONS, BASELINE, "", None)
    baseline = head_ablation._condition_rows(subject, OPTIONS, BASELINE, "", None)
    tokens = [text.tokens for text in subject.texts(OPTIONS)]
    nats = []
    for model in (by_hand, planted.model(layers=2)):
        with torch.inference_mode():
            text_losses = [model(input_ids=ids, labels=ids).loss for ids in tokens]
        nats.append(float(torch.stack(text_losses).mean()))
    assert only_row(without_head, "delta_nats", condition="x")["value"] == pytest.approx(nats[0] - nats[1], abs=1e-5)
    assert abs(nats[0] - nats[1]) > 1e-3
    assert only_row(expected, "delta_nats", condition="baseline")["value"] == 0
    accuracies = [
        only_row(rows, "passkey_accuracy", condition="baseline", seed=0)["value"] for rows in (baseline, expected)
    ]
    assert all(0 <= accuracy <= 1 for accuracy in accuracies)


def test_plasticity_ranks_need_two_heads_with_a_plasticity() -> None:
    subject = planted.subject(one_writing_head())
    heads = [HeadResult(0, number, 0, "") for number in range(3)]
    for number, head in enumerate(heads):
        head.set_value("ap_last_20", 0.5 - number / 10)
    assert head_ablation._heads_by_plasticity(subject, heads) == [(0, 2), (0, 1), (0, 0)]
    for head in heads[1:]:
        head.metrics.clear()
        head.mark_missing(("ap_last_20",), "3 queries, 30 needed")
    with pytest.raises(DataError, match=r"planted: only 1 of 3 heads have a plasticity.* \(3 queries, 30 needed\)"):
        head_ablation._heads_by_plasticity(subject, heads)


def test_model_in_memory_is_refused_with_the_way_to_capture_it() -> None:
    with pytest.raises(DataError, match="save it to a folder first"):
        head_ablation.measure(planted.subject(one_writing_head()), OPTIONS)


# Captures, shared by the tests below since they are slow --------------------------------------------------------


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subject]:
    """Return a subject with random weights in which layer 1 attends uniformly, since its queries are zero."""
    model = planted.model(layers=2)
    with torch.no_grad():
        model.model.layers[1].self_attn.q_proj.weight.zero_()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(captured, "DOCUMENTS", 40)  # this many queries per bin, of which 30 are needed
        yield on_disk(model, tmp_path_factory.mktemp("gaps"), book=TwoKinds())


def test_equal_texts_of_different_kinds_give_equal_rows(stored: Subject) -> None:
    rows = text_kinds.measure(stored, OPTIONS)
    planted.assert_unique_with_reasons(rows)
    kinds = [[r | {"condition": ""} for r in rows if r["condition"] == kind] for kind in ("one", "other")]
    assert kinds[0] == kinds[1]
    assert {(r["layer"], r["head"]) for r in kinds[0] if r["layer"] is not None} == {
        (layer, head) for layer in (0, 1) for head in range(4)
    }
    for metric in text_kinds.METRICS:
        mean = only_row(kinds[0], metric)
        head_values = [r["value"] for r in kinds[0] if r["metric"] == metric and r["layer"] is not None and r["n"]]
        assert mean["n"] == len(head_values)
        assert mean["value"] == (pytest.approx(np.mean(head_values)) if head_values else None)


def test_heads_without_a_value_state_the_reason(stored: Subject) -> None:
    """Heads with zero queries prefer no key, so their plasticity is missing with a reason."""
    heads = {(finding.layer, finding.head): finding for finding in captured.findings(stored, OPTIONS, "one")}
    rows = [r for r in text_kinds.measure(stored, OPTIONS) if r["condition"] == "one"]
    for (layer, head), finding in heads.items():
        for metric in text_kinds.METRICS:
            row = only_row(rows, metric, condition="one", layer=layer, head=head)
            assert row["value"] == (pytest.approx(finding.metrics[metric]) if metric in finding.metrics else None)
            assert row["reason"] == finding.reasons.get(metric, "")
    for head in range(4):
        missing = only_row(rows, "ap_overall", condition="one", layer=1, head=head)
        assert (missing["value"], missing["n"], missing["reason"]) == (None, 0, "no query bin has a value")
        assert only_row(rows, "bias_strength", condition="one", layer=1, head=head)["value"] == 0
        assert 0.5 < only_row(rows, "ap_overall", condition="one", layer=0, head=head)["value"] <= 1
    assert only_row(rows, "ap_overall", condition="one")["n"] == 4, "the mean covers heads with a value"


def test_comparing_a_single_text_kind_is_refused(stored: Subject) -> None:
    with pytest.raises(DataError, match="leave --texts out"):
        text_kinds.measure(dataclasses.replace(stored, book=PlantedBook()), OPTIONS)
    with pytest.raises(DataError, match="leave --texts out"):
        text_kinds.measure(stored, dataclasses.replace(OPTIONS, texts_from="any.txt"))


def test_uniform_attention_never_changes_its_top_key(stored: Subject) -> None:
    """Ties go to the first key. In the other layer, changes of the top key equal those in the attention weights."""
    rows = softmax_globality.measure(stored, OPTIONS)
    planted.assert_unique_with_reasons(rows)
    for head in range(4):
        assert only_row(rows, "top_changes", layer=1, head=head)["value"] == 0
        assert only_row(rows, "top_first", layer=1, head=head)["value"] == 1
    changes = np.zeros(4)
    first = np.zeros(4)
    texts = stored.texts(OPTIONS)
    stored.model.set_attn_implementation("eager")
    for text in texts:
        with torch.inference_mode():
            weights = stored.model(input_ids=text.tokens, output_attentions=True).attentions[0][0]
        top = weights.argmax(-1).numpy()
        changes += (top[:, 1:] != top[:, :-1]).mean(1) / len(texts)
        first += (top[:, 1:] == 0).mean(1) / len(texts)
    stored.model.set_attn_implementation("sdpa")
    for head in range(4):
        assert only_row(rows, "top_changes", layer=0, head=head)["value"] == pytest.approx(changes[head])
        assert only_row(rows, "top_changes", layer=0, head=head)["n"] == len(texts)
        assert only_row(rows, "top_first", layer=0, head=head)["value"] == pytest.approx(first[head])
    assert changes.max() > 0.1
    assert {(r["layer"], r["head"]) for r in rows if r["metric"] == "ap_overall"} == {
        (layer, head) for layer in (0, 1) for head in range(4)
    }


def test_four_bit_model_is_captured_as_loaded(tmp_path: Path) -> None:
    pytest.importorskip("bitsandbytes")
    model = planted.model(layers=1, hidden_size=64, intermediate_size=128)
    model.save_pretrained(tmp_path / "m")
    planted.tokenizer().save_pretrained(tmp_path / "m")
    source = ModelSource(str(tmp_path / "m"), dtype="bf16", quantize="nf4", device="cpu")
    loaded = load(source)
    fields = {"source": source, "folder": tmp_path / "out/answers", "facts": loaded.facts, "precision": "nf4"}
    subject = planted.subject(loaded.model, training_length=LENGTH, **fields)
    rows = softmax_globality.measure(subject, Options(texts=1))
    planted.assert_unique_with_reasons(rows)
    assert captured.open_or_capture(subject, Options(texts=1)).manifest["settings"]["quantization"]["type"] == "nf4"
    survey = survey_text(loaded.model, subject.texts(Options(texts=1))[0].tokens, SurveyOptions(bos=planted.BOS))
    assert only_row(rows, "top_changes", layer=0, head=1)["value"] == survey.top_changes[0, 1]


# Captures belong to their model and texts -------------------------------------------------------------------------


def test_retrained_model_is_captured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(captured, "DOCUMENTS", 2)
    before = captured.open_or_capture(on_disk(planted.model(layers=1), tmp_path), OPTIONS)
    changed = on_disk(planted.massive(planted.model(layers=1), 0, "q", 0, 3), tmp_path)
    after = captured.open_or_capture(changed, OPTIONS)
    assert before.root != after.root
    head = before.heads[0]
    assert not np.array_equal(before.queries(head).vectors, after.queries(head).vectors)
    file = tmp_path / "mine.txt"
    file.write_text(" ".join(["w3 w5 w7"] * 60))
    own_text = captured.open_or_capture(changed, dataclasses.replace(OPTIONS, texts_from=str(file)))
    assert own_text.root not in (before.root, after.root)
    assert list(changed.used.texts) == [file.name]
    with pytest.raises(DataError, match="needs texts of at least 16 tokens, not 8; give more --tokens"):
        captured.open_or_capture(changed, dataclasses.replace(OPTIONS, tokens=8))
