"""Choose dimensions of queries and keys to disrupt: massive ones, and controls to compare with."""

import dataclasses
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from boundpaper.errors import DataError
from keyquery.measure.cache import cache_name, cached
from keyquery.measure.subject import Options, Subject, Text
from keyquery.models.interventions import Intervention
from keyquery.models.surveys.dimensions import SIDES, Dimensions, dimensions

SELECTION_SEED = 900_001  # of the texts on which dimensions and layers are chosen; evaluation never uses it
MATCH_TOLERANCE = 0.1  # relative: by how much less or more of the squared norm a norm-matched control may remove
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Fill = Literal["mean", "zero"]
Where = Literal["pre", "post"]


@dataclass(frozen=True)
class Mask:
    """A choice of dimensions of queries and keys.

    `sides` is True at chosen dimensions; `by_head` says whether their number is fixed per head or only per layer.
    """

    sides: dict[str, dict[int, Bools]]
    by_head: bool

    @property
    def count(self) -> int:
        """Number of masked dimensions over all layers, queries and keys together."""
        return sum(int(masked.sum()) for layers in self.sides.values() for masked in layers.values())

    def interventions(self, fill: Fill, where: Where) -> tuple[Intervention, ...]:
        """Fill these dimensions with zero or with their mean over the sequence."""
        return tuple(Intervention(side, fill, dims=self.sides[side], where=where) for side in SIDES)  # type: ignore[arg-type]

    def digest(self) -> int:
        """Return a checksum of the mask."""
        checksum = 0
        for side in SIDES:
            for layer, masked in sorted(self.sides[side].items()):
                checksum = zlib.crc32(np.packbits(masked).tobytes(), zlib.crc32(f"{side}{layer}".encode(), checksum))
        return checksum


def split_texts(subject: Subject, options: Options) -> tuple[list[Text], list[Text]]:
    """Return texts for choosing dimensions and texts for evaluation; the latter are `subject.texts(options)` if the
    book supplies texts.

    Raises DataError if there are too few texts, or if the seed reserved for choosing is also used for evaluation.
    """
    if SELECTION_SEED in options.seeds:
        raise DataError(f"seed {SELECTION_SEED} is reserved for the texts on which dimensions are chosen; give another")
    seeds = (SELECTION_SEED, *options.seeds)
    all_texts = subject.texts(dataclasses.replace(options, seeds=seeds))
    return [text for text in all_texts if text.seed == SELECTION_SEED], [
        text for text in all_texts if text.seed != SELECTION_SEED
    ]


def measure_norms(subject: Subject, texts: list[Text], where: Where) -> Dimensions:
    """Measure the norms of dimensions over texts, once for all experiments of a run."""
    tokens = [text.tokens for text in texts]
    if subject.identity is None:
        return dimensions(subject.model, tokens, where)
    arguments = {"texts": [row.tolist() for row in tokens], "where": where, "identity": subject.identity}
    return cached(cache_name(measure_norms, arguments), lambda: dimensions(subject.model, tokens, where), None)[0]


def mask_above(dims: Dimensions, factor: float) -> Mask:
    """Return the mask of dimensions whose norm is above `factor` times the mean over the layer's heads on that side.

    Raises DataError if the factor is below 2: more than half of the dimensions could exceed it, leaving no control.
    """
    if factor < 2:
        raise DataError(
            f"factor = {factor}: a threshold below 2 leaves too few dimensions to compare with; give 2 or more"
        )
    return _mask_by_layer(dims, False, lambda norms: norms > factor * norms.mean())


def mask_top(dims: Dimensions, count: int = 1) -> Mask:
    """Mask of the `count` dimensions with the largest norm in each head.

    Raises DataError if `count` is more than half of a head's dimensions.
    """

    def largest(norms: Floats) -> Bools:
        if not 1 <= count <= norms.shape[1] // 2:
            raise DataError(
                f"the top {count} of {norms.shape[1]} dimensions of a head leave none for control; give fewer"
            )
        masked = np.zeros(norms.shape, dtype=bool)
        np.put_along_axis(masked, np.argsort(-norms, axis=1, kind="stable")[:, :count], True, axis=1)
        return masked

    return _mask_by_layer(dims, True, largest)


def _mask_by_layer(dims: Dimensions, by_head: bool, choose: Callable[[Floats], Bools]) -> Mask:
    sides = {side: {layer: choose(norms) for layer, norms in dims.norms[side].items()} for side in SIDES}
    return Mask(sides, by_head)


def smallest_mask(mask: Mask, dims: Dimensions) -> Mask:
    """Return a mask of as many dimensions as the given mask has, with the smallest norms."""
    return _control_mask(
        mask,
        lambda side, layer, group, masked: _rest(masked)[
            np.argsort(_norms_of(dims.norms, side, layer, group)[~masked], kind="stable")
        ][: masked.sum()],
    )


def random_mask(mask: Mask, seed: int) -> Mask:
    """Return a mask of as many dimensions as the given mask has, drawn at random from the others."""
    rng = np.random.default_rng([seed, 1])
    return _control_mask(mask, lambda side, layer, group, masked: rng.permutation(_rest(masked))[: masked.sum()])


def matched(mask: Mask, dims: Dimensions, fill: Fill, seed: int) -> Mask:
    """Return a mask of random other dimensions that together remove about the same norm as the given mask.

    Dimensions are drawn one by one until the squared norm removed is nearest to the mask's. If all together remove
    less, all are taken and the control is unmatched: see `why_unmatched`. The number of dimensions may differ from
    the mask's.
    """
    rng = np.random.default_rng([seed, 2])
    norms = dims.norms if fill == "zero" else dims.spreads

    def choose(side: str, layer: int, group: tuple[int, ...], masked: Bools) -> NDArray[np.int64]:
        energy = _norms_of(norms, side, layer, group) ** 2
        order = rng.permutation(_rest(masked))
        distance = np.abs(np.concatenate([[0.0], np.cumsum(energy[order])]) - energy[masked].sum())
        return order[: int(np.argmin(distance))] if masked.any() else order[:0]

    return _control_mask(mask, choose)


def why_unmatched(mask: Mask, controls: Sequence[Mask], dims: Dimensions, fill: Fill) -> str:
    """Return why norm-matched controls cannot be compared with a mask, or an empty text if they can.

    They can if their mean removed squared norm is within `MATCH_TOLERANCE` of the mask's.
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
    """Return the share of the squared norm of all queries and keys that filling removes; None if that norm is zero."""
    norms = dims.norms if fill == "zero" else dims.spreads
    part_sum = total = 0.0
    for side in SIDES:
        for layer, masked in mask.sides[side].items():
            part_sum += float((norms[side][layer][masked] ** 2).sum())
            total += float((dims.norms[side][layer] ** 2).sum())
    return part_sum / total if total > 0 else None


def largest_ratio(dims: Dimensions) -> float:
    """Return the largest ratio of a dimension's norm to the mean of its layer and side; 0 if all norms are zero."""
    ratios = [norms.max() / norms.mean() for side in SIDES for norms in dims.norms[side].values() if norms.mean() > 0]
    return float(max(ratios, default=0.0))


def _rest(masked: Bools) -> NDArray[np.int64]:
    return np.flatnonzero(~masked)


def _norms_of(norms: dict[str, dict[int, Floats]], side: str, layer: int, group: tuple[int, ...]) -> Floats:
    return norms[side][layer][group].reshape(-1) if group else norms[side][layer].reshape(-1)


def _mask_groups(mask: Mask) -> Iterator[tuple[str, int, tuple[int, ...]]]:
    for side in SIDES:
        for layer, masked in sorted(mask.sides[side].items()):
            yield from ((side, layer, (head,)) for head in range(len(masked))) if mask.by_head else ((side, layer, ()),)


def _control_mask(mask: Mask, choose: Callable[[str, int, tuple[int, ...], Bools], NDArray[np.int64]]) -> Mask:
    """Return a mask of dimensions outside the given mask, chosen in each head or in each layer."""
    sides = {side: {layer: np.zeros_like(masked) for layer, masked in mask.sides[side].items()} for side in SIDES}
    for side, layer, group in _mask_groups(mask):
        chosen = mask.sides[side][layer][group].reshape(-1) if group else mask.sides[side][layer].reshape(-1)
        control = np.zeros(chosen.shape, dtype=bool)
        control[choose(side, layer, group, chosen)] = True
        target = sides[side][layer]
        if group:
            target[group] = control
        else:
            target[:] = control.reshape(target.shape)
    return Mask(sides, mask.by_head)
