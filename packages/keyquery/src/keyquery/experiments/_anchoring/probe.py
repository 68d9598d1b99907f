"""Train linear truth probes, one per layer, and evaluate them before and after an attention knockout."""

import functools
import importlib
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from boundpaper.statistics.bootstrap import CELLS, LEAST_BOOTSTRAPPED, percentile_interval, resamples
from boundpaper.statistics.locations.student import half_width
from keyquery.models.libraries import need

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
STEPS = 2000  # largest number of steps of the solver


@dataclass(frozen=True)
class Probes:
    """Linear classifiers, one per layer, of whether the answer is right.

    `weights` (L, D) and `offsets` (L,) include the standardisation, so they apply to states as the model gives them.
    """

    weights: Floats
    offsets: Floats

    def probability(self, states: NDArray[np.float32]) -> Floats:
        """Return the probability of "right" by sample and layer, shape (n, L), from states of shape (n, L, D)."""
        logits = np.einsum("nld,ld->nl", states.astype(np.float64), self.weights) + self.offsets
        return np.asarray(0.5 * (1 + np.tanh(0.5 * logits)))  # the logistic function, without overflow


def train_probes(states: NDArray[np.float32], right: Bools, strength: float = 1.0) -> Probes:
    """Return probes fitted to each layer separately, by logistic regression on standardised states with an L2 penalty.

    `strength` is the inverse of the penalty, scikit-learn's C.
    """
    need("sklearn", "to train probes")
    linear = importlib.import_module("sklearn.linear_model")
    scaling = importlib.import_module("sklearn.preprocessing")
    weights, offsets = [], []
    for layer in range(states.shape[1]):
        scaler = scaling.StandardScaler()
        scaled = scaler.fit_transform(states[:, layer].astype(np.float64))
        model = linear.LogisticRegression(C=strength, max_iter=STEPS).fit(scaled, right)
        weight = model.coef_[0] / scaler.scale_
        weights.append(weight)
        offsets.append(float(model.intercept_[0] - weight @ scaler.mean_))
    return Probes(np.asarray(weights), np.asarray(offsets))


@dataclass(frozen=True)
class Readings:
    """Probabilities of "right" that probes give to test samples, each of shape (n, L).

    `before` is read from the unchanged model, and `cut` from the model without attention to the question. For `control`
    and `filler`, attention to as many other tokens is cut, drawn from all tokens or from the filler; both are NaN for
    samples with too few such tokens.
    """

    before: Floats
    cut: Floats
    control: Floats
    filler: Floats

    def flips(self) -> Bools:
        """Return whether a sample's predicted class changes with the knockout, shape (n, L)."""
        return _class_probability(self.before, self.cut) < 0.5

    def probability_change(self, field: Literal["cut", "control", "filler"] = "cut") -> Floats:
        """Return the change of the predicted class's probability by a knockout, in percentage points, shape (n, L)."""
        after = _class_probability(self.before, getattr(self, field))
        return np.asarray(100 * (after - _class_probability(self.before, self.before)))


def _class_probability(before: Floats, after: Floats) -> Floats:
    """Return the probability, according to `after`, of the class that is likelier according to `before`."""
    return np.where(before >= 0.5, after, 1 - after)


@dataclass(frozen=True)
class LayerSummary:
    """Mean over units with a 95 % interval, by layer; each array has shape (L,) and is NaN where n is 0.

    `sd` has ddof 1 and is NaN for one unit. The interval is a percentile bootstrap over units, or Student's for fewer
    than `LEAST_BOOTSTRAPPED` units; it is NaN for one unit or if all units are equal. `n` is the number of units, and
    `samples` the number of their samples.
    """

    mean: Floats
    low: Floats
    high: Floats
    sd: Floats
    n: NDArray[np.int64]
    samples: NDArray[np.int64]


def summary(
    values: Floats,
    units: NDArray[np.int64],
    members: Bools,
    draws: int,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> LayerSummary:
    """Return the mean over units of each unit's mean over samples, by layer, with an interval.

    NaN values are ignored. `units` are numbers from 0, `members` is the mask of samples to use at each layer, and
    `draws` is the number of resamples. Student's interval is clipped to `bounds`, between which the mean must lie.
    """
    present = members & np.isfinite(values)
    shape = (int(units.max()) + 1, values.shape[1])
    sums, counts = np.zeros(shape), np.zeros(shape)
    np.add.at(sums, units, np.where(present, values, 0.0))
    np.add.at(counts, units, present)
    has_value = counts > 0
    means = np.where(has_value, sums / np.maximum(counts, 1), 0.0)
    n = has_value.sum(0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = means.sum(0) / n
        sd = np.sqrt((np.where(has_value, means - mean, 0.0) ** 2).sum(0) / np.where(n > 1, n - 1, np.nan))
        weights = _resample_weights(shape[0], draws)
        resampled = (weights @ means) / (weights @ has_value)
    margin = half_width(sd / np.sqrt(np.maximum(n, 1)), n - 1.0)
    low, high = np.maximum(mean - margin, bounds[0]), np.minimum(mean + margin, bounds[1])
    for layer in np.flatnonzero(n >= LEAST_BOOTSTRAPPED):
        # a resample may have no unit with a value; such resamples are ignored
        finite = resampled[:, layer][np.isfinite(resampled[:, layer])]
        low[layer], high[layer] = percentile_interval(finite)
    return LayerSummary(mean, low, high, sd, n, counts.sum(0).astype(np.int64))


def auroc(scores: Floats, right: Bools, units: NDArray[np.int64], draws: int) -> tuple[Floats, Floats, Floats]:
    """Return the area under the ROC curve by layer with its 95 % bootstrap interval over units; ties count one half.

    Areas and both ends of the interval have shape (L,). All are NaN if the samples are of one class. With fewer than
    `LEAST_BOOTSTRAPPED` units, the ends are NaN.
    """
    value = auroc_by_layer(scores, right)
    low, high = np.full_like(value, np.nan), np.full_like(value, np.nan)
    too_few = len(np.unique(units)) < LEAST_BOOTSTRAPPED
    for layer in () if too_few else np.flatnonzero(np.isfinite(value)):
        resampled = np.concatenate(
            [_weighted_auc(scores[:, layer], right, chunk[:, units]) for chunk in _weight_chunks(units, draws)]
        )
        low[layer], high[layer] = percentile_interval(resampled[np.isfinite(resampled)])
    return value, low, high


def auroc_by_layer(scores: Floats, right: Bools) -> Floats:
    """Return the area under the ROC curve by layer from scores (n, L); NaN where all samples are of one class."""
    weights = np.ones((1, len(right)))
    return np.asarray([_weighted_auc(scores[:, layer], right, weights)[0] for layer in range(scores.shape[1])])


def _weight_chunks(units: NDArray[np.int64], draws: int) -> list[Floats]:
    """Return bootstrap weights in chunks of draws, so small that a chunk's array (draws, samples) fits into memory."""
    weights = _resample_weights(int(units.max()) + 1, draws)
    return np.array_split(weights, max(1, draws * len(units) // CELLS))


def _weighted_auc(scores: Floats, right: Bools, weights: Floats) -> Floats:
    """Return the weighted area under the ROC curve for each row of weights (draws, n)."""
    order = np.argsort(scores, kind="stable")
    starts = np.flatnonzero(np.concatenate([[True], np.diff(scores[order]) > 0]))
    positive = np.add.reduceat(np.where(right[order], weights[:, order], 0.0), starts, axis=1)
    negative = np.add.reduceat(np.where(right[order], 0.0, weights[:, order]), starts, axis=1)
    lower = np.cumsum(negative, axis=1) - negative
    pairs = positive.sum(1) * negative.sum(1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((positive * (lower + 0.5 * negative)).sum(1) / pairs)


@functools.lru_cache(maxsize=4)
def _resample_weights(units: int, draws: int) -> Floats:
    """Return how often each unit is drawn in each bootstrap resample, shape (draws, units)."""
    rows = []
    for resample in resamples(units, draws):
        flat = (resample + units * np.arange(len(resample))[:, None]).ravel()
        rows.append(np.bincount(flat, minlength=units * len(resample)).reshape(len(resample), units))
    weights = np.concatenate(rows).astype(np.float64)
    weights.flags.writeable = False
    return weights
