"""Describe a head's rotary embedding by plain numbers, and rotate vectors from one position to another.

A rotary embedding acts on a vector x at position t as R(t) x, where R(t) rotates each pair of dimensions p by the angle
t w_p (Su et al. 2021, arXiv 2104.09864), with the frequencies w_p of the model. The vector q_t = R(t) x, captured at
position t, therefore gives the vector of the same content at another position c exactly:

    R(c - t) q_t = R(c) x.

A constant factor on the rotated dimensions (YaRN) is unchanged.
"""

import functools
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, cast, get_args

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.floating]
IntArray = npt.NDArray[np.int64]
Layout = Literal["half", "interleaved"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)
STEP = 128  # positions in the finer of the two tables that `_phases` multiplies


@dataclass(frozen=True, kw_only=True)
class Rotary:
    """The rotation of a head's vectors by their positions.

    Parameters
    ----------
    frequencies : tuple of float
        Radians per token, one per pair of dimensions; negative for the opposite direction; empty without rotation.
    layout : {"half", "interleaved"}
        How rotated dimensions are paired, counted from `start`: p with p + m for m pairs (Llama), or 2p with 2p + 1
        (GPT-J).
    start : int
        Index of the first rotated dimension: 0 if the first dimensions rotate, larger if the last ones do (as in
        multi-head latent attention).
    factor : float
        Factor by which the embedding also multiplies the rotated dimensions (YaRN's attention factor). Rotation to
        another position does not change it.

    Raises
    ------
    ValueError
        If a frequency is not finite, the layout is unknown, or start or factor are out of range.
    """

    frequencies: tuple[float, ...]
    layout: Layout = "half"
    start: int = 0
    factor: float = 1.0

    def __post_init__(self) -> None:
        if not np.isfinite(self.frequencies).all():
            raise ValueError("a frequency of the rotation is not finite; give radians per token")
        if self.layout not in LAYOUTS:
            raise ValueError(f"the rotation has the unknown layout {self.layout!r}; give one of {', '.join(LAYOUTS)}")
        if self.start < 0 or not (np.isfinite(self.factor) and self.factor > 0):
            raise ValueError(f"start {self.start}, factor {self.factor}; give a start of 0 or more, a factor above 0")

    @property
    def end(self) -> int:
        """Index after the last rotated dimension."""
        return self.start + 2 * len(self.frequencies)

    @property
    def is_identity(self) -> bool:
        """Whether the rotation is the identity at every position."""
        return not any(self.frequencies)

    def turned(self, vectors: FloatArray, shifts: IntArray, *, compiled: bool = True) -> FloatArray:
        """Return each vector v rotated by its number of positions t in `shifts`: R(t) v, in the vectors' precision.

        `vectors` are queries or keys after the rotary embedding; a negative shift moves a vector towards the beginning.
        `compiled` selects compiled code: for few vectors, compiling takes more time than it saves, and 90 MB of memory.
        """
        if self.is_identity or not len(vectors):
            return vectors
        shifts = np.asarray(shifts, dtype=np.int64)
        smallest = int(shifts.min())
        # tabulate all shifts from the smallest to the largest, unless these are more than the vectors
        table_shifts = np.arange(smallest, int(shifts.max()) + 1)
        rows = shifts - smallest
        if table_shifts.size > shifts.size:
            table_shifts, rows = np.unique(shifts, return_inverse=True)
        phases = self._phases(table_shifts)
        cosines, sines = phases.real.astype(vectors.dtype), phases.imag.astype(vectors.dtype)
        stride, pair_distance = (1, len(self.frequencies)) if self.layout == "half" else (2, 1)
        if not compiled:
            rotated = vectors.copy()
            first = slice(self.start, self.end - pair_distance + stride - 1, stride)
            second = slice(self.start + pair_distance, self.end, stride)
            rotated[:, first] = vectors[:, first] * cosines[rows] - vectors[:, second] * sines[rows]
            rotated[:, second] = vectors[:, second] * cosines[rows] + vectors[:, first] * sines[rows]
            return rotated
        rotated = np.empty(vectors.shape, vectors.dtype)
        _compiled_rotate()(vectors, rows, cosines, sines, self.start, stride, pair_distance, rotated)
        return rotated

    def _phases(self, shifts: IntArray) -> npt.NDArray[np.complex128]:
        """Return exp(i t w), one row per shift t and one column per pair; shifts are sorted and distinct.

        For many shifts, two short tables are multiplied, which is faster than as many exponentials.
        """
        if shifts.size <= 4 * STEP:
            return np.asarray(np.exp(1j * np.outer(shifts.astype(np.float64), self.frequencies)))
        high, low = np.divmod(shifts, STEP)
        first = int(high[0])
        coarse_steps = np.arange(first, int(high[-1]) + 1, dtype=np.float64)
        coarse_table = np.exp(1j * STEP * np.outer(coarse_steps, self.frequencies))
        fine_table = np.exp(1j * np.outer(np.arange(STEP, dtype=np.float64), self.frequencies))
        return np.asarray(coarse_table[high - first] * fine_table[low])

    def record(self) -> dict[str, Any]:
        """Return the rotation as plain JSON values."""
        return asdict(self) | {"frequencies": list(self.frequencies)}


Rotations = dict[int, Rotary | str]
"""By layer: the rotation, or why it is unknown."""

NO_ROTATION = Rotary(frequencies=())
"""The rotation of a head without position encoding."""


def from_theta(
    theta: float, dimensions: int, *, layout: Layout = "half", start: int = 0, factor: float = 1.0
) -> Rotary:
    """Return the rotation with base `theta`: pair p of m rotates by theta^(-p / m) radians per token.

    `dimensions` is the number of rotated dimensions: even, and at least 2. `layout`, `start` and `factor` are those
    of `Rotary`. Raises ValueError if the base or the number of dimensions is invalid, or as `Rotary` does.
    """
    if not (np.isfinite(theta) and theta > 0):
        raise ValueError(f"base {theta} of the rotation; give a number above 0")
    if dimensions < 2 or dimensions % 2:
        raise ValueError(f"{dimensions} dimensions cannot rotate in pairs; give an even number")
    pairs = np.arange(dimensions // 2, dtype=np.float64)
    frequencies = float(theta) ** (-2.0 * pairs / dimensions)
    return Rotary(frequencies=tuple(frequencies.tolist()), layout=layout, start=start, factor=factor)


def from_record(row: dict[str, Any]) -> Rotary:
    """Return the rotation from the JSON values that `Rotary.record` returned."""
    return Rotary(
        frequencies=tuple(float(radians) for radians in row["frequencies"]),
        layout=row["layout"],
        start=int(row["start"]),
        factor=float(row["factor"]),
    )


def rotation_records(by_layer: Mapping[int, Rotary | str]) -> list[dict[str, Any]]:
    """Return rotations as plain JSON values: one record, with its layers, per rotation or reason for refusing one."""
    layers_by_rotation: dict[Rotary | str, list[int]] = {}
    for layer, rotation in by_layer.items():
        layers_by_rotation.setdefault(rotation, []).append(layer)
    return [
        {"layers": layers, **({"refused": rotation} if isinstance(rotation, str) else rotation.record())}
        for rotation, layers in layers_by_rotation.items()
    ]


def bin_centres(context: int, bins: int) -> IntArray:
    """Return the integer position at the centre of each of `bins` equal bins of a context, shape (bins,).

    Bin b consists of the positions t with t * bins // context == b; if their number is even, the centre is the first
    position after the middle.
    """
    edges = -(-np.arange(bins + 1, dtype=np.int64) * context // bins)
    return edges[:-1] + (edges[1:] - edges[:-1]) // 2


@functools.cache
def _compiled_rotate() -> Callable[..., None]:
    """Return `_rotate`, compiled; the compiler is imported on first use."""
    import numba

    compiler = numba.njit(cache=True, error_model="numpy", fastmath={"contract"}, nogil=True)
    return cast(Callable[..., None], compiler(_rotate))


def _rotate(
    vectors: FloatArray,
    rows: IntArray,
    cosines: FloatArray,
    sines: FloatArray,
    start: int,
    stride: int,
    pair_distance: int,
    rotated: FloatArray,
) -> None:
    """Rotate vector i by the angles in row `rows[i]` of `cosines` and `sines`, and write it to `rotated`."""
    n, d = vectors.shape
    pairs = cosines.shape[1]
    for i in range(n):
        for j in range(d):
            rotated[i, j] = vectors[i, j]
        row = rows[i]
        if stride == 1:  # adjacent in memory, so that the loop is vectorised
            for p in range(pairs):
                first, second = vectors[i, start + p], vectors[i, start + pair_distance + p]
                rotated[i, start + p] = first * cosines[row, p] - second * sines[row, p]
                rotated[i, start + pair_distance + p] = second * cosines[row, p] + first * sines[row, p]
        else:
            for p in range(pairs):
                first, second = vectors[i, start + 2 * p], vectors[i, start + 2 * p + 1]
                rotated[i, start + 2 * p] = first * cosines[row, p] - second * sines[row, p]
                rotated[i, start + 2 * p + 1] = second * cosines[row, p] + first * sines[row, p]
