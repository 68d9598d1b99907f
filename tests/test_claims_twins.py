"""Statements with the same content have the same verdict, in every document and section."""

import pytest

from boundpaper.store.reader import read
from conftest import ROOT

TWINS = {
    "nearly all layers recover": ("c000_f2_every_layer", "c002_h8_spread"),
    "the bump belongs to deep Llama models": ("c000_f3_intersection", "c000_conclusion_deep", "c002_h8_specific"),
    "the base of the rotation may make the bump": ("c000_hypotheses_frequency", "c002_llama_cause"),
    "six models lack scores by length": ("c001_gap_missing", "c002_gap_published"),
    "the first fifth is back at its early level": ("c001_first_fifth_early_level", "c002_onset_first_fifth_recovers"),
    "fifths of two windows are compared": ("c002_onset_first_fifth_recovers", "c002_onset_last_fifth_plummets"),
    "SmolLM3 and Qwen3 are of one size": ("c001_similar_scale", "c002_same_class.size"),
    "Ministral 3 has the bias of SmolLM3": ("c002_h4_comparable", "c002_ministral_bias_comparable"),
    "what the bias leaves is content that decays": ("c001_residual_is_content", "c002_h6_content_decay"),
    "Ministral-3-14B loses more score than plasticity": ("c001_longbench_shallower", "c002_h3_ministral_flat.flat"),
    "plasticity measures what length takes": ("c001_second_factor", "c001_ruler_degradation"),
    "a smaller bias is not sufficient": ("c002_h4_not_sufficient", "c002_bias_collapse_recovers_near"),
    "two models have the bump": ("c000_f2_replication", "c002_t4_llama_family"),
    "no other profile is as flat as Mistral's": ("c002_h7_best", "c002_t4_mistral_flattest"),
    "heads of Llama-3.2-3B come together": ("c002_generations_heads", "c002_head_bundles.llama32_3b_converged_level"),
    "heads of Ministral 3 keep their content": ("c002_h6_ministral_kept", "c002_ministral_content"),
    "groups of curves are apart": ("c003_separation.1b", "c003_separation.3b", "c003_near_zero"),
    "massive values of DroPE do nothing": ("c004_drope_nonfunctional", "c004_massive_values_roles"),
    "only RoPE needs the first token's MLP output": ("c004_only_rope_stores", "c004_sum_only_rope_depends"),
    "an ablation of another layer spares DroPE": ("c004_fig13_drope_unaffected", "c004_drope_unchanged"),
    "DroPE at twice the length, by one protocol": ("c004_ctx_drope_twice", "c004_ans_8192_both_fail"),
    "errors of DroPE are truncations": (
        "c004_ans_truncations",
        "c004_ans_figure_i_truncations",
        "c004_ans_figure_i_near_misses",
    ),
    "layers after the first are alike": (
        "c004_bal_nearly_identical",
        "c004_bal_after_layer2",
        "c004_bal_back_to_normal",
    ),
    "layers after the first are the same": ("c004_bal_identical", "c004_bal_unchanged"),
}
"""Names of claims that state the same, by what they state."""


@pytest.mark.parametrize("about", TWINS)
def test_equivalent_statements_have_equal_verdicts(about):
    claims = read(ROOT, "claims").set_index("claim")["verdict"]
    assert len({claims[claim] for claim in TWINS[about]}) == 1, dict(claims[list(TWINS[about])])


def test_candidate_explanations_are_contradicted_or_not_testable():
    named = (
        "c000_hypotheses_frequency", "c000_hypotheses_specialists", "c000_hypotheses_documents",
        "c000_conclusion_mechanism", "c002_t4_nope_cause", "c002_llama_cause", "c002_gap_content", "c002_gap_rotation",
        "c002_generations_size", "c002_declines_explained", "c004_interference", "c004_positional_substitute",
    )  # fmt: skip
    claims = read(ROOT, "claims").set_index("claim")["verdict"]
    assert set(claims[list(named)]) <= {"contradicted", "not testable"}


def test_order_by_score_is_judged_by_scores_not_drops():
    claims = read(ROOT, "claims").set_index("claim")["verdict"]
    assert set(claims[["c002_drop_ministral_order", "c002_drop_qwen_monotone"]]) == {"holds"}
