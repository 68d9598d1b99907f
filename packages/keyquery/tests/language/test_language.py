"""The small models' language: a fixed world, documents that agree with it, and items with the needed facts."""

import itertools
import random
from collections import Counter

import pytest

from boundpaper.errors import DataError
from keyquery.language import documents, words
from keyquery.language.book import BOOK, KEYED, LENGTH
from keyquery.language.tokenizer import build_tokenizer
from keyquery.language.words import WORDS, world


@pytest.fixture(scope="module")
def tokenizer():
    return build_tokenizer()


def test_vocabulary_begins_with_the_special_words_and_has_no_duplicates():
    assert WORDS[:4] == ("<pad>", "<s>", "</s>", "<unk>")
    assert len(set(WORDS)) == len(WORDS)
    assert 200 <= len(WORDS) <= 300


def test_world_facts_are_frozen():
    words.world.cache_clear()
    assert world().cities.objects[("white", "well")] == "kelmar"
    assert world().sports.objects[("ana", "lind")] == "golf"


@pytest.mark.parametrize("name", ["cities", "sports"])
def test_fact_depends_on_both_words_of_a_name(name):
    relation = getattr(world(), name)
    assert len(relation.subjects) == 36
    for index in (0, 1):
        by_word: dict[str, list[str]] = {}
        for subject, value in relation.objects.items():
            by_word.setdefault(subject[index], []).append(value)
        assert {len(values) for values in by_word.values()} == {4}
        best = sum(max(Counter(values).values()) for values in by_word.values())
        assert best <= 24  # always answering one word would be right for at most two thirds
    assert Counter(relation.objects.values()) == dict.fromkeys(relation.pool, 6)
    assert not set(relation.never) & set(relation.objects.values())


def test_training_sequences_have_the_given_length_and_weight_answers():
    for seed in range(40):
        tokens, weights = documents.sequence(world(), random.Random(seed), 96)
        assert len(tokens) == len(weights) == 96
        assert tokens[0] == "<s>"
        assert "<unk>" not in tokens
        assert set(tokens) <= set(WORDS)
        assert set(weights) <= {1.0, documents.ANSWER}


def test_training_documents_agree_with_the_world():
    counts = Counter[str]()
    for seed in range(100):
        tokens = documents.sequence(world(), random.Random(seed), 400)[0]
        text = " ".join(tokens)
        for relation, marks in ((world().cities, ("where is", "?")), (world().sports, ("what does", "play ?"))):
            for subject, value in relation.objects.items():
                question = f" {marks[0]} {' '.join(subject)} {marks[1]} "
                for text_after in text.split(question)[1:]:
                    counts[relation.name] += 1
                    assert text_after.split()[0] == value
    assert min(counts.values()) > 15
    assert set(counts) == {"cities", "sports"}


def test_batch_is_determined_by_its_name():
    one = documents.batch(world(), "0/rope/3", 4, 32)
    random.seed(5)
    assert documents.batch(world(), "0/rope/3", 4, 32) == one
    assert documents.batch(world(), "1/rope/3", 4, 32) != one


@pytest.mark.parametrize("task", BOOK.tasks())
def test_items_are_stable_distinct_and_written_in_the_vocabulary(task, tokenizer):
    items = BOOK.items(task, 24, 0, tokenizer)
    assert items == BOOK.items(task, 24, 0, tokenizer)
    assert items != BOOK.items(task, 24, 1, tokenizer) or task.endswith("_open")
    assert [item.id for item in items][:2] == [f"{task}-0000", f"{task}-0001"]
    assert len({item.prompt for item in items}) >= 16
    for item in items:
        if item.options:
            assert item.answer in item.options
    if items[0].options:
        assert Counter(item.answer for item in items).most_common(1)[0][1] <= 18


@pytest.mark.parametrize("task", BOOK.tasks())
@pytest.mark.parametrize("length", [40, 4 * LENGTH])
def test_a_prompt_has_exactly_the_length_asked_for(task, length, tokenizer):
    for item in BOOK.items(task, 6, 0, tokenizer, length=length):
        assert len(tokenizer(item.prompt)["input_ids"]) == length


def test_passkey_occurs_once_at_its_depth(tokenizer):
    for depth in (0.0, 0.5, 1.0):
        item = BOOK.items("passkey", 1, 0, tokenizer, length=200, depth=depth, form="named")[0]
        text = ["<s>", *item.prompt.split()]
        sentence = words.planting_sentence(item.facts["name"], item.answer.split())
        starts = [i for i in range(len(text)) if text[i : i + len(sentence)] == sentence]
        assert len(starts) == 1
        assert abs(starts[0] / (200 - len(sentence)) - depth) < 0.1
        assert item.facts["depth"] == depth


def test_default_depths_are_spread_over_the_items():
    depths = [item.facts["depth"] for item in BOOK.items("passkey", 4, 0, None)]
    assert depths == [0.125, 0.375, 0.625, 0.875]


def test_false_statements_are_balanced_between_question_and_answer(tokenizer):
    counts = Counter[object]()
    for item in BOOK.items("statements", 64, 0, tokenizer):
        relation = getattr(world(), item.facts["property"])
        subject, shown, truth = tuple(item.facts["subject"].split()), item.facts["answer_text"], item.facts["truth"]
        assert truth == (relation.objects[subject] == shown) == (item.answer == "true")
        if not truth:
            assert (shown in relation.never) == (item.facts["group"] == "answer")
        assert item.prompt.split() == ["statement", *item.facts["question"], shown, "tag"]
        counts[item.facts["group"], truth] += 1
    assert counts == dict.fromkeys([(g, t) for g in ("question", "answer") for t in (True, False)], 16)


@pytest.mark.parametrize("kind", BOOK.kinds())
def test_texts_have_the_given_number_of_tokens(kind, tokenizer):
    texts = BOOK.texts(kind, 3, 50, 0, tokenizer)
    assert len(set(texts)) == 3
    assert texts == BOOK.texts(kind, 3, 50, 0, tokenizer)
    assert {len(tokenizer(text)["input_ids"]) for text in texts} == {50}


def test_filler_text_follows_the_word_transitions_of_the_world():
    text = BOOK.texts("filler", 1, 200, 0, None)[0].split()
    for word, after in itertools.pairwise(text):
        assert after in world().followers[word]


def test_unknown_tasks_and_invalid_options_are_refused(tokenizer):
    with pytest.raises(DataError, match="no task 'capitals'"):
        BOOK.items("capitals", 1, 0, tokenizer)
    with pytest.raises(DataError, match="no text of kind 'news'"):
        BOOK.texts("news", 1, 10, 0, tokenizer)
    with pytest.raises(DataError, match="too short; it needs"):
        BOOK.items("passkey", 1, 0, tokenizer, length=12)
    with pytest.raises(DataError, match="no form 'pin'"):
        BOOK.items("passkey", 1, 0, tokenizer, form="pin")
    with pytest.raises(DataError, match="between 0 and 1"):
        BOOK.items("passkey", 1, 0, tokenizer, depth=2.0)


@pytest.mark.parametrize(
    ("begin", "token", "message"), [([1], 3, "lab population"), ([], 1, "adds no beginning token")]
)
def test_unfit_tokenizer_is_refused(begin, token, message):
    """One tokenizer knows no word of the language, the other adds no beginning token."""

    class Unfit:
        unk_token_id = 3

        def __call__(self, text):
            return {"input_ids": begin + [token] * len(text.split())}

    with pytest.raises(DataError, match=message):
        BOOK.items("cities", 1, 0, Unfit())


def test_tokenizer_can_be_loaded_from_a_folder(tokenizer, tmp_path):
    import transformers

    tokenizer.save_pretrained(tmp_path)
    loaded = transformers.AutoTokenizer.from_pretrained(tmp_path)
    tokens = loaded("is white well in drovia ?")["input_ids"]
    assert tokens[0] == loaded.bos_token_id == 1
    assert loaded.decode(tokens[1:]) == "is white well in drovia ?"
    assert loaded.convert_ids_to_tokens(list(range(len(WORDS)))) == list(WORDS)
    assert KEYED in BOOK.tasks()
