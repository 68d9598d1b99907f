"""The language of the population: held-out facts, keys and answers in texts, prompts, and digits of answers."""

import itertools
import random
from collections import Counter

import pytest

from analysis.population import prompts
from keyquery.language import documents
from keyquery.language import words as language
from keyquery.language.words import world


def test_a_third_of_the_facts_is_held_out_of_the_second_phase():
    for first, second in zip(world().relations, world(True).relations, strict=True):
        held_out = language.held_out_names(first)
        assert len(held_out) == len(first.subjects) // 3
        assert Counter(first.objects[name] for name in held_out) == dict.fromkeys(first.pool, 2)
        assert set(second.subjects) == set(first.subjects) - held_out
        assert all(second.objects[name] == first.objects[name] for name in second.subjects)


def sequences(second=False, count=150, length=400):
    return [documents.sequence(world(second), random.Random(seed), length) for seed in range(count)]


def test_second_phase_documents_name_no_held_out_fact():
    held_out = {" ".join(name) for relation in world().relations for name in language.held_out_names(relation)}
    first, second = (" ".join(" ".join(words) for words, _ in sequences(phase)) for phase in (False, True))
    assert sum(name in first for name in held_out) == len(held_out)
    assert not [name for name in held_out if name in second]


def test_answers_in_training_text_equal_the_given_keys():
    questions = Counter[int]()
    for text, weights in sequences():
        assert len(text) == len(weights) == 400
        assert text[0] == "<s>"
        keys = {}
        for index, word in enumerate(text[:-12]):
            if text[index : index + 4] == ["remember", "the", "key", "of"]:
                keys[text[index + 4]] = text[index + 5 : text.index(".", index)]
            if text[index : index + 4] == ["tell", "the", "key", "of"]:
                key = keys[text[index + 4]]
                assert text[index + 5 : index + 6 + len(key)] == [*key, "."]
                assert set(weights[index + 5 : index + 6 + len(key)]) == {documents.ANSWER}  # the stop token counts too
                questions[len(keys)] += 1
            if word in language.SIGNS:
                assert text[index + 1] == text[index - 1]
    assert set(questions) == {1, 2, 3, 4}
    assert min(questions.values()) > 30


def test_keys_have_four_or_five_digits_and_often_a_repeated_digit():
    keys = [language.draw_key(random.Random(seed)) for seed in range(400)]
    assert {len(key) for key in keys} == {4, 5}
    runs = sum(any(digit == following for digit, following in itertools.pairwise(key)) for key in keys)
    assert 0.5 < runs / len(keys) < 0.8


def test_batch_is_determined_by_its_name():
    batch = documents.batch(world(), "1/first/3", 4, 64)
    random.seed(5)
    assert documents.batch(world(), "1/first/3", 4, 64) == batch
    assert documents.batch(world(), "1/second/3", 4, 64) != batch


@pytest.mark.parametrize("length", [64, 128, 512])
def test_key_prompts_have_their_length_and_record_the_distance(length):
    contexts = prompts.keys(5, length, 8)
    assert [len(context.asks) for context in contexts] == [1, 2, 3, 4] * 2
    for context in contexts:
        for ask in context.asks:
            prompt = [*context.words, *ask.words]
            assert len(prompt) == length
            start = length - 1 - ask.facts["distance"]
            assert prompt[start : start + len(ask.answer)] == ask.answer
            assert prompt[start - 1] == ask.words[-1]  # the key directly follows the name asked for
        names = [word for word in context.words if word in language.NAMES]
        assert len(set(names)) == len(names)


def test_prompts_are_prefix_stable_in_their_number():
    eight, four = prompts.keys(5, 128, 8), prompts.keys(5, 128, 4)
    assert [context.words for context in four] == [context.words for context in eight[:4]]
    assert four == eight[:4]


def test_other_tasks_ask_every_fact_once():
    for length in (None, 128):
        asks = [ask for context in prompts.other_task_questions(5, length) for ask in context.asks]
        assert {ask.facts["task"] for ask in asks} == set(prompts.TASKS)
        questions = [" ".join(ask.words) for ask in asks if ask.facts["task"] in ("fact", "fact_held")]
        assert len(set(questions)) == len(questions) == 72
        assert sum(ask.facts["task"] == "fact_held" for ask in asks) == 24
    assert {len(context.words) for context in prompts.other_task_questions(5, 128)} == {128}


def test_digits_are_read_up_to_the_first_other_word():
    tokens = language.token_ids(["5", "5", "7", ".", "7"])
    assert prompts.leading_digits(tokens) == "557"
    assert prompts.leading_digits(language.token_ids(["road", "5"])) == ""


def test_words_after_a_sign_are_marked():
    for text, marks in prompts.backcopy_texts(world(), 4, 200):
        assert len(text) == len(marks) == 200
        for index, mark in enumerate(marks):
            assert mark == (index > 0 and text[index - 1] in language.SIGNS)
            if mark:
                assert text[index] == text[index - 2]
        assert sum(marks) > 15
