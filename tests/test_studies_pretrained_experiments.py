"""Headline quantities of pretrained, reported and small models: values, intervals, and missing values."""

import pandas as pd
import pytest

from analysis.claims.thesis.pretrained import models as claims
from analysis.studies.pretrained.experiments import pretrained_experiments
from boundpaper.errors import DataError

FRAMES = (
    "massive_values", "disruption", "knowledge", "sinks", "bos_value", "layer_ablation", "attention_patterns",
    "layer_content", "crosslayer_balance",
)  # fmt: skip
COLUMNS = ["model", "condition", "layer", "head", "unit_id", "metric", "value", "n", "reason"]
SHARE = "contribution_ratio_of_means"


def rows(model, share=0.6, deviation=0.02, texts=4):
    """Return rows of layer content for two layers, as means over `texts` texts."""
    shares = [(model, "all", layer, None, "", SHARE, share + 0.1 * (layer == 0), texts, "") for layer in (0, 1)]
    return pd.DataFrame([*shares, (model, "all", 1, None, "", f"{SHARE}_sd", deviation, texts, "")], columns=COLUMNS)


def frames(**measured):
    return {name: measured.get(name, pd.DataFrame(columns=COLUMNS)) for name in FRAMES}


def other_tables(small=(30.0, 34.0)):
    models = ["mine", "another"]
    names = [f"b400-s{seed}-A" for seed in range(1, len(small) + 1)]
    return {
        "pretrained_models": pd.DataFrame({"model": models, "display_name": ["Mine", "Another"]}),
        "subjects": pd.DataFrame(
            [
                ("mine", "pretrained", ""),
                ("another", "pretrained", ""),
                ("big-rope", "reported", "Big"),
                ("big-drope", "reported", "Big without"),
            ],
            columns=["model", "role", "label"],
        ),
        "experiments_reported": pd.DataFrame({"quantity": ["layer1_share"], "rope": [0.9]}),
        "population_quantities": pd.DataFrame(
            {"model": names, "quantity": "layer1_share", "value": list(small), "reason": ""}
        ),
        "population_models": pd.DataFrame({"model": names, "base": 400, "arm": "A"}),
    }


def test_pretrained_value_has_an_interval_over_texts_beside_reported_and_small():
    result = pretrained_experiments(**frames(layer_content=rows("mine")), **other_tables())
    share = result[result["quantity"] == "layer1_share"].set_index("column")
    assert share.loc["mine", "value"] == pytest.approx(60.0)
    half = 3.1824 * 2.0 / 2  # Student's 97.5 % point with three degrees, the deviation in percent, the root of four
    assert share.loc["mine", ["low", "high"]].tolist() == pytest.approx([60 - half, 60 + half], abs=1e-3)
    assert share.loc["reported", "value"] == 0.9
    assert share.loc["small", "value"] == 32
    assert share.loc["small", "high"] == pytest.approx(32 + 12.7062 * 2, abs=1e-3)
    assert share.loc["another", "note"] == "not measured on this model"
    assert set(result["quantity"]) == {"layer1_share"}  # the others were not measured


def test_a_reported_model_that_was_measured_has_a_column_of_its_own():
    measured = pd.concat([rows("mine"), rows("big-rope", 0.3)])
    result = pretrained_experiments(**frames(layer_content=measured), **other_tables()).set_index("column")
    assert result.loc["big-rope", ["name", "value"]].tolist() == ["Big, measured", pytest.approx(30.0)]
    assert "big-drope" not in result.index
    alone = pretrained_experiments(**frames(layer_content=rows("big-drope", 0.2)), **other_tables())
    assert alone.set_index("column").loc["big-drope", "value"] == pytest.approx(20.0)


def test_missing_pretrained_experiments_error_gives_the_command():
    with pytest.raises(DataError, match="no pretrained model has any of experiments 1 to 9; measure them"):
        pretrained_experiments(**frames(), **other_tables())


@pytest.mark.parametrize(
    ("share", "deviation", "verdict"),
    [(0.6, 0.02, "holds"), (0.005, 0.0001, "contradicted"), (0.02, 0.05, "not significant")],
)
def test_layer_1_share_is_compared_with_the_reported_one(share, deviation, verdict):
    result = pretrained_experiments(**frames(layer_content=rows("mine", share, deviation)), **other_tables())
    verdicts = {each.key: each for each in claims.thesis_pretrained_layer1(result)}
    assert verdicts["mine"].verdict == verdict
    assert verdicts["another"].verdict == "not testable"
