"""Print p-values as text that never claims more than the number."""

import math
from decimal import Decimal

# Below this a p computed in double precision is no longer trustworthy, and zero means underflow.
SMALLEST_EXPONENT = -300


def bound_exponent(p: float) -> int:
    """Give the smallest integer e, not below -300, with p < 10^e.

    Raises ValueError if p is outside [0, 1].
    """
    _check(p)
    if p == 0:
        return SMALLEST_EXPONENT
    # adjusted() is floor(log10 p) without rounding, so p < 10^(adjusted + 1) always
    return max(_shortest_decimal(p).adjusted() + 1, SMALLEST_EXPONENT)


def p_bound(p: float) -> str:
    """Give the tightest true bound by a power of ten: "p < 10^-11" for 3.4e-12, "p < 10^-11" for exactly 1e-12.

    Parameters
    ----------
    p : float
        The p, 0 where it underflowed.

    Raises
    ------
    ValueError
        If p is outside [0, 1].

    Examples
    --------
    >>> from boundpaper.statistics import p_bound
    >>> p_bound(3.4e-12)
    'p < 10^-11'
    """
    return f"p < 10^{bound_exponent(p)}"


def bound_holds(p: float, bound: float) -> bool:
    """Tell whether a printed "p < bound" is true of p; a p that underflowed to zero is below any bound above 1e-300.

    Parameters
    ----------
    p : float
        The p, 0 where it underflowed.
    bound : float
        What it is said to be below.

    Raises
    ------
    ValueError
        If p is outside [0, 1].

    Examples
    --------
    >>> from boundpaper.statistics import bound_holds
    >>> bound_holds(0.0004, 0.001), bound_holds(0.0, 1e-48)
    (True, True)
    """
    _check(p)
    return p < bound if p > 0 else bound > 10.0**SMALLEST_EXPONENT


def _shortest_decimal(p: float) -> Decimal:
    """Give the shortest decimal that stands for the float: 0.05 must not become 0.051 for its binary tail."""
    return Decimal(repr(float(p)))


def _check(p: float) -> None:
    if math.isnan(p) or not 0 <= p <= 1:
        raise ValueError(f"p is {p}; a p lies between 0 and 1")
