"""Exchange of positions in pretrained models: rows of a hand-made head, and the cost of removing heads."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import keyquery as kq

pytest.importorskip("torch")

from analysis.population import pretrained_exchange as experiment
from analysis.population.pretrained_widths import BINS, CONTEXT
from keyquery.models.captures.sampling import HeadIndex
from keyquery.rotary import Rotary


def random_head(rotary):
    """Return a head of one text with random vectors: a query every 16 tokens, and a key every 8."""
    rng = np.random.default_rng(3)
    keys, queries = (np.arange(0, CONTEXT, step) for step in (8, 16))
    content = {name: rng.normal(size=(len(positions), 4)) for name, positions in (("k", keys), ("q", queries))}
    return kq.Head(
        queries=rotary.turned(content["q"] + 1.0, queries), query_positions=queries,
        query_documents=np.zeros(len(queries), dtype=int),
        keys=rotary.turned(content["k"], keys), key_positions=keys, key_documents=np.zeros(len(keys), dtype=int),
        context=CONTEXT, buckets=BINS, rotary=rotary,
    )  # fmt: skip


@pytest.mark.parametrize("rotary", [Rotary(frequencies=()), Rotary(frequencies=(0.9, 0.01))], ids=["none", "rope"])
def test_rows_are_cells_of_quarter_and_distance_with_the_cost_of_the_head(rotary, monkeypatch, tmp_path):
    head = HeadIndex(layer=2, query=5, key=1)
    monkeypatch.setattr(experiment, "_load", lambda root, subject: SimpleNamespace(name=subject.model))
    monkeypatch.setattr(
        experiment, "captured_heads", lambda *arguments: [(head, {experiment.WIDTH: random_head(rotary)})]
    )
    monkeypatch.setattr(experiment, "head_costs", lambda loaded, positions: dict.fromkeys(positions, 0.25))
    paths = experiment.measure(tmp_path)
    assert {path.stem for path in paths} == {
        "smollm2-135m", "smollm2-135m-code", "gemma3-270m", "smollm2-135m-untouched",
    }  # fmt: skip
    table = pd.read_csv(paths[0])
    assert len(table) == 3 * len(experiment.RANGES)
    assert set(table["cost"]) == {0.25}
    assert table[["layer", "head", "key_head"]].drop_duplicates().to_numpy().tolist() == [[2, 5, 1]]
    all_distances = table["apart_high"] - table["apart_low"] == CONTEXT
    assert table[all_distances].set_index("low")["pairs"].to_dict() == dict.fromkeys((1024, 2048, 3072), 1000)
    assert table[~all_distances].groupby("low")["pairs"].sum().tolist() == [1000] * 3  # each pair is in one range
    empty = table[(table["low"] == 1024) & (table["apart_low"] >= 1024)]
    assert set(empty["reason"]) == {"no pair of keys"}  # keys before the second quarter are no farther apart
    assert bool(np.all(table.loc[all_distances, "sway"] > 0.1)) == bool(rotary.frequencies)


def test_the_cost_of_a_head_is_the_nats_that_its_removal_adds(monkeypatch):
    removed = []

    class Removal:
        def __init__(self, network, layer, head):
            removed.append((layer, head))

        def __enter__(self):
            return self

        def __exit__(self, *error):
            return None

    def scores(network, tokenizer, arguments):
        assert len(arguments) == experiment.PROMPTS
        return [SimpleNamespace(logprobs=(-2.0 - removed[-1][0],)) for _ in arguments]

    items = [SimpleNamespace(prompt="p", answer="12345")] * experiment.PROMPTS
    monkeypatch.setattr(experiment, "BOOK", SimpleNamespace(items=lambda *arguments, length: items))
    monkeypatch.setattr(experiment, "ablate_head", Removal)
    monkeypatch.setattr(experiment, "options_logprobs", scores)
    loaded = SimpleNamespace(network=None, tokenizer=None)
    assert experiment.head_costs(loaded, [(0, 3), (4, 1)]) == {(0, 3): 1.0, (4, 1): 5.0}
    assert removed == [(-1, 0), (0, 3), (4, 1)]
