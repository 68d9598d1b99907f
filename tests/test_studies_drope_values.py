"""Studies of massive values, their disruption and knowledge tasks, against values by hand and scipy."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.studies.drope_values import disruption as drope_disruption
from analysis.studies.drope_values import knowledge as drope_knowledge
from analysis.studies.drope_values import knowledge_protocols as drope_knowledge_protocols
from analysis.studies.drope_values import massive as drope_massive
from analysis.studies.drope_values._knowledge import TASKS, sum_with_interval
from boundpaper.errors import DataError
from boundpaper.store.frames import parsed
from committed import FAMILIES

PROTOCOLS = pd.DataFrame(
    {
        "section": ["2 (Table 2.2)", "2.3 (layers)", "4", "5 (tasks)"],
        "items": ["10 texts", "3 texts", *2 * ["cities 200, sports 100, imdb 100, passkey 20"]],
        "passkey_digits": [np.nan, np.nan, 5, 5],
        "precision": ["fp16", "4-bit", "fp16", "4-bit"],
    }
)
STATED = pd.DataFrame(
    {
        "statement": [f"s4_1_{task}_items" for task in TASKS] + ["s4_1_passkey_digits"],
        "value": [200.0, 100.0, 100.0, 20.0, 5.0],
    }
)
RATES = {
    ("RoPE", "cities"): ("89.5%", "57.5%"), ("RoPE", "sports"): ("60.0%", "52.0%"), ("RoPE", "imdb"): ("44.0%", "5.0%"),
    ("RoPE", "passkey"): ("100.0%", "0.0%"), ("DroPE", "cities"): ("79.0%", "88.5%"),
    ("DroPE", "sports"): ("73.0%", "67.0%"), ("DroPE", "imdb"): ("30.0%", "15.0%"),
    ("DroPE", "passkey"): ("60.0%", "60.0%"),
}  # fmt: skip


def series(counts: dict[tuple[str, str], list[float]]) -> pd.DataFrame:
    """Return a series in the published format, with the given counts per layer of each tensor and model."""
    rows = [
        {"positional": model, "metric": f"massive_count_{tensor}", "layer": layer, "printed": str(value)}
        for (tensor, model), values in counts.items()
        for layer, value in enumerate(values)
    ]
    return parsed(pd.DataFrame(rows))


@pytest.fixture
def layers() -> pd.DataFrame:
    counts = {
        ("query", "RoPE"): [10, 2, 50, 40],
        ("query", "DroPE"): [10, 8, 20, 40],
        ("key", "RoPE"): [10, 10, 10, 10],
        ("key", "DroPE"): [5, 12, 10, 11],
        ("value", "RoPE"): [9, 4, 0, 1],
        ("value", "DroPE"): [4, 9, 1, 0],
    }
    return drope_massive.massive_layers(series({key: [float(v) for v in values] for key, values in counts.items()}))


def test_layers_count_ties_separately_and_explain_missing_changes(layers: pd.DataFrame) -> None:
    query = layers[layers["tensor"] == "query"]
    assert list(query["more"]) == ["equal", "DroPE", "RoPE", "equal"]
    assert list(query["share_drope"]) == pytest.approx([100 * n / 78 for n in (10, 8, 20, 40)])
    empty = layers[layers["change"].isna()]
    assert list(empty["tensor"]) == ["value"]
    assert (empty["note"] != "").all()
    total = layers[(layers["tensor"] == "all") & (layers["layer"] == 1)].iloc[0]
    assert (total["rope"], total["drope"]) == (16, 29)


def test_thirds_differing_in_the_last_digit_count_as_equal() -> None:
    table = drope_massive.massive_layers(
        series(
            {
                (tensor, model): [value]
                for tensor in drope_massive.TENSORS
                for model, value in (("RoPE", 1 / 3), ("DroPE", 0.3333333333333334))
            }
        )
    )
    assert set(table["more"]) == {"equal"}


def test_summary_compares_layer_1_with_later_layers(layers: pd.DataFrame) -> None:
    summary = drope_massive.massive_layer_summary(layers).set_index("tensor")
    query, key = summary.loc["query"], summary.loc["key"]
    assert (query["layer1_ratio"], query["layer1_increase"]) == (4, 3)
    assert query["later_change"] == pytest.approx(100 * (60 / 90 - 1))
    assert query["later_layers_fallen_by_stated"] == 1
    assert (key["layers_drope_more"], key["layers_with_more"], key["layers_equal"]) == (2, "1 3", 1)
    assert query["top_layer_drope"] == 3


def test_change_is_bounded_by_rounding_and_tested_by_welch(layers: pd.DataFrame) -> None:
    cells = {"count_mean": ("100.0", "61.0"), "count_sd": ("5.0", "9.0")}
    rows = [
        {"tensor": tensor, "positional": model, "metric": metric, "printed": pair[i]}
        for tensor in drope_massive.TENSORS
        for i, model in enumerate(("RoPE", "DroPE"))
        for metric, pair in cells.items()
    ]
    rows += [
        {"tensor": tensor, "positional": "DroPE", "metric": "change_from_rope", "printed": "−39%"}
        for tensor in drope_massive.TENSORS
    ]
    counts = drope_massive.massive_counts(
        parsed(pd.DataFrame(rows)), drope_massive.massive_layer_summary(layers), PROTOCOLS
    )
    first = counts.iloc[0]
    assert first["change"] == pytest.approx(-39)
    assert (first["change_low"], first["change_high"]) == pytest.approx(
        (100 * (60.95 / 100.05 - 1), 100 * (61.05 / 99.95 - 1))
    )
    assert list(counts["texts"]) == [10, 10, 10, 3, 3, 3, 3]
    test = drope_massive.massive_tests(counts, FAMILIES).iloc[0]
    # printed deviations have the divisor n
    scale = math.sqrt(10 / 9)
    expected = stats.ttest_ind_from_stats(61, 9 * scale, 10, 100, 5 * scale, 10, equal_var=False)
    assert (test["statistic"], test["p_value"]) == pytest.approx((expected.statistic, expected.pvalue))
    assert test["p_adjusted"] == pytest.approx(3 * expected.pvalue)


def trials(massive: dict[str, list[float]]) -> pd.DataFrame:
    """Return trials in the published format: perplexity 2 at baseline, near 2 with random dimensions zeroed."""
    rows = []
    for model, values in massive.items():
        for seed, value in enumerate(values):
            arms = {
                "baseline_ppl": 2.0,
                "massive_zeroed_ppl": value,
                "random_zeroed_ppl": 2.0 + 0.01 * (-1) ** seed * seed,
            }
            rows += [
                {"positional": model, "seed": seed, "metric": metric, "printed": repr(number)}
                for metric, number in arms.items()
            ]
    return parsed(pd.DataFrame(rows))


def texts(massive: dict[str, list[float]]) -> pd.DataFrame:
    rows = [
        {"positional": model, "text": text, "seed": 1, "metric": metric, "printed": repr(number)}
        for model, values in massive.items()
        for text, value in zip(("literary", "technical", "repetitive"), values, strict=True)
        for metric, number in (("baseline_ppl", 2.0), ("massive_zeroed_ppl", value), ("random_zeroed_ppl", 2.0))
    ]
    return parsed(pd.DataFrame(rows))


def test_trials_distinguish_copies_from_replicates_and_both_deviations() -> None:
    table = drope_disruption.disruption_trials(trials({"RoPE": [200.0] * 4, "DroPE": [8.0, 9.0, 8.0, 7.0]}))
    rope, drope = table.iloc[0], table.iloc[1]
    assert (rope["massive_values"], drope["massive_values"], rope["random_values"]) == (1, 3, 4)
    random = 100 * (np.array([2.0, 1.99, 2.02, 1.97]) / 2 - 1)
    assert (rope["random_sd_n"], rope["random_sd_n1"]) == pytest.approx((random.std(), random.std(ddof=1)))
    assert rope["massive_nats"] == pytest.approx(math.log(100))
    assert rope["mr_difference"] == pytest.approx(np.mean(9900 - random))
    assert rope["mr_sd_n1"] == pytest.approx(random.std(ddof=1))
    assert rope["mr_d"] == pytest.approx(np.mean(9900 - random) / random.std(ddof=0))


def test_massive_and_random_parts_are_given_by_text_in_nats() -> None:
    rows = texts({"RoPE": [200.0, 400.0, 800.0], "DroPE": [8.0, 20.0, 50.0]})
    rows.loc[rows["metric"] == "random_zeroed_ppl", ["printed", "value"]] = ("3.0", 3.0)
    printed = pd.DataFrame([("RoPE", "literary", "9,900", 9900.0)], columns=["positional", "text", "printed", "value"])
    table = drope_disruption.disruption_by_text(rows, printed).set_index(["positional", "text"])
    row = table.loc[("RoPE", "literary")]
    assert row["massive_nats"] == pytest.approx(math.log(100))
    assert row["random_nats"] == pytest.approx(math.log(1.5))
    assert row["mr_nats"] == pytest.approx(math.log(100) - math.log(1.5))
    assert row["random_increase"] == pytest.approx(50)
    assert (row["selected"], row["times_printed"]) == (True, pytest.approx(1))
    assert not table["selected"].drop(index=["literary"], level="text").any()


def test_tests_over_seeds_reproduce_scipy_and_carry_their_guards() -> None:
    seeds = trials({"RoPE": [200.0] * 4, "DroPE": [8.0] * 4})
    table = drope_disruption.disruption_tests(
        seeds, texts({"RoPE": [200.0, 400.0, 800.0], "DroPE": [8.0, 20.0, 50.0]}), FAMILIES
    )
    tests = table.set_index(["unit", "comparison"])
    random = 100 * (np.array([2.0, 1.99, 2.02, 1.97]) / 2 - 1)
    paired = tests.loc[("seed", "RoPE: massive against random")]
    assert paired["p_value"] == pytest.approx(stats.ttest_rel([9900] * 4, random).pvalue)
    assert "guard copied replicates" in paired["note"]
    assert "guard zero variance" in paired["note"]
    assert pd.isna(paired["effect_ci_low"])
    pooled = tests.loc[("seed", "RoPE against DroPE: massive minus random")]
    assert pooled["p_value"] == pytest.approx(stats.ttest_ind(9900 - random, 300 - random).pvalue)
    alone = tests.loc[("seed", "RoPE against DroPE: massive increase alone")]
    assert all(pd.isna(alone[name]) for name in ("p_value", "effect"))
    contrast = tests.loc[("text set", "RoPE against DroPE: massive minus random")]
    nats = np.log([100, 200, 400]) - np.log([4, 10, 25])
    assert contrast["estimate"] == pytest.approx(nats.mean())
    expected = stats.ttest_1samp(nats, 0)
    assert contrast["p_value"] == pytest.approx(expected.pvalue)
    assert (contrast["ci_low"], contrast["ci_high"]) == pytest.approx(tuple(expected.confidence_interval()))
    assert contrast["ci_low"] < nats.min()
    assert "guard few units" in contrast["note"]
    assert contrast["adjustment"] == "Holm over 7 tests of disruption over text sets"
    assert set(table.loc[table["unit"] == "seed", "p_adjusted"].isna()) == {True}


def test_texts_compare_published_with_printed_increases() -> None:
    printed = pd.DataFrame(
        [
            {"text": text, "positional": model, "printed": "+1,000%"}
            for text in ("literary", "technical", "repetitive")
            for model in ("RoPE", "DroPE")
        ]
    )
    table = drope_disruption.disruption_by_text(
        texts({"RoPE": [22.0, 202.0, 42.0], "DroPE": [12.0, 22.0, 42.0]}), parsed(printed)
    )
    rope = table[table["positional"] == "RoPE"].set_index("text")
    assert rope.loc["technical", "times_printed"] == pytest.approx(10)
    assert rope.loc["literary", "massive_nats"] == pytest.approx(math.log(11))
    assert rope.loc["literary", "nats_printed"] == pytest.approx(math.log(11))
    assert list(rope["selected"]) == [True, False, False]
    ratios = drope_disruption.disruption_ratios(table).set_index("text")
    assert ratios.loc["literary", "ratio_of_percentages"] == pytest.approx(2)
    assert ratios.loc["repetitive", "difference_nats"] == pytest.approx(0)


@pytest.fixture
def knowledge() -> pd.DataFrame:
    rows = []
    for (model, task), (base, disrupted) in RATES.items():
        low, high = (float(text.rstrip("%")) for text in (disrupted, base))
        cells = {"baseline": base, "disrupted": disrupted, "degradation": f"{100 * (1 - low / high):.1f}%"}
        rows += [
            {"positional": model, "category": "", "task": task, "metric": metric, "printed": text}
            for metric, text in cells.items()
        ]
    return parsed(pd.DataFrame(rows))


def rates(typed: tuple[str, ...] = ("RoPE",)) -> pd.DataFrame:
    """Return the rates of `RATES` as a script stores them: typed numbers for models in `typed`, else fractions."""
    return pd.DataFrame(
        [
            {
                "experiment": "3",
                "condition": condition,
                "positional": model,
                "task": task,
                "value": float(text.rstrip("%")) / 100,
                "stored": "typed" if model in typed and task != "passkey" else "fraction",
            }
            for (model, task), cells in RATES.items()
            for condition, text in zip(("baseline", "disrupted"), cells, strict=True)
        ]
    )


def test_tasks_have_exact_tests_and_no_degradation_at_chance(knowledge: pd.DataFrame) -> None:
    tests = drope_knowledge.knowledge_tests(knowledge, rates(), STATED, FAMILIES)
    tasks = drope_knowledge.knowledge_tasks(knowledge, rates(), STATED, tests).set_index(["positional", "task"])
    sports = tasks.loc[("DroPE", "sports")]
    assert (sports["base_right"], sports["disrupted_right"]) == (73, 67)
    assert sports["p_fisher"] == pytest.approx(stats.fisher_exact([[73, 27], [67, 33]]).pvalue)
    assert sports["above_chance"] == pytest.approx(100 * 6 / 23)
    assert tasks.loc[("RoPE", "cities"), "above_chance"] == pytest.approx(100 * 32 / 39.5)
    imdb = tasks.xs("imdb", level="task")
    assert imdb["above_chance"].isna().all()
    assert (imdb["note"] != "").all()
    assert tasks["above_chance"].notna().sum() == 6
    unknown = tasks[tasks["p_fisher"].isna()]
    assert list(unknown.index) == [("RoPE", "cities"), ("RoPE", "sports"), ("DroPE", "cities")]
    empty = ["change_low", "degradation_low", "above_chance_high", "p_holm", "p_mcnemar_low", "p_mcnemar_high"]
    assert unknown[empty].isna().all(axis=None)
    assert unknown["note"].str.contains("how many is not stored").all()
    assert list(unknown["base_n_high"] - unknown["base_n_low"]) == [181, 95, 100]
    assert tasks.loc[("DroPE", "imdb"), "p_below_chance"] == pytest.approx(stats.binom.cdf(30, 100, 0.5))
    fisher = tests[tests["test"] == "fisher_exact"]
    assert fisher["adjustment"].str.contains("5 tests").all()
    assert not tests["comparison"].str.contains("cities").any()


@pytest.mark.parametrize(("base", "disrupted", "n"), [(12, 12, 20), (5, 2, 8), (8, 0, 8), (3, 7, 9)])
def test_pairings_bound_mcnemar_over_all_tables(base: int, disrupted: int, n: int) -> None:
    p_values = []
    for both in range(min(base, disrupted) + 1):
        lost, gained = base - both, disrupted - both
        if both + lost + gained <= n:
            p_values.append(stats.binomtest(lost, lost + gained).pvalue if lost + gained else 1.0)
    assert drope_knowledge._mcnemar_bounds(base, disrupted, n) == pytest.approx((min(p_values), max(p_values)))


@pytest.mark.parametrize(
    ("rate", "fault"),
    [(0.305, r"0\.305 is not a whole number of items out of 100"), (0.31, r"30\.0% is printed, 31\.0 % is stored")],
)
def test_a_rate_that_is_no_number_of_items_or_not_the_printed_one_is_an_error(
    knowledge: pd.DataFrame, rate: float, fault: str
) -> None:
    wrong_rates = rates()
    wrong_rates.loc[(wrong_rates["task"] == "imdb") & (wrong_rates["positional"] == "DroPE"), "value"] = rate
    with pytest.raises(DataError, match=fault):
        drope_knowledge.knowledge_tests(knowledge, wrong_rates, STATED, FAMILIES)


def test_known_counts_enable_the_tests(knowledge: pd.DataFrame) -> None:
    exact = rates(typed=())
    result = drope_knowledge.knowledge_tests(knowledge, exact, STATED, FAMILIES)
    assert set(result.loc[result["test"] == "fisher_exact", "comparison"]) == {
        "RoPE imdb", "RoPE passkey", "DroPE sports", "DroPE imdb", "DroPE passkey",
    }  # fmt: skip
    # only 200 answers give these three decimals, in both arms
    exact.loc[(exact["positional"] == "RoPE") & (exact["task"] == "cities"), "value"] = [0.895, 0.575 + 0.03]
    changed = knowledge.copy()
    row = (changed["positional"] == "RoPE") & (changed["task"] == "cities") & (changed["metric"] == "disrupted")
    changed.loc[row, ["value", "low", "high"]] = [60.5, 60.45, 60.55]
    result = drope_knowledge.knowledge_tests(changed, exact, STATED, FAMILIES)
    (cities,) = result[(result["test"] == "fisher_exact") & (result["comparison"] == "RoPE cities")].to_dict("records")
    assert cities["p_value"] == pytest.approx(stats.fisher_exact([[179, 21], [121, 79]]).pvalue)


def test_sum_recovers_the_variance_of_independent_normals() -> None:
    total, low, high = sum_with_interval([(1.0, 0.0, 2.0), (2.0, 2 - math.sqrt(3), 2 + math.sqrt(3))])
    assert (total, low, high) == pytest.approx((3, 1, 5))


def test_category_means_exclude_tasks_at_chance(knowledge: pd.DataFrame) -> None:
    tests = drope_knowledge.knowledge_tests(knowledge, rates(), STATED, FAMILIES)
    tasks = drope_knowledge.knowledge_tasks(knowledge, rates(), STATED, tests)
    printed = pd.DataFrame(
        [
            {"positional": model, "metric": f"{category}_average", "printed": "10%"}
            for model in ("RoPE", "DroPE")
            for category in ("parametric", "contextual")
        ]
    )
    table = drope_knowledge.knowledge_categories(tasks, parsed(printed)).set_index(["positional", "category"])
    drope = table.loc[("DroPE", "parametric")]
    assert drope["loss"] == pytest.approx((-9.5 + 6) / 2)
    assert pd.isna(drope["loss_low"])
    context = table.loc[("DroPE", "contextual")]
    assert context["loss_low"] < 0 < context["loss_high"]
    assert list(table["tasks_above_chance"]) == [2, 1, 2, 1]
    assert table.loc[("RoPE", "contextual"), "degradation"] == pytest.approx((100 * 39 / 44 + 100) / 2)


def test_baselines_of_two_protocols_are_compared_by_fishers_test(knowledge: pd.DataFrame) -> None:
    functional = pd.DataFrame(
        [
            {"condition": condition, "positional": model, "task": task, "printed": printed}
            for model in ("RoPE", "DroPE")
            for task in TASKS
            for condition, printed in (("baseline", "65%"), ("qk_disruption", "35%"))
        ]
    )
    fourth = parsed(functional).assign(experiment="4", stored="fraction")
    stored = pd.concat([rates(), fourth.assign(value=fourth["value"] / 100)])
    table = drope_knowledge_protocols.knowledge_protocols(knowledge, parsed(functional), stored, PROTOCOLS, FAMILIES)
    row = table[(table["positional"] == "RoPE") & (table["task"] == "imdb")].iloc[0]
    assert row["p_base"] == pytest.approx(stats.fisher_exact([[65, 35], [44, 56]]).pvalue)
    assert (row["change_3"], row["change_4"]) == pytest.approx((-39, -30))
    assert (row["digits_3"], row["precision_4"]) == (5, "4-bit")
    # Newcombe's interval for 35 minus 65 of 100 each, from both Wilson intervals
    low, high = (np.array(stats.binomtest(k, 100).proportion_ci(method="wilson")) for k in (35, 65))
    down, up = math.hypot(0.35 - low[0], high[1] - 0.65), math.hypot(low[1] - 0.35, 0.65 - high[0])
    interval = (row["change_low_4"], row["change_high_4"])
    assert interval == pytest.approx((100 * (-0.3 - down), 100 * (-0.3 + up)))
    tested = table[table["p_base"].notna()]
    assert set(tested["task"]) == {"imdb", "passkey"}
    assert (tested["p_base_holm"] >= tested["p_base"]).all()
    assert tested["note"].str.contains("guard mixed protocol").all()
    assert table.loc[table["p_base"].isna(), "note"].str.contains("how many is not stored").all()
