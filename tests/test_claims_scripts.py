"""Claims on the scripts and captures of the examined documents: each verdict changes with its input."""

from collections.abc import Callable

import pandas as pd
import pytest

from analysis.claims.s004.sinks.bos_tasks import c004_no_valid_answers, c004_rope_fails_all_tasks
from analysis.claims.s004.sinks.layer1_tasks import c004_attention_preserves_parametric
from analysis.claims.s004.values.disruption import c004_text_types
from analysis.claims.s004.values.knowledge_drope import c004_cities_improve
from analysis.claims.thesis import captures as thesis_captures
from analysis.claims.thesis import scripts as thesis_scripts
from analysis.studies.drope_sinks.interventions import functional_shares
from analysis.studies.drope_sinks.layer1_ablation import layer1_task_shares, layer1_task_tests
from analysis.studies.drope_values.knowledge import knowledge_tasks, knowledge_tests
from analysis.studies.drope_values.removal import massive_removal
from analysis.studies.overview.captures import capture_heads, twin_heads
from boundpaper.claims import Verdict
from boundpaper.errors import DataError
from committed import FAMILIES, artifact

Change = Callable[[pd.DataFrame], pd.DataFrame]


def with_field(column: str, value: object, field: str, new: object) -> Change:
    """Return a function that sets `field` to `new` in the rows that have `value` in `column`."""

    def changed(frame: pd.DataFrame) -> pd.DataFrame:
        copy = frame.copy()
        rows = copy[column].astype(str) == str(value)
        assert rows.any()
        copy[field] = pd.Series([new if hit else old for hit, old in zip(rows, copy[field], strict=True)], copy.index)
        return copy

    return changed


def test_copying_claim_is_contradicted_when_texts_do_not_repeat() -> None:
    tables = [artifact("drope_text_repeats"), artifact("disruption_by_text"), artifact("drope_layer1_perplexity")]
    assert thesis_scripts.thesis_texts_repeat(*tables).verdict == "holds"
    tables[0] = with_field("text_set", "technical", "repeats", 1)(tables[0])
    assert thesis_scripts.thesis_texts_repeat(*tables).verdict == "contradicted"


def test_text_sets_count_as_kinds_only_without_repeated_texts() -> None:
    tables = [
        artifact(name)
        for name in ("drope_disruption_texts_reported", "disruption_by_text", "disruption_ratios", "drope_text_repeats")
    ]
    (order,) = [verdict for verdict in c004_text_types(*tables) if verdict.key == "order"]
    assert order.verdict == "not supported"
    assert "repeated 10 to 30 times" in order.reason
    tables[3] = with_field("text_set", "technical", "repeats", 1)(tables[3])
    (order,) = [verdict for verdict in c004_text_types(*tables) if verdict.key == "order"]
    assert order.verdict == "holds"
    assert "repeated" not in order.reason
    tables[2] = tables[2].assign(difference_nats=-tables[2]["difference_nats"])
    (order,) = [verdict for verdict in c004_text_types(*tables) if verdict.key == "order"]
    assert order.verdict == "contradicted"


def test_hand_computed_attention_counts_only_when_rotated() -> None:
    origins = artifact("drope_attention_origins")
    assert thesis_scripts.thesis_attention_unrotated(origins).verdict == "holds"
    rotated = with_field("experiment", 7, "rotated", "yes")(origins)
    turned = thesis_scripts.thesis_attention_unrotated(rotated)
    assert turned.verdict == "contradicted"
    assert "Experiment 5" in turned.reason
    assert "Experiment 7" not in turned.reason


def test_massive_value_totals_and_changes_are_computed() -> None:
    table = massive_removal(artifact("drope_smollm_massive"), artifact("massive_counts")).set_index(["model", "tensor"])
    assert table.loc[("smollm-360m", "query"), "before"] == pytest.approx(401.0)
    assert table.loc[("smollm-360m", "key"), "after"] == pytest.approx(167.6)
    assert table.loc[("llama2-7b", "query"), "change"] == pytest.approx(100 * (901.4 / 1475.5 - 1))


def heads(settings: Change = lambda frame: frame, models: Change = lambda frame: frame) -> pd.DataFrame:
    return capture_heads(
        settings(artifact("capture_settings")),
        models(artifact("models")),
        artifact("nope_facts"),
        artifact("analysed_heads"),
    )


def twins(seed: int = 0) -> pd.DataFrame:
    settings = artifact("capture_settings").assign(seed=seed)
    return twin_heads(settings, artifact("models"), artifact("nope_layer_kinds"))


def test_heads_of_cross_attention_layers_are_removed_from_the_draw() -> None:
    counts = dict(zip(twins()["quantity"], twins()["value"], strict=True))
    assert counts["kept_crossed"] == 239
    assert counts["common"] == 75
    assert counts["common_by_chance"] == pytest.approx(300 * 239 / 1024)
    kinds = artifact("nope_layer_kinds").assign(kind="self-attention")
    with pytest.raises(DataError, match="text layers"):
        twin_heads(artifact("capture_settings"), artifact("models"), kinds)


def test_remaining_heads_claims_change_with_the_draw() -> None:
    counted = artifact("analysed_heads")
    verdicts = {each.key: each.verdict for each in thesis_captures.thesis_heads_left(twins(), counted, heads())}
    assert verdicts == {"draw": "holds", "all": "holds", "common": "holds"}
    fewer = counted.assign(query_heads=counted["query_heads"].where(counted["model"] != "qwen3-4b", 299))
    turned = {each.key: each.verdict for each in thesis_captures.thesis_heads_left(twins(1), fewer, heads())}
    assert turned["draw"] == turned["all"] == "contradicted"
    apart = twins().assign(value=lambda frame: frame["value"].where(frame["quantity"] != "common", 60.0))
    assert [each.verdict for each in thesis_captures.thesis_heads_left(apart, counted, heads())][2] == "contradicted"


def test_sampled_heads_are_counted_without_cross_attention() -> None:
    table = heads().set_index("model")
    assert table.loc["llama3.2-11b", "heads"] == table.loc["llama3.1-8b", "heads"] == 1024
    assert (table["heads"].min(), table["heads"].max()) == (448, 1600)
    assert table.loc["qwen3-1.7b", "beyond"] == 75


def rates(**cells: tuple[str, object]) -> pd.DataFrame:
    frame = artifact("drope_script_rates")
    for condition, (field, value) in cells.items():
        rows = (
            (frame["positional"] == "RoPE")
            & (frame["condition"] == condition)
            & frame["task"].isin(["cities", "sports"])
        )
        assert rows.any()
        frame = frame.assign(**{field: frame[field].where(~rows, value)})
    return frame


def test_stored_integer_zero_does_not_count_as_accuracy() -> None:
    stated = artifact("drope_stated")
    shares = functional_shares(artifact("drope_functional"), rates(), artifact("drope_protocols"))
    assert c004_no_valid_answers(shares).verdict == "holds"
    assert c004_rope_fails_all_tasks(shares, stated).verdict == "not supported"
    counted = functional_shares(
        artifact("drope_functional"), rates(bos_mlp_ablation=("stored", "fraction")), artifact("drope_protocols")
    )
    assert c004_no_valid_answers(counted).verdict == "contradicted"
    assert c004_rope_fails_all_tasks(counted, stated).verdict == "holds"


def test_preserved_is_judged_by_a_test_only_where_both_numbers_are_known() -> None:
    shares = layer1_task_shares(
        artifact("drope_layer1_tasks"), artifact("drope_script_rates"), artifact("drope_protocols")
    )
    tests = layer1_task_tests(shares, FAMILIES)
    verdicts = {each.key: each for each in c004_attention_preserves_parametric(shares, tests)}
    assert verdicts["cities"].verdict == "contradicted"
    assert verdicts["cities"].p_value is None
    assert verdicts["sports"].verdict == "not supported"
    assert verdicts["sports"].n == 197
    near = shares.copy()
    row = (near["positional"] == "RoPE") & (near["condition"] == "layer1_attn") & (near["task"] == "cities")
    near.loc[row, "share"] = 97.0
    turned = {each.key: each for each in c004_attention_preserves_parametric(near, tests)}
    assert turned["cities"].verdict == "not supported"


def test_cities_task_is_not_testable_without_answer_counts() -> None:
    knowledge, stored, stated = artifact("drope_knowledge"), artifact("drope_script_rates"), artifact("drope_stated")
    protocols = artifact("knowledge_protocols")

    def judged(frame: pd.DataFrame) -> Verdict:
        tests = knowledge_tests(knowledge, frame, stated, FAMILIES)
        return c004_cities_improve(knowledge_tasks(knowledge, frame, stated, tests), protocols)

    verdict = judged(stored)
    assert verdict.verdict == "not testable"
    assert "100 to 200" in verdict.reason
    row = (
        (stored["experiment"].astype(str) == "3")
        & (stored["positional"] == "DroPE")
        & (stored["task"] == "cities")
        & (stored["condition"] == "baseline")
    )
    known = stored.assign(value=stored["value"].where(~row, 132 / 167))
    assert judged(known).verdict != "not testable"
