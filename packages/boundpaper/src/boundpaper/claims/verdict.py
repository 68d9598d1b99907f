"""Define the verdicts on claims: `MEANINGS`, `FAILURES` and `SEVERITIES` define the words that a verdict uses."""

import math
from dataclasses import dataclass

ALPHA = 0.05
EQUIVALENT = 10.0  # percentage points of accuracy, the margin within which a change counts as no change

MEANINGS = {
    "holds": "the recomputed value lies in the range that the printed one stands for, or the data make the statement "
    "true; where it asserts a direction its interval excludes no effect, where it asserts that nothing differs its "
    "interval lies within the margin",
    "holds after rounding": "the recomputed value does not, but its own range, left open by its rounded inputs, meets "
    "that of the printed one",
    "not significant": "the effect has the asserted sign, and its interval includes no effect",
    "not supported": "the numbers do not contradict it, but the test, the unit or the comparison cannot carry it",
    "contradicted": "the data that it rests on, or values published beside them, say otherwise",
    "not testable": "what is printed and published cannot decide it; the reason names what would",
}
VERDICTS = tuple(MEANINGS)
GOOD = ("holds", "holds after rounding")
KINDS = ("statement", "cell check")

FAILURES = {
    "number": "a printed number is not what its own inputs give, or not what the place it repeats prints",
    "reading": "a sign, an order, a count or an extreme is not what the numbers show",
    "control": "the comparison lacks its control, or compares what differs in more than is said",
    "unit": "the units are dependent, too few, or not those of the sentence",
    "overreach": "the sentence says more than its test or its range of data can show",
    "untestable": "no number is given that could decide it",
}
# The failure kind of each failing verdict, unless the claim names one.
_DEFAULT_FAILURES = {
    "not significant": "overreach",
    "not supported": "overreach",
    "contradicted": "reading",
    "not testable": "untestable",
}

SEVERITIES = {
    "headline": "a conclusion that the document draws, or the reason why it is read",
    "supporting": "a statement that a conclusion rests on",
    "detail": "a cell, a restated value, or a statement that nothing rests on",
}


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """A verdict on a claim, with reason and numbers.

    Attributes
    ----------
    verdict : str
        One of `VERDICTS`, defined in `MEANINGS`.
    reason : str
        One sentence, built from the computed values, that a reader can check.
    reported, recomputed : str
        The value in the source, and the value from the artifacts; empty if there is none.
    n : int or None
        Number of units behind the recomputed value.
    ci_low, ci_high : float or None
        Ends of the confidence interval, in the unit of `estimate`.
    p_value, p_adjusted : float or None
        p-value of the test, and p-value corrected for its family of tests.
    key, statement : str
        If a claim returns several verdicts: the key and the statement of this one.
    kind : str
        `statement`, or `cell check` for cells and derived columns checked in bulk.
    failure : str
        The kind of failure, one of `FAILURES`; by default the kind that the verdict implies.
    estimate : float or None
        The effect whose interval is given; required with `sign`.
    sign : int or None
        The asserted sign: `estimate` is above `null` (1), below `null` (-1), or on either side (0).
    null : float
        The value of `estimate` that means no effect.
    margin : float or None
        For statements that nothing differs: the largest difference from `null` that counts as no difference.

    Raises
    ------
    ValueError
        When a word is unknown, the reason is empty, a number is not finite, a p-value is not between 0 and 1, the
        interval's ends or the two p-values are in the wrong order, or the numbers contradict the verdict.

    Examples
    --------
    >>> import boundpaper as bp
    >>> bp.Verdict(verdict="contradicted", reason="All 40 plants are taller.").failure
    'reading'
    """

    verdict: str
    reason: str
    reported: str = ""
    recomputed: str = ""
    n: int | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    key: str = ""
    statement: str = ""
    kind: str = "statement"
    failure: str = ""
    estimate: float | None = None
    sign: int | None = None
    null: float = 0.0
    margin: float | None = None

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"verdict {self.verdict!r} is unknown; use one of {', '.join(VERDICTS)}")
        if self.kind not in KINDS:
            raise ValueError(f"kind {self.kind!r} is unknown; use one of {', '.join(KINDS)}")
        if not self.reason.strip():
            raise ValueError("a verdict needs a reason that a reader can check")
        self._check_numbers()
        self._check_failure()
        if self.sign is not None:
            self._check_direction()
        elif self.verdict == "not significant":
            raise ValueError("'not significant' needs estimate, sign and interval; use directed()")
        if self.margin is not None and self.verdict == "holds":
            low, high = self._require_interval()
            if max(abs(low - self.null), abs(high - self.null)) > self.margin:
                raise ValueError(
                    f"'holds' needs an interval within {self.margin:g} of {self.null:g}, not {low:g} to {high:g}"
                )

    def _check_numbers(self) -> None:
        for name in ("ci_low", "ci_high", "p_value", "p_adjusted", "estimate", "null", "margin"):
            value = getattr(self, name)
            if value is not None and not math.isfinite(value):
                raise ValueError(f"{name} is {value}; leave it None")
        for name in ("p_value", "p_adjusted"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1:
                raise ValueError(f"{name} is {value}, which is not a probability; give a number from 0 to 1")
        if (self.ci_low is None) != (self.ci_high is None):
            raise ValueError("an interval has two ends; give ci_low and ci_high")
        if self.ci_low is not None and self.ci_high is not None and self.ci_low > self.ci_high:
            raise ValueError(f"the interval {self.ci_low:g} to {self.ci_high:g} has its ends in the wrong order")
        if self.p_value is not None and self.p_adjusted is not None and self.p_adjusted < self.p_value - 1e-9:
            raise ValueError(f"p_adjusted {self.p_adjusted:g} is below p_value {self.p_value:g}; exchange them")

    def _check_failure(self) -> None:
        if self.failure and self.failure not in FAILURES:
            raise ValueError(f"failure {self.failure!r} is unknown; use one of {', '.join(FAILURES)}")
        if self.failure and self.verdict in GOOD:
            raise ValueError(f"{self.verdict!r} is not a failure: leave out failure={self.failure!r}")
        if not self.failure:
            object.__setattr__(self, "failure", _DEFAULT_FAILURES.get(self.verdict, ""))

    def _require_interval(self) -> tuple[float, float]:
        if self.ci_low is None or self.ci_high is None:
            raise ValueError(f"{self.verdict!r} is judged by an interval: give ci_low and ci_high")
        return self.ci_low, self.ci_high

    def _check_direction(self) -> None:
        """Check that the verdict on an effect with an asserted sign agrees with the estimate and its interval."""
        if self.sign not in (1, 0, -1) or self.estimate is None:
            raise ValueError("a direction needs an estimate and a sign of 1, 0 or -1")
        low, high = self._require_interval()
        includes_null = low <= self.null <= high
        has_sign = not self.sign or self.sign * (self.estimate - self.null) > 0
        if self.verdict == "not significant" and not includes_null:
            raise ValueError(f"'not significant', but the interval {low:g} to {high:g} excludes {self.null:g}")
        if self.verdict == "not significant" and not has_sign:
            raise ValueError(f"'not significant', but the estimate {self.estimate:g} does not have the asserted sign")
        if self.verdict == "holds" and (includes_null or not has_sign):
            raise ValueError(f"'holds', but the estimate is {self.estimate:g} with the interval {low:g} to {high:g}")
