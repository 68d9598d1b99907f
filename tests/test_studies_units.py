"""Units: heads inside their layers, models over training seeds, networks once, and shares of text weights said."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.statistics.guards import fired
from analysis.studies._weights import shared_text_weights, twin
from analysis.studies.lab.gaps import lab_globality, lab_text_tests
from analysis.studies.training.comparison import bias_plasticity_tests
from artifacts.store.reader import read
from conftest import ROOT

FAMILIES = read(ROOT, "test_families")
LAYERS, HEADS = 4, 3


def heads_of(models, values, key):
    """Rows of a measurement by head: `values(model, head) -> {name: value}`, the name in the column `key`."""
    return pd.DataFrame(
        [
            {"model": model, "layer": float(layer), "head": float(head), key: name, "value": value, "reason": ""}
            for model in models
            for layer in range(LAYERS)
            for head in range(HEADS)
            for name, value in values(model, layer, head).items()
        ]
    )


def test_two_texts_are_compared_over_models_and_layers_not_over_heads():
    generator = np.random.default_rng(1)
    models = [f"tiny-{side}{seed}" for side in ("rope", "drope") for seed in ("", "-s1", "-s2")]
    drawn = {(model, layer): generator.normal(0.3, 0.2) for model in models for layer in range(LAYERS)}

    def values(model, layer, head):
        return {"prose": drawn[model, layer] + 0.01 * head, "code": 0.01 * head}

    rows = heads_of(models, values, "condition").assign(metric="ap_overall")
    tests = lab_text_tests(rows, FAMILIES)
    assert set(tests["unit"]) == {"training seed", "layer"}
    over = tests[tests["unit"] == "training seed"].set_index("comparison")
    means = [np.mean([drawn[model, layer] for layer in range(LAYERS)]) for model in models[:3]]
    known = stats.ttest_1samp(means, 0)
    row = over.loc["rope, ap_overall, prose - code"]
    assert (row["n"], row["p_value"]) == (3, pytest.approx(known.pvalue))
    assert row["adjustment"] == "Holm over 2 tests of lab_text_tests"
    within = tests[tests["unit"] == "layer"].set_index("comparison")
    row = within.loc["tiny-drope-s1, ap_overall, prose - code"]
    known = stats.ttest_1samp([drawn["tiny-drope-s1", layer] for layer in range(LAYERS)], 0)
    assert (row["n"], row["p_value"]) == (LAYERS, pytest.approx(known.pvalue))
    assert all("dependent units" in fired(note) for note in within["note"])
    assert within["p_adjusted"].isna().all()


def test_heads_are_exchanged_inside_their_layer_only():
    generator = np.random.default_rng(2)
    # layers differ in both, heads of a layer are unrelated: over all heads a correlation, inside layers none
    table = {(layer, head): (layer + generator.normal(0, 0.1), layer + generator.normal(0, 0.1))
             for layer in range(LAYERS) for head in range(HEADS)}  # fmt: skip
    rows = heads_of(
        ["tiny-rope"],
        lambda model, layer, head: dict(zip(("ap_overall", "top_changes"), table[layer, head], strict=True)),
        "metric",
    )
    tests = lab_globality(rows, FAMILIES).set_index("test")
    one, two = (np.array([[table[layer, head][i] for head in range(HEADS)] for layer in range(LAYERS)]) for i in (0, 1))
    assert tests.loc["pearson", "estimate"] == pytest.approx(np.corrcoef(one.ravel(), two.ravel())[0, 1])
    assert tests.loc["pearson", "estimate"] > 0.95
    centred = [values - values.mean(axis=1, keepdims=True) for values in (one, two)]
    inside = tests.loc["pearson_within_layer"]
    assert inside["estimate"] == pytest.approx(np.corrcoef(centred[0].ravel(), centred[1].ravel())[0, 1])
    orders = list(permutations(range(HEADS)))
    null = []
    for pick in np.ndindex(*[len(orders)] * LAYERS):
        moved = np.array([centred[0][layer, list(orders[which])] for layer, which in enumerate(pick)])
        null.append(abs(float((moved * centred[1]).sum())))
    observed = abs(float((centred[0] * centred[1]).sum()))
    assert inside["p_value"] == pytest.approx(np.mean(np.array(null) >= observed * (1 - 1e-12)))
    assert inside["adjustment"] == "Holm over 1 test of lab_globality"
    assert "inside layers" in inside["note"]
    for name in ("pearson", "spearman"):
        assert "dependent units" in fired(tests.loc[name, "note"])
        assert pd.isna(tests.loc[name, "p_adjusted"])


def test_models_that_share_text_weights_are_said_and_counted_once():
    facts = read(ROOT, "published_facts")
    copy, original = twin(facts)
    assert fired("; ".join(shared_text_weights([copy, original, "other"], facts))) == ("dependent units",)
    assert shared_text_weights([copy, "other"], facts) == ()
    tests = bias_plasticity_tests(read(ROOT, "bias_plasticity"), read(ROOT, "training_comparison"), facts, FAMILIES)
    models = tests[tests["unit"] == "model"]
    assert models["note"].str.contains("share text weights").all()
    networks = tests[tests["unit"] == "network"]
    assert not networks["note"].str.contains("share text weights").any()
    same = read(ROOT, "training_comparison")
    same = same[same["drop_same"].notna() & (same["model"] != copy)]
    row = networks[networks["test"] == "pearson"].iloc[0]
    assert row["estimate"] == pytest.approx(stats.pearsonr(same["bias_strength"], same["drop_same"]).statistic)
    assert row["n"] == len(same)
    assert row["adjustment"].endswith("of bias and drop, networks, post hoc")
