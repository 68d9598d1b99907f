"""Widths of query bins: printed widths agree with code and measurements, and the claims on them change with input."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import keyquery as kq
import keyquery.rotary
from analysis.claims.thesis.null import thesis_null_causes
from analysis.claims.thesis.training import thesis_bins_finer_than_buckets, thesis_buckets_by_phase
from analysis.studies.population._retrained import WIDTH
from analysis.studies.population.widths import CASES, null_causes
from boundpaper.store.reader import read
from conftest import ROOT

MODELS = {"pretrained_bin": ("smollm2-135m", "gemma3-270m"), "null_bin": ("random-llama",)}


def settings() -> dict[str, int]:
    table = read(ROOT, "plasticity_settings")
    return dict(zip(table["setting"], table["value"], strict=True))


def test_population_bin_widths_equal_those_of_the_code() -> None:
    pytest.importorskip("torch")
    from analysis.population import geometry, reach
    from analysis.population.recipe import PopulationRecipe

    assert settings()["population_bin"] * geometry.BUCKETS == PopulationRecipe().length
    assert settings()["reach_pairs"] == reach.FIRST_PAIRS
    assert settings()["second_bin"] == reach.WIDEST == WIDTH


@pytest.mark.parametrize("setting", MODELS)
def test_other_models_are_read_in_bins_of_their_measurement(setting: str) -> None:
    for model in MODELS[setting]:
        manifest = json.loads((ROOT / f"artifacts/measurements/head_competition/{model}.json").read_text())
        bins = read(ROOT, "head_competition").query("model == @model")["bin"].max() + 1
        assert settings()[setting] * bins == manifest["capture"]["context"]


def checkpoints(*widths: int) -> pd.DataFrame:
    rows = {"checkpoint": [f"c{index}" for index in range(len(widths))], "bucket_tokens": widths}
    return pd.DataFrame(rows).assign(captured_context=[4096 * 2**index for index in range(len(widths))])


def test_bucket_claim_is_contradicted_by_buckets_that_do_not_widen() -> None:
    assert thesis_buckets_by_phase(checkpoints(256, 2048, 4096)).verdict == "holds"
    assert thesis_buckets_by_phase(checkpoints(256, 256, 4096)).verdict == "contradicted"
    assert thesis_buckets_by_phase(checkpoints(4096, 2048, 256)).verdict == "contradicted"


def test_finer_bins_claim_is_contradicted_by_buckets_as_narrow() -> None:
    bins = pd.DataFrame({"checkpoint": ["c0", "c0", "c1"], "start": [0, 1024, 0], "end": [1024, 4096, 1024]})
    bins = bins.assign(extension=True)
    assert thesis_bins_finer_than_buckets(bins, checkpoints(2048, 4096)).verdict == "holds"
    assert thesis_bins_finer_than_buckets(bins, checkpoints(1024, 1024)).verdict == "contradicted"
    assert thesis_bins_finer_than_buckets(bins, checkpoints(2048, 1024)).verdict == "contradicted"


def test_statements_on_pooled_plasticity_are_marked_open() -> None:
    ledger = read(ROOT, "claims").set_index("claim")["reason"]
    open_claims = {claim for claim, reason in ledger.items() if "Open: queries that rotation turned" in str(reason)}
    heads, models = "thesis_population_heads_every.head_damage", "thesis_pretrained_in_range.smollm2-135m_"
    both = {f"thesis_population_{kind}.plasticity_drops" for kind in ("every", "bases")}
    left = {"thesis_population_reach.B_change", "thesis_population_relations_every.h1_plasticity", heads}
    left |= {"thesis_population_turns", "thesis_equal_positions_rise", "thesis_profiles_cross", models + "ap_overall"}
    assert both | left <= open_claims
    decided = {f"thesis_population_every.{name}" for name in ("keys_far_4x", "bias_window_drops")}
    assert not (decided | {heads + "_bias", models + "bias_window"}) & open_claims


def causes(first=-0.002, last=-0.08, spread=-0.1, gap=0.05, silenced=-0.004, early=-0.01):
    """Return changes of networks without and with rotation, by case, depth and quantity, with intervals of ±.01."""
    rows = []
    for kind in ("none", "rope"):
        for case in ("written", "silenced", "early queries"):
            stated = {"written": -0.06, "silenced": silenced, "early queries": early}[case]
            for depth, change in (("first", first), ("last", last), ("all", stated)):
                for quantity, value in (("plasticity", change), ("spread", spread), ("gap", gap)):
                    row = {"size": "5 x 128", "positional": kind, "case": case, "depth": depth, "quantity": quantity}
                    rows.append(row | {"change": value, "low": value - 0.01, "high": value + 0.01, "seeds": 5})
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("changed", "key"),
    [({}, ""), ({"first": -0.03}, "first_layer"), ({"last": 0.0}, "last_layer"), ({"spread": 0.02}, "last_layer"),
     ({"gap": 0.2}, "last_layer"), ({"silenced": -0.03}, "silenced"), ({"early": -0.04}, "queries")],
)  # fmt: skip
def test_each_prediction_on_random_networks_can_fail(changed: dict[str, float], key: str) -> None:
    verdicts = {each.key: each.verdict for each in thesis_null_causes(causes(**changed))}
    assert verdicts == {
        name: "contradicted" if name == key else "holds"
        for name in ("first_layer", "last_layer", "silenced", "queries")
    }


def test_changes_of_random_networks_are_means_over_seeds() -> None:
    known = {"sway": 0.0, "linear_share": 0.1, "spread": 4.0, "size": "2 x 64", "positional": "none"}
    rows = [
        {"seed": seed, "layer": layer, "low": low, "attention": attention, "queries": queries, "gap": 2.0 + late * seed}
        | {"plasticity": 0.9 - layer * late * 0.1 * seed} | known
        for seed in (1, 2) for layer in (0, 1) for late, low in enumerate((0, 384))
        for attention, queries in CASES.values()
    ]  # fmt: skip
    result = null_causes(pd.DataFrame(rows)).set_index(["case", "depth", "quantity"])
    assert result.loc[("written", "last", "plasticity"), ["first", "change"]].tolist() == pytest.approx([0.9, -0.15])
    assert result.loc[("written", "all", "gap"), "change"] == pytest.approx(0.75)
    half = stats.t.ppf(0.975, 1) * 0.05
    assert result.loc[("written", "last", "plasticity"), "high"] == pytest.approx(-0.15 + half)


def test_early_queries_are_turned_to_the_places_of_late_ones() -> None:
    pytest.importorskip("torch")
    from analysis.population.widths import SPACING, _early_queries

    rotary = kq.rotary.Rotary(frequencies=(0.01, 0.3))
    places = np.tile(SPACING * np.arange(8) + SPACING // 2, 3)
    unrotated = np.random.default_rng(0).normal(size=(24, 4))
    texts = np.repeat(np.arange(3), 8)
    vectors = rotary.turned(unrotated, places)
    head = kq.Head(queries=vectors, query_positions=places, query_documents=texts, keys=vectors, key_positions=places,
                   key_documents=texts, context=8 * SPACING, buckets=8, rotary=rotary)  # fmt: skip
    early = _early_queries(head)
    assert early.query_positions.tolist() == places.tolist()
    tiled = unrotated.reshape(3, 8, 4)[:, [0, 1] * 4].reshape(24, 4)
    assert early.queries == pytest.approx(rotary.turned(tiled, places), abs=1e-9)
