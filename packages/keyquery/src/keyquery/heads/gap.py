"""Measure how far an estimator of plasticity is from direct counting."""

from dataclasses import dataclass, replace

import numpy as np

from keyquery.heads.competition import counted_pairs, listed_pairs
from keyquery.heads.head import Float64Array, Head
from keyquery.heads.laws import ALIGNED, Estimator, binned
from keyquery.heads.missing import Scalar
from keyquery.heads.pairs import draw_pairs
from keyquery.heads.plasticity import PlasticityOptions, PreparedHead, laws_of, prepare_head

BY_LAW: tuple[Estimator, ...] = ("aligned_full", "bucket_full", "pooled_full", "pooled_diag", "bucket_diag")
PAIRS_PER_BIN = 500


@dataclass(frozen=True, kw_only=True)
class Gap:
    """Difference of an estimator from `empirical`, on the same pairs.

    `by_pair` is the mean absolute difference over pairs, with the number of pairs; most of it is counting noise, about
    1/sqrt(n) for n queries in a bin. `by_bin` is the mean absolute difference of bin means, with the number of bins.
    Noise averages out in bin means, so `by_bin` shows bias.
    """

    estimator: Estimator
    by_pair: Scalar
    by_bin: Scalar


def gaps_to_empirical(
    head: Head,
    options: PlasticityOptions | None = None,
    estimators: tuple[Estimator, ...] | None = None,
    pairs_per_bin: int = PAIRS_PER_BIN,
    prepared: PreparedHead | None = None,
) -> tuple[Gap, ...]:
    """Compare estimators with direct counting over the same queries.

    Estimators that rotate queries to one position are compared with a count over rotated queries. The cap in
    `options` is ignored. `estimators` defaults to `BY_LAW`; if the head's rotation is unknown, the default leaves out
    estimators that rotate queries. `pairs_per_bin` pairs are drawn from each bin without replacement. `prepared` is the
    result of `prepare_head` for the same head, if available.
    """
    estimators = estimators or tuple(name for name in BY_LAW if head.rotary is not None or name not in ALIGNED)
    options = options or PlasticityOptions(estimator=estimators[0])
    prepared = prepared or prepare_head(head, replace(options, cap=None))
    precision = options.precision if head.keys.dtype == np.float32 else "double"
    errors: dict[Estimator, list[Float64Array]] = {estimator: [] for estimator in estimators}
    for aligned in (True, False):
        names = [name for name in estimators if (name in ALIGNED) == aligned]
        if not names:
            continue
        data = prepared.shared
        if aligned != (prepared.estimator in ALIGNED):
            data = replace(data, queries=binned(head, data.queries.counts.size, aligned))
        laws = {prepared.estimator: prepared.laws}
        for name in names:
            laws[name] = laws.get(name) or laws_of(head, data, name, precision=options.precision)
        for query_bin in prepared.laws:
            generator = np.random.default_rng([options.seed, query_bin])
            keys, counts = data.competing(query_bin)
            later, earlier, _ = draw_pairs(keys, counts, pairs_per_bin, generator)
            counted, no_variance = counted_pairs(keys, later, earlier, data.queries, query_bin)
            for name in names:
                law = laws[name][query_bin]
                estimated = listed_pairs(keys, later, earlier, law, data.queries, query_bin, precision=precision)
                use = ~(no_variance | estimated.same_key | estimated.no_variance)
                if use.any():
                    errors[name].append((estimated.plasticity - counted)[use])
    return tuple(_gap_of(estimator, bin_errors) for estimator, bin_errors in errors.items())


def _gap_of(estimator: Estimator, bin_errors: list[Float64Array]) -> Gap:
    if not bin_errors:
        no_value = Scalar(None, 0, "no query bin has a pair")
        return Gap(estimator=estimator, by_pair=no_value, by_bin=no_value)
    errors = np.concatenate(bin_errors)
    means = np.array([np.mean(errors_of_bin) for errors_of_bin in bin_errors])
    return Gap(
        estimator=estimator,
        by_pair=Scalar(float(np.abs(errors).mean()), errors.size),
        by_bin=Scalar(float(np.abs(means).mean()), means.size),
    )
