"""Formulas for how the rotation inside a bin turns part of the mean query into spread.

Two queries of a bin agree on a pair of keys with a correlation rho; if key differences are normal and alike in all
directions, rho is the part of the queries' mean square that is their mean, and plasticity is (2 / pi) arccos(rho).
Rotation inside a bucket turns a part of the squared mean into spread and leaves the sum as it is, so that

    cos(pi P / 2) = kept * cos(pi P0 / 2),

P pooled, P0 at one position, and `kept` the part of the squared mean that is left. Where P and P0 are both measured,
this gives `kept`; where P alone is published, a comparison of two values holds unless `kept` differs between them by
the factor that would make them equal, `needed`. That a factor so large occurs is judged by those that were measured.
"""

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
YARN_TURNS = (32.0, 1.0)  # over the original window: faster pairs are left alone, slower ones stretched whole
LLAMA_TURNS = (4.0, 1.0)


def frequencies(
    base: float, dimensions: int, scaling: str = "none", factor: float = 1.0, original: float = 1.0
) -> FloatArray:
    """Return the radians per token of each rotary pair, shape (dimensions / 2,), with YaRN's, Llama 3's or no scaling.

    Parameters
    ----------
    base : float
        Pair p turns by base**(-2 p / dimensions), before the scaling.
    dimensions : int
        Rotary dimensions of a head.
    scaling : {"none", "yarn", "llama3"}
        By parts: pairs that turn often over the original window stay, those that turn less than once are slowed.
    factor, original : float
        By how much, and the window in tokens.
    """
    pairs = np.arange(dimensions // 2)
    plain: FloatArray = base ** (-2.0 * pairs / dimensions)
    if scaling == "none":
        return plain
    turns = original * plain / (2 * np.pi)
    fast, slow = YARN_TURNS if scaling == "yarn" else LLAMA_TURNS
    if scaling == "yarn":  # a ramp over the number of the pair, to whole pairs
        ends = [dimensions * np.log(original / (each * 2 * np.pi)) / (2 * np.log(base)) for each in (fast, slow)]
        first, last = max(np.floor(ends[0]), 0.0), min(np.ceil(ends[1]), dimensions - 1.0)
        left = 1.0 - np.clip((pairs - first) / max(last - first, 1e-3), 0.0, 1.0)
    else:  # a ramp over turns
        left = np.clip((turns - slow) / (fast - slow), 0.0, 1.0)
    return np.asarray(plain * left + plain / factor * (1.0 - left))


def kept_share(turning: FloatArray, width: float) -> float:
    """Return the share of the squared mean query that a bucket of `width` tokens keeps, if all pairs are equally long.

    The mean over evenly drawn positions keeps sin(f w / 2) / (f w / 2) of its length in a pair of frequency f.
    """
    return float((np.sinc(0.5 * turning * width / np.pi) ** 2).mean())


def agreement(plasticity: npt.ArrayLike) -> FloatArray:
    """Return the correlation rho for plasticities: 1 if position alone decides, 0 if it decides nothing."""
    return np.asarray(np.cos(0.5 * np.pi * np.asarray(plasticity, dtype=np.float64)))


def one_position_plasticity(plasticity: npt.ArrayLike, kept: npt.ArrayLike) -> FloatArray:
    """Return P0, the plasticity at one position, from pooled plasticities and the kept share of the squared mean."""
    return np.asarray(2 / np.pi * np.arccos(np.clip(agreement(plasticity) / np.asarray(kept), -1.0, 1.0)))
