"""Public names of keyquery: `import keyquery as kq`."""

import importlib
import json

import numpy as np
import pandas as pd
import pytest

import boundpaper as bp
import keyquery as kq
from boundpaper.errors import ModelError
from faces import explains_itself, loaded_by, public, quick_start, run_examples, undescribed, untyped

ARRAYS = {"Head", "plasticity", "Plasticity", "PlasticityOptions", "Intervention", "experiments"}


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.delenv("BOUNDPAPER_ROOT", raising=False)


@pytest.fixture(scope="module")
def model():
    return kq.load("tiny-rope")


@pytest.mark.parametrize(
    "name", [name if name in ARRAYS else pytest.param(name, marks=pytest.mark.models) for name in kq.__all__]
)
def test_every_name_has_an_example_that_runs(name):
    assert run_examples(kq, name)
    assert undescribed(name, getattr(kq, name)) + untyped(name, getattr(kq, name)) == []


@pytest.mark.models
@pytest.mark.parametrize(("module", "name"), public("keyquery"))
def test_every_name_of_a_public_module_has_described_parameters_and_an_example(module, name):
    member = getattr(importlib.import_module(module), name)
    assert undescribed(name, member) + untyped(name, member) == []
    if explains_itself(member):
        assert run_examples(importlib.import_module(module), name)


def test_arrays_need_neither_torch_nor_a_project(tmp_path):
    assert not loaded_by("import keyquery", tmp_path) & {"pandas", "numpy", "numba", "torch", "ast"}
    code = (
        "import keyquery as kq; kq.Head, kq.plasticity, kq.open_capture, kq.analyse, kq.load, kq.run; kq.experiments()"
    )
    assert not loaded_by(code, tmp_path) & {"torch", "transformers", "pandas"}


def test_the_quick_start_of_arrays_runs(capsys):
    exec(quick_start("keyquery"), {})
    assert "plasticity" in capsys.readouterr().out


def test_default_estimator_depends_on_the_known_rotation():
    rng, positions, zeros = np.random.default_rng(0), np.arange(128), np.zeros(128, dtype=int)
    labels = {
        f"{side}_{name}": value
        for side in ("query", "key")
        for name, value in (("positions", positions), ("documents", zeros))
    }
    head = kq.Head(queries=rng.normal(size=(128, 4)), keys=rng.normal(size=(128, 4)), context=128, **labels)
    actual = kq.plasticity(head, bins=4)
    assert actual.options.estimator == "bucket_full"
    frame = actual.to_frame()
    assert frame["queries"].tolist() == [32] * 4
    assert (frame["plasticity"].isna() == (frame["reason"] != "")).all()
    with pytest.raises(ValueError, match="rotation"):
        kq.plasticity(head, estimator="aligned_full")
    with pytest.raises(ValueError, match="give one of"):
        kq.plasticity(head, estimator="aligned")


@pytest.mark.models
def test_tensors_are_accepted_or_refused_with_a_conversion():
    import torch

    def head(**vectors):
        positions, zeros = torch.arange(64), torch.zeros(64, dtype=torch.long)
        labels = {
            f"{side}_{name}": tensor
            for side in ("query", "key")
            for name, tensor in (("positions", positions), ("documents", zeros))
        }
        return kq.Head(**{"queries": torch.ones(64, 4), "keys": torch.rand(64, 4), "context": 64, **labels, **vectors})

    assert isinstance(head(queries=torch.rand(64, 4).half()).queries, np.ndarray)
    for tensor in (torch.rand(64, 4, requires_grad=True), torch.rand(64, 4).bfloat16(), torch.rand(64, 4).to("meta")):
        with pytest.raises(ValueError, match=r"queries: numpy cannot convert .*tensor.detach\(\).float\(\).cpu\(\)"):
            head(queries=tensor)
    with pytest.raises(ValueError, match="a ndarray is not a head"):
        kq.plasticity(np.zeros((4, 4)))


@pytest.mark.models
def test_a_model_is_captured_analysed_and_saved(tmp_path, model):
    (tmp_path / "text.txt").write_text("Anna likes Ben . " * 600)
    options = {"texts": "text.txt", "context": 128, "out": "cap", "heads": 2, "rate": 8, "windows": True}
    capture = kq.capture(model, **options)
    assert kq.capture(model, **options).heads == capture.heads == kq.open_capture("cap").heads
    with pytest.raises(bp.errors.ModelError, match="heads"):
        kq.capture(model, **{**options, "heads": 3})
    table = kq.analyse(capture, bins=4)
    assert len(table) == 2
    assert table["ap_overall"].between(0, 1).all()
    paper = bp.new("paper")
    files = {path.parent.name for path in kq.save(table, "paper/paper")}
    assert {"head_metrics", "head_profile", "model_metrics"} <= files
    assert paper.check() == []
    assert paper.read("head_metrics")["model"].unique().tolist() == ["tiny-rope"]


@pytest.mark.models
def test_save_writes_rows_as_measured_and_refuses_to_replace_others(model):
    bp.new("paper")
    rows = kq.run("softmax_globality", model, texts=1, items=0)
    [path] = kq.save(rows, "paper")
    assert kq.save(rows, "paper") == [path]
    assert path.with_suffix(".json").is_file()
    other = kq.run("softmax_globality", model, texts=1, items=0, seeds=(1,))
    with pytest.raises(bp.errors.DataError, match="another measurement"):
        kq.save(other, "paper")
    assert kq.save(other, "paper", replace=True) == [path]
    for changed, message in ((rows.head(1), "were changed"), (pd.DataFrame({"value": [1.0]}), "no manifest")):
        with pytest.raises(bp.errors.DataError, match=message):
            kq.save(changed, "paper")
    with pytest.raises(bp.errors.DataError, match="no paper here"):
        kq.save(rows, ".")


@pytest.mark.models
@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("sink", {}, "no experiment 'sink'; did you mean 'sinks'"),
        ("geometry", {}, r"use capture\(\) and analyse\(\)"), ("bos_value", {"swept_item": 3}, "swept_items"),
        ("bos_value", {"swept_items": "few"}, "not a whole number"), ("sinks", {"texts": 0}, "give 1 or more"),
    ],
)  # fmt: skip
def test_invalid_run_is_refused_before_the_model_is_loaded(model, name, settings, message):
    with pytest.raises(bp.errors.ThesisError, match=message):
        kq.run(name, model, **settings)


@pytest.mark.models
def test_interventions_end_with_their_block(model):
    before = model.perplexity("Anna likes Ben .")
    with kq.intervene(model, kq.Intervention("attention", "zero", layers=(0,))):
        assert model.perplexity("Anna likes Ben .") != before
    assert model.perplexity("Anna likes Ben .") == before
    with pytest.raises(bp.errors.ModelError, match="layers are 0 to 4"):
        kq.intervene(model, kq.Intervention("mlp", "zero", layers=(9,))).__enter__()


@pytest.mark.models
def test_experiments_folder_is_listed_and_stays_importable():
    from keyquery.experiments import sinks

    assert kq.experiments() is not None
    assert set(kq.experiments()) >= {"sinks", "geometry", "anchoring"}
    assert all(kq.experiments().values())
    assert sinks.measure is vars(kq.experiments)["sinks"].measure


def test_run_notes_texts_beyond_the_models_length_and_refuses_far_longer_ones(model, capsys):
    options = {"texts": 1, "items": 0}
    longest = model.subject.training_length
    kq.run("softmax_globality", model, tokens=longest, **options)
    assert capsys.readouterr().err == ""
    kq.run("softmax_globality", model, tokens=longest + 1, **options)
    assert "are longer than the model was made for: it was trained on" in capsys.readouterr().err
    advice = rf"give tokens={4 * longest} or less, or anyway=True"
    with pytest.raises(ModelError, match=advice):
        kq.run("softmax_globality", model, tokens=4 * longest + 1, **options)
    assert len(kq.run("softmax_globality", model, tokens=4 * longest + 1, anyway=True, **options))


def test_capture_and_load_open_a_shipped_model_in_the_same_precision(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("Anna likes Ben . " * 100)
    capture = kq.capture("tiny-rope", "notes.txt", context=64, out="cap", heads=1, rate=2, windows=True)
    loaded = str(kq.load("tiny-rope").network.dtype)
    assert f"torch.{json.loads((capture.root / 'manifest.json').read_text())['settings']['dtype']}" == loaded
