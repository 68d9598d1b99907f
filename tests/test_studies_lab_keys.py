"""Keys by distance, choices, and the twins one by one: on rows written by hand, with every number known."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from scipy import stats

from analysis.claims.thesis import lab_keys as claims
from analysis.studies.lab import keys as lab_keys
from analysis.studies.lab import pairings as lab_pairings
from artifacts.errors import DataError

MODELS = ("tiny-rope", "tiny-drope", "tiny-rope-s1", "tiny-drope-s1")
SHAPES = pd.DataFrame([{"model": model, "training_length": 100} for model in MODELS])
FAMILIES = pd.DataFrame(
    [
        {
            "result": result,
            "study": "*",
            "comparison": "*",
            "test": "*",
            "family": result,
            "unit": unit,
            "role": "primary",
        }
        for result, unit in (
            ("lab_text_pairs", "text"),
            ("lab_knowledge_tests", "item"),
            ("lab_head_agreement", "head"),
        )
    ]
)
BLANK = {"layer": None, "head": None, "unit_id": "", "seed": None, "n": 1, "reason": ""}


def made(rows: list[dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame([BLANK | row for row in rows])


def prompts(found: Any, conditions: tuple[str, ...] = ("own/1x", "own/2x"), count: int = 20) -> pd.DataFrame:
    """Keys at every 10 tokens; `found(model, condition, distance)` says which a model retrieves."""
    rows = []
    for model in MODELS:
        for condition in conditions:
            for place in range(count):
                item = {"model": model, "condition": condition, "unit_id": f"passkey-{place:04d}", "seed": 0}
                distance = 10 * (place + 1) - 5
                right = float(found(model, condition, distance))
                rows.append(item | {"metric": "passkey_right", "value": right})
                rows.append(item | {"metric": "key_distance", "value": float(distance)})
    return made(rows)


def cliff(model: str, condition: str, distance: int) -> bool:
    return distance < 100 or "drope" in model


def test_keys_are_counted_by_their_distance() -> None:
    """At 100 tokens of training: ten keys within it, two at the edge (105, 115), eight from 1.25 times of it."""
    rows = prompts(cliff)
    spans = lab_keys.lab_key_spans(rows, SHAPES).set_index(["side", "span"])
    assert spans.loc[("rope", "near"), ["right", "n", "least", "most", "seeds"]].tolist() == [20, 20, 1.0, 1.0, 2]
    assert spans.loc[("rope", "edge"), ["right", "n"]].tolist() == [0, 4]
    assert spans.loc[("rope", "far"), ["right", "n", "share"]].tolist() == [0, 16, 0.0]
    assert spans.loc[("drope", "far"), ["right", "n", "share"]].tolist() == [16, 16, 1.0]
    found = lab_keys.lab_key_distances(rows, SHAPES)
    assert found.groupby("side")["n"].sum().to_dict() == {"rope": 80, "drope": 80}, (
        "prompts within the length count too"
    )
    rope = found[found["side"] == "rope"].set_index("low")
    assert rope["n"].to_dict() == {0.0: 20, 0.5: 8, 0.75: 12, 1.0: 8, 1.25: 12, 1.5: 20}
    assert rope["share"].to_dict() == {0.0: 1.0, 0.5: 1.0, 0.75: 1.0, 1.0: 0.0, 1.25: 0.0, 1.5: 0.0}


def test_seeds_that_differ_are_told() -> None:
    rows = prompts(lambda model, condition, distance: model == "tiny-rope" or distance < 100)
    far = lab_keys.lab_key_spans(rows, SHAPES).set_index(["side", "span"]).loc[("rope", "far")]
    assert far[["right", "n", "share", "least", "most"]].tolist() == [8, 16, 0.5, 0.0, 1.0]


def test_a_key_without_distance_is_refused() -> None:
    rows = prompts(cliff)
    rows = rows[~((rows["metric"] == "key_distance") & (rows["model"] == "tiny-drope-s1"))]
    with pytest.raises(DataError, match="tiny-drope-s1: a key has no distance; run: python build"):
        lab_keys.lab_key_spans(rows, SHAPES)


def test_the_cliff_turns_with_what_is_found() -> None:
    def verdicts(found: Any) -> dict[str, str]:
        spans = lab_keys.lab_key_spans(prompts(found), SHAPES)
        return {each.key: each.verdict for each in claims.thesis_lab_cliff(spans)}

    assert verdicts(cliff) == {"near": "holds", "far": "holds", "without": "holds"}
    assert verdicts(lambda *_: True) == {"near": "holds", "far": "contradicted", "without": "holds"}
    assert verdicts(lambda *_: False) == {"near": "contradicted", "far": "holds", "without": "contradicted"}
    one = verdicts(lambda model, condition, distance: distance != 5 or model != "tiny-rope")
    assert one["near"] == "not supported", "a single near key that is lost in one seed"


def chosen(rank: dict[str, float], auc: dict[str, float]) -> pd.DataFrame:
    rows = []
    for model in MODELS:
        for condition in ("own/0.5x", "own/1x"):
            for metric in (*lab_keys.CHOICES, *(f"verification_auc_{miss}" for miss in lab_keys.MISSES)):
                value = (rank if metric.startswith("ranking") else auc)[model]
                rows.append({"model": model, "condition": condition, "metric": metric, "value": value, "n": 100})
    return made(rows)


def test_choices_over_seeds() -> None:
    rank = dict(zip(MODELS, (0.9, 0.5, 0.7, 0.3), strict=True))
    found = lab_keys.lab_choices(chosen(rank, dict.fromkeys(MODELS, 0.8)))
    row = found[(found["metric"] == "ranking_yes") & (found["ratio"] == 1.0)].iloc[0]
    assert (row["rope"], row["drope"], row["difference"]) == pytest.approx((0.8, 0.4, -0.4))
    assert (row["chance"], row["n"], row["seeds"]) == (0.25, 100, 2)
    low = stats.binomtest(30, 100).proportion_ci(method="wilson").low
    assert row["drope_surely"] == pytest.approx(low, abs=1e-9)
    assert found.loc[found["metric"] == "verification_auc", "chance"].eq(0.5).all()
    assert found.loc[found["metric"] == "verification_auc", "drope_surely"].isna().all()


@pytest.mark.parametrize(
    ("rank", "verdict"), [(0.95, "holds"), (0.28, "not supported"), (0.25, "contradicted"), (0.1, "contradicted")]
)
def test_ranking_is_judged_against_a_guess(rank: float, verdict: str) -> None:
    found = lab_keys.lab_choices(chosen(dict.fromkeys(MODELS, rank), dict.fromkeys(MODELS, 0.8)))
    assert {each.verdict for each in claims.thesis_lab_ranks(found)} == {verdict}


@pytest.mark.parametrize(("auc", "verdict"), [(0.8, "holds"), (0.7, "not supported"), (0.5, "contradicted")])
def test_verification_is_judged_by_pairs(auc: float, verdict: str) -> None:
    found = lab_keys.lab_choices(chosen(dict.fromkeys(MODELS, 0.5), dict.fromkeys(MODELS, auc)))
    assert {each.verdict for each in claims.thesis_lab_verifies(found)} == {verdict}


def test_wordings_and_depths() -> None:
    shares = {"form:key": 0.9, "form:code": 0.7, "depth:0-0.2": 0.1, "depth:0.2-0.4": 0.2}
    rows = made(
        [
            {"model": model, "condition": f"own/2x/{part}", "metric": "passkey_exact", "value": share}
            for model in MODELS
            for part, share in (shares if "drope" in model else dict.fromkeys(shares, 0.5)).items()
        ]
        + [{"model": model, "condition": "own/2x", "metric": "passkey_exact", "value": 0.0} for model in MODELS]
    )
    found = lab_keys.lab_key_prompts(rows)
    assert found[["ratio", "kind", "part"]].values.tolist() == [
        [2.0, "depth", "0-0.2"],
        [2.0, "depth", "0.2-0.4"],
        [2.0, "form", "code"],
        [2.0, "form", "key"],
    ]
    assert found["drope"].tolist() == [0.1, 0.2, 0.7, 0.9]
    judged = {each.key: (each.verdict, each.recomputed) for each in claims.thesis_lab_wording(found)}
    assert judged == {"rope": ("holds", "+0.0 points"), "drope": ("contradicted", "+20.0 points")}


# Twins ------------------------------------------------------------------------------------------------------------


def texts(shift: dict[int, float]) -> pd.DataFrame:
    """Ten texts; DroPE is above RoPE by `shift` of its seed, give or take a little."""
    rows = []
    for model in MODELS:
        seed = int(model.endswith("-s1"))
        for number in range(10):
            value = 0.2 + 0.01 * number + ("drope" in model) * (shift[seed] + 0.001 * (number % 2))
            for metric in lab_pairings.CONCENTRATION:
                rows.append(
                    {"model": model, "metric": metric, "unit_id": f"mixed-0-{number}", "seed": 0, "value": value}
                )
                rows.append({"model": model, "metric": metric, "layer": 1, "value": 9.0})
    return made(rows)


def test_texts_are_paired() -> None:
    found = lab_pairings.lab_text_pairs(texts({0: -0.05, 1: -0.02}), FAMILIES)
    assert len(found) == 12
    row = found[found["comparison"] == "gini_q, seed 1, drope - rope"].iloc[0]
    differences = [-0.02 + 0.001 * (number % 2) for number in range(10)]
    assert row["estimate"] == pytest.approx(sum(differences) / 10)
    assert row["p_value"] == pytest.approx(stats.ttest_1samp(differences, 0).pvalue)
    assert row["n"] == 10
    assert (found["p_adjusted"] >= found["p_value"]).all()
    rows = texts({0: 0.1, 1: 0.1})
    fewer = rows[(rows["model"] != "tiny-drope") | (rows["unit_id"] != "mixed-0-3")]
    with pytest.raises(DataError, match="were not measured on the same units"):
        lab_pairings.lab_text_pairs(fewer, FAMILIES)


@pytest.mark.parametrize(
    ("shift", "verdict"),
    [
        ({0: -0.05, 1: -0.02}, "holds"),
        ({0: 0.05, 1: 0.02}, "contradicted"),
        ({0: -0.05, 1: 0.02}, "not supported"),
        ({0: -0.05, 1: -0.0006}, "not supported"),
    ],
)
def test_concentration_is_judged_by_sign_and_test(shift: dict[int, float], verdict: str) -> None:
    found = lab_pairings.lab_text_pairs(texts(shift), FAMILIES)
    assert {each.verdict for each in claims.thesis_lab_concentration(found)} == {verdict}


def answered(lost: dict[str, int]) -> pd.DataFrame:
    """Twenty items of each task, right at first; the first `lost` of a task are wrong without the dimensions."""
    rows = []
    for model in MODELS:
        for task in lab_pairings.TASKS:
            for condition in ("baseline", "top1", "random-0"):
                for number in range(20):
                    wrong = condition == "top1" and number < lost.get(task, 0)
                    item = {"unit_id": f"{task}-{number:04d}", "seed": 0, "value": float(not wrong)}
                    rows.append(item | {"model": model, "condition": condition, "metric": f"{task}_right"})
    return made(rows)


def test_answers_are_paired_by_item() -> None:
    tests = lab_pairings.lab_knowledge_tests(answered({"passkey": 12, "sports": 1}), FAMILIES)
    found = tests.set_index("comparison")
    assert len(found) == 4 * 4
    row = found.loc["passkey, drope, seed 1, without - with"]
    assert (row["estimate"], row["n"]) == (pytest.approx(-0.6), 20)
    assert row["p_value"] == pytest.approx(2 * 0.5**12)
    assert found.loc["cities, rope, seed 0, without - with", "estimate"] == 0
    judged = claims.thesis_lab_levelled(found.reset_index())
    assert [each.verdict for each in judged] == ["holds", "holds"]
    assert claims.thesis_lab_levelled_facts(found.reset_index()).verdict == "not supported"
    for lost, keys, facts in (({}, "not supported", "holds"), ({"cities": 18}, "not supported", "contradicted")):
        other = lab_pairings.lab_knowledge_tests(answered(lost), FAMILIES)
        assert {each.verdict for each in claims.thesis_lab_levelled(other)} == {keys}
        assert claims.thesis_lab_levelled_facts(other).verdict == facts


def attending(turn: int) -> pd.DataFrame:
    """Twelve heads; those of the DroPE models are as the RoPE models' heads, or the other way round in places."""
    rows = []
    for model in MODELS:
        for layer in range(3):
            for head in range(4):
                level = layer + 0.1 * head
                value = turn * level if "drope" in model else level
                for metric in lab_pairings.PATTERNS:
                    rows.append({"model": model, "metric": metric, "layer": layer, "head": head, "value": value})
                    rows.append({"model": model, "metric": metric, "layer": layer, "value": 5.0})
    return made(rows).drop_duplicates(["model", "metric", "layer", "head"])


def test_heads_are_paired() -> None:
    for turn, verdict in ((1, "holds"), (-1, "contradicted")):
        found = lab_pairings.lab_head_agreement(attending(turn), FAMILIES)
        assert found["estimate"].tolist() == pytest.approx([turn] * 6)
        assert found["n"].eq(12).all()
        assert {each.verdict for each in claims.thesis_lab_heads_keep(found)} == {verdict}
        layers = lab_pairings.lab_layer_agreement(attending(turn))
        assert layers["correlation"].tolist() == pytest.approx([turn] * 9)
        assert layers[["n", "seeds"]].drop_duplicates().values.tolist() == [[8, 2]]
    first = layers[layers["layer"] == 1].iloc[0]
    assert first[["rope", "drope", "difference"]].tolist() == pytest.approx([1.15, -1.15, -2.3])
