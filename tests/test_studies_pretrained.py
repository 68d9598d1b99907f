"""Pretrained models: selection by role, intervals against hand values, claims in both directions, and exhibits."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.studies.pretrained import models as pretrained
from analysis.studies.pretrained.beginning import UNROTATED
from boundpaper.errors import DataError
from boundpaper.figures import Bundle
from boundpaper.figures.render import tex
from boundpaper.tables.render import render
from figures.pretrained import pretrained_profiles as profiles_figure
from figures.pretrained import pretrained_sinks as sinks_figure
from tables.pretrained import pretrained_geometry as geometry_table

MODELS = pd.DataFrame(
    {"model": ["any-name", "not-yet"], "display_name": ["A model", "Another"], "quantization": ["Q4_1", "Q4_K_M"]}
)
SUBJECTS = MODELS[["model"]].assign(role="pretrained")
REPORTED = (0.2, 0.4, 0.6)
CAPTURED = pd.DataFrame(dict.fromkeys(pretrained.METRICS, REPORTED) | {"captured_context": [4096, 8192, 8192]})
SEEDS = (0.4, 0.5, 0.6)  # two heads each of arm A at base 400, .1 above and below the mean
POPULATION = pd.DataFrame(
    [
        {"model": f"b{base}-s{seed}-{arm}", "arm": arm, "base": base, "seed": seed}
        for seed in range(3)
        for base in (400, 10_000)
        for arm in "AC"
    ]
)
HEADS = pd.DataFrame(
    [
        {"model": row.model}
        | dict.fromkeys(pretrained.METRICS, SEEDS[row.seed] + offset if (row.arm, row.base) == ("A", 400) else 9.0)
        for row in POPULATION.itertuples()
        for offset in (-0.1, 0.1)
    ]
)


def metrics(model="any-name", half=0.05, **values):
    rows = []
    for name in (*pretrained.METRICS, *(f"ap_bin_{number}" for number in range(4))):
        value = values.get(name, 0.5)
        rows.append(
            {
                **{"model": model, "metric": name, "value": value, "ci_low": value - half, "ci_high": value + half},
                **{"heads": 270, "key_heads": 90, "context": 8192, "bins": 4, "estimator": "bucket_full"},
                **{"pairs": "earlier", "reason": ""},
            }
        )
    return pd.DataFrame(rows)


def geometry(**values):
    return pretrained.pretrained_geometry(metrics(**values), MODELS, SUBJECTS, CAPTURED, HEADS, POPULATION)


def test_geometry_columns_are_reported_range_small_models_and_measured_model():
    rows = geometry(ap_drop=0.16).set_index(["metric", "column"])
    assert list(rows.loc["ap_drop"].index) == ["reported", "small", "any-name"]
    assert rows.loc[("ap_drop", "reported"), ["value", "low", "high", "n", "context"]].tolist() == [
        0.4,
        0.2,
        0.6,
        3,
        8192,
    ]
    half_width = stats.t.ppf(0.975, 2) * 0.1 / np.sqrt(3)
    small = rows.loc[("ap_drop", "small"), ["value", "low", "high", "n", "context"]].tolist()
    assert small == pytest.approx([0.5, 0.5 - half_width, 0.5 + half_width, 3, 128])
    model_row = rows.loc[("ap_drop", "any-name")]
    assert model_row[["value", "low", "high"]].tolist() == pytest.approx([0.16, 0.11, 0.21])
    assert (model_row["label"], model_row["n"], model_row["unit"]) == ("A model", 90, "key head")


def test_pretrained_models_are_selected_by_role_not_by_name():
    with pytest.raises(DataError, match="no pretrained model; measure one"):
        pretrained.pretrained_geometry(metrics("smollm2-135m"), MODELS, SUBJECTS, CAPTURED, HEADS, POPULATION)
    own_subjects = SUBJECTS.assign(role="own")
    with pytest.raises(DataError, match="no pretrained model; measure one"):
        pretrained.pretrained_geometry(metrics(), MODELS, own_subjects, CAPTURED, HEADS, POPULATION)


def test_missing_metric_is_refused_by_name():
    rows = metrics()
    with pytest.raises(DataError, match=r"any-name lacks plane_var; measure it again"):
        pretrained.pretrained_geometry(
            rows[rows["metric"] != "plane_var"], MODELS, SUBJECTS, CAPTURED, HEADS, POPULATION
        )
    empty = rows.assign(reason="too few queries")
    empty.loc[empty["metric"] == "ap_drop", "value"] = None
    with pytest.raises(DataError, match=r"any-name: ap_drop: too few queries"):
        pretrained.pretrained_geometry(empty, MODELS, SUBJECTS, CAPTURED, HEADS, POPULATION)


def test_missing_small_model_error_gives_the_command():
    with pytest.raises(DataError, match=r"no model of arm A at base 400; .*--base 400 --arm A"):
        pretrained.pretrained_geometry(metrics(), MODELS, SUBJECTS, CAPTURED, HEADS, POPULATION.assign(arm="C"))


def test_profiles_list_the_bins_of_each_model():
    rows = metrics(ap_bin_3=0.3)
    rows.loc[rows["metric"] == "ap_bin_0", "value"] = None
    result = pretrained.pretrained_profiles(pd.concat([rows, metrics("other")]), MODELS, SUBJECTS)
    assert result["bin"].tolist() == [1, 2, 3]
    assert result["position"].tolist() == [0.375, 0.625, 0.875]
    assert result["plasticity"].tolist() == [0.5, 0.5, 0.3]
    assert set(result["model"]) == {"any-name"}


def test_noise_is_half_the_difference_of_halves():
    sides = ((0, 0.2), (1, 0.14))
    halves = pd.concat([metrics(ap_drop=drop).assign(split=0, half=half, documents=5) for half, drop in sides])
    twins = pd.DataFrame({"metric": ["ap_drop", "ap_drop", "bias"], "twin_difference": [-0.03, -0.03, 1.0]})
    rows = pretrained.pretrained_noise(halves, MODELS, SUBJECTS, twins).set_index("metric")
    row = rows.loc["ap_drop"]
    assert row[["largest", "noise_sd", "twice_sd"]].tolist() == pytest.approx([0.06, 0.03, 0.03 * 2**0.5])
    assert (row["twin_difference"], row["documents"]) == (0.03, 10)
    # chi-square with one degree of freedom is the square of a normal value
    assert row["noise_low"] == pytest.approx(0.03 / stats.norm.ppf(0.9875))
    assert row["noise_high"] == pytest.approx(0.03 / stats.norm.ppf(0.5125))
    assert pd.isna(rows.loc["plane_var", "twin_difference"])
    assert rows.loc["plane_var", "noise_sd"] == 0
    # halves of 3 and 2 documents: var(difference) = s2 (1/3 + 1/2), var(whole) = s2 / 5
    unequal = halves.assign(documents=halves["half"].map({0: 3, 1: 2}))
    row = pretrained.pretrained_noise(unequal, MODELS, SUBJECTS, twins).set_index("metric").loc["ap_drop"]
    assert row["noise_sd"] == pytest.approx(0.06 * np.sqrt((1 / 5) / (1 / 3 + 1 / 2)))
    assert row["documents"] == 5
    # a second split with zero difference halves the mean square; chi-square with two degrees of freedom
    both = pd.concat([halves, *(metrics(ap_drop=0.17).assign(split=1, half=half, documents=5) for half in (0, 1))])
    row = pretrained.pretrained_noise(both, MODELS, SUBJECTS, twins).set_index("metric").loc["ap_drop"]
    assert row[["splits", "largest", "noise_sd"]].tolist() == pytest.approx([2, 0.06, 0.03 / 2**0.5])
    assert row["noise_high"] == pytest.approx(0.03 / 2**0.5 / np.sqrt(-np.log(0.975)))
    with pytest.raises(DataError, match="capture_halves has no pretrained model"):
        pretrained.pretrained_noise(halves.assign(model="other"), MODELS, SUBJECTS, twins)


def patterns(texts=6):
    rng = np.random.default_rng(0)
    shares = rng.uniform(0.2, 0.9, size=(2, texts))
    rows = []
    for layer, values in enumerate(shares):
        common = {"model": "any-name", "condition": "", "layer": layer, "head": None, "unit_id": ""}
        classes = {**common, "condition": "sink>=0.3 local>=0.3 distributed>=0.7"}
        unrotated = {**common, "condition": UNROTATED}  # no attention rows for this model
        rows += [
            {**common, "metric": "first_attention", "value": values.mean(), "n": texts},
            {**common, "metric": "first_attention_sd", "value": values.std(ddof=1), "n": texts},
            {**unrotated, "metric": "first_attention", "value": 0.5, "n": texts},
            {**unrotated, "metric": "first_attention_sd", "value": 0.5, "n": texts},
            {**classes, "metric": "heads_sink", "value": layer + 1, "n": 9},
            {**common, "metric": "first_attention", "head": 0, "value": 0.0, "n": texts},
        ]
    return pd.DataFrame(rows), shares


def test_intervals_of_layers_are_students():
    rows, shares = patterns()
    result = pretrained.pretrained_layers(rows, MODELS, SUBJECTS)
    for layer, values in enumerate(shares):
        low, high = stats.t.interval(0.95, len(values) - 1, values.mean(), stats.sem(values))
        row = result.loc[layer]
        assert (row["low"], row["high"]) == pytest.approx((max(0, low), min(1, high)))
        assert (row["heads_sink"], row["heads"], row["texts"]) == (layer + 1, 9, 6)
    with pytest.raises(DataError, match="attention_patterns has no pretrained model"):
        pretrained.pretrained_layers(rows.assign(model="other"), MODELS, SUBJECTS)


def test_massive_values_are_averaged_over_texts():
    counts = {"q": [250, 248, 253], "k": [100, 100, 100], "v": [0, 1, 2]}
    rows = pd.DataFrame(
        [
            {
                **{"model": "any-name", "condition": "pre lambda=5", "unit_id": unit, "value": value},
                "metric": f"massive_total_{tensor}",
            }
            for tensor, values in counts.items()
            for unit, value in [("", 1e9), *((f"text-{place}", value) for place, value in enumerate(values))]
        ]
    )
    result = pretrained.pretrained_massive(rows, MODELS, SUBJECTS).set_index("tensor")
    low, high = stats.t.interval(0.95, 2, np.mean(counts["q"]), stats.sem(counts["q"]))
    assert result.loc["query", ["count", "low", "high", "texts"]].tolist() == pytest.approx([751 / 3, low, high, 3])
    assert result.loc["key", ["count", "low", "high"]].tolist() == [100, 100, 100]
    assert set(result["threshold"]) == {5.0}


def test_exhibits_show_the_measured_model():
    measured = pd.DataFrame(
        [
            {
                **{"model": "any-name", "heads": 270, "key_heads": 90, "captured_context": 8192},
                **{"estimator": "bucket_full", "pairs": "earlier"},
            }
        ]
    )
    noise = pd.DataFrame({"model": ["any-name"], "documents": [5]})
    text = render(geometry_table.table(geometry(ap_drop=0.16), noise, measured), "pretrained_geometry", "markdown")
    assert "A model" in text
    assert (r"0.160\[0.110,0.210\]") in "".join(text.split())
    assert "Another" not in text
    assert "all 270 captured heads of 90 key heads over 5 documents of 8,192 tokens" in text
    deciles = pd.DataFrame({f"d{number}": [0.5, 0.6, 0.7] for number in range(10)})
    places = pd.MultiIndex.from_product(
        [["any-name"], [0], range(3), range(4)], names=["model", "layer", "key_head", "bin"]
    )
    heads = places.to_frame(index=False).assign(plasticity=0.5)
    drawing = profiles_figure.figure(pretrained.pretrained_profiles(metrics(), MODELS, SUBJECTS), deciles, heads)
    assert "A model over 8,192 tokens, 270 heads" in drawing.caption
    assert [len(band.lines) for band in drawing.panels[0].series if isinstance(band, Bundle)] == [3], "few heads"
    assert tex(drawing, "pretrained_profiles")
    by_layer = pretrained.pretrained_layers(patterns()[0], MODELS, SUBJECTS)
    layers = sinks_figure.figure(by_layer, by_layer[by_layer["layer"] > 0])
    assert [shade.low for shade in layers.panels[0].shades] == [layer - 0.5 for layer in by_layer["layer"] if layer > 0]
    assert "A model: 3 of 18 heads are sinks, $n = 6$ texts" in layers.caption
    assert tex(layers, "pretrained_sinks")
