"""A pretrained network with and without rotation or beginning token, and keys by prompt part: results and claims."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa

from analysis.claims.thesis.pretrained import states as claims
from analysis.claims.thesis.pretrained import tasks as pretrained_tasks
from analysis.studies.pretrained._pairs import model_pairs
from analysis.studies.pretrained.head_agreement import CLASSES, pretrained_head_agreement
from analysis.studies.pretrained.retrieval_parts import pretrained_retrieval_parts
from analysis.studies.pretrained.text_tests import pretrained_text_tests
from boundpaper.errors import DataError
from boundpaper.statistics.locations.rank_sum import rank_sum_p
from boundpaper.tables.render import render
from committed import FAMILIES
from tables.pretrained import pretrained_head_agreement as heads_table
from tables.pretrained import pretrained_retrieval_parts as parts_table
from tables.pretrained import pretrained_text_tests as texts_table

COLUMNS = ["model", "condition", "layer", "head", "unit_id", "metric", "value", "n", "reason"]
MODELS = pd.DataFrame({"model": ["mine"], "display_name": ["Mine"], "positions": [8192]})
SUBJECTS = pd.DataFrame(
    [
        ("big-rope", "reported", "big", "rope", "Big"),
        ("big-drope", "reported", "big", "drope", "Big without"),
        ("alone", "reported", "", "", "Alone"),
        ("mine", "pretrained", "", "", ""),
        ("mine-bare", "control", "mine", "drope", ""),
        ("mine-a", "own", "mine", "drope", ""),
        ("mine-b", "own", "mine", "rope", ""),
    ],
    columns=["model", "role", "pair", "side", "label"],
)
TEXTS = range(6)


def frame(rows):
    return pd.DataFrame(rows, columns=COLUMNS)


def test_pairs_are_found_by_roles_and_sides():
    sides = {pair.contrast: (pair.first, pair.second) for pair in model_pairs(MODELS, SUBJECTS)}
    assert sides == {
        "rotation removed": ("mine-bare", "mine"),
        "trained without": ("mine-a", "mine-b"),
        "token in front": ("mine-bos", "mine-word"),
        "reported pair": ("big-drope", "big-rope"),
    }
    one_arm = SUBJECTS[SUBJECTS["model"] != "mine-b"]
    assert "trained without" not in {pair.contrast for pair in model_pairs(MODELS, one_arm)}


def test_a_reported_pair_that_was_measured_is_in_results_and_exhibits():
    classes = {"big-rope": MIXED, "big-drope": LESS}
    result = pretrained_head_agreement(patterns(classes), MODELS, SUBJECTS)
    assert set(result["display_name"]) == {"Big"}
    assert "The report's pair, measured" in str(render(heads_table.table(result), "h"))
    rows = [
        (model, "", None, None, f"text{number}", "first_attention", 0.5 + sign * (0.1 + number / 100), 2, "")
        for model, sign in (("big-rope", 0), ("big-drope", 1))
        for number in TEXTS
    ]
    tests = pretrained_text_tests(frame([]), frame(rows), frame([]), MODELS, SUBJECTS, FAMILIES)
    assert tests["comparison"].tolist() == ["reported pair: attention to the first token"]
    assert tests["estimate"].tolist() == pytest.approx([12.5])
    assert "DroPE minus RoPE (Big)" in str(render(texts_table.table(tests, MODELS, SUBJECTS), "t"))


def by_text(massive=(3.0, 5.0, 4.0, 6.0, 2.0, 5.0), first=-0.02, near=-0.1, entropy=0.2, other=range(6)):
    noise = np.array([0.01, -0.01, 0.02, 0.0, -0.02, 0.015])
    rows: dict[str, list[tuple]] = {"massive_values": [], "attention_patterns": [], "layer_content": []}
    for model, sign, texts in (("mine", 0, TEXTS), ("mine-bare", 1, other)):
        for text, drift, more in zip(texts, noise, massive, strict=True):
            unit = f"text{text}"
            rows["massive_values"].append(
                (model, "pre lambda=5", None, None, unit, "massive_total_q", 100 + sign * more, 2, "")
            )
            for metric, base, change in (
                ("first_attention", 0.5, first),
                ("local_attention", 0.3, near),
                ("entropy_share", 0.4, entropy),
            ):
                value = base + sign * (change + drift)
                rows["attention_patterns"].append((model, "", None, None, unit, metric, value, 2, ""))
            rows["attention_patterns"].append((model, "", 0, None, unit, "first_attention", 9.0, 2, ""))
    tables = [frame(rows[name]) for name in ("massive_values", "attention_patterns", "layer_content")]
    return pretrained_text_tests(*(*tables, MODELS, SUBJECTS, FAMILIES))


def test_texts_are_compared_in_pairs_and_corrected_over_quantities():
    result = by_text().set_index("comparison")
    assert len(result) == 4
    row = result.loc["rotation removed: massive values of queries"]
    expected = stats.ttest_1samp([3.0, 5.0, 4.0, 6.0, 2.0, 5.0], 0)
    assert (row["estimate"], row["p_value"]) == pytest.approx((25 / 6, expected.pvalue))
    assert row["n"] == len(TEXTS)
    assert result["adjustment"].str.startswith("Holm over 4 tests of rotation by text (mine, rotation removed)").all()
    assert result.loc["rotation removed: attention to near tokens", "estimate"] == pytest.approx(-9.75)  # points
    with pytest.raises(DataError, match="different texts"):
        by_text(other=range(1, 7))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "holds"),
        ({"massive": (-3.0, -5.0, -4.0, -6.0, -2.0, -5.0)}, "contradicted"),
        ({"massive": (9.0, -8.0, 7.0, -6.0, 5.0, -4.0)}, "not significant"),
    ],
)
def test_massive_values_without_rotation_are_judged_by_text(changes, expected):
    verdicts = {each.key: each.verdict for each in claims.thesis_rotation_removed(by_text(**changes), MODELS)}
    assert verdicts["mine_queries"] == expected


@pytest.mark.parametrize(
    ("changes", "key"),
    [({"first": 0.2}, "mine_first"), ({"near": 0.1}, "mine_near"), ({"entropy": -0.2}, "mine_entropy")],
)
def test_attention_without_rotation_is_judged_by_its_sign(changes, key):
    verdicts = [
        {each.key: each.verdict for each in claims.thesis_rotation_removed(by_text(**one), MODELS)}[key]
        for one in ({"first": -0.2}, changes)
    ]
    assert verdicts == ["holds", "contradicted"]


def patterns(by_model):
    """Return rows of head classes and attention; `by_model` lists the classes of the heads by model and layer."""
    rows = []
    for model, layers in by_model.items():
        for layer, classes in enumerate(layers):
            for head, kind in enumerate(classes):
                rows.append((model, "sink>=0.3", layer, head, "", f"pattern_{kind}", 1, 6, ""))
                rows.append((model, "", layer, head, "", "first_attention", (head + CLASSES.index(kind)) / 10, 6, ""))
    return frame(rows)


MIXED = [
    ["sink", "sink", "local", "local"],
    ["local", "mixed", "sink", "local"],
    ["mixed", "sink", "mixed", "local"],
] * 4
LESS = [
    ["sink", "sink", "local", "sink"],
    ["local", "mixed", "sink", "mixed"],
    ["mixed", "local", "mixed", "local"],
] * 4
SHIFTED = [[*classes[1:], classes[0]] for classes in MIXED]


def agreement(removed, started):
    classes = {"mine": MIXED, "mine-bare": removed, "mine-word": MIXED, "mine-bos": started}
    return pretrained_head_agreement(patterns(classes), MODELS, SUBJECTS)


def test_agreement_of_head_classes_is_kappa_within_layers():
    result = agreement(LESS, MIXED)
    rows = result[result["contrast"] == "rotation removed"].set_index("layer")
    table = np.array([[2, 0], [1, 1]])  # layer 0: classes of the model, and those without rotation
    assert rows["kappa"].iloc[0] == pytest.approx(cohens_kappa(table).kappa)
    assert rows["same"].iloc[:3].tolist() == [3, 3, 3]
    all_layers = result[result["layer"].isna()].set_index("contrast")
    assert all_layers.loc["token in front", ["same", "kappa", "r"]].tolist() == pytest.approx([48, 1.0, 1.0])
    expected = 4 * sum([(2 * 3 + 2 * 1) / 4, (2 * 1 + 1 * 2 + 1 * 1) / 4, (2 * 2 + 1 * 0 + 1 * 2) / 4])
    assert all_layers.loc["rotation removed", "expected"] == pytest.approx(expected)
    assert all_layers.loc["rotation removed", "kappa"] == pytest.approx((36 - expected) / (48 - expected))


def test_layers_of_a_single_head_class_give_no_agreement():
    uniform = [["sink"] * 4, ["local"] * 4, ["mixed"] * 4]
    classes = {"mine": uniform, "mine-bare": uniform}
    result = pretrained_head_agreement(patterns(classes), MODELS, SUBJECTS)
    assert result["same"].iloc[-1] == 12
    assert result["kappa"].isna().all()
    assert result["note"].str.contains("every head is of one class").all()


def test_states_with_other_heads_are_refused():
    with pytest.raises(DataError, match="different heads"):
        agreement(LESS[:-1], MIXED)


@pytest.mark.parametrize(
    ("removed", "started", "expected"),
    [
        (LESS, MIXED, "holds"),
        (MIXED, LESS, "contradicted"),
        (LESS, LESS, "not supported"),
        (SHIFTED, MIXED, "contradicted"),
    ],
)
def test_head_class_changes_are_judged_against_chance_and_the_other_state(removed, started, expected):
    [verdicts] = claims.thesis_heads_change_class(agreement(removed, started))
    assert verdicts.verdict == expected
    alone = agreement(removed, started).query("contrast == 'rotation removed'")
    assert claims.thesis_heads_change_class(alone)[0].verdict == "not testable"


def parts(form=1.0, depth=1.0, auc=0.0):
    own = "own/0.0625x"
    rows = [
        ("mine", own, None, None, "", "passkey_exact", 0.5, 12, ""),
        ("mine", f"{own}/form:key", None, None, "", "passkey_exact", form, 6, ""),
        ("mine", f"{own}/form:code", None, None, "", "passkey_exact", 1.0, 6, ""),
        ("mine", f"{own}/depth:0.2-0.4", None, None, "", "passkey_exact", depth, 4, ""),
        ("mine", "yarn/2x/form:key", None, None, "", "passkey_exact", 0.1, 6, ""),
        ("mine", own, None, None, "", "p_yes_exact", 0.2, 6, ""),
        ("mine", own, None, None, "", "p_yes_exact_sd", 0.01, 6, ""),
        ("mine", own, None, None, "", "p_yes_raw_exact", 0.05, 6, ""),
        ("mine", own, None, None, "", "p_yes_swapped", 0.3, 3, ""),
        ("mine", own, None, None, "", "verification_auc_swapped", 0.1, 9, ""),
        ("mine", own, None, None, "", "p_yes_other", 0.5, 3, ""),
        ("mine", own, None, None, "", "verification_auc", auc, 12, ""),
    ]
    return pretrained_retrieval_parts(frame(rows), MODELS, SUBJECTS)


def test_prompt_parts_are_read_under_the_native_encoding():
    result = parts(form=0.5).set_index(["part", "which"])
    assert result["tokens"].eq(512).all()
    assert sorted(result.index) == [
        ("depth", "0.2-0.4"),
        ("form", "code"),
        ("form", "key"),
        ("shown", "exact"),
        ("shown", "other"),
        ("shown", "swapped"),
        ("shown", "wrong"),
    ]
    assert result.loc[("form", "key"), ["low", "high"]].tolist() == pytest.approx([0.1876, 0.8124], abs=1e-4)  # 3 of 6
    assert result.loc[("shown", "swapped"), ["value", "auc"]].tolist() == [0.3, 0.1]
    assert pd.isna(result.loc[("shown", "exact"), "auc"])
    among_wrong = result.loc[("shown", "wrong")]
    # six against six, none above: two of the 924 orders are as extreme
    assert among_wrong[["value", "n", "auc", "p"]].tolist() == pytest.approx([0.4, 6, 0.0, 2 / 924])


def test_retrieval_parts_join_separate_runs_of_long_contexts():
    rows = [
        (name, f"own/{ratio}x/form:key", None, None, "", "passkey_exact", 0.5, 6, "")
        for name, ratio in (("mine", 0.25), ("mine-long", 0.5), ("mine-longest", 1), ("mine-bos", 0.125))
    ]
    result = pretrained_retrieval_parts(frame(rows), MODELS, SUBJECTS)
    assert result["tokens"].tolist() == [2048, 4096, 8192]
    assert result["model"].eq("mine").all()


@pytest.mark.parametrize("seed", range(4))
def test_rank_sum_p_follows_from_the_auc(seed):
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=6), rng.normal(0.5, size=5)
    auc = (first[:, None] > second).mean()
    expected = stats.mannwhitneyu(first, second, method="exact").pvalue
    assert rank_sum_p(auc, 6, 5) == pytest.approx(expected)
    with pytest.raises(ValueError, match="not a whole number"):
        rank_sum_p(0.51, 6, 5)
    with pytest.raises(ValueError, match="at least one"):
        rank_sum_p(0.5, 0, 5)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ["holds", "holds"]),
        ({"form": 0.5}, ["holds", "contradicted"]),
        ({"depth": 0.75}, ["contradicted", "holds"]),
    ],
)
def test_places_claim_needs_a_missed_key_at_some_place(changes, expected):
    verdicts = pretrained_tasks.thesis_pretrained_places(parts(**changes))
    assert [verdict.verdict for verdict in verdicts] == expected


@pytest.mark.parametrize(
    ("auc", "expected"), [(0.0, "holds"), (1.0, "contradicted"), (14 / 36, "not supported"), (20 / 36, "not supported")]
)
def test_yes_after_wrong_keys_is_compared_with_chance(auc, expected):
    [verdict] = pretrained_tasks.thesis_pretrained_shown(parts(auc=auc))
    assert verdict.verdict == expected


def test_missing_two_state_measurements_error_names_the_recipe():
    for study in (
        lambda: pretrained_text_tests(frame([]), frame([]), frame([]), MODELS, SUBJECTS, FAMILIES),
        lambda: pretrained_head_agreement(frame([]), MODELS, SUBJECTS),
    ):
        with pytest.raises(DataError, match=r"distilled\.yaml"):
            study()
    with pytest.raises(DataError, match=r"pretrained-tasks\.yaml"):
        pretrained_retrieval_parts(frame([]), MODELS, SUBJECTS)


def test_exhibits_show_the_results():
    assert "Massive values of queries" in str(render(texts_table.table(by_text(), MODELS, SUBJECTS), "t"))
    text = str(render(heads_table.table(agreement(LESS, MIXED)), "h"))
    assert "Layers 0 to 3" in text
    assert "All layers" in text
    assert "two digits exchanged" in str(render(parts_table.table(parts()), "p"))
