"""Find counts of answers that a stored share allows if unreadable answers were left out of the denominator."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

# a share is a quotient of two small whole numbers, rounded once: two neighbours of n <= 1000 differ by more than 1e-6
EQUAL = 1e-12

Pair = tuple[int, int]
Unread = Literal["no", "possible", "certain"]


@dataclass(frozen=True)
class PossibleCounts:
    """Possible counts of one arm of a task.

    `pairs` are all that give the share; answered is 0 where no answer may have been read.
    """

    items: int
    pairs: tuple[Pair, ...]

    @property
    def known(self) -> Pair | None:
        """Return the counts (right answers, answers read) if the share allows exactly one such pair."""
        return self.pairs[0] if len(self.pairs) == 1 and self.pairs[0][1] else None

    @property
    def unread(self) -> bool:
        """Return whether possibly no answer could be read, in which case there is no share."""
        return any(answered == 0 for _, answered in self.pairs)

    @property
    def answered(self) -> Pair:
        """Return the fewest and the most answers read."""
        return self._least_and_most(1)

    @property
    def right(self) -> Pair:
        """Return the fewest and the most right answers."""
        return self._least_and_most(0)

    def _least_and_most(self, place: int) -> Pair:
        values = [pair[place] for pair in self.pairs]
        return min(values), max(values)


def possible_counts(share: float, items: int, *, half_unit: float = 0.0, unread: Unread = "no") -> PossibleCounts:
    """Give every count of right answers and of answers read that a share allows.

    Raises ValueError when the share is outside [0, 1], no pair gives it, a share above zero is said to be of no answer,
    or there is no such choice of `unread`.

    Parameters
    ----------
    share : float
        Right answers over answers read, in [0, 1].
    items : int
        Items asked; at most so many answers were read.
    half_unit : float
        By how much the share may be off, where it was rounded; 0 for a stored fraction.
    unread : {"no", "possible", "certain"}
        Whether no answer at all may have been read, which only a share of zero allows; `certain` leaves no other pair.
    """
    if not (math.isfinite(share) and 0 <= share <= 1):
        raise ValueError(f"{share} is not a share; give right answers over answers read, from 0 to 1")
    if items < 1 or half_unit < 0:
        raise ValueError(f"{items} items and half_unit={half_unit}; give at least 1 item, and a half_unit of 0 or more")
    if unread not in get_args(Unread):
        raise ValueError(f"denominators: no choice unread={unread!r}; choose one of {', '.join(get_args(Unread))}")
    if unread != "no" and share:
        raise ValueError(f"a share of {share} needs at least one answer that was read; give unread='no'")
    if unread == "certain":
        return PossibleCounts(items, ((0, 0),))
    room = max(half_unit, EQUAL)
    pairs = [(0, 0)] if unread == "possible" else []
    for answered in range(1, items + 1):
        first, last = math.ceil((share - room) * answered), math.floor((share + room) * answered)
        pairs += [(right, answered) for right in range(max(first, 0), min(last, answered) + 1)]
    if not pairs:
        raise ValueError(f"no number of up to {items} answers gives a share of {share}; check the share and the items")
    return PossibleCounts(items, tuple(pairs))
