"""Claims on knowledge under disruption in document 004, on hand-made frames: tasks, categories, and chance."""

import pytest

from claims_cases import prints, reason, rows, say, says, states, verdict, verdicts

MODELS = ("RoPE", "DroPE")
TASKS = {"cities": "parametric", "sports": "parametric", "imdb": "contextual", "passkey": "contextual"}


def category(model, name, **values):
    """Return a table with one row: a model's results in one category of tasks."""
    numbers = {
        "loss": 40.0, "loss_low": 30.0, "loss_high": 50.0,
        "degradation": 90.0, "degradation_low": 80.0, "degradation_high": 95.0,
        "degradation_printed": 90.0, "above_chance": 90.0,
        "tasks": 2, "tasks_above_chance": 2,
    } | values  # fmt: skip
    columns = " ".join(["positional", "category", *numbers])
    return rows(columns, (model, name, *numbers.values())).astype({"loss_high": float})


def both(first, second):
    return first.merge(second, how="outer")


def task(model, name, **values):
    """Return a table with one row: a model's results in one task."""
    numbers = {
        "base": 80.0, "base_low": 60.0, "base_high": 90.0,
        "base_n_low": 18, "base_n_high": 20, "base_right": 16,
        "disrupted": 0.0, "disrupted_low": 0.0, "disrupted_high": 16.0,
        "disrupted_n_low": 20, "disrupted_n_high": 20, "disrupted_right": 0,
        "degradation": 100.0, "chance": 50.0, "above_chance": 100.0,
        "change": -80.0, "change_low": -95.0, "change_high": -60.0,
        "p_fisher": 0.001, "p_holm": 0.004, "n": 20,
    } | values  # fmt: skip
    columns = " ".join(["positional", "task", "category", *numbers])
    tests = ("p_fisher", "p_holm", "change_low", "change_high")
    return rows(columns, (model, name, TASKS[name], *numbers.values())).astype(dict.fromkeys(tests, float))


@pytest.mark.parametrize(
    ("loss", "high", "expected"),
    [
        (10.0, 25.0, "holds: 30.0 points"),
        (10.0, 30.0, "not supported: 30.0 points"),  # the intervals touch
        (10.0, None, "not supported: 30.0 points"),
        (45.0, 60.0, "contradicted: -5.0 points"),
    ],
)
def test_larger_contextual_loss_needs_disjoint_intervals(loss, high, expected):
    table = both(category("RoPE", "contextual"), category("RoPE", "parametric", loss=loss, loss_low=5, loss_high=high))
    tasks = both(task("RoPE", "imdb", base_low=45.0, chance=50.0), task("RoPE", "passkey", base_low=80.0, chance=0.0))
    assert says("c004_rope_confirms_jin", table, tasks) == expected
    assert "Of the 2 contextual tasks IMDB has a baseline not" in reason("c004_rope_confirms_jin", table, tasks)
    above = tasks.assign(base_low=60.0)
    assert "contextual tasks none has a baseline not" in reason("c004_rope_confirms_jin", table, above)


def test_a_mean_over_tasks_needs_that_each_is_above_chance():
    stated = states(s4_4_rope_contextual="94.3%", paradox_contextual_fall="25%")
    tasks = both(task("DroPE", "imdb"), task("DroPE", "passkey"))
    for count_above, expected in ((2, "holds: 90.0%"), (1, "not supported: 90.0%")):
        rope = category("RoPE", "contextual", tasks_above_chance=count_above)
        assert says("c004_rope_contextual", stated, rope, task("RoPE", "imdb")) == expected
        drope = category("DroPE", "contextual", tasks_above_chance=count_above)
        assert says("c004_drope_contextual", stated, drope, tasks) == expected


@pytest.mark.parametrize(("above", "expected"), [(34.0, "holds"), (35.0, "not supported"), (10.0, "not supported")])
def test_parametric_mean_needs_both_tasks_above_chance(above, expected):
    table = category("RoPE", "parametric", degradation_printed=24.5, above_chance=above)
    tasks = both(task("RoPE", "cities"), task("RoPE", "sports"))
    assert verdict("c004_rope_parametric_only", states(s4_4_rope_parametric="24.5%"), table, tasks) == expected


def test_a_ratio_of_categories_is_counted_above_chance():
    captions = states(fig_9_rope_ratio="3.8x")
    for parametric, expected in ((22.5, "holds: 4.0"), (45.0, "not supported: 2.0")):
        table = both(category("RoPE", "contextual"), category("RoPE", "parametric", above_chance=parametric))
        assert says("c004_rope_ratio", captions, table) == expected


@pytest.mark.parametrize(
    ("left", "p", "expected"), [(0.0, 0.04, "holds"), (5.0, 0.04, "contradicted"), (0.0, 0.06, "contradicted")]
)
def test_a_collapse_is_complete_and_significant(left, p, expected):
    table = task("RoPE", "passkey", disrupted=left, p_fisher=p / 2, p_holm=p)
    assert says("c004_rope_passkey", states(s4_5_rope_disrupted="0%"), table) == f"{expected}: {left:.1f}%"


def test_figure_7_range_must_hold_both_tasks():
    captions = states(fig_7_rope_contextual="88-100%")
    for imdb, expected, cut in (
        (88.4, "holds: 88.4 to 100.0", False),
        (88.6, "holds: 88.6 to 100.0", True),
        (87.0, "contradicted: 87.0 to 100.0", False),
    ):
        # only parametric tasks of this model count
        tasks = both(task("RoPE", "imdb", degradation=imdb), task("RoPE", "passkey"))
        tasks = both(both(tasks, task("RoPE", "cities", degradation=1.0)), task("DroPE", "imdb", degradation=2.0))
        assert says("c004_fig7_range", captions, tasks) == expected
        assert ("the lower end is cut" in reason("c004_fig7_range", captions, tasks)) == cut


def test_a_task_without_counts_is_not_tested():
    table = rows(
        "comparison test estimate ci_low ci_high n",
        ("RoPE against DroPE, passkey", "model_difference", 0.9, 0.5, 1.0, 40),
        ("RoPE against DroPE, imdb", "model_difference", 0.1, -0.1, 0.3, 40),
        ("RoPE against DroPE, sports", "model_difference", -0.3, -0.4, -0.1, 40),
        ("RoPE against DroPE, cities", "another", 0.9, 0.5, 1.0, 40),
    )
    assert verdicts("c004_fig7_more_robust", table) == {
        "cities": "not testable",
        "sports": "contradicted",
        "imdb": "not significant",
        "passkey": "holds",
    }


def knowledge(*values):
    """Return accuracies in long form; each value gives model, task, baseline, disrupted, degradation."""
    arms = ("baseline", "disrupted", "degradation")
    table = [(*value[:2], arm, text) for value in values for arm, text in zip(arms, value[2:], strict=True)]
    return prints("positional task metric printed", *table)


def test_figure_d_loss_has_the_sign_of_the_table():
    table = knowledge(("RoPE", "cities", "80%", "40%", "50%"), ("RoPE", "sports", "80%", "80%", "0%"))

    def drawn(text):
        return prints("figure series x printed", ("D", "RoPE", "Cities", text), ("D", "RoPE", "Sports", "0"))

    assert says("c004_figure_d_sign", drawn("50"), table) == "holds: 1 of 1"
    assert says("c004_figure_d_sign", drawn("-50"), table) == "contradicted: 0 of 1"
    assert verdicts("c004_figure_d", drawn("-50"), table) == {"RoPE-cities": "holds", "RoPE-sports": "holds"}
    assert verdicts("c004_figure_d", drawn("-49"), table)["RoPE-cities"] == "contradicted"


ITEMS = {f"s4_1_{name}_items": "20" for name in TASKS}


def knowledge_of_both(**changed):
    """Return the table of both models: each accuracy falls from 80 % to 40 %, except for RoPE's tasks in `changed`."""
    printed = dict.fromkeys(TASKS, ("80.0%", "40.0%", "50.0%"))
    by_model = {"RoPE": printed | changed, "DroPE": printed}
    return knowledge(*[(model, name, *by_model[model][name]) for model in MODELS for name in TASKS])


def test_accuracy_must_be_a_whole_number_of_items():
    assert set(verdicts("c004_rates_are_counts", knowledge_of_both(), states(**ITEMS)).values()) == {"holds"}
    judged = verdicts("c004_rates_are_counts", knowledge_of_both(imdb=("82.0%", "40.0%", "51.2%")), states(**ITEMS))
    assert [key for key, answer in judged.items() if answer != "holds"] == ["RoPE-imdb-baseline"]


def test_a_degradation_is_the_lost_share_of_the_baseline():
    assert set(verdicts("c004_degradation_cells", knowledge_of_both()).values()) == {"holds"}
    judged = verdicts(
        "c004_degradation_cells", knowledge_of_both(cities=("80.0%", "40.0%", "40.0%"), imdb=("80%", "40%", "49.6%"))
    )
    assert judged["RoPE-cities"] == "contradicted"  # 40 points are not 40 %
    assert judged["RoPE-imdb"] == "holds after rounding"


def test_category_cells_are_averages_of_two_tasks_and_their_ratio():
    table = knowledge_of_both(cities=("80%", "60%", "20.0%"), sports=("80%", "72%", "10.0%"))
    lines = [(model, f"{name}_average", "50.0%") for model in MODELS for name in ("parametric", "contextual")]
    lines[0] = ("RoPE", "parametric_average", "15.0%")
    averages = prints("positional metric printed", *lines, ("RoPE", "contextual_over_parametric", "3.3x"))
    assert set(verdicts("c004_category_cells", averages, table).values()) == {"holds"}
    lines[0] = ("RoPE", "parametric_average", "10.0%")
    averages = prints("positional metric printed", *lines, ("RoPE", "contextual_over_parametric", "3.3x"))
    wrong_cells = verdicts("c004_category_cells", averages, table)
    assert {key for key, answer in wrong_cells.items() if answer != "holds"} == {"RoPE-parametric", "RoPE-ratio"}


def test_knowledge_settings_are_compared_with_the_script():
    scripts = rows("positional task n_3 digits_3", *[("RoPE", name, 20, 5) for name in TASKS])
    stated = ITEMS | {"s4_1_imdb_items": "30", "s4_1_passkey_digits": "5", "paradox_passkey_digits": "7"}
    judged = verdicts("c004_knowledge_settings", states(**stated), scripts)
    assert {key for key, answer in judged.items() if answer != "holds"} == {"s4_1_imdb_items", "paradox_passkey_digits"}


# --- without rotary positions


def test_contextual_gap_is_a_share_of_the_larger_average():
    averages = prints(
        "positional metric printed", ("RoPE", "contextual_average", "94.3%"), ("DroPE", "contextual_average", "25.0%")
    )
    tasks = both(category("RoPE", "contextual", tasks_above_chance=1), category("DroPE", "contextual"))
    frames = (averages, tasks)
    assert says("c004_contextual_gap", states(s4_4_contextual_gap="73%"), *frames) == "holds: 73.5"
    assert says("c004_contextual_gap", states(s4_4_contextual_gap="69%"), *frames) == "contradicted: 73.5"
    explanation = reason("c004_contextual_gap", states(s4_4_contextual_gap="73%"), *frames)
    assert "of which 2 of 2 and 1 of 2 have a baseline above chance" in explanation


@pytest.mark.parametrize(("high", "expected"), [(-1.0, "holds"), (1.0, "not supported"), (None, "not supported")])
def test_parametric_improvement_needs_a_loss_interval_below_zero(high, expected):
    table = category("DroPE", "parametric", loss=-5.0, loss_low=-9.0, loss_high=high, degradation=-8.0)
    tasks = both(task("DroPE", "cities"), task("DroPE", "sports"))
    assert says("c004_drope_parametric_improves", states(s4_4_drope_parametric="-8%"), table, tasks) == (
        f"{expected}: -8.0%"
    )


@pytest.mark.parametrize(
    ("low", "high", "p", "expected"),
    [
        (5.0, 30.0, 0.01, "holds"), (-5.0, 30.0, 0.2, "not significant"), (5.0, 30.0, 0.06, "not supported"),
        (None, None, None, "not testable"),
    ],
)  # fmt: skip
def test_cities_improvement_needs_interval_and_corrected_test(low, high, p, expected):
    table = task("DroPE", "cities", change=15.0, change_low=low, change_high=high, p_fisher=p, p_holm=p)
    protocols = rows("positional task change_4", ("DroPE", "cities", -2.0))
    assert verdict("c004_cities_improve", table, protocols) == expected


@pytest.mark.parametrize(
    ("ci", "expected"), [((-9.0, 10.0), "holds"), ((-16.0, 16.0), "not supported"), ((-40.0, -11.0), "contradicted")]
)
def test_unaffected_passkey_changes_by_at_most_ten_points(ci, expected):
    table = task("DroPE", "passkey", change=0.0, change_low=ci[0], change_high=ci[1])
    assert verdict("c004_drope_passkey_unaffected", states(s4_4_drope_passkey_degradation="0%"), table) == expected
    columns = (
        "positional task base_right_4 disrupted_right_4 n_4 p_change_4 precision_4 precision_3 change_low_3 "
        "change_high_3 change_4 change_low_4 change_high_4"
    )
    protocols = rows(columns, ("DroPE", "passkey", 6, 0, 20, 0.02, "16", "4", -1.0, 1.0, -30.0, *ci))
    assert verdict("c004_drope_retrieval_independent", protocols) == expected


def test_nonfunctional_claim_is_contradicted_by_a_tenfold_perplexity():
    columns = "positional massive_ratio random_increase"
    for largest_ratio, expected in ((9.4, "holds: 2 to 9 times"), (10.0, "contradicted: 2 to 10 times")):
        # only DroPE's texts count
        texts = rows(columns, ("DroPE", 2.0, 1.0), ("DroPE", largest_ratio, 1.0), ("RoPE", 999.0, 1.0))
        assert says("c004_drope_nonfunctional", texts, task("DroPE", "imdb")) == expected


@pytest.mark.parametrize(
    ("change", "p", "expected"),
    [
        (5.0, 0.04, "not testable"), (5.0, 0.06, "not testable"), (-5.0, 0.04, "contradicted: 0 of 2 tasks rise"),
        (5.0, None, "not testable"),
    ],
)  # fmt: skip
def test_interference_explanation_needs_a_rise(change, p, expected):
    table = both(task("DroPE", "cities", change=change, p_holm=p), task("DroPE", "imdb", change=-9.0))
    table = both(table, task("RoPE", "cities", change=50.0, p_holm=0.001))
    assert says("c004_interference", table) == expected
    assert ("no known number of answers" in reason("c004_interference", table)) == (p is None)


def test_knowledge_captions_are_compared_with_table_cells():
    table = knowledge(("RoPE", "passkey", "100%", "0%", "100%"), ("DroPE", "passkey", "60%", "60%", "0%"))
    averages = prints("positional metric printed", ("RoPE", "contextual_over_parametric", "3.8x"))

    def captions(drope):
        return prints(
            "statement figure quantity positional printed qualifier",
            ("fig_8_rope_degradation", "8", "Degradation", "RoPE", "100%", ""),
            ("fig_8_drope_degradation", "8", "Degradation", "DroPE", drope, ""),
            ("fig_9_rope_ratio", "9", "Ratio", "RoPE", "3.8x", ""),
        )

    assert set(verdicts("c004_knowledge_captions", captions("0%"), table, averages).values()) == {"holds"}
    assert say("c004_knowledge_captions", captions("10%"), table, averages)["fig_8_drope_degradation"] == (
        "contradicted: 0"
    )
