"""Attention of pretrained models computed without the rotation: differences by text, and claims in both directions."""

import pandas as pd
import pytest
import yaml

from analysis.claims.thesis.pretrained.beginning import thesis_rotation_left_out
from analysis.studies.pretrained import rotation
from analysis.studies.pretrained.rotation import pretrained_rotation
from boundpaper.errors import DataError
from boundpaper.tables.render import render
from conftest import ROOT
from keyquery.experiments.attention_patterns import UNROTATED
from tables.pretrained import pretrained_rotation as rotation_table

COLUMNS = ["model", "condition", "layer", "unit_id", "metric", "value"]
NAMES = {
    "pretrained_models": pd.DataFrame({"model": ["mine", "other"], "display_name": ["Mine", "Other"]}),
    "subjects": pd.DataFrame({"model": ["mine", "other"], "role": ["pretrained", "pretrained"]}),
}
NO_BEGINNING = pd.DataFrame(
    columns=["model", "display_name", "quantity", "start", "value", "low", "high", "layer", "n", "note"]
)


def patterns(model, kept, unrotated, texts=("a", "b", "c")):
    rows = []
    for number, text in enumerate(texts):
        for metric in ("first_attention", "local_attention"):
            rows.append((model, "", None, text, metric, kept + 0.01 * number))
            rows.append((model, UNROTATED, None, text, metric, unrotated + 0.02 * number))
            rows.append((model, UNROTATED, 1, text, metric, 0.9))  # a single layer is not a mean over heads
    return rows


def study(*rows):
    table = pd.DataFrame([row for model_rows in rows for row in model_rows], columns=COLUMNS)
    return pretrained_rotation(attention_patterns=table, **NAMES)


def test_rotation_change_is_by_text_and_needs_both_measurements():
    with_rotation = [row for row in patterns("other", 0.4, 0.2) if row[1] == ""]
    result = study(patterns("mine", 0.4, 0.2), with_rotation)
    assert set(result["model"]) == {"mine"}
    rows = result.set_index(["quantity", "computed"])
    assert rows.loc[("local", "even"), "value"] == pytest.approx(2.82, abs=0.005)
    assert yaml.safe_load((ROOT / "artifacts/recipes/pretrained.yaml").read_text())["tokens"] == rotation.TOKENS
    assert rows.loc[("first", "kept"), "value"] == pytest.approx(41)
    assert rows.loc[("local", "left_out"), "value"] == pytest.approx(22)
    assert rows.loc[("first", "change"), ["value", "low", "high"]].tolist() == pytest.approx(
        [-19, -19 - 4.30265 / 3**0.5, -19 + 4.30265 / 3**0.5], abs=1e-3
    )


def test_mismatched_texts_and_missing_measurements_are_refused():
    incomplete = [row for row in patterns("mine", 0.4, 0.2) if not (row[1] == UNROTATED and row[3] == "c")]
    with pytest.raises(
        DataError, match=r"first_attention with and without rotation was measured on different texts; run: "
    ):
        study(incomplete)
    with pytest.raises(DataError, match=r"no pretrained model measured without rotation; run: "):
        study([row for row in patterns("mine", 0.4, 0.2) if row[1] == ""])


@pytest.mark.parametrize(("unrotated", "verdict"), [(0.2, "holds"), (0.9, "contradicted"), (0.39, "not significant")])
def test_rotation_claims_are_judged_in_both_directions(unrotated, verdict):
    verdicts = thesis_rotation_left_out(NO_BEGINNING, study(patterns("mine", 0.4, unrotated)))
    assert {each.verdict for each in verdicts} == {verdict}
    assert [each.key for each in verdicts] == ["mine_first_change_own", "mine_local_change_own"]


def test_table_has_one_row_per_quantity():
    shown = render(rotation_table.table(study(patterns("mine", 0.4, 0.2), patterns("other", 0.5, 0.1))), "rotation")
    assert "to the five tokens before" in shown
    assert "Other" in shown
    assert "41.0" in shown
