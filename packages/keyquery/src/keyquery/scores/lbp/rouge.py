"""Compute ROUGE-L of summaries (Lin 2004, summary level), as implemented in the library that LongBench Pro uses.

Reference and prediction are split into sentences at full stops. For each pair of sentences, the longest common
subsequence is found; the union of their words is the set of shared words. Precision and recall divide its size by the
number of different words in the prediction and in the reference.
"""

from collections.abc import Sequence

EPSILON = 1e-8  # added to the denominator of F, so that texts without common words score 0


def rouge_l(reference: str, prediction: str) -> float:
    """Return the F measure of the words that two texts share in the same order, sentence by sentence.

    Words are separated by white space and compared as they are. The measure is 0 to 1; 0 if a text has no sentence.
    """
    expected, predicted = words_by_sentence(reference), words_by_sentence(prediction)
    if not expected or not predicted:
        return 0.0
    shared = {word for one in expected for other in predicted for word in longest_common(one, other)}
    recall = len(shared) / len({word for one in expected for word in one})
    precision = len(shared) / len({word for other in predicted for word in other})
    return 2 * precision * recall / (precision + recall + EPSILON)


def words_by_sentence(text: str) -> list[list[str]]:
    """Return the words of each sentence between full stops; an empty sentence gives one empty word."""
    return [sentence.split() or [""] for sentence in text.split(".") if sentence]


def longest_common(first: Sequence[str], second: Sequence[str]) -> list[str]:
    """Return the longest common subsequence of two sentences.

    If there are several, return the one found by backtracking from the end; if either sentence may be shortened
    without loss, the second one is.
    """
    lengths = [[0] * (len(second) + 1)]
    for word in first:
        previous, row = lengths[-1], [0]
        for place, second_word in enumerate(second):
            row.append(previous[place] + 1 if word == second_word else max(previous[place + 1], row[place]))
        lengths.append(row)
    tokens, left, right = [], len(first), len(second)
    while left and right:
        if first[left - 1] == second[right - 1]:
            tokens.append(first[left - 1])
            left, right = left - 1, right - 1
        elif lengths[left - 1][right] > lengths[left][right - 1]:
            left -= 1
        else:
            right -= 1
    return tokens[::-1]
