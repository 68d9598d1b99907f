"""Find which counts of right answers and answers read give a stored fraction that leaves out unreadable answers."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

TOLERANCE = 1e-12
"""Rounding error of a fraction in double precision; fractions with denominators up to 1000 differ by at least 1e-6."""

Pair = tuple[int, int]
Unread = Literal["no", "possible", "certain"]


@dataclass(frozen=True)
class PossibleCounts:
    """The possible counts of right answers and of answers read in one arm of a task.

    `pairs` are all pairs of counts (right answers, answers read) that agree with the fraction. The pair (0, 0) means
    that perhaps no answer was read.
    """

    items: int
    pairs: tuple[Pair, ...]

    @property
    def known(self) -> Pair | None:
        """Return the pair (right answers, answers read) if only one is possible and an answer was read, else None."""
        return self.pairs[0] if len(self.pairs) == 1 and self.pairs[0][1] else None

    @property
    def unread(self) -> bool:
        """Return whether it is possible that no answer was read, so that the fraction is undefined."""
        return any(count == 0 for _, count in self.pairs)

    @property
    def answered(self) -> Pair:
        """Return the smallest and the largest possible number of answers read."""
        return self._least_and_most(1)

    @property
    def right(self) -> Pair:
        """Return the smallest and the largest possible number of right answers."""
        return self._least_and_most(0)

    def _least_and_most(self, index: int) -> Pair:
        counts = [pair[index] for pair in self.pairs]
        return min(counts), max(counts)


def possible_counts(share: float, items: int, *, half_unit: float = 0.0, unread: Unread = "no") -> PossibleCounts:
    """Return every pair of counts (right answers, answers read) that agrees with a fraction.

    Raises ValueError when the fraction is outside [0, 1], no pair gives it, `unread` is unknown, or `unread` is
    `certain` for a fraction above zero.

    Parameters
    ----------
    share : float
        Right answers over answers read, in [0, 1].
    items : int
        Number of items asked.
    half_unit : float
        Largest rounding error of the fraction; 0 if it was not rounded.
    unread : {"no", "possible", "certain"}
        Whether it is excluded, possible or certain that no answer was read. Only a fraction of zero allows `possible`
        and `certain`; `certain` excludes all other pairs.
    """
    if not (math.isfinite(share) and 0 <= share <= 1):
        raise ValueError(f"{share} is not a fraction; give right answers over answers read, from 0 to 1")
    if items < 1 or half_unit < 0:
        raise ValueError(f"{items} items and half_unit={half_unit}; give at least 1 item, and a half_unit of 0 or more")
    if unread not in get_args(Unread):
        raise ValueError(f"denominators: unknown unread={unread!r}; choose one of {', '.join(get_args(Unread))}")
    if unread != "no" and share:
        raise ValueError(f"a fraction of {share} needs at least one answer that was read; give unread='no'")
    if unread == "certain":
        return PossibleCounts(items, ((0, 0),))
    error = max(half_unit, TOLERANCE)
    pairs = [(0, 0)] if unread == "possible" else []
    for answered in range(1, items + 1):
        lowest, highest = math.ceil((share - error) * answered), math.floor((share + error) * answered)
        pairs += [(right, answered) for right in range(max(lowest, 0), min(highest, answered) + 1)]
    if not pairs:
        raise ValueError(f"no counts of up to {items} answers give the fraction {share}; check both numbers")
    return PossibleCounts(items, tuple(pairs))
