"""Format p-values as bounds that are never below the true p-value."""

import math
from decimal import Decimal

SMALLEST_EXPONENT = -300
"""Exponent of the smallest reliable p in double precision; zero means that p underflowed."""


def bound_exponent(p: float) -> int:
    """Return the smallest integer e, at least -300, with p < 10^e; raise ValueError if p is outside [0, 1]."""
    _require_p(p)
    if p == 0:
        return SMALLEST_EXPONENT
    # adjusted() is floor(log10 p) of the shortest decimal equal to p, without rounding, so p < 10^(adjusted + 1) always
    return max(Decimal(repr(float(p))).adjusted() + 1, SMALLEST_EXPONENT)


def p_bound(p: float) -> str:
    """Return the tightest bound by a power of ten: "p < 10^-11" for 3.4e-12, and also for exactly 1e-12.

    Parameters
    ----------
    p : float
        The p-value; 0 if it underflowed.

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
    """Return whether a printed "p < bound" is true; a p that underflowed to zero is below any bound above 1e-300.

    Parameters
    ----------
    p : float
        The p-value; 0 if it underflowed.
    bound : float
        The printed bound.

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
    _require_p(p)
    return p < bound if p > 0 else bound > 10.0**SMALLEST_EXPONENT


def _require_p(p: float) -> None:
    if math.isnan(p) or not 0 <= p <= 1:
        raise ValueError(f"p is {p}; a p must be between 0 and 1")
