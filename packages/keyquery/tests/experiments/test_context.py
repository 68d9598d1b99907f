"""Passkeys in prompts beyond the training length, on a planted model with known answers.

The model has one head for each of a key's four digits. The word of a digit includes the digit's slot (`a7 b0 c3 d3`),
so that the head of a slot finds the words of this slot by content and copies the digit. The score uses one rotary pair
with a wavelength of 320 positions: it is positive for distances below 80 or above 240 positions, and negative between.
"""

import json
import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch
import transformers
from click.testing import CliRunner
from tokenizers.processors import TemplateProcessing

import keyquery as kq
from boundpaper.errors import DataError, SpecError
from keyquery.experiments import _key_choices as key_choices
from keyquery.experiments import disruption
from keyquery.experiments.context_length import RATIOS, distance_rows, measure
from keyquery.measure import commands
from keyquery.measure.recipes import load_recipe
from keyquery.measure.rows import frame
from keyquery.measure.subject import Options, Subject, open_subject
from keyquery.models.answers.scoring import Scores
from keyquery.models.checkpoints.loading import ModelSource, load
from keyquery.tasks.answers import CLASSES
from keyquery.tasks.items import NO, YES, Item
from models_tiny import saved, word_tokenizer

pytestmark = pytest.mark.models
SLOTS = "abcd"
DIGITS = {f"{slot}{digit}": str(digit) for slot in SLOTS for digit in range(10)}
FILLER = tuple(f"f{number}" for number in range(8))
WORDS = ("<pad>", "<s>", "</s>", "<unk>", "ask", "key", "is", "?", ".", YES, NO, *DIGITS, *FILLER)
IDS = {word: index for index, word in enumerate(WORDS)}
WIDTH, PAIR, HEAD = 64, 4, 16
TRAINED, QUARTER = 64, 80  # positions: the training length, and a quarter of the wavelength


def planted(drope: bool = False) -> Any:
    theta = (2 * QUARTER / math.pi) ** (HEAD / 2 / PAIR)
    rope = {"rope_type": "default", "rope_theta": theta}
    if drope:
        rope |= {"rope_type": "linear", "factor": 1e30}
    config = transformers.LlamaConfig(
        vocab_size=WIDTH, hidden_size=2 * WIDTH, intermediate_size=8, num_hidden_layers=1, num_attention_heads=4,
        num_key_value_heads=4, head_dim=HEAD, max_position_embeddings=TRAINED, rope_parameters=rope,
        pad_token_id=0, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    model = transformers.LlamaForCausalLM(config).eval()
    attention = model.model.layers[0].self_attn
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim == 2:
                weight.zero_()
        model.model.embed_tokens.weight[:, :WIDTH] = torch.eye(WIDTH)  # the word itself, then the next one
        model.lm_head.weight[:, WIDTH:] = torch.eye(WIDTH)
        model.lm_head.weight[IDS["."], [IDS[f"d{digit}"] for digit in range(10)]] = 5.0  # the last digit ends a key
        strength = math.sqrt(60 * math.sqrt(HEAD) / (2 * WIDTH))  # a score of 60 at distance 0, after the norm
        for index, slot in enumerate(SLOTS):
            words_before = ["ask"] if index == 0 else [f"{SLOTS[index - 1]}{digit}" for digit in range(10)]
            for word in words_before:
                attention.q_proj.weight[index * HEAD + PAIR, IDS[word]] = strength
            for digit in range(10):
                token = IDS[f"{slot}{digit}"]
                attention.k_proj.weight[index * HEAD + PAIR, token] = strength
                attention.v_proj.weight[index * HEAD + digit, token] = 1.0
                attention.o_proj.weight[WIDTH + token, index * HEAD + digit] = 1.0
    return model


def spelled(key: str) -> str:
    return " ".join(f"{slot}{digit}" for slot, digit in zip(SLOTS, key, strict=True))


class Planted:
    """A book whose keys have four words: one word for each slot, which names the slot and its digit."""

    name = "planted"

    def __init__(self, *tasks: str, empty: bool = False) -> None:
        self._tasks, self._empty = tasks or ("passkey", "ranking"), empty

    def tasks(self) -> tuple[str, ...]:
        return self._tasks

    def kinds(self) -> tuple[str, ...]:
        return ()

    def texts(self, kind: str, count: int, tokens: int, seed: int, tokenizer: Any) -> list[str]:
        raise NotImplementedError

    def items(
        self, task: str, count: int, seed: int, tokenizer: Any, *, length: int | None = None, **rest: Any
    ) -> list[Item]:
        return [] if self._empty else list(self._items(task, count, seed, length or TRAINED))

    def _items(self, task: str, count: int, seed: int, length: int) -> Iterator[Item]:
        rng = random.Random(f"{task}/{seed}/{length}")
        for number in range(count):
            key, depth = "".join(str(rng.randrange(10)) for _ in SLOTS), (number + 0.5) / count
            filler = rng.choices(FILLER, k=length - 1 - 4 - 1)
            index = round(depth * len(filler))
            facts: dict[str, Any] = {"depth": depth, "length": length, "form": "ab"[number % 2], "digits": DIGITS}
            facts["at"] = 1 + index  # after the beginning token
            front = " ".join([*filler[:index], spelled(key), *filler[index:]])
            shown = [key, *(key[:3] + str((int(key[3]) + step) % 10) for step in (1, 2, 3))]
            rng.shuffle(shown)
            facts["candidates"] = [spelled(candidate) for candidate in shown]
            facts["prompts"] = [f"{front} key is {spelled(candidate)} ?" for candidate in shown]
            yield Item(f"{task}-{number:04d}", task, f"{front} ask", spelled(key), (), facts)


def subject(model: Any, **more: Any) -> Subject:
    fields = {"name": "planted", "tokenizer": word_tokenizer(IDS), "book": Planted(), "positional": "rope"}
    return Subject(model=model, training_length=TRAINED, **(fields | more))


def value(rows: list[dict[str, Any]], metric: str, condition: str) -> Any:
    [only] = [row for row in rows if (row["metric"], row["condition"], row["unit_id"]) == (metric, condition, "")]
    return only["value"]


@pytest.fixture(scope="module")
def rotated() -> list[dict[str, Any]]:
    return measure(subject(planted()), Options(items=10, seeds=(0, 1)))


def test_model_with_rotation_finds_keys_only_where_its_wave_is_positive(rotated: list[dict[str, Any]]) -> None:
    for ratio in (0.5, 1.0):
        assert value(rotated, "passkey_exact", f"own/{ratio:g}x") == 1.0
        assert value(rotated, "passkey_exact_low", f"own/{ratio:g}x") == pytest.approx(20 / (20 + 1.96**2), abs=1e-3)
    for ratio in (1.5, 2.0, 3.0, 4.0):
        length = round(ratio * TRAINED)
        right = {
            (row["seed"], row["unit_id"]): row["value"]
            for row in rotated
            if row["metric"] == "passkey_right" and row["condition"] == f"own/{ratio:g}x"
        }
        assert len(right) == 20
        for seed in (0, 1):
            for item in Planted().items("passkey", 10, seed, None, length=length):
                distance = length - 1 - item.facts["at"]  # all digits are read from the same distance
                wave = math.cos(math.pi / 2 * distance / QUARTER)
                if abs(wave) > 0.2:  # the score vanishes among the fillers
                    assert right[seed, item.id] == float(wave > 0), (ratio, item.id, distance)
        assert 0 < value(rotated, "passkey_exact", f"own/{ratio:g}x") < 1
        assert value(rotated, "passkey_exact", f"own/{ratio:g}x/depth:0.8-1") == 1.0, "the last keys are near"


def test_position_interpolation_recovers_the_keys(rotated: list[dict[str, Any]]) -> None:
    for ratio in ("1.5x", "2x", "3x", "4x"):
        assert value(rotated, "passkey_exact", f"pi/{ratio}") == 1.0
        assert value(rotated, "passkey_exact", f"own/{ratio}") < 1.0
        assert 0 <= value(rotated, "passkey_exact", f"yarn/{ratio}") <= 1.0
    assert not [row for row in rotated if row["condition"].startswith(("pi/1x", "yarn/1x", "pi/0.5x"))]


def test_model_without_rotation_finds_keys_at_every_length() -> None:
    without_rotation = subject(planted(drope=True), positional="drope")
    rows = measure(without_rotation, Options(items=10))
    for ratio in ("0.5x", "1x", "1.5x", "2x", "3x", "4x"):
        assert value(rows, "passkey_exact", f"own/{ratio}") == 1.0
        assert value(rows, "class_exact", f"own/{ratio}") == 10
        assert value(rows, "ranking_likelihood", f"own/{ratio}") == 1.0
    assert not [row for row in rows if row["condition"].startswith(("pi", "yarn"))]


def test_every_answer_counts_once_by_class_form_and_depth(rotated: list[dict[str, Any]]) -> None:
    for condition in {row["condition"] for row in rotated if row["metric"] == "class_exact"}:
        counts = [value(rotated, f"class_{kind}", condition) for kind in CLASSES]
        assert sum(counts) == 20
        assert counts[0] == pytest.approx(20 * value(rotated, "passkey_exact", condition))
        for grouping in ("form", "depth"):
            exact_rows = [row for row in rotated if row["metric"] == "passkey_exact"]
            group_rows = [row for row in exact_rows if row["condition"].startswith(f"{condition}/{grouping}:")]
            assert sum(row["n"] for row in group_rows) == 20
            assert sum(row["n"] * row["value"] for row in group_rows) == pytest.approx(counts[0])
    frame(rotated, "rope", "fp32")


def test_model_that_always_says_yes_ranks_at_chance(rotated: list[dict[str, Any]]) -> None:
    assert value(rotated, "ranking_yes", "own/1x") == 0.25, "four prompts share the first place"
    assert value(rotated, "ranking_yes_tied", "own/1x") == 1.0
    assert value(rotated, "ranking_likelihood", "own/1x") == 1.0
    assert value(rotated, "ranking_chance", "own/1x") == 0.25
    [absent] = [row for row in rotated if row["metric"] == "verification_auc" and row["condition"] == "own/1x"]
    assert (absent["n"], absent["value"], absent["reason"]) == (0, None, "the book planted has no task verification")


def test_tied_first_choices_share_the_credit() -> None:
    assert key_choices.ranking_credit([0.1, 0.9, 0.3], 1) == (1.0, 1)
    assert key_choices.ranking_credit([0.1, 0.9, 0.3], 0) == (0.0, 1)
    assert key_choices.ranking_credit([0.9, 0.9, 0.3], 0) == (0.5, 2)
    assert key_choices.ranking_credit([0.9, 0.9, 0.3], 2) == (0.0, 2)
    assert key_choices.share_higher([1.0, 2.0], [1.0, 0.0]) == (0.5 + 1 + 1 + 1) / 4


def test_verification_scores_follow_from_known_probabilities(monkeypatch: pytest.MonkeyPatch) -> None:
    shares_by_kind = {"exact": [0.9, 0.6], "one-digit": [0.7], "other": [0.1]}
    items: list[Item] = []
    answers = []
    for kind, shares in shares_by_kind.items():
        for share in shares:
            facts = {"kind": kind, "length": 8}
            items.append(Item(f"v-{len(items)}", "verification", "", YES if kind == "exact" else NO, (YES, NO), facts))
            answers.append(Scores((YES, NO), (math.log(share / 2), math.log((1 - share) / 2)), (1, 1)))
    monkeypatch.setattr(key_choices, "score_options", lambda *rest: [[answer] for answer in answers])
    book = Planted("passkey", "verification")
    monkeypatch.setattr(book, "items", lambda *rest, **more: items)
    rows = key_choices.choice_rows(subject(planted(), book=book), Options(items=4), 8, "own/1x")
    assert value(rows, "p_yes_exact", "own/1x") == pytest.approx(0.75)
    assert value(rows, "p_yes_raw_exact", "own/1x") == pytest.approx(0.375)
    assert value(rows, "p_yes_exact_sd", "own/1x") == pytest.approx(math.sqrt(2) * 0.15)
    assert value(rows, "p_yes_one-digit_sd", "own/1x") is None
    assert value(rows, "verification_accuracy", "own/1x") == 0.75
    assert value(rows, "verification_auc_one-digit", "own/1x") == 0.5
    assert value(rows, "verification_auc_other", "own/1x") == 1.0
    assert value(rows, "verification_auc", "own/1x") == 0.75


def test_recipe_may_select_choices() -> None:
    few = Options(items=2)
    rows = measure(subject(planted()), few, ratios=[1.0], baselines=[], choices=["ranking"])
    tasks = {str(row["metric"]).split("_")[0] for row in rows}
    assert "ranking" in tasks
    assert "verification" not in tasks
    with pytest.raises(DataError, match="choices = \\['rank'\\] is not among verification, ranking"):
        measure(subject(planted()), few, choices=["rank"])


def test_unmeasurable_lengths_have_a_reason() -> None:
    class Long(Planted):
        def items(self, task: str, count: int, *rest: Any, length: int | None = None, **more: Any) -> list[Item]:
            if (length or 0) < 40:
                raise DataError("a prompt of 32 tokens is too short")
            return super().items(task, count, *rest, length=length, **more)

    rows = measure(subject(planted(), book=Long("passkey")), Options(items=2), longest=130)
    reasons = {row["condition"]: row["reason"] for row in rows if row["metric"] == "passkey_exact" and not row["n"]}
    assert reasons == {
        "own/0.5x": "a prompt of 32 tokens is too short",
        "own/3x": "192 tokens, more than the 130 that are measured",
        "own/4x": "256 tokens, more than the 130 that are measured",
    }
    with pytest.raises(DataError, match="no items of passkey to ask"):
        measure(subject(planted(), book=Planted("passkey", empty=True)), Options(items=2))
    rows = measure(subject(planted()), Options(items=2), longest=8)
    assert [row["condition"] for row in rows] == [f"own/{ratio:g}x" for ratio in RATIOS]
    assert all(not row["n"] and row["reason"].endswith("more than the 8 that are measured") for row in rows)
    for options in ({"items": -1}, {"texts": 0}, {"tokens": 0}, {"tokens": -8}):
        with pytest.raises(DataError, match=r"^--(items|documents|tokens) -?\d: there is nothing to measure; give \d"):
            Options(**options)
    for ratios in ([], [0.0], [1.0, -1.0]):
        with pytest.raises(DataError, match=r"^context_length: ratios = .*: give one or more, each above 0"):
            measure(subject(planted()), Options(items=2), ratios=ratios)
    with pytest.raises(DataError, match=r"^--items 0: context_length measures only answers to items; give --items 1"):
        measure(subject(planted()), Options(items=0))


def test_unsupported_scaling_baseline_has_a_reason() -> None:
    model = planted()
    model.config.rope_parameters |= {"rope_type": "llama3"}
    rows = measure(subject(model), Options(items=2), ratios=(2.0,), baselines=("pi",))
    [refused] = [row for row in rows if row["condition"] == "pi/2x"]
    assert refused["n"] == 0
    assert "llama3" in refused["reason"]


def test_context_length_is_measured_with_grouped_queries_and_four_bits(tmp_path: Path) -> None:
    folder = saved("llama-wide", tmp_path)
    inner = word_tokenizer(IDS).backend_tokenizer
    inner.post_processor = TemplateProcessing(single="$A")
    bare = transformers.PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="<unk>", pad_token="<pad>")
    for quantize in (None, "nf4"):
        model = load(ModelSource(str(folder), dtype="fp32", quantize=quantize, device="cpu"), tokenizer=False).model
        assert model.config.num_key_value_heads < model.config.num_attention_heads
        planted_subject = subject(model, tokenizer=bare, precision=quantize or "fp32")
        assert not planted_subject.has_bos
        rows = measure(planted_subject, Options(items=3), ratios=(1.0, 1.5))
        assert value(rows, "passkey_exact", "own/1x") == 0.0, "random weights find no key"
        assert value(rows, "passkey_exact_high", "yarn/1.5x") == pytest.approx(1.96**2 / (3 + 1.96**2), abs=1e-3)
        frame(rows, "rope", quantize or "fp32")


def test_key_distance_counts_the_tokens_after_its_first_digit() -> None:
    """If a prompt has its key twice, the key nearer to the end counts; a prompt without its key gives a reason."""
    planted_subject = subject(planted(), book=Planted("passkey"))
    rows = measure(planted_subject, Options(items=4), ratios=(1.0, 2.0), baselines=("yarn",))
    items = {
        length: planted_subject.book.items("passkey", 4, 0, planted_subject.tokenizer, length=length)
        for length in (64, 128)
    }
    matches = [row for row in rows if row["metric"] == "key_distance"]
    assert {row["condition"] for row in matches} == {"own/1x", "own/2x"}, "all encodings share the prompts"
    for length, label in ((64, "own/1x"), (128, "own/2x")):
        for item, row in zip(items[length], [row for row in matches if row["condition"] == label], strict=True):
            assert (row["unit_id"], row["value"]) == (item.id, length - item.facts["at"])
    repeated = Item("passkey-0000", "passkey", "key is a1 b2 f1 f2 a1 b2 f3 ask", "a1 b2")
    gone = Item("passkey-0001", "passkey", "key is f1 f2 ask", "a1 b2")
    near, none = distance_rows(planted_subject, [(0, repeated), (0, gone)], "own/1x")
    assert near["value"] == 4
    assert (none["value"], none["reason"]) == (None, "the prompt does not hold the key as it is answered")


def test_shipped_models_find_keys_within_their_length() -> None:
    root = Path(__file__).resolve().parent.parent
    for name in ("tiny-rope", "tiny-continued", "tiny-drope"):
        rows = measure(open_subject(root, ModelSource(name)), Options(items=12), ratios=(1.0, 4.0), baselines=("yarn",))
        assert value(rows, "passkey_exact", "own/1x") >= 0.9
        assert value(rows, "passkey_exact", "own/4x") < value(rows, "passkey_exact", "own/1x")


def test_zero_items_are_refused_before_a_model_is_looked_for(tmp_path: Path) -> None:
    def exit_code_and_output(*words: str) -> tuple[int, str]:
        result = CliRunner().invoke(commands.run, [*words, "--items", "0"], obj={"root": tmp_path})
        return result.exit_code, result.output

    for name in ("context_length", "knowledge"):
        code, printed = exit_code_and_output(name, "sinks", "--model", "no-such-model")
        assert (code, printed.count("Error")) == (2, 1)
        assert f"--items 0: {name} measures only answers to items; give --items 1 or more" in printed
    assert "skipped context_length, knowledge" in exit_code_and_output("--all")[1]
    recipe = {"title": "t", "items": 0, "experiments": ["knowledge"], "models": [{"name": "m", "id": "m"}]}
    (tmp_path / "mine.yaml").write_text(json.dumps(recipe))
    with pytest.raises(DataError, match=r"mine\.yaml: --items 0: knowledge measures only answers to items"):
        load_recipe(tmp_path / "mine.yaml")
    with pytest.raises(DataError, match=r"^disruption: rank_texts = 0: the controls and the rank need at least 1"):
        disruption.measure(subject(planted()), Options(texts=1), rank_texts=0)
    with pytest.raises(SpecError, match=r"massive_values: lambdas.*0.0 is not above 0"):
        kq.run("massive_values", "no-such-model", lambdas=[3.0, 0.0])
