"""Layers, dimensions, keys and answers of pretrained models: results, exhibits, and claims in both directions."""

from collections.abc import Callable

import pandas as pd
import pytest

from analysis.claims.thesis.pretrained import tasks as claims
from analysis.studies.pretrained.ablations import pretrained_ablations, pretrained_disruption
from analysis.studies.pretrained.answers import pretrained_answers, pretrained_retrieval
from analysis.studies.pretrained.heads import pretrained_heads
from analysis.studies.pretrained.knowledge_tests import pretrained_knowledge_tests
from boundpaper.errors import DataError
from boundpaper.figures.render import tex
from boundpaper.tables.render import render
from committed import FAMILIES
from figures.pretrained import pretrained_ablations as ablations_figure
from figures.pretrained import pretrained_heads as heads_figure
from figures.pretrained import pretrained_retrieval as retrieval_figure
from tables.pretrained import pretrained_answers as answers_table
from tables.pretrained import pretrained_disruption as disruption_table

COLUMNS = ["model", "condition", "layer", "head", "unit_id", "metric", "value", "n", "reason"]
MODELS = pd.DataFrame({"model": ["mine"], "display_name": ["Mine"], "positions": [8192]})
SUBJECTS = pd.DataFrame({"model": ["mine", "other"], "role": ["pretrained", "lab"]})


def frame(rows):
    return pd.DataFrame(rows, columns=COLUMNS)


def costs(condition, value, layer=None, deviation=0.1, metric="delta_nats", texts=4):
    names = {metric: value, f"{metric}_sd": deviation}
    return [("mine", condition, layer, None, "", name, each, texts, "") for name, each in names.items()]


def layer_ablations(mlp=(3.0, 2.0), attention=(0.1, 0.2), deviation=0.1):
    rows = []
    for layer, (mlp_cost, attention_cost) in enumerate(zip(mlp, attention, strict=True)):
        rows += costs("sweep_mlp", mlp_cost, layer, deviation) + costs(
            "sweep_attention", attention_cost, layer, deviation
        )
        rows += costs("sweep_both", mlp_cost + attention_cost, layer, deviation)
    return pretrained_ablations(frame(rows), MODELS, SUBJECTS)


def disrupted(less_random=1.0, less_matched=0.5, deviation=0.1, p=0.005, matched=2.0):
    rows = []
    for target, value, dims in (("massive", 3.0, 8), ("random", 2.0, 8), ("matched", matched, 90)):
        name = f"threshold_{target}_zero_pre"
        reason = "" if value is not None else "not matched: 3 of 20 %"
        rows.append(("mine", name, None, None, "", "delta_nats", value, 4 if value is not None else 0, reason))
        rows.append(("mine", name, None, None, "text", "text_delta_nats", 9.0, 1, ""))
        rows.append(("mine", name, None, None, "", "dims", dims, 2, ""))
        rows.append(("mine", name, None, None, "", "removed_share", 0.3, 1, ""))
    massive = "threshold_massive_zero_pre"
    rows += costs(massive, less_random, None, deviation, "minus_random")
    if matched is None:
        rows.append(("mine", massive, None, None, "", "minus_matched", None, 0, "not matched: 3 of 20 %"))
    else:
        rows += costs(massive, less_matched, None, deviation, "minus_matched")
    rows.append(("mine", massive, None, None, "", "permutation_p", p, 200, ""))
    return pretrained_disruption(frame(rows), MODELS, SUBJECTS)


def retrieval(passkey=1.0, verification=0.5, n=20):
    rows = [
        ("mine", "own/0.0625x", None, None, "", "passkey_exact", passkey, n, ""),
        ("mine", "own/0.0625x/form:key", None, None, "", "passkey_exact", 0.1, n, ""),
        ("mine", "yarn/2x", None, None, "", "passkey_exact", 0.1, n, ""),
        ("mine", "own/2x", None, None, "", "passkey_exact", None, 0, "too long"),
        ("mine", "own/0.0625x", None, None, "", "verification_accuracy", verification, n, ""),
        ("mine", "own/0.0625x", None, None, "", "verification_auc", 0.25, n, ""),
    ]
    return pretrained_retrieval(frame(rows), MODELS, SUBJECTS)


def answers(share=0.5, unparsed=0.25, n=20, top=0.5, random=0.5):
    rows = []
    for task in ("cities", "passkey"):
        for condition, right in (("baseline", share), ("top1", top), ("random-0", random)):
            for metric, value in (("accuracy", right), ("unparsed", unparsed), ("chance", 0.5)):
                rows.append(("mine", condition, None, None, "", f"{task}_{metric}", value, n, ""))
            for item in range(n):  # the first answers are right
                result = float(item < round(right * n))
                rows.append(("mine", condition, None, None, f"{task}-{item:04}", f"{task}_right", result, 1, ""))
    return frame(rows)


def answer_results(**changes):
    return pretrained_answers(answers(**changes), MODELS, SUBJECTS)


def answer_tests(**changes):
    return pretrained_knowledge_tests(answers(**changes), MODELS, SUBJECTS, FAMILIES)


def verdict(verdicts, key):
    return {each.key: each.verdict for each in verdicts}[key]


def test_layer_cost_has_students_interval():
    result = layer_ablations().set_index(["part", "layer"])
    half = 3.1824 * 0.1 / 2  # Student's 97.5 % point with three degrees, over the root of four texts
    assert result.loc[("mlp", 1), ["low", "high"]].tolist() == pytest.approx([2 - half, 2 + half], abs=1e-4)
    assert len(result) == 6


@pytest.mark.parametrize(
    ("mlp", "attention", "deviation", "expected"),
    [
        ((3.0, 0.2), (0.1, 2.0), 0.1, "holds"),
        ((3.0, 2.0), (0.1, 0.2), 0.1, "contradicted"),
        ((3.0, 2.0), (0.1, 1.9), 0.1, "not supported"),
        ((3.0, 2.0), (0.1, 0.2), None, "not testable"),
    ],
)
def test_attention_of_layer_1_is_compared_with_its_mlp(mlp, attention, deviation, expected):
    assert verdict(claims.thesis_pretrained_lead(layer_ablations(mlp, attention, deviation)), "mine") == expected


@pytest.mark.parametrize(
    ("mlp", "deviation", "expected"),
    [
        ((3.0, 2.0), 0.1, "holds"),
        ((2.0, 3.0), 0.1, "contradicted"),
        ((2.1, 2.0), 0.1, "not supported"),
        ((3.0, 2.0), None, "not testable"),
    ],
)
def test_first_mlp_is_compared_with_the_next(mlp, deviation, expected):
    assert verdict(claims.thesis_pretrained_needed(layer_ablations(mlp, deviation=deviation)), "mine") == expected


def test_cost_of_massive_dimensions_is_relative_to_controls():
    result = disrupted().set_index("target")
    assert result.loc["massive", "p"] == 0.005
    assert result.loc["massive", "masks"] == 200
    assert result.loc["random", "less"] == 1.0
    assert result.loc["matched", "dims"] == 90
    assert pd.isna(result.loc["massive", "less"])
    absent = disrupted(matched=None).set_index("target")
    assert absent.loc["matched", "note"].startswith("not matched")


@pytest.mark.parametrize(
    ("changes", "random", "matched"),
    [
        ({}, "holds", "holds"),
        ({"less_random": -1.0, "less_matched": -1.0}, "contradicted", "contradicted"),
        ({"less_matched": 0.1, "deviation": 1.0}, "not significant", "not significant"),
        ({"matched": None}, "holds", "not testable"),
    ],
)
def test_massive_dimensions_are_compared_with_controls(changes, random, matched):
    verdicts = claims.thesis_pretrained_disrupted(disrupted(**changes))
    assert verdict(verdicts, "mine_random_zero") == random
    assert verdict(verdicts, "mine_matched_zero") == matched


@pytest.mark.parametrize(("p", "expected"), [(0.005, "holds"), (0.3, "not supported"), (0.99, "contradicted")])
def test_the_rank_among_random_masks_decides(p, expected):
    assert verdict(claims.thesis_pretrained_ranked(disrupted(p=p)), "mine_threshold_zero") == expected


def test_keys_are_counted_by_length_under_the_native_encoding_only():
    result = retrieval()
    assert result[["task", "tokens", "n"]].to_numpy().tolist() == [["passkey", 512, 20], ["verification", 512, 20]]
    assert result.loc[0, "low"] == pytest.approx(0.8389, abs=1e-4)  # Wilson, 20 of 20
    assert result["auc"].tolist() == pytest.approx([float("nan"), 0.25], nan_ok=True)


@pytest.mark.parametrize(
    ("passkey", "verification", "expected"),
    [
        (1.0, 0.5, ("holds", "holds")),
        (0.0, 0.1, ("not supported", "contradicted")),
        (1.0, 0.9, ("holds", "contradicted")),
    ],
)
def test_key_accuracy_is_compared_with_guessing(passkey, verification, expected):
    verdicts = claims.thesis_pretrained_keys(retrieval(passkey, verification))
    assert (verdict(verdicts, "mine_passkey_512"), verdict(verdicts, "mine_verification_512")) == expected


@pytest.mark.parametrize(
    ("share", "knowledge", "prompt"),
    [(0.9, "contradicted", "holds"), (0.5, "holds", "not supported"), (0.1, "contradicted", "contradicted")],
)
def test_answer_accuracy_is_compared_with_guessing(share, knowledge, prompt):
    """The claims: knowledge is no better than guessing, and answers from the prompt are better."""
    verdicts = claims.thesis_pretrained_knows(answer_results(share=share))
    assert verdict(verdicts, "mine_cities") == knowledge
    assert verdict(verdicts, "mine_passkey") == prompt
    assert "25 % of the answers are none of those allowed" in verdicts[0].reason


def test_longer_prompts_may_come_from_a_separate_run():
    rows = [
        ("mine", "own/0.0625x", None, None, "", "passkey_exact", 1.0, 20, ""),
        ("mine-long", "own/0.5x", None, None, "", "passkey_exact", 0.5, 6, ""),
        ("mine-other", "own/1x", None, None, "", "passkey_exact", 0.5, 6, ""),
    ]
    result = pretrained_retrieval(frame(rows), MODELS, SUBJECTS)
    assert result[["model", "tokens", "n"]].to_numpy().tolist() == [["mine", 512, 20], ["mine", 4096, 6]]
    assert "n = 6 to 20 a length" in retrieval_figure.figure(result).caption
    assert "n = 20 a length" in retrieval_figure.figure(result.iloc[:1]).caption


@pytest.mark.parametrize(
    ("top", "random", "expected"),
    [(0.0, 1.0, "holds"), (1.0, 0.0, "contradicted"), (0.5, 0.6, "not significant"), (0.6, 0.5, "not supported")],
)
def test_top_dimensions_are_compared_with_random_ones(top, random, expected):
    tests = answer_tests(top=top, random=random)
    [verdicts] = claims.thesis_pretrained_levelled(answer_results(top=top, random=random), tests)
    assert (verdicts.key, verdicts.verdict) == ("mine_passkey", expected)
    asked_once = answer_results().query("condition != 'random-0'")
    assert claims.thesis_pretrained_levelled(asked_once, tests)[0].verdict == "not testable"


def test_items_are_compared_in_pairs():
    result = answer_tests(share=0.9, top=0.25, random=0.5).set_index("comparison")
    row = result.loc["passkey, largest against random"]
    # five of twenty items are right only under random dimensions: two-sided binomial p of 0 of 5
    assert (row["n"], row["estimate"], row["p_value"]) == (20, -0.25, pytest.approx(2 * 0.5**5))
    assert row["p_adjusted"] == pytest.approx(2 * 2 * 0.5**5)  # over two tasks
    assert pd.isna(result.loc["passkey, random against none", "p_adjusted"])
    assert result.loc["passkey, random against none", "estimate"] == pytest.approx(-0.4)
    incomplete = answers()
    incomplete = incomplete[~((incomplete["condition"] == "top1") & (incomplete["unit_id"] == "passkey-0003"))]
    with pytest.raises(DataError, match="passkey has different items in top1"):
        pretrained_knowledge_tests(incomplete, MODELS, SUBJECTS, FAMILIES)


def test_head_metrics_are_summarised_by_layer():
    metrics = pd.DataFrame(
        {"model": ["mine"] * 3, "layer": [0, 0, 1], "ap_overall": [0.5, 0.7, None], "ap_drop": [0.1, 0.2, 0.3]}
    )
    result = pretrained_heads(metrics, MODELS, SUBJECTS)
    assert result[["metric", "layer", "value", "least", "most", "heads"]].round(9).to_numpy().tolist() == [
        ["ap_overall", 0, 0.6, 0.5, 0.7, 2],
        ["ap_drop", 0, 0.15, 0.1, 0.2, 2],
        ["ap_drop", 1, 0.3, 0.3, 0.3, 1],
    ]


def test_missing_pretrained_measurements_error_names_the_recipe():
    studies: dict[str, tuple[Callable[..., pd.DataFrame], ...]] = {
        "experiments": (pretrained_ablations, pretrained_disruption),
        "tasks": (pretrained_retrieval, pretrained_answers),
    }
    for recipe, study in [(recipe, study) for recipe, functions in studies.items() for study in functions]:
        with pytest.raises(DataError, match=rf"pretrained-{recipe}\.yaml"):
            study(frame([]), MODELS, SUBJECTS)


def test_exhibits_show_the_results():
    assert "Mine" in str(tex(ablations_figure.figure(layer_ablations()), "a"))
    assert "512" in str(tex(retrieval_figure.figure(retrieval()), "r"))
    text = str(render(disruption_table.table(disrupted()), "d"))
    assert "200 random masks" in text
    assert "Cities and countries" in str(render(answers_table.table(answer_results(), answer_tests()), "t"))
    heads = pretrained_heads(
        pd.DataFrame({"model": ["mine"] * 2, "layer": [0, 1], "ap_overall": [0.5, 0.7], "ap_drop": [0.1, 0.2]}),
        MODELS,
        SUBJECTS,
    )
    metrics = pd.DataFrame({"model": ["mine"], "context": [8192]})
    assert "2 heads of 2 layers" in heads_figure.figure(heads, metrics).caption
