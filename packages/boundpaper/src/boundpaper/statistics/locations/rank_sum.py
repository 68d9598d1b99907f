"""Compute the rank-sum test of two independent samples from a reported AUC."""

from scipy import stats


def rank_sum_p(above: float, first: int, second: int) -> float:
    """Return the two-sided exact p-value of the rank-sum test (Mann & Whitney 1947).

    `above` is the AUC, the fraction of pairs in which the value of the first sample is larger; `first` and `second` are
    the sample sizes. Raises ValueError when a sample is empty, or when the fraction is impossible for this number of
    pairs, as it is if a value is in both samples (a tie).
    """
    if min(first, second) < 1:
        raise ValueError(f"rank_sum_p: samples of {first} and {second}; give at least one value each")
    pairs = above * first * second
    if not 0 <= above <= 1 or abs(pairs - round(pairs)) > 1e-6:
        raise ValueError(
            f"rank_sum_p: {above:g} of {first} x {second} pairs is not a whole number; give an AUC without ties"
        )
    # construct samples with this number of such pairs, which determines p
    values, pairs_left = [], round(pairs)
    for position in range(first):
        below = min(second, pairs_left)
        values.append(below + 0.5 + position / (2 * first + 2))
        pairs_left -= below
    return float(stats.mannwhitneyu(values, range(1, second + 1), method="exact").pvalue)
