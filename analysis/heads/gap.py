"""How far an estimator of plasticity is from counting queries."""

from dataclasses import dataclass, replace

import numpy as np

from analysis.heads.competition import listed_pairs
from analysis.heads.head import Head
from analysis.heads.laws import Estimator
from analysis.heads.missing import Scalar
from analysis.heads.pairs import drawn_pairs
from analysis.heads.plasticity import Options, laws_of, setting

MODELS: tuple[Estimator, ...] = ("bucket_full", "pooled_full", "pooled_diag", "bucket_diag")
PAIRS_PER_BIN = 500


@dataclass(frozen=True, kw_only=True)
class Gap:
    """Distance of an estimator to `empirical`, on the same pairs.

    Parameters
    ----------
    estimator : str
        The estimator.
    by_pair : Scalar
        Mean absolute difference over pairs, with their number: mostly the noise of counting, about 1/sqrt(n) for n
        queries in a bin.
    by_bin : Scalar
        Mean absolute difference of bin means, with the number of bins: noise averages out, and bias stays.
    """

    estimator: Estimator
    by_pair: Scalar
    by_bin: Scalar


def gaps_to_empirical(
    head: Head,
    options: Options | None = None,
    estimators: tuple[Estimator, ...] = MODELS,
    pairs_per_bin: int = PAIRS_PER_BIN,
) -> tuple[Gap, ...]:
    """Compare estimators with the distribution-free one.

    Parameters
    ----------
    head : Head
        The head.
    options : Options, optional
        Pairs, bins, least queries and seed; its estimator, cap and precision are not used.
    estimators : tuple of str
        Which to compare.
    pairs_per_bin : int
        Pairs drawn from each bin, without replacement.
    """
    chosen = replace(options or Options(), estimator="empirical")
    shared = setting(head, chosen)
    laws = {estimator: laws_of(head, shared, estimator) for estimator in ("bucket_full", *estimators)}
    apart: dict[Estimator, list[list[float]]] = {estimator: [] for estimator in estimators}
    for place, law in laws["bucket_full"].items():
        generator = np.random.default_rng([chosen.seed, place])
        later, earlier, _ = drawn_pairs(shared.keys, shared.counts[place], pairs_per_bin, generator)
        yardstick = listed_pairs(shared.keys, later, earlier, law, shared.queries, place, counted=True)
        for estimator in estimators:
            model = listed_pairs(shared.keys, later, earlier, laws[estimator][place], shared.queries, place)
            use = ~(yardstick.same_key | yardstick.no_variance | model.same_key | model.no_variance)
            if use.any():
                apart[estimator].append((model.plasticity - yardstick.plasticity)[use].tolist())
    return tuple(_gap(estimator, bins) for estimator, bins in apart.items())


def _gap(estimator: Estimator, bins: list[list[float]]) -> Gap:
    if not bins:
        nothing = Scalar(None, 0, "no query bin has a pair")
        return Gap(estimator=estimator, by_pair=nothing, by_bin=nothing)
    pairs = np.concatenate([np.array(found) for found in bins])
    means = np.array([np.mean(found) for found in bins])
    return Gap(
        estimator=estimator,
        by_pair=Scalar(float(np.abs(pairs).mean()), pairs.size),
        by_bin=Scalar(float(np.abs(means).mean()), means.size),
    )
