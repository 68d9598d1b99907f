"""Claims that printed values cannot decide, on hand-made frames: what they report, and numbers in their reasons."""

import inspect

import pytest
import yaml

from claims_cases import function, prints, reason, rows, states, verdicts
from conftest import ROOT

# --- the reported text is printed in the document

REPORTED = {
    "c000_hypotheses_specialists": ({"hypotheses_specialist_range": "60-100K", "hypotheses_depth": "32"}, "32+ layers"),
    "c000_hypotheses_documents": ({"hypotheses_document_length": "60-100K"}, "60-100K"),
    "c001_orthogonal_residual": ({"pca_residual": "7.3"}, "7.3"),
    "c002_option_b_hours": ({"instructions_gpu_hours": "12-24"}, "12-24"),
    "c002_generations_heads": ({"generations_heterogeneity": "still spread"}, "still spread"),
    "c003_ordering": ({"analysis_3b_lowest_data_sets": "PopQA, TriviaQA"}, "PopQA, TriviaQA"),
    "c003_all_four": ({"analysis_1b_question_series": "four", "analysis_1b_answer_series": "4"}, "four, 4"),
    "c004_orders_of_magnitude": ({"story_magnitude": "orders of magnitude"}, "orders of magnitude"),
    "c004_bal_two_layers_suffice": ({"s10_5_restructured_layers": "first two"}, "first two"),
    "c004_positional_substitute": ({"s7_5_layer1_ratio": "39x"}, "39x"),
    "c004_rep_hardware": ({"s13_gpu_memory": "24"}, "24"),
}


@pytest.mark.parametrize("claim", REPORTED)
def test_untestable_claim_reports_the_printed_value(claim):
    printed, expected = REPORTED[claim]
    for change in ("", "9"):
        verdict = function(claim)(states(**{key: f"{change}{text}" for key, text in printed.items()}))
        assert verdict.verdict == "not testable"
        assert f"{change}{expected.split(', ')[0]}" in verdict.reported


@pytest.mark.parametrize(
    ("claim", "keys", "named"),
    [
        ("c001_component_numbers", ("pca_pc0_variance", "pca_r_q", "pca_r_k"), ()),
        ("c004_jin_values", ("s4_1_jin_contextual", "s4_1_jin_parametric"), ("contextual", "parametric")),
    ],
)
def test_each_untestable_number_is_reported_under_its_key(claim, keys, named):
    stated = states(**{key: f"{number}.5" for number, key in enumerate(keys)})
    answers = {each.key: (each.verdict, each.reported) for each in function(claim)(stated)}
    assert answers == {name: ("not testable", f"{number}.5") for number, name in enumerate(named or keys)}


def test_head_shares_are_reported_by_model_and_kind():
    cells = [("RoPE", "sink_heads", "93.5%"), ("DroPE", "sink_heads", "93.1%")]
    cells += [("RoPE", "local_heads", "6.4%"), ("DroPE", "local_heads", "6.2%"), ("RoPE", "mixed_heads", "1%")]
    answers = function("c004_pat_head_classes")(prints("positional metric printed", *cells))
    assert {each.key: each.reported for each in answers} == {
        f"{model}-{kind}": text for model, kind, text in cells[:-1]
    }
    assert {each.verdict for each in answers} == {"not testable"}


LANDMARKS = "landmark model family kind quantity source printed"


def landmarks(*cells):
    """Return landmarks read off a picture. Each of `cells` gives name, model, family, kind and source."""
    return prints(LANDMARKS, *[(*cell[:4], "onset", cell[4], cell[0].upper()) for cell in cells])


MODELS = rows("model display_name", ("q", "Qwen3-8B"), ("l", "Llama"))


@pytest.mark.parametrize(
    ("claim", "place", "kind"),
    [
        ("c002_heatmaps", "002 heatmaps", "onset"),
        ("c002_head_bundles", "002 head profiles", "head bundle"),
        ("c001_head_bundles", "001 heads", "head bundle"),
    ],
)
def test_figure_readings_are_reported_by_place_and_kind(claim, place, kind):
    table = landmarks(
        ("one", "q", "Qwen3", kind, place), ("two", "", "Llama 3", kind, place), ("other", "q", "Qwen3", kind, "003")
    )
    frames = (table, MODELS)[: len(inspect.signature(function(claim)).parameters)]
    answers = {each.key: each for each in function(claim)(*frames)}
    assert list(answers) == ["one", "two"]
    assert [each.reported for each in answers.values()] == ["ONE", "TWO"]
    assert answers["two"].statement == "Llama 3, onset: TWO."
    assert answers["one"].statement in ("Qwen3-8B, onset: ONE.", "Qwen3, onset: ONE.")


def test_weight_claims_cover_peaks_and_the_first_cluster():
    section = "002 component weights"
    cells = [(name, "", "", "k", section) for name in ("narrow_peaks", "qwen_first_cluster", "tail")]
    judged = verdicts("c002_weights_families", landmarks(*cells), MODELS)
    assert judged == {"narrow_peaks": "not testable", "qwen_first_cluster": "not testable"}
    assert function("c002_weights_families")(landmarks(*cells), MODELS)[0].statement.startswith("All models, ")


def test_onset_distances_are_those_of_the_narrative():
    table = prints(
        "landmark printed",
        ("narrative_qwen_dark_distance", "32K"),
        ("narrative_llama_dark_distance", "65K"),
        ("x", "1"),
    )
    assert function("c001_two_distances")(table).reported == "32K and 65K"


def test_the_lowest_curves_are_named_by_model():
    table = rows(
        "landmark model data_set",
        ("lowest", "llama3.2-3b", "TriviaQA"),
        ("highest", "llama3.2-1b", "NQ"),
        ("lowest", "llama3.2-1b", "PopQA"),
        ("lowest", "llama3.2-1b", "later"),
    )
    assert function("c003_lowest_data_sets")(table).reported == "PopQA, TriviaQA"


# --- numbers in the reason come from the frames


REASONS = yaml.safe_load((ROOT / "tests/claims_undecided.yaml").read_text())


def frame(described):
    """Return the frame that a case of the YAML file describes: the name of a helper, and its arguments."""
    ((kind, arguments),) = described.items()
    return states(**arguments) if kind == "states" else {"rows": rows, "prints": prints}[kind](*arguments)


@pytest.mark.parametrize("case", REASONS)
def test_reason_gives_the_numbers_of_what_it_names(case):
    claim, frames = REASONS[case]["claim"], [frame(each) for each in REASONS[case]["frames"]]
    assert verdicts(claim, *frames) == {"": "not testable"}
    for phrase in REASONS[case]["phrases"]:
        assert phrase in reason(claim, *frames)


def test_write_score_reason_compares_both_products():
    summary = rows("quantity rope drope", ("product_of_means", 0.6, 0.3), ("other", 9.0, 9.0))
    layers = rows("product_rope product_drope", (0.5, 0.1), (0.9, 0.3))
    printed = prints(
        "positional metric printed", ("RoPE", "effective_write", "0.50"), ("DroPE", "effective_write", "0.20")
    )
    explanation = reason("c004_write_is_product", summary, layers, printed)
    assert "multiply to 0.600 and 0.300, not 0.50 and 0.20" in explanation
    assert "they average 0.700 and 0.200" in explanation


def test_largest_entry_bounds_are_stated_in_the_reason():
    stated = states(s6_2_rope_qk_size="5", s6_2_drope_qk_size="394")
    norms = rows(
        "positional layer metric value",
        *[
            (model, 1, metric, value)
            for model, metric, value in (("RoPE", "q_norm_max", 32.0), ("RoPE", "k_norm_max", 64.0))
        ],
        *[("DroPE", 1, metric, 640.0) for metric in ("q_norm_max", "k_norm_max")],
        ("DroPE", 2, "q_norm_max", 1.0),
    )
    models = rows("model query_heads head_dim", ("llama2-7b-rope", 32, 128), ("llama2-7b-drope", 8, 32))
    answers = {each.key: each for each in function("c004_qk_size")(stated, norms, models)}
    # the norm of 4096 equal entries is 64 times one entry, that of 256 entries 16 times
    assert "from 1.0 to 64." in answers["rope"].reason
    assert "from 40.0 to 640." in answers["drope"].reason
    assert (answers["rope"].reported, answers["drope"].reported) == ("5", "394")
