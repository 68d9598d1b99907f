"""The share of a mean query that buckets keep, against simulation and transformers; and the conclusions it affects."""

import inspect
import re

import numpy as np
import pandas as pd
import pytest

import keyquery as kq
from analysis.claims.thesis.captures import thesis_pooled_rotation
from analysis.studies.crossmodel import bins
from analysis.studies.crossmodel._fates import FACTORS
from analysis.studies.crossmodel._kept import agreement, frequencies, kept_share, one_position_plasticity
from boundpaper.errors import DataError
from committed import artifact
from conftest import ROOT
from keyquery.rotary import from_theta

CLAIMS = pd.DataFrame({"claim": ["thesis_one.key", "thesis_two"], "verdict": ["holds", "not supported"]})
CONTEXT = 4096
DROPS = {"compares": "drops", "places": "fifths", "entities": "ministral3-3b | qwen3-4b"}
ALONG = {"compares": "no relation along one capture", "places": "", "outcome": "ruler", "entities": "llama3.1-8b"}


def tables(**changed):
    names = [*[*inspect.signature(bins.bin_fates).parameters][4:], "bin_bounds", "bin_factors"]
    return {**{name: artifact(name) for name in names}, "claims": CLAIMS, **changed}


def conclusions(**changed):
    row = {"conclusion": "one", "chapter": "models", "statement": "It falls.", "compares": "fall", "places": "tenths"}
    row |= {"outcome": "", "entities": "qwen3-4b", "claims": "thesis_one", "reason": "why"}
    return pd.DataFrame([row | changed])


def factors(along=1.2, back=1.2, between=1.5, even=1.5, random=1.2):
    values = {"along": along, "back": back, "between": between, "even": even, "random": random}
    return pd.DataFrame([{"factor": name, "value": value, "captures": 2} for name, value in values.items()])


@pytest.mark.parametrize(("base", "width"), [(400.0, 8), (10_000.0, 64), (500_000.0, 8192)])
def test_kept_share_is_the_squared_mean_of_rotated_queries(base, width):
    """A query of length 1 in each of four pairs is rotated to every position of a fine grid over the bucket."""
    positions = (np.arange(20_000) + 0.5) / 20_000 * width
    rotated = np.exp(1j * np.outer(positions, base ** (-2.0 * np.arange(4) / 8)))
    assert kept_share(frequencies(base, 8), width) == pytest.approx((np.abs(rotated.mean(0)) ** 2).mean(), abs=1e-6)


@pytest.mark.parametrize(
    ("scaling", "factor", "original", "pairs"),
    [("none", 1.0, 1.0, 64), ("yarn", 4.0, 32768.0, 128), ("yarn", 16.0, 16384.0, 64), ("llama3", 8.0, 8192.0, 128)],
)
def test_rope_scalings_equal_those_of_transformers(scaling, factor, original, pairs):
    transformers = pytest.importorskip("transformers")
    initial = pytest.importorskip("transformers.modeling_rope_utils").ROPE_INIT_FUNCTIONS
    rope = {"rope_theta": 5e5, "rope_type": {"none": "default"}.get(scaling, scaling), "factor": factor}
    rope |= {"original_max_position_embeddings": int(original), "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    if scaling == "none":
        expected = 5e5 ** (-2.0 * np.arange(pairs // 2) / pairs)
    else:
        config = transformers.LlamaConfig(
            hidden_size=pairs * 2, num_attention_heads=2, max_position_embeddings=int(original * factor),
            rope_parameters=rope,
        )  # fmt: skip
        expected = initial[scaling](config, device="cpu")[0].numpy()
    assert frequencies(5e5, pairs, scaling, factor, original) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(("length", "width"), [(1.0, 64), (2.0, 512), (0.5, 1024)])
def test_pooling_is_undone_when_key_differences_are_isotropic(length, width):
    """The head has a mean query of the given length in each pair, and isotropic noise in queries and keys."""
    rng, dimensions, count = np.random.default_rng(3), 64, 6000
    rotary = from_theta(10_000.0, dimensions)
    positions = 2048 + rng.integers(width, size=count)
    angle = rng.uniform(0, 2 * np.pi, dimensions // 2)
    mean = length * np.concatenate([np.cos(angle), np.sin(angle)]) * np.sqrt(2)
    content = mean + rng.normal(size=(count, dimensions))
    queries = rotary.turned(content, positions - 2048)
    keys = rng.normal(size=(400, dimensions))
    head = kq.Head(
        queries=queries, query_positions=positions, query_documents=np.zeros(count, int), keys=keys,
        key_positions=np.arange(400), key_documents=np.zeros(400, int), context=CONTEXT,
        buckets=CONTEXT // 1024, rotary=rotary,
    )  # fmt: skip
    pooled, aligned = (kq.plasticity(head, estimator=e).profile.values[2] for e in ("bucket_full", "aligned_full"))
    share = kept_share(frequencies(10_000.0, dimensions), width)
    assert agreement(pooled) == pytest.approx(share * agreement(aligned), rel=0.12)
    assert one_position_plasticity(pooled, share) == pytest.approx(aligned, abs=0.05)


def test_captures_without_a_stated_base_are_bounded_by_all_stated_bases():
    names = ("models", "checkpoints", "capture_settings", "captured_models", "training_trajectory")
    table = bins.bin_bounds(*(artifact(name) for name in names)).set_index("capture")
    assert len(table) == 23
    unknown = table[table["base"].isna()]
    assert set(unknown["family"]) == {"Ministral 3", "Qwen3"}
    assert (table["kept_low"] <= table["kept_high"]).all()
    assert (unknown["kept_low"] < unknown["kept_high"]).all()
    assert table.loc["lc-32k-to-64k-step-4000", "width"] == 4096
    # a stretch slows the rotation, so more is kept
    assert table.loc["llama3.1-8b", "kept_low"] > kept_share(frequencies(5e5, 128), 8192)


@pytest.mark.parametrize(
    ("conclusion", "changes", "fate"), [
        # its plasticity falls from .724 to .503: a factor of 1.67
        ({}, {"along": 1.6}, "survives"), ({}, {"along": 1.7}, "open"),
        ({"compares": "rise", "entities": "llama3.1-8b"}, {"back": 1.01}, "survives"),
        ({"compares": "rise", "entities": "llama3.1-8b"}, {"back": 1.1}, "open"),
        ({"compares": "no rise", "entities": "llama3.2-3b"}, {"along": 1.001, "back": 2}, "survives"),
        ({"compares": "no rise", "entities": "llama3.2-3b"}, {"along": 1.01}, "open"),
        ({"compares": "halves"}, {"along": 1.01, "back": 1.01}, "survives"),
        ({"compares": "halves"}, {"along": 1.01, "back": 1.3}, "open"),
        ({"compares": "straight", "entities": "ministral3-14b | qwen3-14b"}, {"along": 1.01, "back": 1.01}, "survives"),
        ({"compares": "fall of random weights", "places": "fifths", "entities": "random-llama"}, {}, "survives"),
        ({"compares": "fall of random weights", "places": "fifths", "entities": "random-llama"}, {"random": 3}, "open"),
        ({"compares": "no relation of levels by length", "places": "", "entities": "qwen3-4b"}, {}, "open"),
        (ALONG, {}, "open"),
        ({"compares": "no plasticity"}, {}, "survives"), ({"compares": "level", "places": "fifths"}, {}, "falls"),
        ({"compares": "one network", "entities": "llama3.1-8b llama3.2-11b"}, {}, "survives"),
        ({"compares": "no difference", "places": "fifths", "entities": "qwen3-4b | qwen3-8b"}, {}, "open"),
        (DROPS, {"between": 1.01}, "survives"), (DROPS, {"between": 1.5}, "open"),
        ({"compares": "levels of two", "places": "0-8K", "entities": "ministral3-3b | qwen3-4b"}, {}, "open"),
    ])  # fmt: skip
def test_fate_of_a_conclusion_follows_from_the_needed_factor(conclusion, changes, fate):
    row = bins.bin_fates(conclusions(**conclusion), **tables(bin_factors=factors(**changes))).iloc[0]
    assert row[["fate", "verdicts"]].tolist() == [fate, "holds"]


def test_needed_factor_undoes_the_fall():
    row = bins.bin_fates(conclusions(), **tables()).iloc[0]
    ends = artifact("decile_profiles").set_index("model").loc["qwen3-4b", ["d0", "d9"]].to_numpy(dtype=float)
    undone = one_position_plasticity(ends, [1 / row["needed"], 1.0])
    assert undone[0] == pytest.approx(undone[1], abs=1e-6) or row["needed"] > 1 / agreement(ends[0])


def test_relation_needs_the_smallest_factor_that_undoes_it():
    """A factor common to all captures undoes no relation, so the factor may differ between captures."""
    row = conclusions(compares="relation of drops", places="fifths", outcome="decline", entities="scored")
    needed = bins.bin_fates(row, **tables()).iloc[0]["needed"]
    assert 1 < needed < FACTORS[-1]
    weak = conclusions(compares="no relation of drops", places="fifths", outcome="lbp", entities="scored")
    assert bins.bin_fates(weak, **tables()).iloc[0]["needed"] < needed


@pytest.mark.parametrize(
    ("changed", "message"),
    [({"entities": "qwen3-4c"}, "no capture 'qwen3-4c'"), ({"claims": "thesis_three"}, "no claim 'thesis_three'"),
     ({"compares": "no plasticity", "reason": None}, "say in `reason` why")],
)  # fmt: skip
def test_unknown_name_or_missing_reason_in_conclusions_is_refused(changed, message):
    with pytest.raises(DataError, match=message):
        bins.bin_fates(conclusions(**changed), **tables())


@pytest.mark.parametrize("chapter", ["crossmodel", "training", "benchmarks"])
def test_every_marked_statement_of_public_models_is_among_the_conclusions(chapter):
    text = (ROOT / f"paper/chapters/{chapter}.tex.j2").read_text(encoding="utf-8")
    marked = {name.partition(".")[0] for name in re.findall(r"mark\('([^']+)'", text)}
    assert marked - set(" ".join(artifact("bin_conclusions")["claims"]).split()) == set()


def test_sign_of_a_wanted_relation_counts_by_length():
    """Scores opposite to plasticity at every length show no positive relation; scores equal to plasticity do."""
    lengths = artifact("lbp_lengths")
    for sign, needed in ((1, True), (-1, False)):
        signed = lengths.assign(lbp=sign * lengths["plasticity"])
        row = conclusions(compares="no relation of levels by length", places="", entities="qwen3-4b")
        assert (bins.bin_fates(row, **tables(lbp_lengths=signed)).iloc[0]["needed"] == 1.0) == needed


@pytest.mark.parametrize(
    ("changed", "level", "fall"),
    [({}, "holds", "holds"), ({"pooled": 0.5}, "contradicted", "holds"), ({"along": 1.5}, "holds", "not supported"),
     ({"last": 0.59}, "holds", "not supported"), ({"random": 1.5}, "holds", "holds")],
)  # fmt: skip
def test_what_turning_adds_is_judged_both_ways(changed, level, fall):
    case = {"pooled": 0.7, "along": 1.1, "random": 1.2, "last": 0.5} | changed
    shares = {"model": ["one", "one", "two"], "width": [64, 1024, 1024], "pooled": [0.1, 0.75, case["pooled"]]}
    bounds = pd.DataFrame({"kept_low": [0.2], "kept_high": [0.5], "kept_least": [0.6]})
    profiles = pd.DataFrame({"d0": [0.6, 0.6], "d9": [0.5, case["last"]]})
    case_factors = factors(along=case["along"], random=case["random"])
    verdicts = thesis_pooled_rotation(pd.DataFrame(shares | {"aligned": 0.6}), bounds, case_factors, profiles)
    assert {verdict.key: verdict.verdict for verdict in verdicts} == {"level": level, "fall": fall}
    assert changed or verdicts[0].recomputed == "14 to 20 %"
