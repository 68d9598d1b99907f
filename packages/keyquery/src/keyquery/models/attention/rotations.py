"""Read from a loaded model how each attention layer rotates queries by position, and verify the result.

One short forward pass at chosen positions records, for every layer, the cosines and sines of the rotary module, the
queries from the projections (or from a norm after them), and the kernel's queries. The rotation follows from the
cosines and sines and the pairing of dimensions for which R(-t) q_t equals the query before rotation, up to rounding.
Without such a pairing, the layer's rotation is unknown.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from boundpaper.errors import ModelError
from keyquery.models import libraries
from keyquery.models.architecture import query_scale
from keyquery.models.attention.calls import Call, recording
from keyquery.rotary import LAYOUTS, NO_ROTATION, Rotary, Rotations

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module
    from transformers import PreTrainedModel

Array = NDArray[np.float64]

FIRST = 8  # unrotated tokens at position 0, which identify columns of a fused projection
MORE = (3, 5, 7, 11, 13)  # positions other than powers of two
EQUAL = 0.02  # normalised queries differ less in length (by the norm's epsilon)
STILL = 1e-9  # smaller angles (radians over the context) count as no rotation


@dataclass
class _ProbeRecord:
    """What the probe recorded of one attention module."""

    angles: Any = None
    made: list[Tensor] = field(default_factory=list)  # outputs of projections
    normed: list[tuple[Tensor, Tensor]] = field(default_factory=list)  # inputs and outputs of other parts
    call: Call | None = None


def rotations(model: PreTrainedModel, context: int) -> Rotations:
    """Return the rotation of every self-attention layer at a context length, or the reason why it is unknown.

    Frequencies that depend on the text's length (dynamic NTK, long RoPE) are those for `context` tokens, at least 2.
    The model must be in evaluation mode. Raises ModelError when the architecture does not use the attention interface
    of transformers.
    """
    torch = libraries.torch
    positions = _probe_positions(context)
    text = model.config.get_text_config()
    tokens = torch.arange(len(positions))[None] % int(text.vocab_size)
    places = torch.from_numpy(positions)[None]
    inputs: dict[str, Any] = {"attention_mask": torch.ones_like(tokens)}
    if "position_ids" in inspect.signature(model.forward).parameters:
        inputs["position_ids"] = places
    else:
        positions = np.arange(len(positions))
    if "logits_to_keep" in inspect.signature(model.forward).parameters:
        inputs["logits_to_keep"] = 1
    device: Any = model.get_input_embeddings().weight.device
    found: Rotations = {}
    with _record_modules(model) as seen, torch.inference_mode():

        def keep(call: Call) -> None:
            if call.layer is not None and not call.cross:
                seen.setdefault(id(call.module), _ProbeRecord()).call = call

        with recording(model, keep):
            model(
                input_ids=tokens.to(device),
                use_cache=False,
                **{
                    name: value.to(device) if isinstance(value, torch.Tensor) else value
                    for name, value in inputs.items()
                },
            )
        frequencies = _stored_frequencies(model)
        for each in seen.values():
            if each.call is not None and each.call.layer is not None:
                found[each.call.layer] = _rotation_of_layer(each, each.call, positions, context, frequencies)
    return dict(sorted(found.items()))


def _probe_positions(context: int) -> NDArray[np.int64]:
    powers = 2 ** np.arange(0, max(1, int(context - 1).bit_length()))
    later = sorted({int(each) for each in (*powers, *MORE, context - 1) if 0 < each < context})
    return np.array([0] * FIRST + later, dtype=np.int64)


@contextmanager
def _record_modules(model: PreTrainedModel) -> Iterator[dict[int, _ProbeRecord]]:
    """Within this block, record the inputs of every attention module and the outputs of its parts, by module id."""
    seen: dict[int, _ProbeRecord] = {}
    hooks = []
    try:
        for module in model.modules():
            if getattr(module, "layer_idx", None) is None:
                continue
            own = seen.setdefault(id(module), _ProbeRecord())
            hooks.append(module.register_forward_pre_hook(_record_angles(own), with_kwargs=True))
            parts = (part for part in module.modules() if part is not module)
            hooks += [part.register_forward_hook(_record_output(own)) for part in parts]
        yield seen
    finally:
        for hook in hooks:
            hook.remove()


def _record_angles(own: _ProbeRecord) -> Any:
    def hook(module: Module, inputs: tuple[Any, ...], options: dict[str, Any]) -> None:
        given = options.get("position_embeddings")
        own.angles = next((each for each in (given, *inputs) if _are_angles(each)), own.angles)

    return hook


def _record_output(own: _ProbeRecord) -> Any:
    torch = libraries.torch

    def hook(module: Module, inputs: tuple[Any, ...], output: Any) -> None:
        if _are_angles(output):
            own.angles = output
        elif isinstance(output, torch.Tensor):
            weight = getattr(module, "weight", None)
            if weight is not None and weight.ndim == 2:
                own.made.append(output)
            elif inputs and isinstance(inputs[0], torch.Tensor):
                own.normed.append((inputs[0], output))

    return hook


def _are_angles(given: Any) -> bool:
    """Return whether the values are cosines and sines, or complex numbers of modulus one."""
    torch = libraries.torch
    if isinstance(given, torch.Tensor):
        return bool(given.is_complex())
    return (
        isinstance(given, tuple)
        and len(given) == 2
        and all(isinstance(part, torch.Tensor) and part.is_floating_point() for part in given)
        and given[0].shape == given[1].shape
    )


def _stored_frequencies(model: PreTrainedModel) -> list[Array]:
    """Return the frequencies stored in the model's rotary modules."""
    return [
        buffer.detach().double().cpu().numpy().ravel()
        for module in model.modules()
        for name, buffer in module.named_buffers(recurse=False)
        if "inv_freq" in name and buffer.numel()
    ]


def _rotation_of_layer(
    seen: _ProbeRecord, call: Call, positions: NDArray[np.int64], context: int, frequencies: list[Array]
) -> Rotary | str:
    """Return the rotation of a layer, or why there is none."""
    kind = type(call.module).__name__
    query = call.query[0].double().cpu().numpy()  # (heads, tokens, d)
    if not query.any():
        return NO_ROTATION  # rotated zeros are zeros
    # rounding of queries and, for a long context, of angles in single precision
    slack = 6 * float(libraries.torch.finfo(call.query.dtype).eps) + context * 2.0**-23
    try:
        candidates = [NO_ROTATION, *_possible_rotations(seen.angles, positions, query.shape[-1], context, frequencies)]
    except ModelError as reason:
        return f"{kind}: {reason}"
    sources = _possible_sources(seen, len(positions), query.shape[0] * query.shape[-1])
    if not sources:
        return f"{kind} does not show its queries before their rotation"
    passed: dict[Rotary, float] = {}
    nearest, scaled = np.inf, False
    for rotary, made in product(candidates, sources):
        plain = _rotated_back(query, positions, rotary)
        before = _arrange_values(made, plain)
        if before is None:
            continue
        error, alike = _distance_from_multiple(before, plain)
        nearest = min(nearest, error)
        if error > slack:
            continue
        if alike > slack and query_scale(call.module) is None and not _has_one_length(query, slack):
            scaled = True
            continue
        passed[rotary] = min(error, passed.get(rotary, np.inf))
    if passed:
        best = min(passed, key=lambda rotary: passed[rotary])
        fitting = [rotary for rotary, error in passed.items() if error <= 2 * passed[best]]
        return best if len(fitting) == 1 else f"{kind}: {len(fitting)} ways to pair its dimensions fit equally well"
    if scaled:
        return f"{kind} multiplies its queries by a factor that depends on the token, besides their rotation"
    if seen.angles is None:
        return f"{kind} gets no cosines and sines, and its queries differ from the output of its projections"
    if nearest == np.inf:
        return f"{kind}: even at position 0 its queries differ from the output of its projections"
    return (
        f"{kind}: its queries, rotated back to position 0, differ from those before the rotation (by {nearest:.1g} of "
        f"their length; rounding explains {slack:.1g})"
    )


def _possible_rotations(
    angles: Any, positions: NDArray[np.int64], d: int, context: int, frequencies: list[Array]
) -> list[Rotary]:
    """Return every rotation compatible with a layer's cosines and sines: pairings, and which dimensions rotate."""
    if angles is None:
        return []
    if isinstance(angles, tuple):
        cosine, sine = (_by_token(angle, len(positions)) for angle in angles)
    else:
        parts = libraries.torch.view_as_real(angles)
        cosine, sine = (_by_token(parts[..., side], len(positions)) for side in (0, 1))
    found = []
    half = cosine.shape[1] // 2
    columns = [slice(None)]  # each angle once
    if cosine.shape[1] % 2 == 0:
        columns += [slice(0, half), slice(0, None, 2)]  # each value occurs twice: adjacent, or in two halves
    for chosen in columns:
        one, other = cosine[:, chosen], sine[:, chosen]
        if 2 * one.shape[1] > d:
            continue
        sizes = np.hypot(one, other)
        factor = float(np.median(sizes))
        if not factor > 0:
            continue
        if np.abs(sizes - factor).max() > 0.02 * factor:
            raise ModelError("its rotary module scales pairs of dimensions by different factors")
        steady = _measured_frequencies(one, other, positions)
        known = _matching_frequencies(steady, frequencies, context)
        if np.abs(known).max() * context < STILL:
            continue  # turns nothing: NO_ROTATION
        starts = {0, d - 2 * one.shape[1]}
        for layout, start, turned in product(LAYOUTS, sorted(starts), (known, -known)):  # the other way (NanoChat)
            rounded = 1.0 if abs(factor - 1.0) < 1e-3 else factor
            made = Rotary(frequencies=tuple(turned.tolist()), layout=layout, start=start, factor=rounded)
            same = replace(made, layout="half") if known.size == 1 else made  # one pair lies one way
            if same not in found:
                found.append(same)
    return found


def _by_token(part: Tensor, tokens: int) -> Array:
    """Return cosines or sines as (tokens, pairs): the first batch row, and one of several equal sections."""
    rows = part.detach().double().cpu()
    while rows.ndim > 2:
        rows = rows[0] if rows.shape[-2] == tokens else rows.squeeze(-2)
    return np.asarray(rows.numpy(), dtype=np.float64)


def _measured_frequencies(cosine: Array, sine: Array, positions: NDArray[np.int64]) -> Array:
    """Return each pair's radians per token, from angles at 1, 2, 4, ...; each resolves the next one's full turns."""
    first = int(np.flatnonzero(positions == 1)[0]) if (positions == 1).any() else -1
    found = np.arctan2(sine[first], cosine[first]) / max(1, int(positions[first]))
    order = [place for place in np.argsort(positions, kind="stable") if positions[place] > 1]
    for place in order:
        t = int(positions[place])
        angle = np.arctan2(sine[place], cosine[place])
        turns = np.round((found * t - angle) / (2 * np.pi))
        found = (angle + 2 * np.pi * turns) / t
    return np.asarray(found, dtype=np.float64)


def _matching_frequencies(found: Array, frequencies: list[Array], context: int) -> Array:
    """Return the model's stored frequencies if some match those measured: they have no rounding error of angles."""
    fitting = [
        each for each in frequencies if each.shape == found.shape and np.abs(each - found).max() * context <= 0.1
    ]
    return min(fitting, key=lambda each: float(np.abs(each - found).max()), default=found)


def _possible_sources(seen: _ProbeRecord, tokens: int, least: int) -> list[Array]:
    """Return candidates for the unrotated queries, each (tokens, values): projections, and norms after a projection."""
    made = [rows for part in seen.made if (rows := _output_by_token(part, tokens)) is not None]
    sources = [rows for rows in made if rows.shape[1] >= least]
    for given, output in seen.normed:
        before, after = _output_by_token(given, tokens), _output_by_token(output, tokens)
        if before is None or after is None or after.shape[1] < least:
            continue
        # the input of a norm after the rotation is no longer a projection's output
        if any(np.isin(before[-1], rows[-1]).all() for rows in made):
            sources.append(after)
    return sources


def _output_by_token(part: Tensor, tokens: int) -> Array | None:
    """Return a module's output by token, heads concatenated; None if its shape does not fit a batch of one."""
    if part.ndim == 4 and part.shape[0] == 1 and part.shape[2] == tokens != part.shape[1]:
        part = part.transpose(1, 2)
    if part.ndim >= 3 and part.shape[0] == 1 and part.shape[1] == tokens:
        return np.asarray(part[0].double().cpu().reshape(tokens, -1).numpy(), dtype=np.float64)
    if part.shape[0] == tokens and part.ndim >= 2:
        return np.asarray(part.double().cpu().reshape(tokens, -1).numpy(), dtype=np.float64)
    return None


def _rotated_back(query: Array, positions: NDArray[np.int64], rotary: Rotary) -> Array:
    """Return R(-t) q_t divided by the factor, shape (tokens, heads * d)."""
    heads, tokens, d = query.shape
    moved = np.tile(-positions, heads)
    flat = rotary.turned(query.reshape(heads * tokens, d), moved, compiled=False).reshape(heads, tokens, d)
    if rotary.factor != 1.0:
        flat = flat.copy()
        flat[..., rotary.start : rotary.end] /= rotary.factor
    return np.asarray(flat.transpose(1, 0, 2), dtype=np.float64)


def _arrange_values(made: Array, plain: Array) -> Array | None:
    """Return a source's values in the order of queries, (tokens, heads, d): unchanged, or matched at position 0."""
    tokens, heads, d = plain.shape
    if made.shape[1] == heads * d:
        straight = made.reshape(tokens, heads, d)
        if _distance_from_multiple(straight[:FIRST], plain[:FIRST])[0] < 0.1:
            return straight
    # a fused or reordered projection: for each dimension, choose the column that agrees at position 0
    wanted = plain[:FIRST].reshape(FIRST, heads * d)
    held = made[:FIRST]
    columns = np.empty(heads * d, dtype=np.int64)
    for at in range(0, heads * d, 256):
        apart = np.abs(held[:, None, :] - wanted[:, at : at + 256, None]).sum(axis=0)
        columns[at : at + 256] = apart.argmin(axis=1)
    if len(set(columns.tolist())) < columns.size:
        return None
    return made[:, columns].reshape(tokens, heads, d)


def _distance_from_multiple(before: Array, plain: Array) -> tuple[float, float]:
    """Return the relative distance of queries from a multiple of the unrotated ones, and how much the multiple varies.

    The latter is the largest range of the multiple over a head's tokens, divided by its mean.
    """
    size = np.einsum("thd,thd->th", plain, plain)
    length = np.linalg.norm(before, axis=-1)
    some = (size > 0) & (length > 1e-3 * np.median(length)) if length.size else np.zeros(0, dtype=np.bool_)
    if not some.any():
        return np.inf, np.inf
    share = np.einsum("thd,thd->th", before, plain) / np.where(some, size, 1.0)
    error = np.linalg.norm(before[some] - share[some][:, None] * plain[some], axis=-1) / length[some]
    most, least = np.where(some, share, -np.inf).max(axis=0), np.where(some, share, np.inf).min(axis=0)
    heads = some.any(axis=0)
    return float(error.max()), float(((most - least)[heads] / np.abs(0.5 * (most + least)[heads])).max())


def _has_one_length(query: Array, slack: float) -> bool:
    """Return whether all queries of a layer have equal length, so that a norm explains the varying factor."""
    lengths = np.linalg.norm(query, axis=-1)
    lengths = lengths[lengths > 1e-3 * np.median(lengths)]  # a token with a zero embedding has zero queries
    return bool(np.ptp(lengths) <= max(slack, EQUAL) * lengths.mean())
