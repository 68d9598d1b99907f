"""Define values that may be missing: a scalar, and one value per bin, each with a count and the reason if missing."""

from dataclasses import dataclass

import numpy as np

from keyquery.heads.head import BoolArray, Float64Array, IntArray


@dataclass(frozen=True)
class Scalar:
    """One value, or the reason why there is none.

    `count` is the number of query bins, deciles or heads that the value averages.
    """

    value: float | None
    count: int
    reason: str = ""

    def __post_init__(self) -> None:
        if (self.value is None) != bool(self.reason):
            raise ValueError(f"value {self.value} with reason {self.reason!r}; give either a value or a reason")
        if self.value is not None and not np.isfinite(self.value):
            raise ValueError(f"value {self.value}; give None for a missing value, with a reason")


@dataclass(frozen=True)
class BinnedValues:
    """Values, one per bin, with counts and reasons.

    A value is NaN if and only if it is missing. `counts` are the numbers of values averaged, also for missing values.
    """

    values: Float64Array
    counts: IntArray
    reasons: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.values.shape == self.counts.shape == (len(self.reasons),):
            raise ValueError("values, counts and reasons differ in length; give one of each for every bin")
        has_reason = np.array([bool(reason) for reason in self.reasons], dtype=np.bool_)
        if np.isinf(self.values).any() or not np.array_equal(np.isnan(self.values), has_reason):
            raise ValueError("a missing value needs a reason; a present value must have none")

    @property
    def present(self) -> BoolArray:
        """Mask of the values that are present, shape (bins,)."""
        return np.isfinite(self.values)


def weighted_mean(row: BinnedValues, weights: Float64Array, chosen: BoolArray, no_bin: str) -> Scalar:
    """Return the weighted mean of the chosen values that are present, or no value, for the reason `no_bin`."""
    use = chosen & row.present & (weights > 0)
    if not use.any():
        return Scalar(None, 0, no_bin)
    return Scalar(float(np.average(row.values[use], weights=weights[use])), int(np.count_nonzero(use)))
