"""Values from other documents change no result and no verdict on the five examined documents."""

import pandas as pd
import pytest

from boundpaper.build.job import Job
from boundpaper.claims import claim
from boundpaper.errors import DataError
from boundpaper.store import reader as store
from boundpaper.store.documents import DocumentScope, document_scope, judged_sources
from boundpaper.store.paths import DOCUMENTS, VOCABULARY
from claims_memory import Memory, edited, graph, measured, source
from conftest import ROOT

OWN = DocumentScope(frozenset({"002", "thesis"}), frozenset({"002", "thesis", "kepler"}))
ADDED, KNOWN = "gemma3-4b", "qwen3-4b"


@pytest.mark.parametrize(
    ("place", "foreign"),
    [
        ("002 T1", False), ("005 T1", True), ("005", True), ("data/models", False), ("", False), ("0025 T1", False),
        ("kepler T1", True), ("thesis", False),
    ],
)  # fmt: skip
def test_place_names_a_foreign_document_by_its_code(place, foreign):
    assert OWN.is_foreign(place) is foreign


def test_rows_of_other_documents_and_their_models_are_excluded():
    models = pd.DataFrame({"model": ["a", "b"], "source": ["data/models", "005 T1"]})
    foreign_keys = {"model": OWN.foreign_keys(models, "model")}
    assert foreign_keys == {"model": {"b"}}
    assert OWN.foreign_keys(models.drop(columns="source"), "model") == frozenset()
    frame = pd.DataFrame({"model": ["a", "a", "b"], "source": ["002 T1", "005 T2", "data/scores"], "value": [1, 2, 3]})
    assert list(OWN.examined(frame, foreign_keys)["value"]) == [1]
    without_places = pd.DataFrame({"value": [1]})
    assert OWN.examined(without_places, foreign_keys) is without_places


@pytest.mark.parametrize(("kind", "rows"), [("claim", 1), ("result", 1), ("source", 2)])
def test_studies_and_claims_receive_only_examined_rows(kind, rows, tmp_path, monkeypatch):
    tables = {
        "models": pd.DataFrame({"model": ["a", "b"], "source": ["data/models", "005 T1"]}),
        "scores": pd.DataFrame({"model": ["a", "b"], "value": [1, 2]}),
    }
    monkeypatch.setattr(store, "read", lambda root, name: tables[name])
    monkeypatch.setattr(Job, "load", lambda job: test_rows_of_other_documents_and_their_models_are_excluded)
    places = {name: f"artifacts/sources/{name}.csv" for name in tables}
    copy_documents(tmp_path)
    (tmp_path / VOCABULARY).parent.mkdir()
    (tmp_path / VOCABULARY).write_text("named: {models: {key: model, name: model}}\n")
    job = Job(tmp_path, kind, "x", "x.py", "x", places)
    assert len(job.frames()["scores"]) == rows


def with_added_model(name):
    """Return a source with a further model, of another document: a known model's rows, with extreme printed values."""
    frame = source(name)
    rows = frame[frame["model"] == KNOWN].assign(model=ADDED, source="005 T1")
    if "printed" not in frame.columns:
        names = {"display_name": "Gemma-3-4B", "family": "Gemma 3"}
        labels = {column: value for column, value in names.items() if column in frame.columns}
        facts = {"head_dim": 256, "layers": 77} if "head_dim" in frame.columns else {}
        return pd.concat([frame, rows.assign(**labels, **facts)], ignore_index=True)
    extreme = rows.assign(printed=["" if not text else "99.99" for text in rows["printed"]])
    return edited(name, lambda table: pd.concat([table, extreme], ignore_index=True))


def test_a_model_of_another_document_changes_no_verdict():
    tables = [
        step.name
        for step in graph().steps.values()
        if step.kind.name == "source" and {"model", "source"} <= set(source(step.name).columns)
    ]
    changed = {name: with_added_model(name) for name in tables if (source(name)["model"] == KNOWN).any()}
    assert {"models", "reported_plasticity", "reported_deciles", "reported_length_bins", "published_lbp"} <= set(
        changed
    )
    memory = Memory(changed)
    steps = [step for step in memory.claims() if not any(map(measured, step.artifacts))]
    # both are recomputed from the sources, so only the added rows differ
    before, after = Memory({name: source(name) for name in changed}).rows(steps), memory.rows(steps)
    assert len(steps) > 100
    assert {name: row["verdict"] for name, row in after.items()} == {
        name: row["verdict"] for name, row in before.items()
    }


def copy_documents(root, *more):
    """Write the project's table of documents into `root`, with the rows `more` added."""
    text = (ROOT / DOCUMENTS).read_text() + "".join(f"{row}\n" for row in more)
    (root / DOCUMENTS).parent.mkdir(parents=True)
    (root / DOCUMENTS).write_text(text)


@claim("kepler, Tables")
def of_kepler(scores):
    """The law holds for every planet."""


def test_claim_of_another_document_receives_its_own_rows(tmp_path, monkeypatch):
    copy_documents(tmp_path, "kepler,planets,Harmony,kepler1619,claims,")
    tables = {"scores": pd.DataFrame({"source": ["kepler T1", "002 T1", "data/models"], "value": [1, 2, 3]})}
    monkeypatch.setattr(store, "read", lambda root, name: tables[name])
    monkeypatch.setattr(Job, "load", lambda job: of_kepler)
    frames = Job(tmp_path, "claim", "x", "x.py", "x", {"scores": "artifacts/sources/scores.csv"}).frames()
    assert list(frames["scores"]["value"]) == [1, 3]
    assert judged_sources(tmp_path)[-1] == "kepler"


def test_unknown_document_is_refused_with_the_table_to_extend(tmp_path):
    copy_documents(tmp_path)
    with pytest.raises(
        DataError, match=r"no document '005' in artifacts/sources/documents.csv, which has 000.*add a row"
    ):
        document_scope(tmp_path, "005")
