"""Measure how far an estimator of plasticity is from direct counting."""

from dataclasses import dataclass, replace

import numpy as np

from keyquery.heads.competition import counted_pairs, listed_pairs
from keyquery.heads.head import Float64Array, Head
from keyquery.heads.laws import ALIGNED, Estimator, binned
from keyquery.heads.missing import Scalar
from keyquery.heads.pairs import drawn_pairs
from keyquery.heads.plasticity import PlasticityOptions, PreparedHead, laws_of, prepare_head

MODELS: tuple[Estimator, ...] = ("aligned_full", "bucket_full", "pooled_full", "pooled_diag", "bucket_diag")
PAIRS_PER_BIN = 500


@dataclass(frozen=True, kw_only=True)
class Gap:
    """Distance of an estimator from `empirical`, on the same pairs.

    `by_pair` is the mean absolute difference over pairs, with their number; it is mostly counting noise, about
    1/sqrt(n) for n queries in a bin. `by_bin` is the mean absolute difference of bin means, with the number of bins;
    noise averages out, bias remains.
    """

    estimator: Estimator
    by_pair: Scalar
    by_bin: Scalar


def gaps_to_empirical(
    head: Head,
    options: PlasticityOptions | None = None,
    estimators: tuple[Estimator, ...] | None = None,
    pairs_per_bin: int = PAIRS_PER_BIN,
    given: PreparedHead | None = None,
) -> tuple[Gap, ...]:
    """Compare estimators with direct counting over the same queries.

    Estimators that rotate queries to one position are compared with a count over rotated queries. The cap in
    `options` is ignored. `estimators` defaults to `MODELS`, without those that rotate queries if the head's rotation
    is unknown; `pairs_per_bin` pairs are drawn from each bin without replacement. `given` is the prepared head, if
    `plasticity` was called with it, so that nothing is computed twice.
    """
    wanted = estimators or tuple(name for name in MODELS if head.rotary is not None or name not in ALIGNED)
    chosen = options or PlasticityOptions(estimator=wanted[0])
    known = given or prepare_head(head, replace(chosen, cap=None))
    precision = chosen.precision if head.keys.dtype == np.float32 else "double"
    apart: dict[Estimator, list[Float64Array]] = {estimator: [] for estimator in wanted}
    for aligned in (True, False):
        names = [name for name in wanted if (name in ALIGNED) == aligned]
        if not names:
            continue
        shared = known.shared
        if aligned != (known.estimator in ALIGNED):
            shared = replace(shared, queries=binned(head, shared.queries.counts.size, aligned))
        laws = {
            name: known.laws if name == known.estimator else laws_of(head, shared, name, precision=chosen.precision)
            for name in names
        }
        for place in known.laws:
            generator = np.random.default_rng([chosen.seed, place])
            keys, counts = shared.competing(place)
            later, earlier, _ = drawn_pairs(keys, counts, pairs_per_bin, generator)
            counted, uncounted = counted_pairs(keys, later, earlier, shared.queries, place)
            for name in names:
                law = laws[name][place]
                model = listed_pairs(keys, later, earlier, law, shared.queries, place, precision=precision)
                use = ~(uncounted | model.same_key | model.no_variance)
                if use.any():
                    apart[name].append((model.plasticity - counted)[use])
    return tuple(_gap_of(estimator, bins) for estimator, bins in apart.items())


def _gap_of(estimator: Estimator, bins: list[Float64Array]) -> Gap:
    if not bins:
        no_value = Scalar(None, 0, "no query bin has a pair")
        return Gap(estimator=estimator, by_pair=no_value, by_bin=no_value)
    pairs = np.concatenate(bins)
    means = np.array([np.mean(part) for part in bins])
    return Gap(
        estimator=estimator,
        by_pair=Scalar(float(np.abs(pairs).mean()), pairs.size),
        by_bin=Scalar(float(np.abs(means).mean()), means.size),
    )
