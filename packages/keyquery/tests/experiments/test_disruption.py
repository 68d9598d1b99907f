"""Disruption of dimensions on models with planted massive dimensions: masks, controls, and losses."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import models_planted as planted
from boundpaper.errors import DataError
from keyquery.experiments import _masks as masks
from keyquery.experiments import disruption, knowledge
from keyquery.measure import scores
from keyquery.measure.evaluation import Condition, JudgedAnswer, answers, losses
from keyquery.measure.rows import Row
from keyquery.measure.subject import Options, Subject
from keyquery.models.anatomy import blocks
from keyquery.models.attention.positions import encoding
from keyquery.models.interventions import Intervention, applied
from keyquery.models.surveys.dimensions import dimensions

pytestmark = pytest.mark.models

OPTIONS = Options(texts=3, items=6, seeds=(0, 1))
Q, K = (1, 2, 3), (2, 1, 5)  # layer, head, dimension


@pytest.fixture(scope="module")
def subject() -> Subject:
    model = planted.massive(planted.model(), Q[0], "q", Q[1], Q[2])
    return planted.subject(planted.massive(model, K[0], "k", K[1], K[2]))


@pytest.fixture(scope="module")
def measured_norms(subject: Subject) -> Any:
    return masks.measure_norms(subject, masks.split_texts(subject, OPTIONS)[0], "pre")


@pytest.fixture(scope="module")
def rows(subject: Subject) -> list[Row]:
    return disruption.measure(subject, OPTIONS, draws=2, permutations=0)


def value(rows: list[Row], condition: str, metric: str) -> Any:
    [only] = [row for row in rows if (row["condition"], row["metric"]) == (condition, metric)]
    assert only["value"] is None or only["n"] > 0
    return only["value"]


def reason(rows: list[Row], condition: str, metric: str) -> str:
    [only] = [row for row in rows if (row["condition"], row["metric"]) == (condition, metric)]
    assert only["value"] is None
    assert only["n"] == 0
    return str(only["reason"])


def positions(mask: masks.Mask) -> set[tuple[str, int, int, int]]:
    return {
        (side, layer, int(head), int(dim))
        for side, layers in mask.sides.items()
        for layer, selected in layers.items()
        for head, dim in zip(*np.nonzero(selected), strict=True)
    }


def test_norms_equal_those_of_the_projection_output(subject: Subject) -> None:
    text = subject.texts(OPTIONS)[0].tokens
    recorded: list[Any] = []
    queries = blocks(subject.model)[1].attention.get_submodule("q_proj")
    with queries.register_forward_hook(lambda m, i, o: recorded.append(o[0])):
        norms = dimensions(subject.model, [text])
    vectors = recorded[-1].reshape(24, 4, 8).double().numpy()
    assert norms.norms["q"][1] == pytest.approx(np.sqrt((vectors**2).sum(axis=0)), rel=1e-5)
    deviations = vectors - vectors.mean(axis=0)
    assert norms.spreads["q"][1] == pytest.approx(np.sqrt((deviations**2).sum(axis=0)), rel=1e-4)
    assert norms.norms["k"][2].shape == (2, 8), "one row per key head"


def test_rotation_keeps_the_norm_of_each_dimension_pair(subject: Subject, measured_norms: Any) -> None:
    """A rotation mixes dimensions i and i + d/2 and keeps their joint norm."""
    selection_texts = masks.split_texts(subject, OPTIONS)[0]
    post = masks.measure_norms(subject, selection_texts, "post").norms["q"][1]
    pre = measured_norms.norms["q"][1]
    assert not np.allclose(pre, post, rtol=1e-2)
    before = dimensions(subject.model, [selection_texts[0].tokens], "pre").norms["q"][1]
    after = dimensions(subject.model, [selection_texts[0].tokens], "post").norms["q"][1]
    assert after[:, :4] ** 2 + after[:, 4:] ** 2 == pytest.approx(before[:, :4] ** 2 + before[:, 4:] ** 2, rel=1e-4)
    with encoding(subject.model, "drope"):
        unrotated_post = masks.measure_norms(subject, selection_texts, "post").norms["q"][1]
        unrotated_pre = masks.measure_norms(subject, selection_texts, "pre").norms["q"][1]
    assert unrotated_post == pytest.approx(unrotated_pre, rel=1e-6)


def test_scaled_row_is_found_as_the_only_massive_dimension(measured_norms: Any) -> None:
    assert positions(masks.mask_above(measured_norms, 5.0)) == {("q", *Q), ("k", *K)}
    top = positions(masks.mask_top(measured_norms))
    assert ("q", *Q) in top
    assert ("k", *K) in top
    assert len(top) == 3 * (4 + 2)
    assert masks.largest_ratio(measured_norms) > 5


def test_control_masks_have_equal_size_and_no_massive_dimension(measured_norms: Any) -> None:
    for mask in (
        masks.mask_above(measured_norms, 5.0),
        masks.mask_top(measured_norms),
        masks.mask_top(measured_norms, 3),
    ):
        for control in (masks.random_mask(mask, 0), masks.smallest_mask(mask, measured_norms)):
            assert control.count == mask.count
            assert not positions(control) & positions(mask)
            for side, layers in mask.sides.items():
                for layer, selected in layers.items():
                    assert control.sides[side][layer].sum() == selected.sum()
                    if mask.by_head:
                        assert (control.sides[side][layer].sum(axis=1) == selected.sum(axis=1)).all()
        assert positions(masks.random_mask(mask, 0)) == positions(masks.random_mask(mask, 0))
    top = masks.mask_top(measured_norms)
    assert len({frozenset(positions(masks.random_mask(top, seed))) for seed in range(20)}) == 20
    small = masks.smallest_mask(top, measured_norms).sides["q"][0]
    assert (np.argmax(small, axis=1) == np.argmin(measured_norms.norms["q"][0], axis=1)).all()


@pytest.mark.parametrize("fill", ["mean", "zero"])
def test_norm_matched_controls_remove_as_much(measured_norms: Any, fill: Any) -> None:
    """If the pool suffices, a control removes as much as the mask, to within half of the pool's largest dimension."""
    removed = (measured_norms.norms if fill == "zero" else measured_norms.spreads)["q"][0] ** 2
    flat = dataclasses.replace(measured_norms, norms={k: dict(v) for k, v in measured_norms.norms.items()})
    mask = masks.mask_top(flat)
    for seed in range(5):
        control = masks.matched_mask(mask, measured_norms, fill, seed)
        assert not positions(control) & positions(mask)
        for head in range(4):
            target = removed[head][mask.sides["q"][0][head]].sum()
            removed_by_control = removed[head][control.sides["q"][0][head]].sum()
            pool = removed[head][~mask.sides["q"][0][head]]
            assert abs(removed_by_control - target) <= pool.max() / 2 + 1e-9 or removed_by_control == pytest.approx(
                pool.sum()
            )
    massive = masks.mask_above(measured_norms, 5.0)  # 60 times as large as the others, whose sum is smaller
    control = masks.matched_mask(massive, measured_norms, fill, 0)
    assert control.sides["q"][1].sum() == 4 * 8 - 1
    assert control.sides["q"][0].sum() == 0
    assert masks.removed_share(control, measured_norms, fill) < masks.removed_share(massive, measured_norms, fill)
    assert masks.why_unmatched(massive, [control], measured_norms, fill).startswith(
        "not matched: the other dimensions remove "
    )
    even_subject = planted.subject(planted.model())
    even_norms = masks.measure_norms(even_subject, masks.split_texts(even_subject, OPTIONS)[0], "pre")
    even_mask = masks.mask_top(even_norms)
    controls = [masks.matched_mask(even_mask, even_norms, fill, seed) for seed in range(5)]
    assert masks.why_unmatched(even_mask, controls, even_norms, fill) == ""


def test_a_control_that_is_not_matched_has_no_value(rows: list[Row]) -> None:
    """All other dimensions together cannot match the massive dimensions' norm, so the matched control has no value."""
    for fill in ("mean", "zero"):
        for condition, metric in (
            (f"threshold_matched_{fill}_pre", "delta_nats"),
            (f"threshold_matched_{fill}_pre", "perplexity"),
            (f"threshold_massive_{fill}_pre", "minus_matched"),
            (f"threshold_massive_{fill}_pre", "minus_matched_sd"),
        ):
            assert value(rows, condition, metric) is None
            assert reason(rows, condition, metric).startswith("not matched: the other dimensions remove ")
        shares = [value(rows, f"threshold_{target}_{fill}_pre", "removed_share") for target in ("massive", "matched")]
        assert shares[1] < 0.9 * shares[0], "the removed norms are still reported"
        assert value(rows, f"threshold_massive_{fill}_pre", "minus_random") is not None


def test_deltas_equal_those_of_masking_by_hand(subject: Subject, rows: list[Row]) -> None:
    texts = subject.texts(OPTIONS)
    before = np.array([loss.nats / loss.tokens for loss in losses(subject, texts)])
    q, k = np.zeros((4, 8), bool), np.zeros((2, 8), bool)
    q[Q[1:]], k[K[1:]] = True, True
    for fill in ("mean", "zero"):
        interventions = [Intervention("q", fill, dims={Q[0]: q}), Intervention("k", fill, dims={K[0]: k})]
        after = []
        with applied(subject.model, interventions), torch.inference_mode():
            for text in texts:
                logs = subject.model(input_ids=text.tokens).logits[0, :-1].log_softmax(-1)
                after.append(-logs.gather(1, text.tokens[0, 1:, None]).mean().item())
        name = f"threshold_massive_{fill}_pre"
        assert value(rows, name, "delta_nats") == pytest.approx(np.mean(after) - before.mean(), abs=1e-5)
        of_texts = [r for r in rows if r["condition"] == name and r["metric"] == "text_delta_nats"]
        assert [r["value"] for r in of_texts] == pytest.approx(np.array(after) - before, abs=1e-5)
        assert [r["seed"] for r in of_texts] == [0, 0, 0, 1, 1, 1]
        difference = value(rows, name, "delta_nats") - value(rows, f"threshold_random_{fill}_pre", "delta_nats")
        assert value(rows, name, "minus_random") == pytest.approx(difference, abs=1e-9)
    assert value(rows, "threshold_massive_pre", "dims") == 2
    assert value(rows, "top1_random_zero_pre", "dims") == 18


def test_selection_and_evaluation_share_no_text(subject: Subject) -> None:
    selection_texts, texts = masks.split_texts(subject, OPTIONS)
    assert len(selection_texts) == 3
    assert [text.id for text in texts] == [text.id for text in subject.texts(OPTIONS)]
    selected, evaluated = ({tuple(text.tokens[0].tolist()) for text in of_set} for of_set in (selection_texts, texts))
    assert not selected & evaluated
    with pytest.raises(DataError, match="is reserved for"):
        masks.split_texts(subject, Options(texts=1, seeds=(masks.SELECTION_SEED,)))


def test_permutation_p_is_the_rank_among_random_masks(subject: Subject, measured_norms: Any) -> None:
    """The p value counts the mask itself among the random masks, so the p value is never zero."""
    one_seed = dataclasses.replace(OPTIONS, seeds=(0,))
    rows = disruption.measure(subject, one_seed, draws=1, permutations=25)
    mask = masks.mask_top(masks.measure_norms(subject, masks.split_texts(subject, one_seed)[0], "pre"))
    texts = subject.texts(one_seed)
    before = np.mean([loss.nats / loss.tokens for loss in losses(subject, texts)])
    random_masks = [masks.random_mask(mask, 1000 + seed) for seed in range(25)]
    for fill in ("mean", "zero"):
        name = f"top1_massive_{fill}_pre"
        after = [losses(subject, texts, Condition("", mask.interventions(fill, "pre"))) for mask in random_masks]
        deltas = np.array([np.mean([loss.nats / loss.tokens for loss in of_set]) for of_set in after]) - before
        own_delta = value(rows, name, "delta_nats")
        assert value(rows, name, "permutation_p") == pytest.approx((1 + (deltas >= own_delta).sum()) / 26)
        assert value(rows, name, "permutation_median") == pytest.approx(np.median(deltas), abs=1e-6)
        assert value(rows, name, "permutation_highest") == pytest.approx(deltas.max(), abs=1e-6)
        assert value(rows, name, "permutation_delta_nats") == pytest.approx(own_delta, abs=1e-9)
    assert [r["n"] for r in rows if r["metric"] == "permutation_p"] == [25] * 4


def test_without_rotation_pre_and_post_disruption_agree(subject: Subject) -> None:
    with encoding(subject.model, "drope"):
        rows = disruption.measure(subject, dataclasses.replace(OPTIONS, seeds=(0,)), draws=1, permutations=0)
    for fill in ("mean", "zero"):
        for target in ("massive", "random", "smallest", "matched"):
            pre, post = (value(rows, f"top1_{target}_{fill}_{where}", "delta_nats") for where in ("pre", "post"))
            assert (pre is None) == (post is None) == (target == "matched")
            assert pre is None or pre == pytest.approx(post, abs=1e-5)


def test_model_without_massive_dimensions_has_rows_with_no_dims() -> None:
    rows = disruption.measure(planted.subject(planted.model()), Options(texts=2), draws=1, permutations=3)
    assert value(rows, "threshold_massive_pre", "dims") == 0
    assert reason(rows, "threshold_massive_mean_pre", "delta_nats") == "no dimension above 5 times the mean"
    assert "no dimension" in reason(rows, "threshold_matched_zero_post", "perplexity")
    assert "no dimension" in reason(rows, "threshold_massive_zero_post", "minus_random")
    assert value(rows, "top1_massive_mean_pre", "dims") == 18
    ranked = {r["condition"] for r in rows if r["metric"] == "permutation_p"}
    assert ranked == {"top1_massive_mean_pre", "top1_massive_zero_pre"}


def test_queries_of_zero_are_not_disrupted() -> None:
    model = planted.model()
    for block in model.model.layers:
        with torch.no_grad():
            block.self_attn.q_proj.weight.zero_()
            block.self_attn.k_proj.weight.zero_()
    rows = disruption.measure(planted.subject(model), Options(texts=2), draws=1, permutations=2)
    assert value(rows, "top1_massive_zero_pre", "delta_nats") == 0
    assert value(rows, "threshold_massive_pre", "largest_over_mean") == 0
    assert reason(rows, "top1_massive_zero_pre", "removed_share") == "all are zero"
    assert value(rows, "top1_massive_mean_pre", "permutation_p") == 1


def test_settings_that_leave_no_control_are_refused(measured_norms: Any) -> None:
    with pytest.raises(DataError, match="leave too few for control"):
        masks.mask_top(measured_norms, 5)
    with pytest.raises(DataError, match="2 or more"):
        masks.mask_above(measured_norms, 1.0)


def test_one_text_has_no_spread(subject: Subject) -> None:
    rows = disruption.measure(subject, Options(texts=1), draws=1, permutations=0)
    assert reason(rows, "top1_massive_mean_pre", "minus_random_sd") == "one text"


def test_disruption_runs_on_four_bit_weights(tmp_path: Path) -> None:
    pytest.importorskip("bitsandbytes")
    from keyquery.models.checkpoints.loading import ModelSource, load

    planted.massive(planted.model(hidden_size=64, intermediate_size=128), 1, "q", 2, 3).save_pretrained(tmp_path)
    model = load(ModelSource(str(tmp_path), dtype="bf16", quantize="nf4", device="cpu"), tokenizer=False).model
    subject = planted.subject(model, precision="nf4")
    rows = disruption.measure(subject, Options(texts=2, tokens=16), draws=1, permutations=2)
    norms = masks.measure_norms(subject, subject.texts(Options(texts=2)), "pre")
    assert ("q", 1, 2, 3) in positions(masks.mask_above(norms, 5.0))
    assert value(rows, "threshold_massive_pre", "dims") == masks.mask_above(norms, 5.0).count
    assert np.isfinite(value(rows, "top1_massive_mean_pre", "delta_nats"))
    knowledge_rows = knowledge.measure(subject, Options(texts=2, items=2), draws=1)
    assert value([r for r in knowledge_rows if not r["unit_id"]], "top1", "cities_accuracy") is not None


def test_knowledge_is_recorded_by_item_with_degradation(subject: Subject) -> None:
    rows = knowledge.measure(subject, OPTIONS, draws=2)
    tasks = ("cities", "sports", "sentiment", "passkey")
    item_rows = [r for r in rows if r["unit_id"]]
    assert {(r["condition"], r["seed"]) for r in item_rows} == {
        (name, seed) for name in ("baseline", "top1", "random-0") for seed in (0, 1)
    }
    for task in tasks:
        for name in ("baseline", "top1", "random-0"):
            item_values = [r["value"] for r in item_rows if r["condition"] == name and r["metric"] == f"{task}_right"]
            assert len(item_values) == 12
            assert value(rows, name, f"{task}_accuracy") == pytest.approx(np.mean(item_values))
        accuracies = [value(rows, f"random-{draw}", f"{task}_accuracy") for draw in (0, 1)]
        assert value(rows, "random", f"{task}_accuracy") == pytest.approx(np.mean(accuracies))


def plant_answers(monkeypatch: pytest.MonkeyPatch, shares: dict[str, dict[str, float]]) -> None:
    """Make conditions answer a known share of items right, whatever the model says."""

    def planted_answers(subject: Any, items: Any, condition: Any = None) -> list[JudgedAnswer]:
        name = "random" if condition.name.startswith("random") else condition.name
        share = shares[name][items[0].task]
        return [
            JudgedAnswer(item.id, "", "right" if index < share * len(items) else "wrong")
            for index, item in enumerate(items)
        ]

    monkeypatch.setattr(scores, "answers", planted_answers)


def test_degradation_matches_known_answers(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {"cities": 0.9, "sports": 0.6, "sentiment": 0.5, "passkey": 0.8}
    top1 = {"cities": 0.6, "sports": 0.6, "sentiment": 0.4, "passkey": 0.2}
    plant_answers(monkeypatch, {"baseline": before, "top1": top1, "random": before})
    rows = knowledge.measure(subject, Options(texts=1, items=10))
    assert value(rows, "top1", "cities_degradation") == pytest.approx(1 / 3)
    assert value(rows, "top1", "cities_degradation_over_chance") == pytest.approx(0.3 / 0.4)
    assert value(rows, "top1", "passkey_degradation_over_chance") == pytest.approx(0.75)
    assert value(rows, "random", "passkey_degradation") == 0
    assert reason(rows, "top1", "sentiment_degradation_over_chance") == "not above chance before"
    assert value(rows, "top1", "parametric_degradation") == pytest.approx(1 / 6)
    assert value(rows, "top1", "parametric_degradation_over_chance") == pytest.approx(0.375)
    assert value(rows, "top1", "contextual_degradation") == pytest.approx((0.2 + 0.75) / 2)
    assert "not all of its tasks" in reason(rows, "top1", "contextual_degradation_over_chance")
    assert value(rows, "baseline", "contextual_accuracy") == pytest.approx(0.65)


def test_book_that_lacks_tasks_gives_reasons(subject: Subject) -> None:
    two_tasks = dataclasses.replace(subject, book=planted.PlantedBook(task_names=("cities", "passkey")))
    rows = knowledge.measure(two_tasks, Options(texts=1, items=2), draws=0)
    assert "not all of its tasks" in reason(rows, "baseline", "parametric_accuracy")
    assert not [r for r in rows if r["condition"].startswith("random")]


def test_the_disruption_acts_in_the_prefill_only(subject: Subject, measured_norms: Any) -> None:
    """The disrupted model gives the first answer token; the intact model continues from the cached keys and values."""
    items = subject.book.items("passkey", 4, 0, subject.tokenizer, length=24)
    interventions = masks.mask_top(measured_norms).interventions("mean", "pre")
    actual_answers = answers(subject, items, Condition("top1", interventions))
    for item, outcome in zip(items, actual_answers, strict=True):
        ids = subject.encode(item.prompt)
        with torch.inference_mode():
            with applied(subject.model, interventions):
                first = subject.model(input_ids=ids, use_cache=True)
            tokens, cache = [int(first.logits[0, -1].argmax())], first.past_key_values
            while len(tokens) < 12 and tokens[-1] != 2:
                step = subject.model(input_ids=torch.tensor([[tokens[-1]]]), past_key_values=cache, use_cache=True)
                tokens.append(int(step.logits[0, -1].argmax()))
        assert outcome.text == subject.tokenizer.decode(tokens, skip_special_tokens=True)


def test_recipe_may_select_conditions(subject: Subject) -> None:
    few = Options(texts=2, seeds=(0,))
    rows = disruption.measure(
        subject, few, draws=1, permutations=2, selects=["threshold"], fills=["mean"], places=["pre"]
    )
    all_rows = disruption.measure(subject, few, draws=1, permutations=2)
    assert {row["condition"] for row in rows} == {
        f"threshold_{target}_mean_pre" for target in ("massive", *disruption.CONTROLS)
    } | {"threshold_massive_pre"}
    assert all(row in all_rows for row in rows)
    with pytest.raises(DataError, match="fills = \\['means'\\] is not among mean, zero"):
        disruption.measure(subject, few, fills=["means"])  # type: ignore[list-item]


def test_recipe_may_select_conditions_ranked_among_random_masks(subject: Subject) -> None:
    rows = disruption.measure(
        subject, Options(texts=1), draws=1, permutations=2, places=["pre"], ranked=["threshold_zero"]
    )
    assert {row["condition"] for row in rows if row["metric"] == "permutation_p"} == {"threshold_massive_zero_pre"}
    with pytest.raises(DataError, match="ranked = \\['threshold'\\] is not among threshold_mean"):
        disruption.measure(subject, Options(texts=1), ranked=["threshold"])
