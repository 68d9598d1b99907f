"""Choose dimensions of queries and keys to disrupt: massive dimensions, and control dimensions to compare with."""

import dataclasses
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from boundpaper.errors import DataError
from keyquery.measure.cache import cache_name, cached
from keyquery.measure.subject import Options, Subject, Text
from keyquery.models.interventions import Intervention
from keyquery.models.surveys.dimensions import SIDES, Dimensions, dimensions

SELECTION_SEED = 900_001  # seed of the texts on which dimensions and layers are chosen; evaluation never uses it
MATCH_TOLERANCE = 0.1  # allowed relative difference of the squared norms that a mask and a matched control remove
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Fill = Literal["mean", "zero"]
Where = Literal["pre", "post"]


@dataclass(frozen=True)
class Mask:
    """A choice of dimensions of queries ("q") and keys ("k").

    `sides["q"][layer]` has shape (heads, d) and is True at chosen dimensions. A control mask has as many dimensions as
    this mask in each head if `by_head` is true, else in each layer.
    """

    sides: dict[str, dict[int, Bools]]
    by_head: bool

    @property
    def count(self) -> int:
        """Number of masked dimensions over all layers, queries and keys together."""
        return sum(int(masked.sum()) for layers in self.sides.values() for masked in layers.values())

    def interventions(self, fill: Fill, where: Where) -> tuple[Intervention, ...]:
        """Return interventions that fill the masked dimensions with zero or with their mean over the sequence."""
        return tuple(Intervention(side, fill, dims=self.sides[side], where=where) for side in SIDES)  # type: ignore[arg-type]

    def digest(self) -> int:
        """Return a checksum of the mask."""
        checksum = 0
        for side in SIDES:
            for layer, masked in sorted(self.sides[side].items()):
                checksum = zlib.crc32(np.packbits(masked).tobytes(), zlib.crc32(f"{side}{layer}".encode(), checksum))
        return checksum


def split_texts(subject: Subject, options: Options) -> tuple[list[Text], list[Text]]:
    """Return texts for choosing dimensions, and texts for evaluation.

    If the book supplies the texts, those for evaluation are `subject.texts(options)`. Raises DataError if there are too
    few texts, or if the seed reserved for choosing is also used for evaluation.
    """
    if SELECTION_SEED in options.seeds:
        raise DataError(f"seed {SELECTION_SEED} is reserved for the texts on which dimensions are chosen; give another")
    texts = subject.texts(dataclasses.replace(options, seeds=(SELECTION_SEED, *options.seeds)))
    choice_texts = [text for text in texts if text.seed == SELECTION_SEED]
    return choice_texts, [text for text in texts if text.seed != SELECTION_SEED]


def measure_norms(subject: Subject, texts: list[Text], where: Where) -> Dimensions:
    """Return the norms of dimensions of queries and keys over texts, measured once for all experiments of a run."""
    tokens = [text.tokens for text in texts]
    if subject.identity is None:
        return dimensions(subject.model, tokens, where)
    arguments = {"texts": [row.tolist() for row in tokens], "where": where, "identity": subject.identity}
    return cached(cache_name(measure_norms, arguments), lambda: dimensions(subject.model, tokens, where), None)[0]


def mask_above(dims: Dimensions, factor: float) -> Mask:
    """Return the mask of dimensions whose norm is above `factor` times the mean norm of the layer's dimensions.

    Raises DataError if the factor is below 2: more than half of the dimensions could exceed it, leaving no control.
    """
    if factor < 2:
        raise DataError(
            f"factor = {factor}: a threshold below 2 leaves too few dimensions to compare with; give 2 or more"
        )
    return _mask_by_layer(dims, False, lambda norms: norms > factor * norms.mean())


def mask_top(dims: Dimensions, count: int = 1) -> Mask:
    """Return the mask of the `count` dimensions with the largest norm in each head.

    Raises DataError if `count` is more than half of a head's dimensions.
    """

    def largest(norms: Floats) -> Bools:
        if not 1 <= count <= norms.shape[1] // 2:
            raise DataError(
                f"the top {count} of {norms.shape[1]} dimensions of a head leave too few for control; give fewer"
            )
        masked = np.zeros(norms.shape, dtype=bool)
        np.put_along_axis(masked, np.argsort(-norms, axis=1, kind="stable")[:, :count], True, axis=1)
        return masked

    return _mask_by_layer(dims, True, largest)


def _mask_by_layer(dims: Dimensions, by_head: bool, choose: Callable[[Floats], Bools]) -> Mask:
    sides = {side: {layer: choose(norms) for layer, norms in dims.norms[side].items()} for side in SIDES}
    return Mask(sides, by_head)


def smallest_mask(mask: Mask, dims: Dimensions) -> Mask:
    """Return a mask of the dimensions with the smallest norms outside `mask`, as many as in `mask`."""

    def choose(side: str, layer: int, group: int, masked: Bools) -> NDArray[np.int64]:
        norms = _by_group(dims.norms[side][layer], mask.by_head)[group]
        order = np.argsort(norms[~masked], kind="stable")
        return np.flatnonzero(~masked)[order][: masked.sum()]

    return _control_mask(mask, choose)


def random_mask(mask: Mask, seed: int) -> Mask:
    """Return a mask of random dimensions outside `mask`, as many as in `mask`."""
    rng = np.random.default_rng([seed, 1])
    return _control_mask(
        mask, lambda side, layer, group, masked: rng.permutation(np.flatnonzero(~masked))[: masked.sum()]
    )


def matched_mask(mask: Mask, dims: Dimensions, fill: Fill, seed: int) -> Mask:
    """Return a mask of random dimensions outside `mask` that together remove about the same norm as `mask`.

    Dimensions are drawn one by one until the squared norm that they remove is nearest to that of `mask`, so their
    number may differ. If all dimensions outside `mask` remove less, the result has all of them and does not match: see
    `why_unmatched`.
    """
    rng = np.random.default_rng([seed, 2])
    norms = dims.norms if fill == "zero" else dims.spreads

    def choose(side: str, layer: int, group: int, masked: Bools) -> NDArray[np.int64]:
        squares = _by_group(norms[side][layer], mask.by_head)[group] ** 2
        order = rng.permutation(np.flatnonzero(~masked))
        differences = np.abs(np.concatenate([[0.0], np.cumsum(squares[order])]) - squares[masked].sum())
        return order[: int(np.argmin(differences))] if masked.any() else order[:0]

    return _control_mask(mask, choose)


def why_unmatched(mask: Mask, controls: Sequence[Mask], dims: Dimensions, fill: Fill) -> str:
    """Return why norm-matched controls do not match a mask; empty if they do.

    They match if the squared norm that they remove, on average, is within `MATCH_TOLERANCE` of the mask's.
    """
    mask_share = removed_share(mask, dims, fill)
    shares = [removed_share(control, dims, fill) for control in controls]
    if mask_share is None or None in shares:
        return "queries and keys are zero"
    share = float(np.mean(np.array(shares, dtype=float)))
    if abs(share - mask_share) <= MATCH_TOLERANCE * mask_share:
        return ""
    return (
        f"not matched: the other dimensions remove {100 * share:.3g} % of the squared norm, the chosen ones "
        f"{100 * mask_share:.3g} %"
    )


def removed_share(mask: Mask, dims: Dimensions, fill: Fill) -> float | None:
    """Return the share of the squared norm of all queries and keys that the mask removes; None if that norm is zero."""
    norms = dims.norms if fill == "zero" else dims.spreads
    removed = total = 0.0
    for side in SIDES:
        for layer, masked in mask.sides[side].items():
            removed += float((norms[side][layer][masked] ** 2).sum())
            total += float((dims.norms[side][layer] ** 2).sum())
    return removed / total if total > 0 else None


def largest_ratio(dims: Dimensions) -> float:
    """Return the largest ratio of a dimension's norm to its layer's mean for queries or keys; 0 if all are zero."""
    ratios = [norms.max() / norms.mean() for side in SIDES for norms in dims.norms[side].values() if norms.mean() > 0]
    return float(max(ratios, default=0.0))


def _by_group(values: NDArray[Any], by_head: bool) -> NDArray[Any]:
    """Return a layer's values with one row per head, or with a single row for the whole layer."""
    return values if by_head else values.reshape(1, -1)


def _control_mask(mask: Mask, choose: Callable[[str, int, int, Bools], NDArray[np.int64]]) -> Mask:
    """Return a mask of dimensions outside `mask`, which `choose` selects in each head or in each layer."""
    sides: dict[str, dict[int, Bools]] = {side: {} for side in SIDES}
    for side in SIDES:
        for layer, masked in sorted(mask.sides[side].items()):
            by_group = _by_group(masked, mask.by_head)
            control = np.zeros(by_group.shape, dtype=bool)
            for group, masked_dimensions in enumerate(by_group):
                control[group, choose(side, layer, group, masked_dimensions)] = True
            sides[side][layer] = control.reshape(masked.shape)
    return Mask(sides, mask.by_head)
