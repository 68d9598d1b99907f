"""Compute ratios of printed perplexities and their logarithms, with the ranges that rounding allows."""

import math
from dataclasses import dataclass

import pandas as pd

from boundpaper.statistics.rounding import Interval, agreement, ratio
from boundpaper.store.frames import pick


@dataclass(frozen=True)
class PerplexityRatio:
    """The effect of an ablation on a perplexity.

    Attributes
    ----------
    ratio : float
        Ablated over baseline perplexity.
    within : Interval
        The range of the ratio that the rounding of both perplexities allows.
    """

    ratio: float
    within: Interval

    @property
    def columns(self) -> dict[str, float]:
        """Return the ratio, its logarithm in nats per token, and the percent increase, each with its range."""
        return {
            "ratio": self.ratio,
            "ratio_low": self.within.low,
            "ratio_high": self.within.high,
            "nats": math.log(self.ratio),
            "nats_low": math.log(self.within.low),
            "nats_high": math.log(self.within.high),
            "increase_percent": 100 * (self.ratio - 1),
        }


def effect(baseline: pd.Series, ablated: pd.Series) -> PerplexityRatio:
    """Return the effect of an ablation from two rows (`value`, `low`, `high`) with the perplexities."""
    return PerplexityRatio(
        float(ablated["value"]) / float(baseline["value"]),
        ratio(Interval(ablated["low"], ablated["high"]), Interval(baseline["low"], baseline["high"])),
    )


def printed_effect(printed: pd.Series) -> PerplexityRatio:
    """Return the effect from a row with the printed ratio of two perplexities."""
    return PerplexityRatio(float(printed["value"]), Interval(float(printed["low"]), float(printed["high"])))


def agreement_of_ratio(measured: PerplexityRatio, printed: pd.Series) -> str:
    """Return how the ratio of two perplexities agrees with the printed ratio."""
    return agreement(measured.ratio, measured.within, float(printed["value"]), int(printed["decimals"]))


def number(frame: pd.DataFrame, column: str, **where: object) -> float:
    """Return the number in `column` of the only row that `where` selects."""
    return float(pick(frame, **where)[column])
