"""Statistical units: each network is counted once, and a test over models that share weights has a note."""

import pytest
from scipy import stats

from analysis.studies._weights import shared_text_weights, twins
from analysis.studies.training.comparison import bias_plasticity_tests
from boundpaper.statistics.guards import fired
from boundpaper.store.reader import read
from committed import FAMILIES
from conftest import ROOT


def test_models_sharing_text_weights_are_noted_and_counted_once():
    facts = read(ROOT, "published_facts")
    copy, original = twins(facts)
    assert fired("; ".join(shared_text_weights([copy, original, "other"], facts))) == ("dependent units",)
    assert shared_text_weights([copy, "other"], facts) == ()
    tests = bias_plasticity_tests(read(ROOT, "bias_plasticity"), read(ROOT, "training_comparison"), facts, FAMILIES)
    models = tests[tests["unit"] == "model"]
    assert models["note"].str.contains("share text weights").all()
    networks = tests[tests["unit"] == "network"]
    assert not networks["note"].str.contains("share text weights").any()
    compared = read(ROOT, "training_comparison")
    compared = compared[compared["drop_same"].notna() & (compared["model"] != copy)]
    row = networks[networks["test"] == "pearson"].iloc[0]
    assert row["estimate"] == pytest.approx(stats.pearsonr(compared["bias_strength"], compared["drop_same"]).statistic)
    assert row["n"] == len(compared)
    assert row["adjustment"].endswith("of bias and drop, networks, post hoc")
