"""Forward passes shared by experiments of a run: fewer passes, and exactly equal rows."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import keyquery as kq
from architecture_experiments import DOCUMENTS, SETTINGS
from keyquery.experiments import _bos_interventions as bos
from keyquery.experiments import _masks as masks
from keyquery.experiments import head_ablation
from keyquery.measure import cache
from keyquery.measure.choices import BY_NAME, EXPERIMENTS, declared_value
from keyquery.measure.evaluation import losses
from keyquery.measure.heads import captured
from keyquery.measure.subject import Options
from keyquery.models.anatomy import blocks

OPTIONS: dict[str, Any] = {"texts": 2, "items": 0}


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> kq.Model:
    monkeypatch.setattr(cache, "_memory", {})
    return opened_model(tmp_path)


def opened_model(folder: Path) -> kq.Model:
    """Return the model tiny-rope, which caches its answers in `folder`."""
    loaded = kq.load("tiny-rope")
    return replace(loaded, subject=replace(loaded.subject, folder=folder))


def forward_counts(model: kq.Model) -> list[int]:
    """Return a list that grows by one with every forward pass of the model."""
    forwards: list[int] = []
    blocks(model.network)[-1].module.register_forward_hook(lambda *arguments: forwards.append(1))
    return forwards


def test_experiments_run_together_give_the_same_rows_as_alone(
    model: kq.Model, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    forwards = forward_counts(model)
    together, alone = {}, {}
    settings: dict[str, dict[str, Any]] = {"sinks": {}, "bos_value": {}, "disruption": SETTINGS["disruption"]}
    for name, options in settings.items():
        together[name] = kq.run(name, model, **OPTIONS, **options).to_csv()
    forwards_together, forwards_alone = len(forwards), 0
    for name, options in settings.items():
        monkeypatch.setattr(cache, "_memory", {})
        fresh = opened_model(tmp_path_factory.mktemp(name))
        counts = forward_counts(fresh)
        alone[name] = kq.run(name, fresh, **OPTIONS, **options).to_csv()
        forwards_alone += len(counts)
    assert together == alone
    assert forwards_together < forwards_alone


def test_layer_choice_takes_one_forward_per_text_and_layer(model: kq.Model) -> None:
    subject = model.subject
    chosen, _ = masks.split_texts(subject, Options(**OPTIONS))
    forwards = forward_counts(model)
    layers = bos.choose_layers(subject, chosen)
    assert len(forwards) == len(chosen) * (subject.layers + 1)
    losses_by_layer = [losses(subject, chosen, bos.bos_mlp(layer, "x")) for layer in range(subject.layers)]
    nats = [sum(text.nats for text in text_losses) for text_losses in losses_by_layer]
    assert layers.best == max(range(subject.layers), key=nats.__getitem__)
    assert bos.ratios_and_nats(subject, chosen, bos.bos_mlp(0, "x").interventions)[1] == pytest.approx(nats[0])


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name not in ("geometry", "text_kinds")])
def test_an_experiment_asks_items_of_the_tasks_that_its_file_declares(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(captured, "DOCUMENTS", DOCUMENTS)
    monkeypatch.setattr(head_ablation, "DRAWS", 1)
    model = kq.load("tiny-rope")
    kq.run(name, model, texts=2, tokens=32, items=1, **SETTINGS.get(name, {}))
    assert set(model.subject.used.items) == set(declared_value(name, "ASKS") or ())


def test_what_experiments_declare_of_texts_and_items_is_read_from_their_files() -> None:
    def experiments_with(constant: str) -> list[str]:
        return [name for name in (*EXPERIMENTS, *BY_NAME) if declared_value(name, constant)]

    assert experiments_with("REFUSES_TEXTS") == ["text_kinds"]
    assert experiments_with("NEEDS_ITEMS") == ["context_length", "knowledge"]
    assert set(experiments_with("CHOOSES_TEXTS")) == {"context_length", "geometry", "text_kinds", "anchoring"}
