"""English items are balanced, seeded, and of the exact number of tokens; a tokenizer must be able to write them."""

import ast
import collections
import re
import sys
import types
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import transformers
from tokenizers import Tokenizer, decoders
from tokenizers.models import BPE, WordLevel
from tokenizers.pre_tokenizers import ByteLevel, WhitespaceSplit
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import BpeTrainer

from boundpaper.errors import DataError, MissingDependency
from keyquery.models.texts import TextSource, texts
from keyquery.tasks import english_prose as prose
from keyquery.tasks.answers import EXACT, INSERTION, NEAR_MISS, OTHER_NUMBER, error_class, parse
from keyquery.tasks.english import BOOK, CHECK_QUESTIONS, HUB, KEY_QUESTIONS, MISSES
from keyquery.tasks.english_facts import ATHLETES, CITIES
from keyquery.tasks.english_statements import UNFITTING

pytestmark = pytest.mark.models
LETTERS = sorted(ByteLevel.alphabet())


def wrapped(inner: Tokenizer, **more: Any) -> Any:
    inner.post_processor = TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    return transformers.PreTrainedTokenizerFast(tokenizer_object=inner, bos_token="<s>", **more)


def byte_tokenizer() -> Any:
    inner = Tokenizer(BPE({letter: number for number, letter in enumerate(["<s>", *LETTERS])}, []))
    inner.pre_tokenizer, inner.decoder = ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    return wrapped(inner)


def whole_word_tokenizer() -> Any:
    text = " ".join(
        [item.prompt for task in BOOK.tasks()[:3] for item in BOOK.items(task, 100, 0, None)]
        + [end.format(key="1") for form in ["key", "code"] for end in (KEY_QUESTIONS[form], CHECK_QUESTIONS[form])]
    )
    words = ["<s>", "<unk>", *dict.fromkeys([*text.split(), "yes", "no", "true", "false", *map(str, range(10**5))])]
    inner = Tokenizer(WordLevel({word: number for number, word in enumerate(words)}, unk_token="<unk>"))
    inner.pre_tokenizer = WhitespaceSplit()
    return wrapped(inner, unk_token="<unk>")


def subword_tokenizer() -> Any:
    inner = Tokenizer(BPE())
    inner.pre_tokenizer, inner.decoder = ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    corpus = BOOK.texts("prose", 40, 300, 9, byte_tokenizer())
    inner.train_from_iterator(
        corpus, BpeTrainer(vocab_size=1200, special_tokens=["<s>"], initial_alphabet=LETTERS, show_progress=False)
    )
    return wrapped(inner)


TOKENIZERS = {"bytes": byte_tokenizer, "words": whole_word_tokenizer, "pieces": subword_tokenizer}


@pytest.fixture(scope="module", params=list(TOKENIZERS))
def tokenizer(request: pytest.FixtureRequest) -> Any:
    return TOKENIZERS[request.param]()


def test_a_prompt_has_exactly_the_tokens_asked_for(tokenizer: Any) -> None:
    for length in (380, 401, 512, 777, 1024):
        for task in ("passkey", "verification", "ranking"):
            for item in BOOK.items(task, 4, 3, tokenizer, length=length):
                ids = tokenizer(item.prompt)["input_ids"]
                assert len(ids) == length == item.facts["length"]
                assert ids[0] == tokenizer.bos_token_id
                assert item.prompt.count(item.facts["key"]) >= 1


def test_passkey_is_at_the_requested_depth(tokenizer: Any) -> None:
    for depth in (0.0, 0.25, 0.5, 0.9, 1.0):
        for item in BOOK.items("passkey", 2, 0, tokenizer, length=1500, depth=depth):
            front = item.prompt[: item.prompt.index(item.facts["key"])]
            tokens = len(tokenizer(front)["input_ids"])
            assert abs(tokens / 1500 - depth) < 0.16, "the rest is the head, the question and half a sentence"
            assert item.facts["key_at"] <= tokens
    depths = [item.facts["depth"] for item in BOOK.items("passkey", 4, 0, tokenizer, length=400)]
    assert depths == [0.125, 0.375, 0.625, 0.875]


def test_digits_occur_only_in_keys() -> None:
    for item in BOOK.items("passkey", 20, 1, byte_tokenizer(), length=900):
        assert set(re.findall(r"\d+", item.prompt)) == {item.answer}
        assert len(item.answer) == 5
        assert parse(item, f" {item.answer}.") == "right"
    keys = [item.answer for item in BOOK.items("passkey", 60, 1, byte_tokenizer(), length=400)]
    assert 15 < sum(bool(re.search(r"(.)\1", key)) for key in keys) < 60, "some keys have runs, others none"


def test_fact_questions_are_numerous_distinct_and_balanced() -> None:
    for task, pairs in (("cities", CITIES), ("sports", ATHLETES)):
        assert len(pairs) >= 60
        assert len(pairs) % 2 == 0, "the second round swaps each subject's answer"
        assert len({subject for subject, _ in pairs}) == len(pairs)
        answers = dict(pairs)
        items = BOOK.items(task, 4 * len(pairs), 0, None)
        assert len({item.id for item in items}) == len(items)
        assert collections.Counter(item.answer for item in items) == {"yes": len(items) // 2, "no": len(items) // 2}
        true_prompts = [item.prompt for item in items if item.answer == "yes"]
        assert len(set(true_prompts)) == len(true_prompts)
        for item in items:
            assert (answers[item.facts["subject"]] == item.facts["shown"]) == (item.answer == "yes")
            last = item.prompt.splitlines()[-2]
            assert item.facts["subject"] in last
            assert item.facts["shown"] in last
            assert "\nAnswer: yes\n" in item.prompt.split(last)[0]
        with pytest.raises(DataError, match=f"only {4 * len(pairs)} different questions"):
            BOOK.items(task, 4 * len(pairs) + 1, 0, None)


def test_statements_have_known_truth_and_balanced_falsity_types(tokenizer: Any) -> None:
    items = BOOK.items("statements", 80, 3, tokenizer, length=48)
    answers = dict(CITIES) | dict(ATHLETES)
    kinds = collections.Counter((item.facts["truth"], item.facts["group"]) for item in items)
    assert kinds == {(truth, group): 20 for truth in (True, False) for group in ("question", "answer")}
    for item in items:
        stem, shown = " ".join(item.facts["question"]), item.facts["answer_text"]
        assert item.prompt.endswith(f". {stem} {shown}.")
        assert item.facts["subject"] in stem
        assert item.facts["true"] == answers[item.facts["subject"]]
        assert (shown == item.facts["true"]) == item.facts["truth"]
        unfitting = not item.facts["truth"] and item.facts["group"] == "answer"
        assert (shown in UNFITTING) == unfitting
        assert (shown in item.facts["objects"]) != unfitting
        assert len(tokenizer(item.prompt)["input_ids"]) >= 48
    assert not set(UNFITTING) & set(answers.values())
    with pytest.raises(DataError, match="only prompts with a key"):
        BOOK.items("statements", 8, 3, tokenizer, depth=0.5)


def test_reviews_are_balanced_and_varied() -> None:
    items = BOOK.items("sentiment", 100, 0, None)
    assert collections.Counter(item.answer for item in items) == {"positive": 50, "negative": 50}
    assert len({item.prompt for item in items}) == 100
    for item in items:
        ending = item.prompt.rsplit("Review:", 1)[1].splitlines()[0]
        verdicts = {name for name, endings in prose.VERDICTS.items() if ending.endswith(endings)}
        assert verdicts == {item.answer}


def test_verification_shows_the_key_or_a_near_miss() -> None:
    items = BOOK.items("verification", 40, 2, byte_tokenizer(), length=600)
    kinds = collections.Counter(item.facts["kind"] for item in items)
    assert kinds == {"exact": 20} | dict.fromkeys(MISSES, 5)
    classes = {"exact": EXACT, "one-digit": NEAR_MISS, "swapped": NEAR_MISS, "other": OTHER_NUMBER}
    for item in items:
        shown, key = item.facts["shown"], item.facts["true"]
        assert item.answer == ("yes" if shown == key else "no")
        assert CHECK_QUESTIONS[item.facts["form"]].format(key=shown) in item.prompt
        if item.facts["kind"] == "shortened":
            assert error_class(key, shown) == INSERTION
        else:
            assert error_class(shown, key) == classes[item.facts["kind"]]
        if item.facts["kind"] in ("one-digit", "swapped"):
            changed = sum(digit != of_key for digit, of_key in zip(shown, key, strict=True))
            assert changed == 1 + (item.facts["kind"] == "swapped")


def test_ranking_has_four_candidates_of_equal_length() -> None:
    ranks = collections.Counter[int]()
    for item in BOOK.items("ranking", 40, 0, byte_tokenizer(), length=500):
        candidates = item.facts["candidates"]
        assert len(set(candidates)) == 4
        assert {len(candidate) for candidate in candidates} == {5}
        ranks[candidates.index(item.answer)] += 1
        front = item.prompt.removesuffix(KEY_QUESTIONS[item.facts["form"]])
        question = CHECK_QUESTIONS[item.facts["form"]]
        assert item.facts["prompts"] == [front + question.format(key=candidate) for candidate in candidates]
    assert set(ranks) == {0, 1, 2, 3}


def test_items_are_determined_by_their_seed() -> None:
    tokenizer = byte_tokenizer()
    for task in BOOK.tasks():
        first, again, other = (BOOK.items(task, 6, seed, tokenizer) for seed in (0, 0, 1))
        assert first == again
        assert [item.prompt for item in first] != [item.prompt for item in other]


def test_texts_are_long_enough_and_of_the_requested_kind(tokenizer: Any) -> None:
    for kind in BOOK.kinds():
        passages = BOOK.texts(kind, 3, 700, 0, tokenizer)
        assert len(set(passages)) == 3
        assert all(len(tokenizer(text)["input_ids"]) >= 700 for text in passages)
        assert passages == BOOK.texts(kind, 3, 700, 0, tokenizer)
    ast.parse(BOOK.texts("code", 1, 2000, 0, tokenizer)[0])
    words = re.findall(r"[a-z]+", " ".join(BOOK.texts("prose", 4, 700, 0, byte_tokenizer())).lower())
    assert len(set(words)) > 150, "a varied vocabulary"


@pytest.mark.parametrize(
    ("task", "options", "message"),
    [
        ("chess", {}, "no task 'chess'"), ("passkey", {"form": "poem"}, "wordings key and code"),
        ("passkey", {"depth": 1.5}, "between 0 and 1"),
        ("passkey", {"length": 100}, r"100 tokens is too short; with this tokenizer it needs \d+ at least"),
        ("cities", {"length": 100}, "only prompts with a key"),
    ],
)  # fmt: skip
def test_unknown_items_are_refused(task: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        BOOK.items(task, 1, 0, byte_tokenizer(), **options)


def test_unknown_texts_and_unwritable_items_are_refused() -> None:
    with pytest.raises(DataError, match="kind 'poems'"):
        BOOK.texts("poems", 1, 10, 0, byte_tokenizer())
    foreign = Tokenizer(WordLevel({"<s>": 0, "<unk>": 1, "Answer:": 2}, unk_token="<unk>"))
    foreign.pre_tokenizer = WhitespaceSplit()
    with pytest.raises(DataError, match=r"cannot be asked in English.* --items 0$"):
        BOOK.items("cities", 1, 0, wrapped(foreign, unk_token="<unk>"))


def test_unreachable_hub_text_set_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*rest: Any, **more: Any) -> Any:
        raise ConnectionError("no route to the host")

    monkeypatch.setitem(sys.modules, "datasets", types.SimpleNamespace(load_dataset=fail))
    with pytest.raises(DataError, match=r"stanfordnlp/imdb: the Hub data set cannot be read \(no route"):
        next(texts(TextSource(HUB["imdb"])))
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingDependency, match="pip install"):
        next(texts(TextSource(HUB["imdb"])))
