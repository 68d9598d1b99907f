"""Compute ROUGE-L of summaries (Lin 2004, summary level), as implemented in the library that LongBench Pro uses.

Reference and prediction are split into sentences at full stops. For each pair of sentences, the longest common
subsequence is found; the union of their words is the set of shared words. Precision and recall divide its size by the
number of different words in the prediction and in the reference.
"""

from collections.abc import Sequence

EPSILON = 1e-8  # added to the denominator of F, so that texts without common words score 0


def rouge_l(reference: str, prediction: str) -> float:
    """Return the F measure of the words that two texts share in the same order, sentence by sentence.

    Words are separated by white space and compared exactly. The measure is 0 to 1, and 0 if a text has no sentence.
    """
    expected, predicted = words_by_sentence(reference), words_by_sentence(prediction)
    if not expected or not predicted:
        return 0.0
    shared = {word for first in expected for second in predicted for word in longest_common(first, second)}
    recall = len(shared) / len({word for sentence in expected for word in sentence})
    precision = len(shared) / len({word for sentence in predicted for word in sentence})
    return 2 * precision * recall / (precision + recall + EPSILON)


def words_by_sentence(text: str) -> list[list[str]]:
    """Return the words of each sentence between full stops; a sentence of blanks has one empty word."""
    return [sentence.split() or [""] for sentence in text.split(".") if sentence]


def longest_common(first: Sequence[str], second: Sequence[str]) -> list[str]:
    """Return the longest common subsequence of two sentences.

    If there are several, it is found by backtracking from the end: where either sentence can be shortened without loss,
    the second is shortened.
    """
    lengths = [[0] * (len(second) + 1)]
    for word in first:
        previous, row = lengths[-1], [0]
        for index, second_word in enumerate(second):
            row.append(previous[index] + 1 if word == second_word else max(previous[index + 1], row[index]))
        lengths.append(row)
    words, i, j = [], len(first), len(second)
    while i and j:
        if first[i - 1] == second[j - 1]:
            words.append(first[i - 1])
            i, j = i - 1, j - 1
        elif lengths[i - 1][j] > lengths[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return words[::-1]
