"""Widths of query bins: the printed ones are those of code and measurements, and the claims on them turn."""

import json

import pandas as pd
import pytest

from analysis.claims.thesis.training import thesis_bins_finer_than_buckets, thesis_buckets_by_phase
from analysis.studies.population._retrained import WIDTH
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
    rows = {"checkpoint": [f"c{place}" for place in range(len(widths))], "bucket_tokens": widths}
    return pd.DataFrame(rows).assign(captured_context=[4096 * 2**place for place in range(len(widths))])


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
    said = {claim for claim, reason in ledger.items() if "Open: queries that rotation turned" in str(reason)}
    assert {
        "thesis_population_every.plasticity_drops",
        "thesis_population_bases.plasticity_drops",
        "thesis_population_reach.B_change",
        "thesis_population_relations_every.h1_plasticity",
        "thesis_population_heads_every.head_damage",
        "thesis_population_turns",
        "thesis_equal_positions_rise",
        "thesis_profiles_cross",
        "thesis_pretrained_in_range.smollm2-135m_ap_overall",
    } <= said
    assert (
        not {
            "thesis_population_every.keys_far_4x",
            "thesis_population_every.bias_window_drops",
            "thesis_population_heads_every.head_damage_bias",
            "thesis_pretrained_in_range.smollm2-135m_bias_window",
        }
        & said
    )
