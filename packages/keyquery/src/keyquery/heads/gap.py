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
    prepared: PreparedHead | None = None,
) -> tuple[Gap, ...]:
    """Compare estimators with direct counting over the same queries.

    Estimators that rotate queries to one position are compared with a count over rotated queries. The cap in
    `options` is ignored. `estimators` defaults to `MODELS`, without those that rotate queries if the head's rotation
    is unknown; `pairs_per_bin` pairs are drawn from each bin without replacement. `prepared` is the prepared head, if
    `plasticity` was called with it, so that nothing is computed twice.
    """
    models = estimators or tuple(name for name in MODELS if head.rotary is not None or name not in ALIGNED)
    settings = options or PlasticityOptions(estimator=models[0])
    ready = prepared or prepare_head(head, replace(settings, cap=None))
    precision = settings.precision if head.keys.dtype == np.float32 else "double"
    errors: dict[Estimator, list[Float64Array]] = {estimator: [] for estimator in models}
    for aligned in (True, False):
        names = [name for name in models if (name in ALIGNED) == aligned]
        if not names:
            continue
        data = ready.shared
        if aligned != (ready.estimator in ALIGNED):
            data = replace(data, queries=binned(head, data.queries.counts.size, aligned))
        laws = {
            name: ready.laws if name == ready.estimator else laws_of(head, data, name, precision=settings.precision)
            for name in names
        }
        for place in ready.laws:
            generator = np.random.default_rng([settings.seed, place])
            keys, counts = data.competing(place)
            later, earlier, _ = drawn_pairs(keys, counts, pairs_per_bin, generator)
            counted, uncounted = counted_pairs(keys, later, earlier, data.queries, place)
            for name in names:
                law = laws[name][place]
                model = listed_pairs(keys, later, earlier, law, data.queries, place, precision=precision)
                use = ~(uncounted | model.same_key | model.no_variance)
                if use.any():
                    errors[name].append((model.plasticity - counted)[use])
    return tuple(_gap_of(estimator, bins) for estimator, bins in errors.items())


def _gap_of(estimator: Estimator, bins: list[Float64Array]) -> Gap:
    if not bins:
        no_value = Scalar(None, 0, "no query bin has a pair")
        return Gap(estimator=estimator, by_pair=no_value, by_bin=no_value)
    pairs = np.concatenate(bins)
    means = np.array([np.mean(errors) for errors in bins])
    return Gap(
        estimator=estimator,
        by_pair=Scalar(float(np.abs(pairs).mean()), pairs.size),
        by_bin=Scalar(float(np.abs(means).mean()), means.size),
    )
