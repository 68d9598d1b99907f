"""Claims that were once judged too strictly or too leniently: each verdict changes when its evidence is changed."""

import re

import pytest

from claims_memory import Memory, edited, function, graph, source

MEMORY = Memory({})


def verdicts(claim, **frames):
    """Return the verdicts of a claim by key, on the committed artifacts, some of which `frames` replaces."""
    step = graph().steps[f"claim:{claim}"]
    answer = function(step)(**{name: frames[name] if name in frames else MEMORY.frame(name) for name in step.artifacts})
    return {verdict.key: verdict for verdict in (answer if isinstance(answer, list) else [answer])}


def verdict(claim, **frames):
    """Return the verdict of a claim with a single verdict."""
    return verdicts(claim, **frames)[""].verdict


def printed(name, text, **where):
    """Return the source `name`, in which the row selected by `where` prints `text`."""

    def change(frame):
        hit = (frame[list(where)] == list(where.values())).all(axis=1)
        assert hit.sum() == 1
        return frame.assign(printed=frame["printed"].mask(hit, text))

    return edited(name, change)


def test_extreme_layer_is_not_testable_when_layers_are_unprinted():
    assert verdict("c000_extremes_most") == "not testable"
    extremes = printed("nope_extremes", "0.400", layer=16, metric="ap_overall")
    assert verdict("c000_extremes_most", nope_extremes=extremes) == "contradicted"
    kinds = source("nope_layer_kinds")
    printed_kinds = kinds[kinds["layer"].isin([0, 4, 5, 6, 7, 11, 15, 16, 17, 29, 32])]
    assert verdict("c000_extremes_most", nope_layer_kinds=printed_kinds) == "holds"


def test_confined_amplification_is_judged_at_layer_1_only():
    assert verdict("c004_con_confined") == "holds"
    norms = MEMORY.frame("layer_norms")
    flat = norms.assign(mean_ratio=norms["mean_ratio"].mask(norms["layer"] == 1, 1.1))
    assert verdict("c004_con_confined", layer_norms=flat) == "contradicted"
    assert "cannot be told" in verdicts("c004_con_confined")[""].reason


def test_few_tokens_claim_is_not_supported_by_three():
    assert verdict("thesis_few_tokens_carry_the_mlp") == "holds"
    tokens = MEMORY.frame("token_concentration")
    mlp = (tokens["layer"] == 1) & (tokens["component"] == "mlp")
    three = tokens.assign(effective_tokens=tokens["effective_tokens"].mask(mlp, 2.7))
    assert verdict("thesis_few_tokens_carry_the_mlp", token_concentration=three) == "not supported"


@pytest.mark.parametrize("claim", ["c002_training_steps", "c001_analyses_count"])
def test_self_comparison_is_a_cell_check_not_a_statement(claim):
    assert {each.kind for each in verdicts(claim).values()} == {"cell check"}


def test_accelerating_is_contradicted_only_when_false_in_every_reading():
    assert (
        verdict("c002_t4_qwen_accelerating") == "contradicted"
    )  # slower than the first half, and not every step grows
    profiles = MEMORY.frame("decile_profiles")
    steps = {"d6": 0.01, "d7": 0.03, "d8": 0.06, "d9": 0.1}
    growing = profiles.assign(**{name: profiles["d5"] - fall for name, fall in steps.items()})
    assert verdict("c002_t4_qwen_accelerating", decile_profiles=growing) == "not supported"
    shapes = MEMORY.frame("profile_shapes")
    faster = shapes.assign(second_half=1.0)
    assert verdict("c002_t4_qwen_accelerating", profile_shapes=faster) == "not supported"
    assert verdict("c002_t4_qwen_accelerating", profile_shapes=faster, decile_profiles=growing) == "holds"


def test_stated_layers_and_axis_layers_are_one_reading():
    answers = verdicts("c003_answer_layers")
    assert {key: answer.verdict for key, answer in answers.items()} == {"1b": "holds", "3b": "holds"}
    assert answers["1b"].repeats == "c003_layers.1b"
    more = printed("delta_p_stated", "18", statement="analysis_1b_answer_layers")
    assert verdicts("c003_answer_layers", delta_p_stated=more)["1b"].verdict == "contradicted"


@pytest.mark.parametrize(
    ("key", "text"), [("llama32_1b", "11L"), ("llama32_3b", "23L"), ("ministral3_14b", "36 layers")]
)
def test_depth_is_judged_by_its_printed_text(key, text):
    assert verdicts("c002_h8_depths")[key].verdict == "holds"
    stated = printed("stated_002", text, statement=f"h8_{key}_layers")
    assert verdicts("c002_h8_depths", stated_002=stated)[key].verdict == "contradicted"


def test_failure_mode_claim_is_not_supported_by_a_window_alone():
    assert verdict("c002_h7_modes") == "not supported"
    models = source("models")
    windowed = models.assign(attention=models["attention"].mask(models["model"] == "mistral-v0.2-7b", "sliding 4096"))
    assert verdict("c002_h7_modes", models=windowed) == "not testable"


def test_entropies_of_like_runs_must_still_have_the_order_stated():
    protocols, summary = source("drope_protocols"), MEMORY.frame("phase_summary")
    alike = protocols.assign(
        precision=protocols["precision"].mask(protocols["section"] == "5 (phase metrics)", "RoPE 4-bit; DroPE 4-bit")
    )
    ratio = summary["quantity"] == "min_entropy_ratio"
    column = "value" if "value" in summary.columns else "drope"
    reversed_ = summary.assign(**{column: summary[column].mask(ratio, 0.5)})
    assert verdict("c004_entropy_more_distributed") == "not supported"
    assert verdict("c004_entropy_more_distributed", drope_protocols=alike) == "holds"
    assert verdict("c004_entropy_more_distributed", drope_protocols=alike, phase_summary=reversed_) == "not supported"


def test_shares_explain_ablations_only_when_consistent_in_both_models():
    assert verdict("c004_con_explains_ablation") == "not supported"
    drope = printed("drope_layer1_perplexity", "900×", positional="DroPE", condition="layer1_attn", metric="ppl_ratio")
    assert verdict("c004_con_explains_ablation", drope_layer1_perplexity=drope) == "holds"
    both = drope.assign(
        value=drope["value"].mask(
            (drope["positional"] == "RoPE") & (drope["condition"] == "layer1_attn") & (drope["metric"] == "ppl_ratio"),
            5000.0,
        )
    )
    assert verdict("c004_con_explains_ablation", drope_layer1_perplexity=both) == "not supported"


def test_weight_pairs_are_never_confirmed_by_two_figure_ranges():
    assert verdict("c002_weights_pairs") == "not testable"
    other_cluster = printed("reported_landmarks", "80–90", landmark="weights_second_cluster")
    assert verdict("c002_weights_pairs", reported_landmarks=other_cluster) == "not supported"


def test_preservation_is_contradicted_when_anchored_answers_lose_points():
    facts = source("published_facts")
    method = facts.assign(printed=facts["printed"].mask(facts["fact"] == "delta_p_groups", "prompts of either kind"))
    assert verdict("c003_strategy") == "contradicted"
    assert verdict("c003_strategy", published_facts=method) == "contradicted"
    landmarks = source("delta_p_landmarks")
    band = (landmarks["landmark"] == "band") & (landmarks["metric"] == "delta_p_low")
    flat = landmarks.assign(value=landmarks["value"].mask(band, -1.0))
    assert verdict("c003_strategy", published_facts=method, delta_p_landmarks=flat) == "holds"


def test_score_bound_is_that_of_one_head_with_the_whole_norm():
    reason = verdicts("c004_scores_overflow")[""].reason
    heads = float(source("models").set_index("model").loc["llama2-7b-drope", "query_heads"])
    bounds = [float(number.replace(",", "")) for number in re.findall(r" by ([\d,]*\d)", reason)]
    assert bounds[0] / bounds[1] == pytest.approx(heads, rel=1e-4)


def test_profile_values_order_and_cause_get_separate_rows():
    parts = {key: each.verdict for key, each in verdicts("c003_size_severity").items()}
    assert parts == {"order": "holds", "scale": "not supported"}
    raised = printed("delta_p_landmarks", "-40", model="llama3.2-3b", landmark="lowest", metric="delta_p")
    turned = {key: each.verdict for key, each in verdicts("c003_size_severity", delta_p_landmarks=raised).items()}
    assert turned == {"order": "contradicted", "scale": "contradicted"}
    assert {each.verdict for each in verdicts("c003_points").values()} == {"not testable"}
    flat = {key: each.verdict for key, each in verdicts("c002_h3_ministral_flat").items()}
    assert flat == {"flat": "not supported", "cause": "not testable"}
    assert len(verdicts("c000_question_profile")) == 6
    moved = printed("nope_stated", "20–35K", statement="question_dip_range")
    assert verdicts("c000_question_profile", nope_stated=moved)["llama3.1-8b-dip"].verdict == "contradicted"
    assert verdicts("c000_question_profile", nope_stated=moved)["llama3.1-8b-end"].verdict == "holds"


def test_u_shape_reason_states_the_recovery_of_half():
    assert "come back 50 % of it or more" in verdicts("c003_u_shape")["3b"].reason


def test_each_figure_is_compared_in_its_own_section():
    places = {
        claim: function(graph().steps[f"claim:{claim}"]).stated.section
        for claim in ("c001_heads_same", "c001_weights_same")
    }
    assert "head heterogeneity" in places["c001_heads_same"]
    assert "component weights" in places["c001_weights_same"]
    assert verdicts("c001_heads_same")["narrative_llama32_3b_converged_from"].verdict == "contradicted"
