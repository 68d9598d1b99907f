"""Every metric of LongBench Pro equals scores computed by hand, in both languages and for empty answers."""

import math

import numpy as np
import pytest
from scipy import stats

pytest.importorskip("sklearn", reason="the extra bench: sklearn, jieba")
pytest.importorskip("jieba")

from keyquery.models.answers.thoughts import split_thoughts
from keyquery.scores.lbp import prompts as lbp_prompts
from keyquery.scores.lbp import rouge
from keyquery.scores.lbp import scores as lbp_scores
from keyquery.scores.lbp.answers import answer_lines, answer_text
from keyquery.scores.lbp.data import Sample
from keyquery.scores.lbp.metrics import score
from keyquery.scores.lbp.predictions import Prediction
from keyquery.scores.lbp.tasks import LANGUAGES, LENGTHS, TASKS

LOG2_3 = math.log2(3)


def test_there_are_25_tasks_of_11_kinds():
    assert len(TASKS) == 25
    assert len({task.partition(".")[0] for task in TASKS}) == 11
    expected = {
        "ndcg": {"T1.1", "T1.2"},
        "pairwise": {"T2.1", "T2.2", "T6.3"},
        "exact": {"T3.1", "T3.2", "T11.1", "T11.2"},
        "summary": {"T4.1", "T4.2"},
        "f1": {"T5.1", "T5.2", "T6.2", "T7.1", "T7.2", "T7.3", "T9.1", "T9.2"},
        "present": {"T6.1", "T8.1", "T8.2", "T8.3", "T10.1", "T10.2"},
    }
    assert {kind: {task for task, named in TASKS.items() if named == kind} for kind in expected} == expected


# --- answers


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("thinking\n[Answer]\nOne\nTwo", "One\nTwo"), ("[Answer] first\n[Answer]\nsecond", "second"),
        ("想\n[答案]\n一\n二", "一\n二"), ("[Answer] a\n[答案] b", "a\n[答案] b"), ("[答案] b\n[Answer] a", "a"),
        ("no mark at all", "no mark at all"),
        ("[answer] small letters are no mark", "[answer] small letters are no mark"), ("[Answer]", ""),
    ],
)  # fmt: skip
def test_answer_is_the_text_after_the_last_mark(text, answer):
    assert answer_text(text) == answer


def test_answer_lines_are_lower_cased_and_whitespace_collapsed():
    assert answer_lines("[Answer]\n  The  RED\t house \r\nＡ b\n\nlast ") == ["the red house", "ａ b", "", "last"]
    assert answer_lines("[Answer] 1 11") != answer_lines("[Answer] 11 1")


@pytest.mark.parametrize(
    ("text", "opened", "answer"),
    [
        ("<think>a\nb</think>\n[Answer] c", False, ("[Answer] c", "a\nb")), ("a\nb</think>c", True, ("c", "a\nb")),
        ("<think>never ends", False, ("", "never ends")), ("never ends", True, ("", "never ends")),
        ("no thoughts", False, ("no thoughts", "")),
    ],
)  # fmt: skip
def test_thoughts_are_split_from_the_answer(text, opened, answer):
    assert split_thoughts(text, opened=opened) == answer


# --- metrics by hand

GOLD = ["Alpha", "Beta", "Gamma"]  # gains 3, 2, 1: ideal 3 + 2 / log2(3) + 1 / 2
IDEAL = 3 + 2 / LOG2_3 + 1 / 2

BY_HAND = [
    # NDCG at 3 lines
    ("T1.1", GOLD, "alpha\nbeta\ngamma", 1),
    ("T1.2", GOLD, "gamma\nbeta\nalpha", (1 + 2 / LOG2_3 + 3 / 2) / IDEAL),
    ("T1.1", GOLD, "beta", 2 / IDEAL),  # unlisted answers count nothing, even for ties
    ("T1.1", GOLD, "x\ny\nz\nalpha", 0),  # found, but below the cut-off
    ("T1.1", GOLD, "x\nalpha", 3 / LOG2_3 / IDEAL),
    ("T1.1", GOLD, "alpha\nalpha\nbeta", (3 + 2 / LOG2_3) / IDEAL),  # a repeated line counts once, at its last position
    ("T1.2", ["only"], "only", 1),
    ("T1.2", ["only"], "other\nonly", 0),
    # correctly ordered pairs over predicted pairs
    ("T2.1", GOLD, "alpha\nbeta\ngamma", 1),
    ("T2.2", GOLD, "gamma\nbeta\nalpha", 0),
    ("T2.2", GOLD, "alpha\ngamma\nbeta", 2 / 3),
    ("T6.3", GOLD, "alpha\nbeta\ngamma\nx", 3 / 6),  # three more pairs contain a line that is not gold
    ("T6.3", GOLD, "alpha\nbeta", 1),  # divided by predicted pairs: the missing pair costs nothing
    ("T2.1", GOLD, "alpha", 0),
    ("T2.1", ["only"], "only\nx", 0),
    ("T2.1", GOLD, "alpha\nx\nalpha", 0),
    # first line alone
    ("T3.1", ["Paris"], "  PARIS \nand more", 1),
    ("T3.2", ["Paris"], "in Paris", 0),
    ("T11.1", ["Paris", "Rome"], "Rome", 0),
    ("T11.2", ["B"], "b", 1),
    # F1 of sets
    ("T5.1", GOLD, "beta\nalpha\ngamma", 1),
    ("T5.2", GOLD, "alpha\nx", 2 * (1 / 2) * (1 / 3) / (1 / 2 + 1 / 3)),
    ("T6.2", GOLD, "alpha\nalpha\nbeta", 2 * 1 * (2 / 3) / (1 + 2 / 3)),
    ("T7.1", GOLD, "x\ny", 0),
    ("T7.2", GOLD, "alpha\n\nbeta\ngamma", 2 * (3 / 4) * 1 / (3 / 4 + 1)),  # an empty line between others is a line
    ("T7.3", ["[3]"], "[3]", 1),
    ("T9.1", GOLD, "gamma", 2 * 1 * (1 / 3) / (1 + 1 / 3)),
    ("T9.2", GOLD, "alpha, beta, gamma", 0),  # one line instead of three
    # share of gold lines present; extra lines are free
    ("T6.1", GOLD, "x\ngamma\ny\nalpha", 2 / 3),
    ("T8.1", GOLD, "gamma\nbeta\nalpha", 1),
    ("T8.2", ["42"], "the total is 42", 0),
    ("T8.3", ["42"], "41\n42", 1),
    ("T10.1", ["a", "a", "b"], "a", 2 / 3),
    ("T10.2", GOLD, "none", 0),
]


@pytest.mark.parametrize(("task", "gold", "text", "value"), BY_HAND)
@pytest.mark.parametrize(("language", "mark"), [("English", "[Answer]"), ("Chinese", "[答案]")])
def test_scores_equal_values_known_by_hand(task, gold, text, value, language, mark):
    assert score(task, gold, f"Let me see.\n{mark}\n{text}", language) == pytest.approx(value, abs=1e-12)


def test_chinese_lines_are_compared_literally():
    gold = ["第三章 起源", "第一章 序言"]
    assert score("T5.1", gold, "想一想\n[答案]\n第一章  序言\n第三章 起源", "Chinese") == 1
    assert score("T2.1", gold, "[答案]\n第一章 序言\n第三章 起源", "Chinese") == 0
    assert score("T3.1", ["北京"], "[答案] 北京", "Chinese") == 1
    assert score("T3.1", ["北京"], "[答案] 北京。", "Chinese") == 0


# --- summaries


@pytest.mark.parametrize(
    ("reference", "prediction", "shared", "reference_words", "predicted_words"),
    [
        ("the cat sat on the mat", "the cat on the mat", 4, 5, 4),  # distinct words, so that "the" counts once
        ("one two. three four", "three four. one two", 4, 4, 4),  # sentences are matched in any order
        ("one two three", "three two one", 1, 3, 3),
        ("one two three four", "one x two. four x three four", 4, 4, 5),  # two sentences together
        ("a b a c", "b a c a d", 3, 3, 4),
        ("one. two", "one . . two", 2, 2, 3),  # the text between two full stops is an empty word
        ("one two", "three", 0, 2, 1),
    ],
)
def test_rouge_l_matches_the_library_of_the_benchmark(reference, prediction, shared, reference_words, predicted_words):
    recall, precision = shared / reference_words, shared / predicted_words
    expected = 2 * precision * recall / (precision + recall) if shared else 0
    assert rouge.rouge_l(reference, prediction) == pytest.approx(expected, abs=1e-8)


def test_common_subsequence_ties_are_broken_as_in_the_library():
    assert rouge.longest_common(["a", "b", "c", "d"], ["b", "a", "d", "c"]) == ["b", "d"]
    assert rouge.longest_common(["b", "a", "d", "c"], ["a", "b", "c", "d"]) == ["a", "c"]


def test_reordered_sentences_keep_the_full_score():
    sentences = [
        f"the {word} of {number} is {word}{number}" for number, word in enumerate(("sun", "moon", "sea", "wind"))
    ]
    gold, prediction = ". ".join(sentences), ". ".join(sentences[::-1])
    assert score("T4.1", [gold], prediction, "English") == pytest.approx(1, abs=1e-6)


def test_english_summaries_are_scored_by_rouge_l_of_words():
    gold = ["the cat sat on the mat", "a dog"]
    assert score("T4.1", gold, "The cat on the mat", "English") == pytest.approx(2 * (4 / 5) / (4 / 5 + 1))
    assert score("T4.2", gold, "A dog", "English") == pytest.approx(1, abs=1e-7)  # the best of the gold texts
    assert score("T4.2", gold, "nothing alike", "English") == 0


def test_summary_is_the_whole_text_including_the_answer_mark():
    """Text before the mark, and the mark itself, count as in the benchmark's scoring."""
    gold = ["a dog ran"]
    assert score("T4.1", gold, "A dog\n[Answer] ran", "English") == pytest.approx(2 * (3 / 4) / (3 / 4 + 1))
    assert score("T4.1", gold, "A dog ran\n[Answer]", "English") == pytest.approx(2 * (3 / 4) / (3 / 4 + 1))
    assert score("T3.1", gold, "A dog ran\n[Answer]", "English") == 0


def test_chinese_summaries_are_segmented_into_words():
    gold, text = ["我们今天在北京学习"], "我们明天在北京学习"
    # jieba: we | today | in | Beijing | study against we | tomorrow | in | Beijing | study
    assert score("T4.1", gold, text, "Chinese") == pytest.approx(4 / 5)
    assert score("T4.1", gold, text, "English") == 0  # no spaces, so one word against another


def test_summary_score_is_half_rouge_and_half_similarity_when_given():
    def similarity(gold, predicted):
        assert list(gold) == ["a b", "c d"]
        assert predicted == "a x"
        return 0.9

    assert score("T4.1", ["A b", "C d"], "a X", "English", similarity) == pytest.approx((0.9 + 0.5) / 2)


def test_duplicate_gold_lines_count_as_often_as_they_occur():
    assert score("T2.1", ["a", "b", "a"], "[Answer]\na\nb\nc", "English") == pytest.approx(1 / 3)
    assert score("T2.1", ["a", "a", "b"], "[Answer]\na\nb\nc", "English") == pytest.approx(2 / 3)
    assert score("T2.1", ["a", "a", "a", "b"], "[Answer]\na\nb", "English") == 1


@pytest.mark.parametrize(
    ("mode", "positions", "tokens"),
    [
        ("nonthinking", 262_144, 1024), ("thinking", 131_072, 8192), ("thinking", None, 8192),
        ("thinking", 262_144, 32_768),
    ],
)  # fmt: skip
def test_new_token_limit_grows_with_the_context_of_the_model(mode, positions, tokens):
    assert lbp_prompts.new_tokens_for(mode, positions) == tokens
    if positions is not None:
        assert lbp_prompts.prompt_limit(positions, tokens, None, "m") == (224_000 if positions == 262_144 else 120_000)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("text", ["", "  \n ", "[Answer]", "thoughts [答案] \n"])
def test_empty_answer_scores_zero(task, text):
    assert score(task, ["", "gold"], text, "Chinese") == 0


@pytest.mark.parametrize("task", TASKS)
def test_malformed_answers_stay_within_bounds(task):
    for text in ("[Answer]\n\n\n|||\n" * 3, "\x00[Answer]\x00", "{'a': [1]}", "a" * 5000, "[Answer] 。\n，"):
        for language in LANGUAGES:
            assert 0 <= score(task, GOLD, text, language) < 1


# --- means


def sample(task, language="English", length="8k", number=0):
    return Sample(f"{task}-{language}-{length}-{number}", "", language, length, task, {}, ("right",))


def grid(tasks=("T3.1", "T5.1"), lengths=LENGTHS, count=2):
    return [
        sample(task, language, length, number)
        for task in tasks
        for language in LANGUAGES
        for length in lengths
        for number in range(count)
    ]


def predictions(samples, is_right=lambda sample, run: True, runs=1):
    """Return predictions of "right" or "wrong" for all runs of all samples."""
    return [
        Prediction(sample.id, run, "nonthinking", f"[Answer] {'right' if is_right(sample, run) else 'wrong'}")
        for sample in samples
        for run in range(1, runs + 1)
    ]


def table_of(samples, *options):
    return lbp_scores.aggregate(lbp_scores.score_samples(samples, predictions(samples, *options)), samples)


def row(table, key):
    [cells] = table[table["key"] == key].to_dict("records")
    return cells


def test_means_are_grouped_by_length_task_and_language():
    samples = grid()
    table = table_of(samples, lambda sample, run: sample.task == "T3.1" and sample.length in ("8k", "16k"))
    assert row(table, "overall")["value"] == pytest.approx(100 * 2 / 6 / 2)
    assert [row(table, length)["value"] for length in LENGTHS] == [50, 50, 0, 0, 0, 0]
    assert row(table, "overall")["value"] == pytest.approx(np.mean([row(table, length)["value"] for length in LENGTHS]))
    assert row(table, "T3.1")["value"] == pytest.approx(100 / 3)
    assert row(table, "T5.1")["value"] == 0
    assert {row(table, language)["value"] for language in LANGUAGES} == {row(table, "overall")["value"]}
    assert row(table, "overall")["samples"] == 48
    assert row(table, "8k")["samples"] == 8
    assert set(table["metric"]) == {"lbp"}


def test_runs_of_a_sample_are_averaged_before_samples_are():
    samples = grid(count=1)
    scores = lbp_scores.score_samples(samples, predictions(samples, lambda sample, run: run == 1, runs=3))
    assert np.allclose(scores["score"], 1 / 3)
    overall = row(lbp_scores.aggregate(scores, samples), "overall")
    assert overall["value"] == pytest.approx(100 / 3)
    assert (overall["n"], overall["samples"]) == (72, 24)


def test_metric_name_states_whether_summaries_used_the_embedder():
    samples = grid(tasks=("T3.1", "T4.1"))
    scores = lbp_scores.score_samples(samples, predictions(samples))
    table = lbp_scores.aggregate(scores, samples)
    assert row(table, "T3.1")["metric"] == "lbp"
    assert {row(table, key)["metric"] for key in ("overall", "8k", "T4.1", "English")} == {"lbp_rouge_t4"}
    embedded = lbp_scores.aggregate(scores, samples, embedded=True)
    assert set(embedded["metric"]) == {"lbp"}


def test_interval_is_that_of_the_mean_over_samples():
    samples = grid(tasks=("T3.1",), lengths=("8k",), count=50)
    cells = row(table_of(samples, lambda sample, run: int(sample.id.rpartition("-")[2]) < 15), "8k")
    error = 100 * math.sqrt(0.3 * 0.7 / 100)
    assert cells["value"] == pytest.approx(30)
    assert cells["ci_low"] == pytest.approx(30 - 1.96 * error, abs=1.5)
    assert cells["ci_high"] == pytest.approx(30 + 1.96 * error, abs=1.5)


def test_bootstrap_resamples_within_lengths():
    # one length all right, the others all wrong: resampling within lengths cannot change the mean
    samples = grid(tasks=("T3.1",), count=10)
    cells = row(table_of(samples, lambda sample, run: sample.length == "8k"), "overall")
    assert [cells[name] for name in ("value", "ci_low", "ci_high")] == pytest.approx([100 / 6] * 3)


def test_equal_scores_have_no_interval_and_missing_lengths_no_overall():
    samples = grid(tasks=("T3.1",))
    shorter = [sample for sample in samples if sample.length != "256k"]
    table = lbp_scores.aggregate(lbp_scores.score_samples(samples, predictions(shorter)), samples)
    overall, first, last = row(table, "overall"), row(table, "8k"), row(table, "256k")
    assert math.isnan(overall["value"])
    assert overall["reason"] == "4 of 24 samples have no prediction; no predictions of length 256k"
    assert first["value"] == 100
    assert math.isnan(first["ci_low"])
    assert first["reason"] == "no interval: all samples score the same"
    assert math.isnan(last["value"])
    assert last["samples"] == 0


def test_interval_over_few_samples_per_length_is_students():
    samples = grid(tasks=("T3.1",), lengths=("8k",), count=3)
    scores = lbp_scores.score_samples(samples, predictions(samples, lambda sample, run: sample.id.endswith("-0")))
    cells = row(lbp_scores.aggregate(scores, samples), "8k")
    low, high = stats.t.interval(0.95, 5, scores["score"].mean(), stats.sem(scores["score"]))
    assert low < 0
    assert (cells["ci_low"], cells["ci_high"]) == pytest.approx((0, 100 * high))


def test_interval_over_few_samples_is_stratified_by_length():
    samples = grid(tasks=("T3.1",), lengths=("8k", "16k"), count=4)
    scores = lbp_scores.score_samples(samples, predictions(samples))
    scores["score"] = [
        0.9 - 0.05 * index if length == "8k" else 0.2 + 0.01 * index for index, length in enumerate(scores["length"])
    ]
    cells = row(lbp_scores.aggregate(scores, samples), "T3.1")
    first, second = (scores.loc[scores["length"] == length, "score"] for length in ("8k", "16k"))
    # two lengths of equal size: Welch's test gives the interval of their sum, twice the mean
    expected = stats.ttest_ind(first, -second, equal_var=False).confidence_interval(0.95)
    assert (cells["ci_low"], cells["ci_high"]) == pytest.approx((50 * expected.low, 50 * expected.high))


def test_a_single_sample_has_no_interval():
    samples = grid(tasks=("T3.1",), lengths=("8k",), count=1)[:1]
    cells = row(table_of(samples), "8k")
    assert np.isnan([cells["ci_low"], cells["ci_high"]]).all()
    assert cells["reason"] == "no interval: a single sample"
