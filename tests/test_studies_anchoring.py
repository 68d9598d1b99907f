"""Studies of anchoring on invented measurements: curves, tests from means and deviations, landmarks, and counts."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.claims.thesis import anchoring as claims
from analysis.studies.anchoring import curves as study
from analysis.studies.anchoring import planted
from analysis.studies.anchoring.known import anchoring_known
from boundpaper.errors import DataError
from committed import FAMILIES

LAYERS, UNITS = 3, 12
MODELS = pd.DataFrame(
    {"model": ["llama3.2-1b"], "display_name": ["Llama-3.2-1B"], "captured_checkpoint": ["meta-llama/Llama-3.2-1B"]}
)
DRAW = np.random.default_rng(0)


def experiment_rows(model: str, data: str = "planted", shift: float = 0.0, blind: int = 0) -> pd.DataFrame:
    """Return random rows in the format of the experiment; in layers below `blind` the probe is at chance."""
    rows: list[dict[str, object]] = []

    def add(condition: str, layer: int, metric: str, value: float, n: int) -> None:
        rows.append({"condition": f"{data}/{condition}", "layer": layer, "metric": metric, "value": value, "n": n})

    for layer in range(LAYERS):
        low = 0.4 if layer < blind else 0.8
        for metric, value in (("auroc", low + 0.1), ("auroc_low", low), ("auroc_high", low + 0.2), ("accuracy", 80.0)):
            add("probe/all", layer, metric, value, UNITS)
            add("probe/question", layer, metric, value - 0.01, UNITS)
        for split, groups in (
            ("all", ["all"]),
            *((name, ["question", "answer"]) for name in ("layer", "reference", "half", "design")),
        ):
            for group in groups:
                center = {"question": -40.0 - 10 * layer + shift, "answer": -1.0 + layer, "all": -20.0}[group]
                values = DRAW.normal(center, 5, UNITS)
                for metric in ("delta_p", "control", "excess", *["filler"] * (data == "planted")):
                    mean = float(values.mean()) if metric not in ("control", "filler") else 0.5
                    sd = float(values.std(ddof=1))
                    for end, value in (("", mean), ("_low", mean - 1), ("_high", mean + 1), ("_sd", sd)):
                        add(f"{split}/{group}", layer, metric + end, value, UNITS)
                add(f"{split}/{group}", layer, "samples", 40.0, UNITS)
                if split in ("design", "all"):
                    share = 60.0 if group == "question" else 1.0
                    for end, value in (("", share), ("_low", share - 1), ("_high", share + 1)):
                        add(f"{split}/{group}", layer, f"question_share{end}", value, UNITS)
    rows.append({"condition": f"{data}/seed/all", "metric": "reference_layer", "value": 2.0, "n": 1})
    kind = "drope" if "drope" in model else "rope"
    return pd.DataFrame(rows).assign(model=model, positional=kind, reason="")


def curves(*frames: pd.DataFrame) -> pd.DataFrame:
    return study.anchoring_curves(pd.concat(frames, ignore_index=True), MODELS)


def test_curves_record_model_data_and_chance() -> None:
    result = curves(experiment_rows("llama-3.2-1b-popqa", "popqa"), experiment_rows("tiny-rope", blind=1))
    assert set(result["model"]) == {"llama3.2-1b", "tiny-rope"}
    assert set(result["display_name"]) == {"Llama-3.2-1B", "small, with rotation"}
    assert sorted(set(result["depth"])) == [0, 50, 100]
    tiny = result[(result["model"] == "tiny-rope") & (result["split"] == "layer") & (result["group"] == "question")]
    assert tiny["above_chance"].tolist() == [False, True, True]
    assert tiny["auroc"].tolist() == pytest.approx([0.49, 0.89, 0.89])  # among the statements that need the question
    assert (tiny["n"] == UNITS).all()
    assert tiny["filler"].tolist() == [0.5] * LAYERS
    llama = result[result["model"] == "llama3.2-1b"]
    assert llama["filler"].isna().all()
    assert llama["reason"].str.contains("no text around").all()
    assert result.loc[result["split"] == "all", "question_share"].notna().all()
    assert (result.loc[result["question_share"].isna(), "reason"] != "").all()


def test_tests_from_moments_equal_tests_from_values() -> None:
    values = np.random.default_rng(5).normal(-3, 4, 15)
    result = study._paired_t_from_stats(values.mean(), values.std(ddof=1), 15, study="s", comparison="c", note="n")
    assert "few units" not in result.note
    assert "guard few units" in study._paired_t_from_stats(0.3, 0.2, 4, study="s", comparison="c", note="n").note
    expected = stats.ttest_1samp(values, 0)
    assert result.statistic == pytest.approx(expected.statistic)
    assert result.p_value == pytest.approx(expected.pvalue)
    assert (result.ci_low, result.ci_high) == pytest.approx(tuple(expected.confidence_interval()))
    assert result.effect == pytest.approx(values.mean() / values.std(ddof=1))
    for n, sd, why in ((0, 0.0, "no unit"), (1, 0.0, "single unit"), (9, 0.0, "no variance")):
        result = study._paired_t_from_stats(0.0, sd, n, study="s", comparison="c", note="n")
        assert result.p_value is None
        assert why in result.note


def test_tests_of_one_question_are_corrected_over_splits_and_layers() -> None:
    result = study.anchoring_tests(curves(experiment_rows("tiny-rope", blind=1)), FAMILIES)
    family = result[result["study"] == "tiny-rope/planted/layer, question against answer"]
    assert len(family) == LAYERS
    assert (family["test"] == "welch_t").all()
    assert (family["p_adjusted"] >= family["p_value"]).all()
    welch = result[result["test"] == "welch_t"]
    stated = f"Holm over {len(welch)} tests of anchoring, between groups (tiny-rope/planted)"
    assert set(welch["adjustment"]) == {stated}
    assert len(welch) > LAYERS
    assert "not above chance" in family["note"].iloc[0]
    assert "not above chance" not in family["note"].iloc[1]
    assert not result.duplicated(["study", "comparison"]).any()


def test_landmarks_skip_layers_at_chance() -> None:
    result = study.anchoring_landmarks(curves(experiment_rows("tiny-rope", blind=1)))
    question = result[result["group"] == "question"].set_index("landmark")
    assert question["layer"].to_dict() == {"start": 1, "lowest": 2, "highest": 1, "end": 2}
    assert (question["layers"] == LAYERS).all()


def test_quantities_are_computed_for_the_shipped_small_models() -> None:
    names = ("tiny-rope", "tiny-continued", "tiny-drope")
    others = experiment_rows("llama-3.2-1b", shift=90), experiment_rows("tiny-rope-nf4")
    table = curves(*map(experiment_rows, names), *others)
    counts = planted.anchoring_counts(table).set_index("quantity")["value"]
    assert counts["models"] == 3
    assert counts["layers_above_chance"] == counts["layers"] == 3 * LAYERS
    assert counts["needing"] == 0  # as many answer-anchored samples as samples answerable from their end
    question = table[table["model"].isin(names) & (table["split"] == "design") & (table["group"] == "question")]
    assert counts["question_least"] == pytest.approx(question["delta_p"].max())
    assert (counts["models_above_chance"], counts["models_last"]) == (3, 3)
    last = question[question["layer"] == LAYERS - 1]["delta_p"].mean()
    answer = table[table["model"].isin(names) & (table["split"] == "design") & (table["group"] == "answer")]
    assert counts["gap_design"] == pytest.approx(last - answer[answer["layer"] == LAYERS - 1]["delta_p"].mean())


def test_model_whose_probe_is_at_chance_is_counted_but_excluded_from_means() -> None:
    others = [experiment_rows("tiny-rope"), experiment_rows("tiny-continued")]
    blind = experiment_rows("tiny-drope", shift=500, blind=LAYERS)
    counts = planted.anchoring_counts(curves(*others, blind)).set_index("quantity")["value"]
    assert counts[["models", "models_above_chance", "models_last"]].tolist() == [3, 2, 2]
    alone = planted.anchoring_counts(curves(*others)).set_index("quantity")["value"]
    for name in ("gap_design", "gap_layer", "question_flips", "needing", "question_least"):
        assert counts[name] == pytest.approx(alone[name])


SUBJECTS = pd.DataFrame(
    {"model": ["smollm2-135m", "tiny-rope"], "role": ["pretrained", "lab"], "label": ["SmolLM2-135M", "A"]}
)


def known_rows(**changes: float) -> pd.DataFrame:
    rows = experiment_rows("smollm2-135m", blind=1)
    share = {"condition": "planted/seed/all", "metric": "known_share", "value": 40.0, "n": 150, "reason": ""}
    rows = pd.concat([rows, pd.DataFrame([share | {"model": "smollm2-135m", "positional": "rope"}])], ignore_index=True)
    rows.loc[(rows["layer"] == 1) & (rows["metric"] == "auroc"), "value"] = 0.99
    for metric, value in changes.items():
        group, name = metric.split("_", 1)
        rows.loc[(rows["condition"] == f"planted/design/{group}") & (rows["metric"] == name), "value"] = value
    rows_of_both = pd.concat([rows, experiment_rows("tiny-rope")], ignore_index=True)
    return anchoring_known(rows_of_both, study.anchoring_curves(rows_of_both, MODELS), SUBJECTS)


def test_known_statements_are_read_at_the_layer_of_the_best_probe() -> None:
    [row] = known_rows().to_dict("records")
    assert (row["model"], row["layer"], row["layers"], row["layers_seeing"]) == ("smollm2-135m", 1, 3, 2)
    assert (row["known_share"], row["names"]) == (40, 150)
    assert -60 < row["question"] < -40
    assert (row["question_flips"], row["answer_flips"], row["question_filler"]) == (60, 1, 0.5)
    small = experiment_rows("tiny-rope")
    with pytest.raises(DataError, match=r"no pretrained model; run: .*pretrained-anchoring"):
        anchoring_known(small, study.anchoring_curves(small, MODELS), SUBJECTS)


@pytest.mark.parametrize(
    ("ends", "verdict"), [((-50.0, -30.0), "holds"), ((-50.0, 3.0), "not significant"), ((2.0, 9.0), "contradicted")]
)
def test_belief_loss_in_known_statements_is_judged_in_both_directions(ends: tuple[float, float], verdict: str) -> None:
    low, high = ends
    rows = known_rows(question_delta_p=(low + high) / 2, question_delta_p_low=low, question_delta_p_high=high)
    [judged] = claims.thesis_anchoring_known(rows)
    assert (judged.verdict, judged.key) == (verdict, "smollm2-135m")
    [answer] = claims.thesis_anchoring_known_answer(rows)
    assert answer.verdict == "holds"
    [answer] = claims.thesis_anchoring_known_answer(known_rows(answer_question_share=5.0))
    assert answer.verdict == "contradicted"
