"""Claims on document 002 about RULER and missing scores, on hand-made frames that make each true or false."""

import pytest

from claims_002_cases import DECILES
from claims_cases import function, prints, reason, rows, say, says, states, verdict, verdicts

LLAMA, MISTRAL = "llama3.1-8b", "mistral-v0.2-7b"

# --- the benchmark


@pytest.mark.parametrize(("text", "answers"), [("13", ("holds", "holds")), ("12", ("contradicted", "holds"))])
def test_ruler_tasks_and_models_are_compared_with_the_authors_counts(text, answers):
    facts = prints("fact printed", ("ruler_tasks", "13"), ("ruler_models", "17"))
    judged = verdicts("c002_ruler_counts", states(ruler_tasks=text, ruler_models="17"), facts)
    assert (judged["tasks"], judged["models"]) == answers


@pytest.mark.parametrize(
    ("text", "expected"), [("4K-128K", "holds"), ("8K-128K", "contradicted"), ("4K-64K", "contradicted")]
)
def test_ruler_lengths_are_compared_with_shortest_and_longest(text, expected):
    facts = prints("fact printed", ("ruler_shortest", "4K"), ("ruler_longest", "128K"))
    assert says("c002_ruler_lengths", states(ruler_lengths=text), facts) == f"{expected}: 4K to 128K"


@pytest.mark.parametrize(("count", "expected"), [(2, "holds: 2"), (3, "contradicted: 3")])
def test_added_models_are_counted_in_the_table(count, expected):
    stated = states(ruler_models_added=("two", 2))
    table = rows("model metric", *[(f"m{n}", metric) for n in range(count) for metric in ("layers", "window")])
    assert says("c002_ruler_models_added", stated, table) == expected


def test_stated_attention_windows_are_compared_with_the_configuration():
    table = rows("model window", (LLAMA, "Full 128K"), (MISTRAL, "Sliding 32K"))

    def models(one, other):
        columns = "model display_name attention captured_context"
        return rows(columns, (LLAMA, "L", one, 131072), (MISTRAL, "M", other, 32768))

    assert verdicts("c002_ruler_models_window", table, models("full", "sliding, 32K")) == {
        LLAMA: "holds",
        MISTRAL: "holds",
    }
    judged = verdicts("c002_ruler_models_window", table, models("sliding", "full"))
    assert set(judged.values()) == {"contradicted"}


@pytest.mark.parametrize(
    ("tokens", "expected"), [(131072, "holds"), (128000, "contradicted"), (131071, "contradicted")]
)
def test_full_coverage_must_equal_the_captured_tokens(tokens, expected):
    answers = says(
        "c002_t8_llama_coverage", states(t8_llama31_8b_coverage="128K"), rows("model captured_context", (LLAMA, tokens))
    )
    assert answers == f"{expected}: {tokens:,}"


def test_second_half_bin_is_not_testable_and_its_decile_mean_reported():
    table = prints("model length metric printed", (MISTRAL, "32k", "plasticity", "0.712"))
    profile = rows(f"model {DECILES}", (MISTRAL, 9, 9, 9, 9, 9, 0.7, 0.6, 0.5, 0.4, 0.3), (LLAMA, *[1.0] * 10))
    assert verdict("c002_t8_bins", table, profile) == "not testable"
    assert "would be 0.5000 by its deciles and is 0.712" in reason("c002_t8_bins", table, profile)


def test_positions_of_mistral_bins_are_not_testable():
    models = rows("model captured_context bucket_tokens", (MISTRAL, 32768, 4096))
    stated = states(ruler_mistral_positions="3.5K-31.6K")
    assert verdict("c002_mistral_positions", stated, models) == "not testable"
    assert "8 buckets of 4,096 tokens" in reason("c002_mistral_positions", stated, models)


@pytest.mark.parametrize(
    ("effective", "reported", "expected"),
    [("32k", "32k", "holds: 32k"), ("64k", "32k", "contradicted: 64k"), ("32k", "64k", "contradicted: 32k")],
)
def test_effective_length_is_judged_by_rule_and_by_its_authors(effective, reported, expected):
    summary = rows("model 32k 64k effective effective_reported", (LLAMA, 87.4, 84.7, effective, reported))
    facts = prints("fact printed", ("ruler_threshold", "85.6"))
    assert says("c002_llama_effective", states(ruler_llama_effective=("~32K", None)), summary, facts) == expected


@pytest.mark.parametrize(
    ("score", "plasticity", "expected"),
    [(-1.0, -0.1, "holds: 2 of 2"), (0.0, -0.1, "contradicted: 1 of 2"), (-1.0, 0.2, "contradicted: 1 of 2")],
)
def test_monotone_claim_needs_both_series_to_fall_at_every_step(score, plasticity, expected):
    lengths = rows(
        "model ruler_step plasticity_step",
        (LLAMA, None, None),
        (LLAMA, -2.0, -0.2),
        (LLAMA, score, plasticity),
        (MISTRAL, 5.0, 5.0),
    )
    assert says("c002_llama_monotone", lengths) == expected
    assert "of 2 steps" in reason("c002_llama_monotone", lengths)


@pytest.mark.parametrize(
    ("estimate", "p", "expected"), [(0.9, 0.01, "holds"), (0.9, 0.05, "not supported"), (-0.9, 0.01, "not supported")]
)
def test_series_track_each_other_by_their_changes(estimate, p, expected):
    tests = rows(
        "comparison test estimate p_value n",
        (LLAMA, "pearson_levels", 0.99, 0.001, 6),
        (LLAMA, "pearson_first_differences", estimate, p, 5),
        (MISTRAL, "pearson_first_differences", 0.9, 0.001, 5),
    )
    assert says("c002_llama_tracks", tests) == f"{expected}: r of changes {estimate:.2f}"
    assert ("do too" in reason("c002_llama_tracks", tests)) == (expected == "holds")


def vision(*values):
    return rows(f"model {DECILES}", ("llama3.2-11b", *values), (LLAMA, *[0.5] * 10))


@pytest.mark.parametrize(("text", "expected"), [("40–60%", "holds"), ("30-50%", "contradicted")])
def test_dip_is_where_the_two_lowest_deciles_are(text, expected):
    stated = states(ruler_llama32_11b_dip_place=(text, None), t4_llama32_11b_dip_place=("40-50%", None))
    table = vision(0.1, 0.1, 0.7, 0.6, 0.4, 0.5, 0.55, 0.1, 0.1, 0.1)  # the dip is in deciles 3 to 7
    assert says("c002_llama_11b_dip", stated, table) == f"{expected}: 40-60%"
    assert "(0.400, 0.500); at 30-40 %" in reason("c002_llama_11b_dip", stated, table)
    apart_dip = vision(0.1, 0.1, 0.4, 0.6, 0.7, 0.6, 0.5, 0.1, 0.1, 0.1)
    assert says("c002_llama_11b_dip", stated, apart_dip) == "contradicted: 20-70%"


@pytest.mark.parametrize(
    ("theta", "recovery", "factor", "expected"),
    [
        (5e5, -0.01, 8, "contradicted: 0 of 1 models with this base recover"),
        (5e5, 0.0, 8, "contradicted: 0 of 1 models with this base recover"),
        (5e5, 0.02, 8, "not testable"),
        (1e4, -0.01, 8, "not testable"),
        (5e5, -0.01, 32, "not testable"),  # another head size has other wavelengths
    ],
)
def test_rope_base_cause_is_contradicted_by_equal_frequencies_without_a_bump(theta, recovery, factor, expected):
    models = rows(
        "model display_name rope_theta layers",
        (LLAMA, "L8", 5e5, 32),
        ("llama3.2-3b", "L3", theta, 28),
        ("qwen3-4b", "Q", 5e5, 36),
    )
    profile = rows("model recovery", ("llama3.2-3b", recovery), ("qwen3-4b", 0.5), (LLAMA, 0.1))
    facts = prints("fact printed", (f"rope_factor_{LLAMA}", "8"), ("rope_factor_llama3.2-3b", str(factor)))
    assert says("c002_llama_cause", models, profile, facts) == expected


@pytest.mark.parametrize(("window", "expected"), [(131072, "contradicted: 2 models"), (65536, "holds: 1 models")])
def test_only_model_captured_and_scored_at_all_lengths_is_counted(window, expected):
    scores = rows("model length value", (LLAMA, "4k", 90.0), (LLAMA, "8k", 80.0), ("qwen3-4b", "4k", 80.0))
    models = rows("model display_name captured_context", (LLAMA, "L", 131072), ("qwen3-4b", "Q", window))
    assert says("c002_declines_only_model", states(declines_only_model=("only", 1)), scores, models) == expected


@pytest.mark.parametrize(("plasticity", "expected"), [("-20", "holds: 2 of 2"), ("-9", "contradicted: 1 of 2")])
def test_faster_decline_is_checked_at_every_length(plasticity, expected):
    table = prints(
        "length metric printed",
        ("8k", "plasticity_change", plasticity),
        ("8k", "ruler_change", "-10"),
        ("128k", "plasticity_change", "-30"),
        ("128k", "ruler_change", "-15"),
        ("128k", "ruler", "77"),
    )
    assert says("c002_declines_faster", table) == expected
    assert "-30.0 against -15.0 % at 128K" in reason("c002_declines_faster", table)


@pytest.mark.parametrize(("score", "expected"), [("77.0", "holds"), ("", "not supported")])
def test_generation_match_with_scores_needs_the_score(score, expected):
    from_table = rows("model metric printed", ("llama3.2-3b", "ruler_128k", score))
    declines = [(mode, model, 0.3) for mode in ("nonthinking", "thinking") for model in (LLAMA, "llama3.2-3b")]
    module = function("c002_generations_ruler").__globals__
    assert {module["OLD"], module["NEW"]} == {LLAMA, "llama3.2-3b"}
    assert verdict("c002_generations_ruler", from_table, rows("mode model decline", *declines)) == expected


# --- how to obtain missing scores


def test_only_gap_claim_needs_no_other_empty_cell():
    def table(score):
        return prints(
            "model metric printed", ("a", "lbp", score), ("a", "ruler_128k", "70"), ("b", "lbp", "30"), ("b", "x", "")
        )

    stated = states(instructions_gaps=("only", 1))
    published = rows("model", ("a",))
    assert says("c002_gap_only", stated, table("30"), published, published) == "holds: 0 more empty cells"
    assert says("c002_gap_only", stated, table(""), published, published) == "contradicted: 1 more empty cells"
    assert "of which 1 are published (a)" in reason("c002_gap_only", stated, table(""), published, published)
    no_gap = reason("c002_gap_only", stated, table(""), rows("model", ("b",)), published)
    assert "1 of 3 benchmark cells empty, of which 0 are published (none)" in no_gap


def test_score_counts_as_missing_unless_published():
    table = prints(
        "model length metric printed", ("a", "8k", "lbp", ""), ("a", "16k", "lbp", "30"), ("b", "8k", "x", "")
    )

    def published(model, mode="nonthinking"):
        return rows("model length mode", (model, "8k", mode))

    more = prints("model length metric printed", ("a", "8k", "lbp", ""), ("b", "8k", "lbp", "30"))
    assert says("c002_gap_published", more, published("a")) == "holds: 1 of 2 models"
    assert says("c002_gap_published", table, published("a")) == "contradicted: 1 of 1 models"
    # scores published elsewhere are reported but decide nothing: the claim is about scores missing in the study
    assert "of the 1 cells the benchmark's own summaries fill 1" in reason("c002_gap_published", more, published("a"))
    assert "fill 0" in reason("c002_gap_published", more, published("a", "thinking"))


def test_option_a_repository_and_field_are_compared_with_the_authors():
    def facts(repository, field):
        return rows("fact printed", ("lbp_repository", repository), ("lbp_length_field", field))

    assert set(verdicts("c002_option_a", facts("THUDM/LongBench", "length_bucket")).values()) == {"holds"}
    judged = verdicts("c002_option_a", facts("another", "token_length"))
    assert judged == {"repository": "contradicted", "field": "contradicted"}


@pytest.mark.parametrize(("texts", "expected"), [(("8K", "16K"), "holds"), (("16K", "8K"), "contradicted")])
def test_option_a_lengths_are_compared_with_the_published_summaries(texts, expected):
    stated = states(**{f"instructions_lengths_{index}": text for index, text in enumerate(texts)}, other="32K")
    published = rows("length questions", ("8k", 250), ("16k", 250), ("8k", 250), ("overall", 1500))
    assert says("c002_option_a_lengths", stated, published) == f"{expected}: 8k, 16k"
    assert "with 250 questions each" in reason("c002_option_a_lengths", stated, published)


def test_option_b_protocol_is_compared_with_the_authors():
    def facts(budget="1024", place="middle", data="caskcsg/LongBench-Pro"):
        return prints("fact printed", ("lbp_output_budget", budget), ("lbp_truncation", place), ("lbp_dataset", data))

    stated = states(instructions_output_budget="1024")
    assert set(verdicts("c002_option_b_protocol", stated, facts()).values()) == {"holds"}
    other_protocol = verdicts("c002_option_b_protocol", stated, facts("8192", "end", "x/y"))
    assert set(other_protocol.values()) == {"contradicted"}


@pytest.mark.parametrize(("score", "expected"), [("", "holds: 2"), ("30", "contradicted: 1")])
def test_models_to_run_are_those_without_scores(score, expected):
    table = prints(
        "model metric printed",
        ("a", "lbp", ""),
        ("a", "lbp", ""),
        ("b", "lbp", score),
        ("c", "lbp", "40"),
        ("d", "x", ""),
    )
    stated = states(instructions_models_to_run=("two", None), instructions_models_to_ask_for="3")
    stated.loc[0, ["low", "high", "value", "decimals"]] = (1.5, 2.5, 2.0, 0.0)
    answers = say("c002_option_b_models", stated, table)
    assert answers == {"to_run": expected, "to_ask_for": "holds: 3"}


def memory(*totals):
    stated = states(
        instructions_memory_a=("~7 GB", 7.0),
        instructions_memory_b=("~7 GB", 7.0),
        instructions_memory_c=("~17 GB", 17.0),
    )
    needs = [
        (model, model.upper(), total - 2.0, 2.0, total) for model, total in zip(("a", "b", "c"), totals, strict=True)
    ]
    return stated.assign(model=["a", "b", "c"]), rows("model display_name weights_gb cache_gb total_gb", *needs)


@pytest.mark.parametrize(
    ("totals", "expected"),
    [((7.0, 6.0, 17.0), ("holds", "holds", "holds")), ((7.1, 6.0, 17.5), ("not supported", "holds", "not supported"))],
)
def test_stated_memory_is_compared_with_weights_plus_cache(totals, expected):
    assert tuple(verdicts("c002_option_b_memory", *memory(*totals)).values()) == expected


@pytest.mark.parametrize(
    ("totals", "expected"),
    [
        ((7.0, 9.0, 17.0), "holds"), ((7.0, 17.0, 17.0), "holds"), ((18.0, 9.0, 17.0), "contradicted"),
        ((7.0, 18.0, 17.0), "contradicted"),
    ],
)  # fmt: skip
def test_models_must_be_ordered_by_memory_need(totals, expected):
    assert verdict("c002_option_b_order", *memory(*totals)) == expected
    text = reason("c002_option_b_order", *memory(*totals))
    assert text.startswith("With the cache no model needs" if expected == "holds" else "With the cache a model needs")


# --- tables


def test_flattest_profile_must_also_be_flattest_over_equal_positions():
    def shapes(whole):
        return rows("model whole", ("a", whole), (MISTRAL, 0.1))

    def equal(drop):
        return rows("model display_name drop_32k dropped", (MISTRAL, "M", 0.1, 2), ("a", "A", drop, 1))

    stated = states(t4_mistral_rank=("flattest", 1))
    assert verdict("c002_t4_mistral_flattest", stated, shapes(0.2), equal(0.1)) == "holds"
    assert verdict("c002_t4_mistral_flattest", stated, shapes(0.2), equal(0.09)) == "not supported"
    assert verdict("c002_t4_mistral_flattest", stated, shapes(0.05), equal(0.2)) == "not supported"


@pytest.mark.parametrize(
    ("bins", "empty", "expected"), [(10, None, "holds: 10"), (9, None, "contradicted: 9"), (10, 3, "contradicted: 10")]
)
def test_each_profile_must_have_ten_bins(bins, empty, expected):
    cells = [("a", decile, "" if decile == empty else "0.5") for decile in range(bins)]
    assert says("c002_t4_all_deciles", prints("model decile printed", *cells)) == expected


def test_models_without_a_score_are_checked_against_published_ones():
    table = prints("model metric printed", ("a", "lbp", ""), ("b", "lbp", "30"), ("b", "x", ""))
    models = rows("model display_name", ("a", "A"), ("b", "B"))

    def published(model, length="overall", mode="nonthinking"):
        return prints("model length mode printed", (model, length, mode, "41.2"))

    claim = "c002_all_models_lbp_absent"
    assert says(claim, table, published("a"), models) == "contradicted: 0 without score"
    assert "score A (41.2)" in reason(claim, table, published("a"), models)
    for other in (published("b"), published("a", "8k"), published("a", mode="thinking")):
        assert says(claim, table, other, models) == "holds: 1 without score"


@pytest.mark.parametrize(
    ("published", "expected"),
    [
        ((("a", "nonthinking", "30.1"), ("b", "nonthinking", "40.2"), ("b", "thinking", "50")), "holds: nonthinking"),
        ((("a", "nonthinking", "30.1"), ("b", "nonthinking", "40.3")), "contradicted: nonthinking"),
        ((("a", "thinking", "30.1"), ("b", "thinking", "40.2")), "contradicted: thinking"),
        ((("a", "nonthinking", "30.1"), ("b", "thinking", "40.2")), "contradicted: nonthinking, thinking"),
    ],
)
def test_prompt_mode_is_identified_by_equal_published_scores(published, expected):
    table = prints("model metric printed", ("a", "lbp", "30.1"), ("b", "lbp", "40.2"), ("a", "x", "7"))
    lines = [(model, "overall", mode, text) for model, mode, text in published] + [("a", "8k", "thinking", "30.1")]
    stated = states(t1_prompt_mode=("non-thinking", None))
    assert says("c002_t1_prompt_mode", stated, table, prints("model length mode printed", *lines)) == expected
