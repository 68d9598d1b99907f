"""Compute LongBench Pro's metrics, 0 to 1, which compare a prediction with the gold (right) lines of its sample.

The paper (arXiv 2601.02872) defines the metrics. Where the definition is open, they follow the benchmark's official
scoring: a line predicted twice counts at its last position, and empty lines inside an answer count as predictions.
"""

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from keyquery.models.libraries import need
from keyquery.scores.lbp import rouge
from keyquery.scores.lbp.answers import answer_lines, answer_text, normalised
from keyquery.scores.lbp.tasks import EXACT, F1, NDCG, PAIRS, PRESENT, SUMMARY, TASKS

Similarity = Callable[[Sequence[str], str], float]
"""Returns the largest cosine similarity of a prediction with gold texts."""

Lines = Sequence[str]


def score(task: str, gold: Lines, prediction: str, language: str, similarity: Similarity | None = None) -> float:
    """Return the score of one prediction, 0 to 1.

    `prediction` is the model's whole output. A summary is scored as a whole, including marks; for other tasks, the
    lines after the last mark are scored. With `similarity`, a summary's score is the mean of similarity and ROUGE-L.
    """
    gold = [normalised(line) for line in gold]
    metric = TASKS[task]
    answer = normalised(prediction) if metric == SUMMARY else answer_text(prediction)
    if not gold or not answer:
        return 0.0
    if metric == SUMMARY:
        return score_summary(gold, answer, language, similarity)
    return _LINE_METRICS[metric](gold, answer_lines(prediction))


def ndcg(gold: Lines, predicted: Lines) -> float:
    """Return the normalised discounted cumulative gain, cut off at the number of gold lines.

    The first gold line has the largest gain and the last gold line gain 1; other lines have gain 0.
    """
    metrics = need("sklearn.metrics", "to score retrieval")
    k = len(gold)
    gains = {line: k - index for index, line in enumerate(gold)}
    scores = {line: len(predicted) - index for index, line in enumerate(predicted)}
    missed = [line for line in gains if line not in scores]
    # put k lines of gain 0 between predicted and missed lines, so that a short list does not profit from ties
    true_gains = [*(gains.get(line, 0) for line in scores), *[0] * k, *(gains[line] for line in missed)]
    all_scores = [*scores.values(), *[0.5] * k, *[0.0] * len(missed)]
    return float(metrics.ndcg_score(np.array([true_gains]), np.array([all_scores]), k=k))


def pairwise_order(gold: Lines, predicted: Lines) -> float:
    """Return the share of pairs of predicted lines that are gold lines in the gold order.

    A single predicted or gold line forms no pair and scores 0. A repeated gold line forms pairs twice, as in the
    benchmark's official scoring, but the share is at most 1.
    """
    if len(gold) < 2 or len(predicted) < 2:
        return 0.0
    ranks = {line: rank for rank, line in enumerate(predicted)}
    gold_ranks = [ranks[line] for line in gold if line in ranks]
    right = sum(first < second for first, second in combinations(gold_ranks, 2))
    return min(1.0, right / (len(predicted) * (len(predicted) - 1) / 2))


def exact_match(gold: Lines, predicted: Lines) -> float:
    """Return 1 if the first predicted line is the first gold line, else 0."""
    return float(predicted[0] == gold[0])


def f1(gold: Lines, predicted: Lines) -> float:
    """Return the F1 score of the predicted lines against the gold lines, as sets."""
    matches = len(set(gold) & set(predicted))
    return 2 * matches / (len(set(gold)) + len(set(predicted)))


def share_present(gold: Lines, predicted: Lines) -> float:
    """Return the share of gold lines that were predicted, in any order; other predicted lines do not count."""
    return sum(line in predicted for line in gold) / len(gold)


def score_summary(gold: Lines, predicted: str, language: str, similarity: Similarity | None) -> float:
    """Return the best ROUGE-L over the gold summaries, averaged with the best similarity if `similarity` is given."""
    overlap = rouge_l(gold, predicted, language)
    return overlap if similarity is None else min(1.0, max(0.0, (similarity(gold, predicted) + overlap) / 2))


def rouge_l(gold: Lines, predicted: str, language: str) -> float:
    """Return the best ROUGE-L over the gold texts (`keyquery.scores.lbp.rouge`); jieba splits Chinese text into words.

    The benchmark's program gives 0 if a long sentence overflows its stack; this function has no such limit.
    """
    words = split_in_words(predicted, language)
    return max(rouge.rouge_l(split_in_words(text, language), words) for text in gold)


def split_in_words(text: str, language: str) -> str:
    """Return a text with blanks between words."""
    if language != "Chinese":
        return text
    jieba = need("jieba", "to cut Chinese summaries into words")
    jieba.setLogLevel("ERROR")  # otherwise it prints how long its dictionary took to load
    return " ".join(jieba.cut(text))


_LINE_METRICS: dict[str, Callable[[Lines, Lines], float]] = {
    NDCG: ndcg,
    PAIRS: pairwise_order,
    EXACT: exact_match,
    F1: f1,
    PRESENT: share_present,
}
