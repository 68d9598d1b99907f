"""The verdict on one claim."""

from __future__ import annotations

import math
from dataclasses import dataclass

VERDICTS = ("holds", "holds after rounding", "not significant", "not supported", "contradicted", "not testable")
KINDS = ("statement", "cell check")


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a claim's function found.

    Attributes
    ----------
    verdict : str
        One of `VERDICTS`: `holds` (the recomputed value rounds to the printed one, or the statement is true of the
        data), `holds after rounding` (only the rounding intervals meet), `not significant`, `not supported` (the number
        reproduces, but its test, unit or comparison does not carry the statement), `contradicted`, `not testable`.
    reason : str
        One sentence that a reader can check.
    reported, recomputed : str
        The value as the source gives it, and as the artifacts give it; empty where there is none.
    n : int or None
        Units behind the recomputed value.
    ci_low, ci_high, p_value : float or None
        Where they apply.
    key, statement : str
        Of one verdict among several that a claim returns: its own name part, and its own statement.
    kind : str
        `statement`, or `cell check` for cells and derived columns checked in bulk.

    Raises
    ------
    ValueError
        When the verdict or kind is unknown, the reason is empty, or a number is not finite.
    """

    verdict: str
    reason: str
    reported: str = ""
    recomputed: str = ""
    n: int | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    p_value: float | None = None
    key: str = ""
    statement: str = ""
    kind: str = "statement"

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"verdict {self.verdict!r} is none of {', '.join(VERDICTS)}")
        if self.kind not in KINDS:
            raise ValueError(f"kind {self.kind!r} is none of {', '.join(KINDS)}")
        if not self.reason.strip():
            raise ValueError("a verdict needs a reason that a reader can check")
        for name in ("ci_low", "ci_high", "p_value"):
            value = getattr(self, name)
            if value is not None and not math.isfinite(value):
                raise ValueError(f"{name} is {value}; leave it None")
