"""Distillation compared at equal tokens, on invented curves: outcomes, claims in both directions, and exhibits."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.claims.thesis.pretrained import distillation as claims
from analysis.studies.pretrained import distillation
from analysis.studies.pretrained import distillation_keys as keys_study
from analysis.studies.pretrained import distillation_quantities as quantities_study
from boundpaper.errors import DataError
from boundpaper.figures.render import tex
from boundpaper.tables.render import render
from figures.pretrained import distillation_curves as figure
from keyquery.measure.quantities import QUANTITIES
from tables.pretrained import distillation_keys as keys_table
from tables.pretrained import distillation_outcomes as table
from tables.pretrained import distillation_quantities as quantities_table

ROOT = Path(__file__).resolve().parent.parent
MODELS = pd.DataFrame({"model": ["m"], "positions": [8192]})
WITH_UNTOUCHED = pd.DataFrame(
    {
        "model": ["m-nope", "m-continued", "m", "m-untouched"],
        "role": ["own", "own", "pretrained", "control"],
        "pair": ["m", "m", None, "m"],
        "side": ["drope", "rope", None, "drope"],
    }
)
SUBJECTS = pd.DataFrame(
    {
        "model": ["m-nope", "m-continued", "m"],
        "role": ["own", "own", "pretrained"],
        "pair": ["m", "m", None],
        "side": ["drope", "rope", None],
    }
)
TEACHER = {"manual": 3.0, "anarchism": 4.0}


def losses_table(nope=(6.0, 5.0, 4.5), control=(3.5, 3.6, 3.7), **changed):
    """Return losses by arm and step on two texts; the text `anarchism` costs the teacher and both arms 1 nat more."""
    rows = []
    for model, losses in (("m-nope", nope), ("m-continued", control)):
        for number, loss in enumerate(losses):
            for text, teacher in TEACHER.items():
                offset = teacher - 3.0
                values = {"loss": loss + offset, "kl": (loss - 3) / 2, "teacher_loss": teacher}
                rows += [
                    {
                        **{"model": model, "seed": 0, "step": 5 * number, "tokens": 5120 * number, "text": text},
                        **{"metric": metric, "value": value, "n": 1000, "of": 80},
                    }
                    for metric, value in values.items()
                ]
        rows.append(rows[-1] | {"text": "trained", "metric": "train_kl"})
    return pd.DataFrame(rows).assign(**changed)


def outcomes(*losses):
    return distillation.distillation_outcomes(distillation.distillation_curves(losses_table(*losses), SUBJECTS))


def test_arms_are_compared_at_equal_tokens():
    behind = distillation.distillation_curves(losses_table((6.0, 5.0, 4.5), (3.5, 3.6)), SUBJECTS)
    assert set(behind["step"]) == {0, 5}
    result = distillation.distillation_outcomes(behind).set_index("text")
    assert result.loc["manual", ["nope", "continued", "step", "tokens"]].tolist() == [5.0, 3.6, 5, 5120]


def test_distillation_outcomes_match_values_computed_by_hand():
    result = outcomes().set_index("text")
    row = result.loc["anarchism"]
    assert row[["teacher", "untouched", "nope", "continued"]].tolist() == [4.0, 7.0, 5.5, 4.7]
    assert row["difference"] == pytest.approx(0.8)
    assert row["recovered"] == pytest.approx(1.5 / 3)
    assert row["nope_kl"] == pytest.approx(0.75)
    assert result.loc["all", "nope"] == pytest.approx((4.5 + 5.5) / 2)
    assert result.loc["all", "n"] == 2000
    assert result.loc["all", "recovered"] == pytest.approx(0.5)


def test_recovered_share_is_undefined_when_removal_costs_nothing():
    rows = outcomes((3.0, 2.9), (3.0, 3.0)).set_index("text")
    assert rows["recovered"].isna().all()
    assert rows["note"].str.contains("cost nothing").all()
    assert claims.thesis_distil_recovers(rows.reset_index()) == []


@pytest.mark.parametrize(
    ("nope", "control", "verdicts"),
    [
        ((6.0, 5.0), (3.5, 3.6), ("holds", "contradicted", "holds", "holds")),
        ((6.0, 6.5), (3.5, 3.6), ("contradicted", "contradicted", "holds", "holds")),
        ((6.0, 3.1), (3.5, 3.6), ("holds", "holds", "contradicted", "contradicted")),
        ((6.0, 3.7), (3.5, 3.6), ("holds", "contradicted", "holds", "contradicted")),
    ],
)
def test_distillation_claims_are_judged_in_both_directions(nope, control, verdicts):
    rows = outcomes(nope, control)
    functions = (
        claims.thesis_distil_comes_back, claims.thesis_distil_recovers, claims.thesis_distil_costs,
        claims.thesis_distil_own,
    )  # fmt: skip
    for claim, verdict in zip(functions, verdicts, strict=True):
        judged = claim(rows)
        assert {each.verdict for each in judged} == {verdict}, claim.__name__
        assert {each.key for each in judged} == {"m_manual", "m_anarchism", "m_all"}
        assert "5 of 80 steps" in judged[0].reason


def test_effect_of_removal_alone_is_judged_by_its_direction():
    rows = quantities("m", "m-untouched")
    verdicts = {each.key: each.verdict for each in claims.thesis_distil_removed(rows)}
    assert verdicts == {"m_massive_query": "contradicted", "m_layer1_share": "holds"}
    swapped = rows.rename(columns={"teacher": "untouched", "untouched": "teacher"})
    verdicts = {each.key: each.verdict for each in claims.thesis_distil_removed(swapped)}
    assert verdicts == {"m_massive_query": "holds", "m_layer1_share": "contradicted"}


def test_difference_of_student_and_control_is_judged_by_its_direction():
    rows = quantities("m", "m-untouched", "m-nope", "m-continued")
    verdicts = {each.key: each.verdict for each in claims.thesis_distil_trained(rows)}
    equal = {"m_sink_rate": "contradicted", "m_bos_mlp_matching": "contradicted"}  # equal numbers in both
    assert verdicts == {"m_massive_query": "holds", "m_layer1_share": "contradicted"} | equal
    swapped = rows.rename(columns={"nope": "continued", "continued": "nope"})
    verdicts = {each.key: each.verdict for each in claims.thesis_distil_trained(swapped)}
    assert verdicts == {"m_massive_query": "contradicted", "m_layer1_share": "holds"} | equal
    assert claims.thesis_distil_trained(quantities("m", "m-untouched")) == []


@pytest.mark.parametrize(
    ("student", "expected"), [(5.0, "holds"), (11.0, "contradicted"), (1.0, "contradicted"), (2.0, "contradicted")]
)
def test_neighbour_attention_claim_needs_less_than_half_recovered(student, expected):
    rows = pd.DataFrame(
        {"pair": ["m"], "quantity": ["local_attention"], "teacher": [18.0], "untouched": [2.0], "nope": [student]}
    )
    assert [each.verdict for each in claims.thesis_distil_neighbours(rows)] == [expected]
    assert claims.thesis_distil_neighbours(rows.assign(untouched=18.0)) == []


def keys(teacher, untouched, nope, continued, ratio=0.25):
    """Return rows of eight prompts per model, of which the given numbers are answered with the key."""
    answers = {"m-near": teacher, "m-untouched": untouched, "m-nope": nope, "m-continued": continued}
    return pd.DataFrame(
        {
            **{"model": model, "metric": "passkey_right", "condition": f"own/{ratio}x", "seed": 0},
            **{"unit_id": f"passkey-{number:04d}", "value": float(number < right)},
        }
        for model, right in answers.items()
        for number in range(8)
    )


def key_tests(*right):
    families = pd.read_csv(ROOT / "artifacts/sources/test_families.csv", keep_default_na=False)
    return keys_study.distillation_key_tests(keys(*right), MODELS, WITH_UNTOUCHED, families)


def test_distilled_keys_use_equal_prompts_and_are_judged_in_both_directions():
    table = keys_study.distillation_keys(keys(8, 0, 2, 6), MODELS, WITH_UNTOUCHED).set_index("column")
    assert table["tokens"].unique().tolist() == [2048]
    assert table["share"].to_dict() == {"teacher": 1.0, "untouched": 0.0, "nope": 0.25, "continued": 0.75}
    assert table.loc["teacher", "low"] == pytest.approx(8 / (8 + 1.959964**2))  # Wilson's interval when all are right
    tests = key_tests(8, 0, 8, 8).set_index("comparison")
    assert tests.loc["removed against rotation, 2048 tokens", "p_value"] == pytest.approx(2 / 2**8)
    verdicts = {each.key: each.verdict for each in claims.thesis_distil_keys(key_tests(8, 0, 8, 8))}
    assert verdicts == {
        "m_removed_against_rotation_2048": "holds",
        "m_distilled_against_removed_2048": "holds",
        "m_distilled_against_trained_on_2048": "not supported",
    }
    swapped = {each.key: each.verdict for each in claims.thesis_distil_keys(key_tests(0, 8, 0, 8))}
    assert swapped == {
        "m_removed_against_rotation_2048": "contradicted",
        "m_distilled_against_removed_2048": "contradicted",
        "m_distilled_against_trained_on_2048": "holds",
    }
    assert "8,192" not in render(keys_table.table(table.reset_index()), "distillation_keys", "markdown")
    different_prompts = keys(8, 0, 2, 6)
    different_prompts.loc[different_prompts["model"] == "m-nope", "unit_id"] = [f"x{number}" for number in range(8)]
    families = pd.DataFrame()
    with pytest.raises(DataError, match="nope and untouched of m got different prompts"):
        keys_study.distillation_key_tests(different_prompts, MODELS, WITH_UNTOUCHED, families)
    with pytest.raises(DataError, match="context_length has no student"):
        keys_study.distillation_keys(keys(8, 0, 2, 6).query("model == 'm-near'"), MODELS, WITH_UNTOUCHED)


def test_incomplete_distillation_tables_are_refused():
    with pytest.raises(DataError, match="has no student with the role own"):
        distillation.distillation_curves(losses_table(model="other_schedule"), SUBJECTS)
    no_common_step = losses_table()
    with pytest.raises(DataError, match="the arms of a pair have no common step"):
        distillation.distillation_curves(no_common_step[no_common_step["model"] == "m-nope"], SUBJECTS)
    other_schedule = losses_table()
    other_schedule.loc[other_schedule["model"] == "m-nope", "of"] = 90
    with pytest.raises(DataError, match="differ in of"):
        distillation.distillation_curves(other_schedule, SUBJECTS)
    late = distillation.distillation_curves(losses_table(), SUBJECTS)
    with pytest.raises(DataError, match="lacks step 0"):
        distillation.distillation_outcomes(late[late["step"] > 0])


def quantities(*models):
    """Return quantities by model: the first has 100 massive values and 10 % attention in layer 1, others have more."""
    rows = []
    for number, model in enumerate(models):
        fields = {"model": model, "unit_id": "", "head": None, "reason": ""}
        for letter in "qkv":
            rows.append({**fields, "metric": f"massive_total_{letter}", "condition": "pre lambda=5", "layer": None})
            rows[-1]["value"] = 100.0 + number
        for letter in "qk":
            rows.append({**fields, "metric": f"largest_ratio_{letter}", "condition": "pre", "layer": 0.0, "value": 2.0})
        more = {"metric": "contribution_ratio_of_means", "condition": "all", "layer": 1.0, "value": 0.1 * (number + 1)}
        rows.append(fields | more)
    frame = pd.DataFrame(rows)
    content = frame["metric"] == "contribution_ratio_of_means"
    empty = frame.iloc[:0]
    with_bos = [model + "-bos" for model in models]
    sinks = pd.DataFrame(
        {
            **{"model": model, "metric": each.metric, "condition": each.condition, "unit_id": "", "head": None},
            **{"layer": None if each.over == "model" else 0.0},
            **({"value": np.nan, "reason": "none"} if each.key == "bos_mlp_best" else {"value": 11.0, "reason": ""}),
        }
        for model in with_bos
        for each in QUANTITIES
        if each.frame == "sinks"
    )
    return quantities_study.distillation_quantities(
        frame[~content], empty, sinks, empty, empty, empty, frame[content], empty, WITH_UNTOUCHED
    )


def test_quantities_have_one_column_per_model_and_report_unmeasured_ones():
    result = quantities("m", "m-untouched", "m-nope", "m-continued").set_index("quantity")
    assert result.loc["massive_query", list(quantities_study.COLUMNS)].tolist() == [100, 101, 102, 103]
    assert result.loc["layer1_share", list(quantities_study.COLUMNS)].tolist() == pytest.approx([10, 20, 30, 40])
    assert result.loc["spike_layer", list(quantities_study.COLUMNS)].tolist() == [11] * 4  # after the first token
    assert "bos_mlp_best" not in result.index  # no model has it
    result_of_two = quantities("m", "m-untouched").set_index("quantity")
    assert result_of_two["nope"].isna().all()
    note = "nope: not measured on this model; continued: not measured on this model"
    assert result_of_two.loc["layer1_share", "note"] == note
    with pytest.raises(DataError, match="no model without rotation shares an experiment with its teacher"):
        quantities("m")
    with pytest.raises(DataError, match="no model without rotation"):
        quantities("m-untouched", "m-nope")


def test_quantities_table_has_a_column_per_requested_model():
    all_columns = render(
        quantities_table.table(quantities("m", "m-untouched", "m-nope", "m-continued")), "q", "markdown"
    )
    assert "trained on" in all_columns
    two_columns = render(quantities_table.table(quantities("m", "m-untouched")), "q", "markdown")
    assert "trained on" not in two_columns
    assert "nothing trained" in two_columns
    assert "101.0" in two_columns


def test_exhibits_show_losses_and_equal_tokens():
    curves = distillation.distillation_curves(losses_table(), SUBJECTS)
    drawing = figure.figure(curves)
    assert "10 of 80 steps" in drawing.caption
    assert [annotation.text for annotation in drawing.panels[0].annotations] == ["teacher", "before any step"]
    assert [rule.at for rule in drawing.panels[0].rules] == [3.5, 6.5]
    assert tex(drawing, "distillation_curves")
    text = render(table.table(distillation.distillation_outcomes(curves)), "distillation_outcomes", "markdown")
    assert "after 10,240 tokens each (10 of 80 steps" in text
    assert text.index("manual of Python") < text.index("English prose") < text.index("both")
