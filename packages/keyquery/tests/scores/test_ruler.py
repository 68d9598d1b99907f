"""RULER's scores equal those computed by hand; needles in noise have the stated tokens, depths and seeds."""

import pytest

from boundpaper.errors import DataError
from keyquery.scores.ruler import needles as ruler_needles
from keyquery.scores.ruler import scores as ruler_scores
from keyquery.scores.ruler.needles import DEPTHS, NEW_TOKENS, NOISE
from keyquery.scores.ruler.scores import MEAN, TASKS, Score, lengths_of, score_interval, share_contained, tabulate

LENGTHS = ("4k", "8k", "16k", "32k", "64k", "128k")


# --- scores


@pytest.mark.parametrize(
    ("answer", "references", "any_of", "score"),
    [
        (" 7304918.", ["7304918"], False, 1.0), ("it is 7304919", ["7304918"], False, 0.0),
        ("1234567 and 7654321", ["1234567", "7654321", "1111111", "2222222"], False, 0.5),
        ("THE EIFFEL TOWER", ["Eiffel Tower"], False, 1.0), ("in paris", ["Paris, France", "Paris"], True, 1.0),
        ("in paris", ["Paris, France", "Paris"], False, 0.5), ("in Rome", ["Paris, France", "Paris"], True, 0.0),
        ("12\x0034", ["1234"], False, 0.0), ("", ["1234"], False, 0.0),
    ],
)  # fmt: skip
def test_share_contained_counts_references_found_in_an_answer(answer, references, any_of, score):
    assert share_contained(answer, references, any_of=any_of) == score


def test_a_sample_without_references_has_no_score():
    with pytest.raises(ValueError, match="needs a reference"):
        share_contained("x", [])


def test_length_keys_and_tokens_convert_both_ways():
    assert [ruler_scores.length_key(tokens) for tokens in (4096, 131072, 5000)] == ["4k", "128k", "5000"]
    assert [ruler_scores.length_tokens(key) for key in ("4k", "128k", "5000")] == [4096, 131072, 5000]
    assert lengths_of("16k,4K") == ("4k", "16k")
    for text in ("k", "4kb", "-4k", "0k", ","):
        with pytest.raises(DataError):
            lengths_of(text)


def cells(by_length, n=500, tasks=TASKS):
    return [Score(task=task, length=length, value=value, n=n) for length, value in by_length.items() for task in tasks]


def row(table, key, length="all"):
    [match] = table[(table["key"] == key) & (table["length"] == length)].to_dict("records")
    return match


def test_summary_rows_hold_averages_and_effective_length():
    scores = dict(zip(LENGTHS, (98.0, 90.0, 85.6, 86.0, 60.0, 20.0), strict=True))
    table = tabulate(cells(scores), TASKS, MEAN)
    assert row(table, MEAN, "32k")["value"] == pytest.approx(86.0)
    assert row(table, "average")["value"] == pytest.approx(sum(scores.values()) / 6)
    longer = sum(weight * score for weight, score in enumerate(scores.values(), 1)) / 21
    shorter = sum((7 - weight) * score for weight, score in enumerate(scores.values(), 1)) / 21
    assert row(table, "weighted_longer")["value"] == pytest.approx(longer)
    assert row(table, "weighted_shorter")["value"] == pytest.approx(shorter)
    assert row(table, "effective_length")["value"] == 32768, "the longest length above, although 16k is not"
    assert "a shorter length is not above" in row(table, "effective_length")["reason"]
    assert row(table, "effective_length_unbroken")["value"] == 8192, "85.6 is not above 85.6"
    assert set(table.loc[table["slice"] == "summary", "unit"]) == {"percent", "tokens"}


def test_effective_length_has_a_reason_when_no_or_every_length_passes():
    low = tabulate(cells(dict.fromkeys(LENGTHS, 50.0)), TASKS, MEAN)
    assert low.loc[low["key"] == "effective_length", "value"].isna().all()
    assert "no tested length" in row(low, "effective_length")["reason"]
    high = tabulate(cells(dict.fromkeys(LENGTHS, 95.0)), TASKS, MEAN)
    assert row(high, "effective_length")["value"] == 131072
    assert "may reach further" in row(high, "effective_length")["reason"]


def test_incomplete_set_of_tasks_has_no_mean_but_a_reason():
    table = tabulate(cells({"4k": 90.0}) + cells({"8k": 80.0}, tasks=TASKS[:-2]), TASKS, MEAN)
    assert row(table, MEAN, "4k")["value"] == pytest.approx(90)
    incomplete = row(table, MEAN, "8k")
    assert incomplete["value"] != incomplete["value"]
    assert "missing: qa_1, qa_2" in incomplete["reason"]
    assert row(table, "weighted_longer")["value"] != row(table, "weighted_longer")["value"]
    assert "8k, 16k, 32k, 64k, 128k" in row(table, "weighted_longer")["reason"]


def test_intervals_hold_the_mean_and_narrow_with_samples():
    assert score_interval(0.0, 40)[0] == 0.0
    assert score_interval(0.0, 40)[1] == pytest.approx(8.76, abs=0.01), "Wilson's interval, 0 of 40"
    assert score_interval(12.5, 40) == pytest.approx((5.46, 26.11), abs=0.01), "Wilson, 5 of 40"
    low, high = score_interval(63.3, 40)
    assert low < 63.3 < high
    table = tabulate(cells({"4k": 50.0}), TASKS, MEAN)
    one, mean = row(table, "vt", "4k"), row(table, MEAN, "4k")
    half = one["ci_high"] - one["value"]
    assert mean["ci_high"] - 50 == pytest.approx(half / 13**0.5), "13 tasks of equal uncertainty"
    assert mean["n"] == 13 * 500


# --- needles


@pytest.fixture(scope="module")
def byte_level():
    pytest.importorskip("transformers")
    from keyquery.scores.ruler.smoke import byte_tokenizer

    return byte_tokenizer()


@pytest.fixture(scope="module")
def word_level():
    """Return a tokenizer of words and single digits, like tokenizers with one token per digit."""
    transformers = pytest.importorskip("transformers")
    from tokenizers import Tokenizer, decoders
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Digits, Punctuation, Sequence, WhitespaceSplit

    text = " ".join([NOISE, ruler_needles.HEAD, *ruler_needles.KEYS])
    split = Sequence([WhitespaceSplit(), Punctuation(), Digits(individual_digits=True)])
    words = dict.fromkeys(word for word, _ in split.pre_tokenize_str(text))
    vocabulary = {word: index for index, word in enumerate(["<unk>", *map(str, range(10)), *words])}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer, tokenizer.decoder = split, decoders.Fuse()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>")


def counter(tokenizer):
    return lambda question, begin: len(tokenizer(f"{question} {begin}", verbose=False)["input_ids"])


@pytest.mark.parametrize("kind", ["byte_level", "word_level"])
@pytest.mark.parametrize("task", ruler_needles.TASKS)
def test_needle_samples_fill_but_do_not_exceed_the_token_budget(kind, task, request):
    tokenizer = request.getfixturevalue(kind)
    count = counter(tokenizer)
    line = count("\n".join([NOISE] * 3), "") - count("\n".join([NOISE] * 2), "")
    for sample in ruler_needles.make_samples(task, "1k", 1280, 8, count):
        assert count(sample.question, sample.answer_start) == sample.tokens
        assert 1280 - NEW_TOKENS - line < sample.tokens <= 1280 - NEW_TOKENS
        assert len(sample.references) == (4 if task in ("noise_multivalue", "noise_multiquery") else 1)
        assert all(sample.question.count(reference) == 1 for reference in sample.references)
        assert sample.question.count("has the number ") == (1 if task == "noise_single" else 4)


def test_needles_are_placed_at_40_depths(byte_level):
    samples = ruler_needles.make_samples("noise_single", "2k", 2048, 40, counter(byte_level))
    assert [sample.depth for sample in samples] == list(DEPTHS)
    assert len(DEPTHS) == 40
    assert (DEPTHS[0], DEPTHS[-1]) == (0, 100)
    for sample in samples:
        lines = sample.question.split("\n")[1:-1]
        [index] = [i for i, line in enumerate(lines) if sample.references[0] in line]
        assert index == int((len(lines) - 1) * sample.depth / 100 + 0.5)
        assert set(lines[:index] + lines[index + 1 :]) == {NOISE}


def test_needle_samples_are_seeded_and_prefix_stable(byte_level):
    count = counter(byte_level)
    first_samples = ruler_needles.make_samples("noise_multikey", "1k", 1024 + 512, 6, count)
    assert ruler_needles.make_samples("noise_multikey", "1k", 1024 + 512, 3, count) == first_samples[:3]
    other_seed = ruler_needles.make_samples("noise_multikey", "1k", 1024 + 512, 6, count, seed=7)
    assert not {sample.references for sample in other_seed} & {sample.references for sample in first_samples}
    assert len({sample.references for sample in first_samples}) == 6


def test_multikey_needles_have_distinct_keys_and_name_the_asked_one(byte_level):
    for sample in ruler_needles.make_samples("noise_multiquery", "2k", 2048, 5, counter(byte_level)):
        needles = [line for line in sample.question.split("\n") if line.startswith("The locker")]
        keys = [line.removeprefix("The locker of the ").partition(" has")[0] for line in needles]
        assert len(set(keys)) == 4
        assert all(key in sample.question.split("\n")[-1] and key in sample.answer_start for key in keys)


def test_a_length_too_short_and_an_unknown_task_are_refused(byte_level):
    with pytest.raises(DataError, match=r"noise_multikey-300-0000: .* take \d+ tokens"):
        ruler_needles.make_samples("noise_multikey", "300", 300, 2, counter(byte_level))
    with pytest.raises(DataError, match="no needle task"):
        ruler_needles.make_samples("niah_single_1", "4k", 4096, 1, counter(byte_level))


def test_a_tokenizer_without_digits_is_refused(byte_level):
    ruler_needles.require_numbers(lambda text: byte_level.decode(byte_level(text)["input_ids"]))
    with pytest.raises(DataError, match="cannot write the numbers"):
        ruler_needles.require_numbers(lambda text: "<unk> <unk>")
