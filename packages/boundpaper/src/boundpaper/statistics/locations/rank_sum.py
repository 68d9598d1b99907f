"""Compute the rank-sum test of two independent samples from the share of pairs that a paper or measurement reports."""

from scipy import stats


def rank_sum_p(above: float, first: int, second: int) -> float:
    """Give the two-sided exact p-value of Mann and Whitney (1947).

    `above` is the share of the pairs in which the first sample is above the second, the area under the ROC curve;
    `first` and `second` are the numbers of values, none of which is in both samples. Raises ValueError when a sample is
    empty, or no such share of so many pairs can be, as it is with ties.
    """
    if min(first, second) < 1:
        raise ValueError(f"rank_sum_p: samples of {first} and {second}; give at least one value each")
    pairs = above * first * second
    if not 0 <= above <= 1 or abs(pairs - round(pairs)) > 1e-6:
        raise ValueError(
            f"rank_sum_p: {above:g} of {first} x {second} pairs is not a whole number; ties have no exact p"
        )
    # any samples with so many pairs will do: each of the first stands above as many of the second as are still due
    places, due = [], round(pairs)
    for place in range(first):
        below = min(second, due)
        places.append(below + 0.5 + place / (2 * first + 2))
        due -= below
    return float(stats.mannwhitneyu(places, range(1, second + 1), method="exact").pvalue)
