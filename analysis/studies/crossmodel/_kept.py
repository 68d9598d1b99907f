"""Compute which share of the squared mean query is kept when queries rotate inside a bin.

Two queries of a bin agree on a pair of keys with a correlation rho; if key differences are normal and isotropic, rho
is the squared mean's share of the queries' mean square, and plasticity is (2 / pi) arccos(rho). Rotation inside a
bucket converts a part of the squared mean into variance and preserves the sum, so that

    cos(pi P / 2) = kept * cos(pi P0 / 2),

where P is the plasticity pooled over a bin, P0 the plasticity at one position, and `kept` the share of the squared mean
that is left. If P and P0 are measured, they give `kept`. If only P is published, two values of P can be compared unless
their `kept` differ by the factor `needed`, which would make both P0 equal. Measured factors show whether a factor of
that size is plausible.
"""

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
YARN_TURNS = (32.0, 1.0)  # turns over the original window: faster pairs are unchanged, slower ones fully scaled
LLAMA_TURNS = (4.0, 1.0)


def frequencies(
    base: float, dimensions: int, scaling: str = "none", factor: float = 1.0, original: float = 1.0
) -> FloatArray:
    """Return the radians per token of each rotary pair, shape (dimensions / 2,), with YaRN's, Llama 3's or no scaling.

    Parameters
    ----------
    base : float
        Pair p rotates by base**(-2 p / dimensions) before scaling.
    dimensions : int
        Rotary dimensions of a head.
    scaling : {"none", "yarn", "llama3"}
        Kind of scaling: fast pairs are unchanged, pairs with less than one turn over the original window are slowed.
    factor, original : float
        Factor of the scaling, and original window in tokens.
    """
    pairs = np.arange(dimensions // 2)
    unscaled: FloatArray = base ** (-2.0 * pairs / dimensions)
    if scaling == "none":
        return unscaled
    turns = original * unscaled / (2 * np.pi)
    fast, slow = YARN_TURNS if scaling == "yarn" else LLAMA_TURNS
    if scaling == "yarn":  # a ramp over pair indices, rounded to whole pairs
        limits = [dimensions * np.log(original / (bound * 2 * np.pi)) / (2 * np.log(base)) for bound in (fast, slow)]
        start, stop = max(np.floor(limits[0]), 0.0), min(np.ceil(limits[1]), dimensions - 1.0)
        share = 1.0 - np.clip((pairs - start) / max(stop - start, 1e-3), 0.0, 1.0)
    else:  # a ramp over turns
        share = np.clip((turns - slow) / (fast - slow), 0.0, 1.0)
    return np.asarray(unscaled * share + unscaled / factor * (1.0 - share))


def kept_share(radians: FloatArray, width: float) -> float:
    """Return the share of the mean query's squared norm left in a bucket of `width` tokens, if pairs have equal norms.

    In a pair that rotates by f radians per token, the mean over the w positions keeps sin(f w / 2) / (f w / 2) of its
    length.
    """
    return float((np.sinc(0.5 * radians * width / np.pi) ** 2).mean())


def agreement(plasticity: npt.ArrayLike) -> FloatArray:
    """Return the correlation rho for plasticities: rho is 1 at plasticity 0, and 0 at plasticity 1."""
    return np.asarray(np.cos(0.5 * np.pi * np.asarray(plasticity, dtype=np.float64)))


def one_position_plasticity(plasticity: npt.ArrayLike, kept: npt.ArrayLike) -> FloatArray:
    """Return P0, the plasticity at one position, from pooled plasticities and the kept share of the squared mean."""
    return np.asarray(2 / np.pi * np.arccos(np.clip(agreement(plasticity) / np.asarray(kept), -1.0, 1.0)))
