"""Ablations of layers and of the beginning token, on models with planted answers."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import models_planted as planted
from keyquery.experiments import _bos_interventions as bos
from keyquery.experiments import bos_value, layer_ablation, sinks
from keyquery.experiments._masks import split_texts
from keyquery.measure.evaluation import Condition, losses
from keyquery.measure.rows import Row
from keyquery.measure.scores import loss_rows
from keyquery.measure.subject import Options, Subject
from keyquery.models.interventions import Intervention

pytestmark = pytest.mark.models

OPTIONS = Options(texts=3, items=2)
FEW = Options(texts=2, items=1)
TASKS = ("cities", "sports", "sentiment", "passkey")


def value(rows: list[Row], condition: str, metric: str, layer: int | None = None) -> Any:
    row = planted.only_row(rows, metric, condition=condition, layer=layer)
    assert (row["value"] is None) == (row["n"] == 0)
    return row["value"]


def reason(rows: list[Row], condition: str, metric: str = "perplexity", layer: int | None = None) -> str:
    assert value(rows, condition, metric, layer) is None
    return str(planted.only_row(rows, metric, condition=condition, layer=layer)["reason"])


def nats(subject: Subject, *interventions: Intervention) -> float:
    text_losses = losses(subject, subject.texts(OPTIONS), Condition("by hand", interventions))
    return sum(loss.nats for loss in text_losses) / sum(loss.tokens for loss in text_losses)


@pytest.mark.parametrize("module", [layer_ablation, sinks, bos_value])
def test_without_items_an_ablation_is_judged_by_the_loss_alone(module: Any) -> None:
    subject = planted.subject(planted.model(layers=2))
    rows = module.measure(subject, Options(texts=1, items=0))
    assert not any(row["metric"].endswith("accuracy") and row["n"] for row in rows)
    rows_with_items = module.measure(subject, Options(texts=1, items=1))
    deltas = [row for row in rows if row["metric"] == "delta_nats"]
    assert deltas
    assert all(row in rows_with_items for row in deltas)


@pytest.fixture(scope="module")
def planted_rows() -> tuple[Subject, list[Row]]:
    subject = planted.subject(planted.without_attention(planted.model(), 1))
    return subject, layer_ablation.measure(subject, OPTIONS)


def test_ablating_a_part_that_writes_nothing_changes_nothing(planted_rows: tuple[Subject, list[Row]]) -> None:
    rows = planted_rows[1]
    planted.assert_unique_with_reasons(rows)
    assert value(rows, "attention", "delta_nats", 1) == 0
    assert value(rows, "sweep_attention", "delta_nats", 1) == 0
    for task in TASKS:
        assert value(rows, "attention", f"{task}_accuracy", 1) == value(rows, "baseline", f"{task}_accuracy")
    assert value(rows, "both", "nats", 1) == value(rows, "mlp", "nats", 1)
    for layer in (0, 2):
        assert abs(value(rows, "sweep_attention", "delta_nats", layer)) > 1e-3
    for layer in range(3):
        assert abs(value(rows, "sweep_mlp", "delta_nats", layer)) > 1e-3
    assert value(rows, "attention", "delta_nats_sd", 1) == 0


def test_spread_of_an_effect_is_the_standard_deviation_over_texts(planted_rows: tuple[Subject, list[Row]]) -> None:
    subject, rows = planted_rows
    rows_by_text = [
        loss_rows(subject, [text], layer_ablation.ablation("mlp", 1, "mlp")) for text in subject.texts(OPTIONS)
    ]
    deltas = [next(r["value"] for r in text_rows if r["metric"] == "delta_nats") for text_rows in rows_by_text]
    assert value(rows, "mlp", "delta_nats_sd", 1) == pytest.approx(np.std(deltas, ddof=1), rel=1e-4)
    assert not [
        r for text_rows in rows_by_text for r in text_rows if r["metric"] == "delta_nats_sd"
    ]  # one text has no spread


def test_ablation_equals_zeroing_the_weights(planted_rows: tuple[Subject, list[Row]]) -> None:
    """Ablating a layer's MLP, or MLP and attention, gives the loss of a model with these output projections zeroed."""
    subject, rows = planted_rows
    baseline = nats(subject)
    assert value(rows, "baseline", "nats") == pytest.approx(baseline)
    for layer in range(3):
        for target, names in (("mlp", ["mlp.down_proj"]), ("both", ["mlp.down_proj", "self_attn.o_proj"])):
            block = subject.model.model.layers[layer]
            weights = {name: block.get_submodule(name).weight.detach().clone() for name in names}
            with torch.no_grad():
                for name in names:
                    block.get_submodule(name).weight.zero_()
            assert value(rows, f"sweep_{target}", "nats", layer) == pytest.approx(nats(subject), abs=1e-6)
            with torch.no_grad():
                for name in names:
                    block.get_submodule(name).weight.copy_(weights[name])
    assert nats(subject) == baseline


def test_ablation_can_be_limited_to_the_beginning_token(planted_rows: tuple[Subject, list[Row]]) -> None:
    subject, rows = planted_rows
    by_hand = nats(
        subject,
        Intervention("attention", "zero", layers=(0,), positions=(0,)),
        Intervention("mlp", "zero", layers=(0,), positions=(0,)),
    )
    assert value(rows, "sweep_both_bos", "nats", 0) == pytest.approx(by_hand, abs=1e-6)
    assert value(rows, "sweep_both_bos", "nats", 0) != value(rows, "sweep_both", "nats", 0)


def test_sweep_uses_fewer_items(planted_rows: tuple[Subject, list[Row]]) -> None:
    short = dataclasses.replace(planted_rows[0], book=planted.PlantedBook(task_names=("cities",)))
    rows = layer_ablation.measure(short, Options(texts=1, items=3), swept_items=2)
    assert {r["n"] for r in rows if r["metric"] == "cities_accuracy"} == {3, 2}
    assert all(r["n"] == 2 for r in rows if r["metric"] == "cities_accuracy" and r["condition"].startswith("sweep"))


def test_model_of_one_layer_is_ablated_with_reasons_for_missing_rows() -> None:
    rows = layer_ablation.measure(planted.subject(planted.model(layers=1)), FEW)
    planted.assert_unique_with_reasons(rows)
    assert reason(rows, "mlp", layer=1) == "the model has 1 layer, none of number 1"
    assert reason(rows, "both", "passkey_accuracy", 1) == "the model has 1 layer, none of number 1"
    assert {r["layer"] for r in rows if r["condition"] == "sweep_mlp"} == {0}
    assert value(rows, "sweep_mlp", "perplexity", 0) > 1


def test_model_without_a_beginning_token_is_ablated() -> None:
    subject = planted.subject(planted.model(layers=2), bos=False)
    assert not subject.has_bos
    rows = layer_ablation.measure(subject, FEW)
    assert reason(rows, "both_bos", layer=1) == layer_ablation.NO_BOS
    assert reason(rows, "sweep_both_bos", layer=0) == layer_ablation.NO_BOS
    assert value(rows, "both", "perplexity", 1) > 1
    for interventions, names in (
        (bos.sink_rows(subject, FEW), ("bos_mlp_matching", "combined_best", "sweep_bos_mlp")),
        (bos.bos_value_rows(subject, FEW), ("bos_value_spike", "bos_value_all", "sweep_bos_value")),
    ):
        planted.assert_unique_with_reasons(interventions)
        for name in names:
            assert reason(interventions, name, "cities_accuracy") == layer_ablation.NO_BOS
        assert value(interventions, "baseline", "perplexity") > 1


@pytest.mark.parametrize("layer", [0, 2])
def test_the_layer_that_writes_the_spike_is_found(layer: int) -> None:
    subject = planted.subject(planted.spiking(planted.model(layers=4), layer))
    texts = subject.texts(OPTIONS)
    baseline = bos.norm_ratios(subject, texts)
    assert (baseline[:layer] < bos.SPIKE).all()
    assert (baseline[layer:] > 20).all()
    layers = bos.choose_layers(subject, texts)
    assert layers.spike == layers.matching == layer
    assert layers.peaks[layer] < bos.SPIKE
    assert all(peak > 10 for other, peak in enumerate(layers.peaks) if other != layer)


def test_ratios_are_those_of_the_hidden_states() -> None:
    subject = planted.subject(planted.spiking(planted.model(), 1))
    text = subject.texts(FEW)[0]
    with torch.inference_mode():
        states = subject.model(input_ids=text.tokens, output_hidden_states=True).hidden_states[1:-1]
    lengths = [state[0].norm(dim=1) for state in states]
    expected = [float(length[0] / length[1:].mean()) for length in lengths]
    assert bos.norm_ratios(subject, [text])[:-1] == pytest.approx(np.array(expected), rel=1e-5)


def test_conditions_at_the_beginning_token_match_the_sweep() -> None:
    """Ablating BOS's MLP output in the spike's layer gives the loss of a model whose MLP there writes nothing."""
    subject = planted.subject(planted.spiking(planted.model(), 1))
    rows = sinks.measure(subject, OPTIONS)
    planted.assert_unique_with_reasons(rows)
    assert value(rows, "bos_mlp_matching", "nats", 1) == value(rows, "sweep_bos_mlp", "nats", 1)
    assert value(rows, "sweep_bos_mlp", "bos_peak", 1) < 2 < 20 < value(rows, "baseline", "bos_peak")
    empty = planted.subject(planted.spiking(planted.model(), 1, size=0.0))
    assert value(rows, "bos_mlp_matching", "nats", 1) == pytest.approx(nats(empty), abs=1e-5)
    assert value(rows, "combined_matching", "nats", 1) != value(rows, "bos_mlp_matching", "nats", 1)
    assert value(rows, "qk", "delta_nats") != 0
    assert value(rows, "first ratio above 2", "spike_layer") == 1, "the survey also finds this layer"
    for name in ("baseline", "qk"):
        assert {r["metric"] for r in rows if r["condition"] == name} >= {f"{task}_accuracy" for task in TASKS}


def test_model_without_spike_has_rows_with_a_reason() -> None:
    subject = planted.subject(planted.model())
    rows = bos.sink_rows(subject, OPTIONS)
    planted.assert_unique_with_reasons(rows)
    assert reason(rows, "bos_mlp_matching").startswith("no spike: the beginning token's norm is at most")
    assert reason(rows, "combined_matching", "passkey_accuracy").startswith("no spike")
    texts = split_texts(subject, OPTIONS)[0]
    best = bos.choose_layers(subject, texts).best
    sweep = [sum(loss.nats for loss in losses(subject, texts, bos.bos_mlp(layer, ""))) for layer in range(3)]
    assert best == int(np.argmax(sweep))
    assert value(rows, "bos_mlp_best", "nats", best) == value(rows, "sweep_bos_mlp", "nats", best)
    values = bos_value.measure(subject, OPTIONS)
    planted.assert_unique_with_reasons(values)
    assert reason(values, "bos_value_spike").startswith("no spike")
    assert value(values, "bos_value_all", "perplexity") > 1


def test_spike_that_no_mlp_writes_is_reported() -> None:
    model = planted.only_at_beginning(planted.model())
    with torch.no_grad():
        model.model.embed_tokens.weight[planted.BOS, 0] = 500.0
    layers = bos.choose_layers(planted.subject(model), planted.subject(model).texts(FEW))
    assert layers.spike == 0
    assert layers.matching is None
    assert "no layer's MLP" in layers.no_match


def test_states_of_zero_have_no_ratio() -> None:
    model = planted.model(layers=2)
    with torch.no_grad():
        for weights in model.parameters():
            weights.zero_()
    subject = planted.subject(model)
    assert (bos.norm_ratios(subject, subject.texts(FEW)) == 0).all()
    rows = bos.bos_value_rows(subject, FEW) + bos.sink_rows(subject, FEW)
    assert all(np.isfinite(r["value"]) for r in rows if r["value"] is not None)
    assert all(r["value"] == 0 for r in rows if r["metric"] == "delta_nats" and r["n"])


def test_ablating_the_value_of_the_only_token_with_a_value_removes_attention() -> None:
    """Without BOS's value, attention writes nothing in a layer where only BOS has a value, but does elsewhere."""
    subject = planted.subject(planted.writing_from_beginning(planted.model(), 1))
    rows = bos_value.measure(subject, OPTIONS)
    without_attention = nats(subject, Intervention("attention", "zero", layers=(1,)))
    assert value(rows, "sweep_bos_value", "nats", 1) == pytest.approx(without_attention, abs=1e-6)
    assert abs(value(rows, "sweep_bos_value", "delta_nats", 1)) > 1e-3
    without_attention_of_0 = nats(subject, Intervention("attention", "zero", layers=(0,)))
    assert value(rows, "sweep_bos_value", "nats", 0) != pytest.approx(without_attention_of_0, abs=1e-4)
    without_all_values = nats(subject, Intervention("v", "zero", positions=(0,)))
    assert value(rows, "bos_value_all", "nats") == pytest.approx(without_all_values, abs=1e-6)


def test_ablation_runs_on_four_bit_weights(tmp_path: Path) -> None:
    pytest.importorskip("bitsandbytes")
    from keyquery.models.checkpoints.loading import ModelSource, load

    model = planted.spiking(planted.model(layers=2, hidden_size=64, intermediate_size=128), 1)
    model.save_pretrained(tmp_path)
    loaded = load(ModelSource(str(tmp_path), dtype="bf16", quantize="nf4", device="cpu"), tokenizer=False).model
    subject = planted.subject(loaded, precision="nf4")
    few = dataclasses.replace(FEW, tokens=16)
    rows = bos.sink_rows(subject, few)
    planted.assert_unique_with_reasons(rows)
    assert value(rows, "bos_mlp_matching", "nats", 1) == value(rows, "sweep_bos_mlp", "nats", 1)
    assert value(rows, "sweep_bos_mlp", "bos_peak", 1) < 2 < value(rows, "baseline", "bos_peak")
    planted.assert_unique_with_reasons(layer_ablation.measure(subject, few))
