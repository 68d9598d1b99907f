"""Claims of document 004 on attention patterns, phases and layer 1, on hand-made frames."""

import pytest

from claims_cases import prints, reason, rows, say, says, states, verdict, verdicts

ROTATED = rows("experiment run positional rotated taken_from", ("7", "printed", "RoPE", "yes", "model"))
UNROTATED = ROTATED.assign(rotated="no")


def agreement(bos=0.5, local=0.5, less=3):
    columns = (
        "kind layers mean_absolute_difference n largest_difference largest_difference_layer late_run "
        "layers_drope_less mean_rope mean_drope"
    )
    return rows(
        columns,
        ("bos", "all layers", bos, 8, 2.0, 3, 4, 2, 80.0, 81.0),
        ("local", "all layers", local, 8, 2.0, 3, 4, less, 5.0, 4.0),
    )


TESTS = rows(
    "comparison test estimate p_value p_adjusted ci_low ci_high",
    ("bos, all layers", "pearson", 0.9, 0.001, 0.002, 0.5, 1.0),
    ("bos, all layers", "paired_t", 1.0, 0.01, 0.02, 0.1, 2.0),
    ("local, all layers", "paired_t", -1.0, 0.01, 0.02, -2.0, -0.1),
)


@pytest.mark.parametrize(
    ("bos", "local", "origins", "expected"),
    [
        (0.9, 0.9, ROTATED, "holds"),
        (1.0, 0.9, ROTATED, "not supported"),
        (0.9, 1.0, ROTATED, "not supported"),
        (0.9, 0.9, UNROTATED, "not supported"),
    ],
)
def test_nearly_identical_patterns_differ_by_at_most_a_point(bos, local, origins, expected):
    assert verdict("c004_pat_nearly_identical", agreement(bos, local), TESTS, origins) == expected


@pytest.mark.parametrize(
    ("less", "origins", "expected"),
    [(5, ROTATED, "holds"), (6, ROTATED, "contradicted"), (6, UNROTATED, "not supported")],
)
def test_routed_identically_needs_less_than_three_quarters_in_one_direction(less, origins, expected):
    assert says("c004_pat_routed_identically", agreement(less=less), TESTS, origins) == f"{expected}: -1.0000"
    explanation = reason("c004_pat_routed_identically", agreement(less=less), TESTS, origins)
    assert ("without rotating" in explanation) == (origins is UNROTATED)


def experiments(**values):
    """Return values of RoPE and DroPE by quantity, layers and experiment; keywords change some."""
    return rows(
        "quantity layers experiment rope drope difference texts",
        ("sink heads", "all layers", 4, 97.0, 97.0, 0.0, "prompts"),
        ("sink heads", "all layers", 7, *values.get("here", (97.0, 97.0)), 0.0, "paragraphs"),
        ("sink heads", "layer 1", 4, 80.0, 80.0 + values.get("layer", 0.0), values.get("layer", 0.0), "prompts"),
        ("attention to BOS", "all layers", 7, 80.0, 81.0, values.get("bos", 1.0), "paragraphs"),
        ("attention to BOS", "all layers", 5, 80.0, 81.0, values.get("other", 1.0), "prompts"),
    )


def test_recalled_sink_rate_is_compared_with_both_models():
    stated = states(s8_1_sink_rate="~97%")
    assert verdict("c004_pat_sink_rate_recalled", stated, experiments()) == "holds"
    table = experiments(here=(97.0, 93.1))
    assert says("c004_pat_sink_rate_recalled", stated, table) == "not supported: 97.0 and 93.1"


@pytest.mark.parametrize(
    ("gap", "origins", "expected"),
    [(5.0, ROTATED, "holds"), (-5.1, ROTATED, "not supported"), (5.0, UNROTATED, "not supported")],
)
def test_similar_layers_differ_by_at_most_five_points(gap, origins, expected):
    assert verdict("c004_pat_similarity_against_function", experiments(layer=gap), origins) == expected


@pytest.mark.parametrize(
    ("bos", "other", "origins", "expected"),
    [(1.0, 2.0, ROTATED, "holds"), (1.0, -2.0, ROTATED, "not supported"), (-1.0, 2.0, ROTATED, "not supported")],
)
def test_bos_order_must_be_the_same_in_both_experiments(bos, other, origins, expected):
    table = experiments(bos=bos, other=other)
    assert says("c004_pat_bos_order", table, origins) == f"{expected}: {bos:+.1f} and {other:+.1f} points"
    assert ("the order turns" in reason("c004_pat_bos_order", table, origins)) == (other < 0)


def test_pattern_means_are_recomputed_from_the_layers():
    table = prints(
        "positional metric printed",
        ("RoPE", "bos_attention", "80.0%"),
        ("DroPE", "bos_attention", "81.1%"),
        ("RoPE", "local_attention", "5.0%"),
        ("DroPE", "local_attention", "4.0%"),
    )
    judged = verdicts("c004_pat_means", table, agreement())
    assert [key for key, answer in judged.items() if answer != "holds"] == ["DroPE-bos_attention"]
    layers = rows("layer bos_rope bos_drope local_rope local_drope", (0, 0, 0, 0, 0), (1, 80.0, 81.1, 5.0, 4.4))
    judged = verdicts("c004_pat_layer1", table, layers)
    assert [key for key, answer in judged.items() if answer != "holds"] == ["DroPE-local_attention"]


def test_pattern_texts_and_threshold_agree_with_script_and_section_5():
    protocols = rows("experiment items", ("7", "8 texts of 40 tokens"))
    assert verdict("c004_pat_texts", states(s8_2_texts="8"), protocols) == "holds"
    assert verdict("c004_pat_texts", states(s8_2_texts="10"), protocols) == "contradicted"
    for threshold, expected in (("0.3", "holds"), ("0.4", "contradicted")):
        stated = states(s8_2_sink_threshold=threshold, s5_1_sink_threshold_formula="0.3")
        assert verdict("c004_pat_threshold", stated) == expected


# --- phases


def phases(**pairs):
    return rows("quantity rope drope", *[(name, *pair) for name, pair in pairs.items()])


def test_phase_cells_are_compared_with_the_layer_series():
    quantities = ("peak_norm", "peak_norm_layer", "min_entropy", "min_entropy_layer")
    metrics = ("peak_bos_norm", "peak_bos_norm_layer", "min_entropy", "min_entropy_layer")
    table = prints("positional metric printed", *[(m, metric, "3") for m in ("RoPE", "DroPE") for metric in metrics])
    judged = verdicts("c004_phase_cells", table, phases(**dict.fromkeys(quantities, (3.4, 3.6))))
    assert {judged[f"RoPE-{metric}"] for metric in metrics} == {"holds"}
    assert {judged[f"DroPE-{metric}"] for metric in metrics} == {"contradicted"}


def test_delayed_spike_needs_a_later_largest_rise():
    layers = rows("layer ratio_drope ratio_sd_drope", (0, 1.0, 0.1), (1, 90.0, 0.1), (2, 95.0, 0.1))
    shared_metrics = {"norm_layer_0": (1, 1), "norm_layer_1": (9, 9), "spike_largest_ratio": (1, 2)}
    answers = {drope: phases(spike_largest_rise=(1, drope), **shared_metrics) for drope in (1, 2)}
    assert says("c004_spike_delayed", answers[2], layers) == "holds: largest rise in layer 2 against 1"
    assert says("c004_spike_delayed", answers[1], layers) == "not supported: largest rise in layer 1 against 1"


def test_peak_and_entropy_gaps_are_recomputed_from_the_series():
    summary = rows("quantity value", ("peak_gap_percent", 47.2), ("min_entropy_ratio", 16.3))
    protocols = rows("section precision", ("5 (phase metrics)", "RoPE 16 bit; DroPE 4 bit"))
    assert verdict("c004_peak_gap", summary, states(s5_4_peak_gap="47%"), protocols) == "holds"
    assert verdict("c004_peak_gap", summary, states(s5_4_peak_gap="48%"), protocols) == "contradicted"
    assert verdict("c004_entropy_gap", summary, states(s5_4_entropy_ratio="16x")) == "holds"
    assert verdict("c004_entropy_gap", summary, states(s5_4_entropy_ratio="17x")) == "contradicted"


def test_similar_profiles_share_the_layers_of_their_plateaus():
    layers = rows("layer norm_rope norm_drope", (0, 1.0, 2.0), (1, 2.0, 4.0), (2, 3.0, 6.0))
    equal_plateaus = phases(plateau_first=(1, 1), plateau_last=(2, 2))
    assert says("c004_fig14_profiles", equal_plateaus, layers) == "holds: r = 1.0000"
    for other in (phases(plateau_first=(1, 2), plateau_last=(2, 2)), phases(plateau_first=(1, 1), plateau_last=(2, 1))):
        assert verdict("c004_fig14_profiles", other, layers) == "contradicted"


def test_later_peak_must_exceed_its_next_layer_by_the_spread():
    layers = rows("layer norm_drope", (0, 10.0), (1, 19.0), (2, 20.0))
    for spread, expected in ((0.9, "holds"), (1.1, "not supported")):
        table = phases(peak_norm_layer=(1, 2), norm_sd_at_peak=(0.1, spread), plateau_span=(1.0, 1.0))
        assert says("c004_fig14_later_peak", table, layers) == f"{expected}: layer 2 against 1"


# --- what layer 1 writes


def test_hundredfold_ratio_is_judged_by_the_farther_one():
    stated = states(s9_5_qk_norm_ratio="~100")
    for key, expected in ((114.0, "holds: 114.0"), (116.0, "contradicted: 116.0")):
        ratios = rows("metric ratio_published", ("query_norm", 95.0), ("key_norm", key))
        assert says("c004_con_hundredfold", stated, ratios) == expected


def content(rope=1.0, drope=70.0, bos=60.0, update=70.0):
    columns = "positional layer scope share share_of_update share_per_text cosine"
    table = [("RoPE", 1, "all tokens", rope), ("DroPE", 1, "all tokens", drope), ("DroPE", 1, "BOS", bos)]
    table += [("DroPE", 1, "content tokens", drope), ("DroPE", 0, "all tokens", 0.0)]
    return rows(columns, *[(*values, update, 70.0, 0.5) for values in table])


@pytest.mark.parametrize(
    ("rope", "drope", "bos", "expected"),
    [
        (1.0, 70.0, 60.0, ("holds", "holds")),
        (1.0, 70.0, 40.0, ("holds", "not supported")),
        (1.0, 45.0, 60.0, ("contradicted", "holds")),
        (55.0, 70.0, 60.0, ("contradicted", "holds")),
    ],
)
def test_complete_inversion_must_hold_at_every_token(rope, drope, bos, expected):
    assert tuple(verdicts("c004_con_inverted", content(rope, drope, bos)).values()) == expected


@pytest.mark.parametrize(("update", "expected"), [(70.9, "holds: 70.9000"), (60.0, "not supported: 60.0000")])
def test_contribution_share_must_match_the_residual_update_within_a_point(update, expected):
    table = prints("positional metric printed", ("DroPE", "attention_contribution", "70.0%"))
    assert says("c004_con_to_residual", content(update=update), table) == expected


@pytest.mark.parametrize(("values", "expected"), [(1.4, "holds"), (1.6, "not supported")])
def test_qk_cause_is_contradicted_by_larger_values(values, expected):
    gain = rows("value_ratio share_of_log rest_ratio output_ratio", (values, 50.0, 2.0, 6.0))
    assert says("c004_con_qk_cause", gain, states(s9_5_output_norm_ratio="6x")) == f"{expected}: 6.0000"


def test_shares_follow_from_printed_norms():
    cells = {"attention_output_norm": "1.0", "mlp_output_norm": "3.0", "attention_contribution": "25.0%"}

    def table(mlp):
        lines = cells | {"mlp_contribution": mlp}
        return prints("positional metric printed", *[(m, *each) for m in ("RoPE", "DroPE") for each in lines.items()])

    assert set(verdicts("c004_con_share_definition", table("75.0%")).values()) == {"holds"}
    # 2.95 of 4.00 are 73.8 %
    assert verdicts("c004_con_share_definition", table("74.0%"))["RoPE-mlp"] == "holds after rounding"
    assert verdicts("c004_con_share_definition", table("80.0%"))["RoPE-mlp"] == "contradicted"


def test_growth_of_a_share_is_recomputed_from_the_published_shares():
    table = prints("positional metric printed", ("DroPE", "attention_contribution_ratio_to_rope", "76x"))
    columns = "metric ratio_published drope_published rope_published ratio_low ratio_high"
    for ratio, low, expected in ((76.4, 72.0, "holds"), (80.1, 72.0, "not supported"), (80.1, 77.0, "contradicted")):
        ratios = rows(columns, ("attention_contribution", ratio, 68.8, 0.9, low, 81.0))
        assert verdict("c004_con_share_grows", table, ratios) == expected


# --- tasks without parts of layer 1


def shares(*values):
    """Return task accuracies; each value gives positional, condition, task, and right answers out of ten."""
    table = [(*value[:3], value[3], value[3], 10, 10.0 * value[3], f"{10 * value[3]}%", "above") for value in values]
    return rows("positional condition task count right_high n share printed_text against_chance", *table)


@pytest.mark.parametrize(
    ("left", "p", "expected"), [(0, 0.04, "holds"), (1, 0.04, "contradicted"), (0, 0.06, "contradicted")]
)
def test_destroyed_passkey_means_none_found(left, p, expected):
    table = shares(("RoPE", "baseline", "passkey", 9), ("RoPE", "layer1_attn", "passkey", left))
    tests = rows("comparison p_value p_adjusted n", ("RoPE, passkey, layer1_attn against baseline", p / 2, p, 20))
    assert says("c004_attention_destroys_passkey", table, tests) == f"{expected}: {10 * left}%"


def test_destruction_of_all_tasks_needs_every_cell_at_zero():
    def tasks(last):
        cells = [("DroPE", f"layer1_{part}", task, 0) for part in ("mlp", "attn") for task in ("cities", "imdb")]
        return shares(*cells[:-1], (*cells[-1][:3], last), ("DroPE", "baseline", "imdb", 5), ("RoPE", "x", "imdb", 5))

    stated = states(s7_4_drope_ablations=("any", 2), s7_4_drope_tasks=("all", 2))
    assert says("c004_drope_any_ablation", tasks(0), stated) == "holds: 4 of 4"
    assert says("c004_drope_any_ablation", tasks(1), stated) == "contradicted: 3 of 4"
    more = states(s7_4_drope_ablations=("any", 4), s7_4_drope_tasks=("all", 2))
    assert verdict("c004_drope_any_ablation", tasks(0), more) == "contradicted"


def test_unimportant_attention_is_contradicted_by_a_lost_task():
    effects = rows("condition positional ratio_printed", ("layer1_attn", "RoPE", "1.2x"))
    for estimate, p, expected in ((-0.5, 0.04, "contradicted: 1"), (-0.5, 0.06, "holds: 0"), (0.5, 0.04, "holds: 0")):
        name = "RoPE, passkey, layer1_attn against baseline"
        tests = rows("comparison estimate p_adjusted", (name, estimate, p), ("DroPE, passkey, layer1_attn", -1.0, 0.0))
        assert say("c004_attention_unimportant", tests, effects) == {"": f"{expected} of 1 tasks lost"}
