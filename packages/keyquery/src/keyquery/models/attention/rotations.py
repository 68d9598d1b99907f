"""Read from a loaded model how each attention layer rotates queries by position, and verify the result.

One short forward pass at chosen positions records, for every layer, the cosines and sines of the rotary module, the
queries from the projections (or from a norm after them), and the kernel's queries q_t. The cosines and sines give the
frequencies; the pairing of dimensions is the one for which R(-t) q_t equals the query before rotation, up to rounding.
If no pairing fits, the layer's rotation is unknown.
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

ZEROS = 8  # number of tokens at position 0, whose unrotated queries identify columns of a fused projection
EXTRA_POSITIONS = (3, 5, 7, 11, 13)  # further positions of the probe, besides powers of two
LENGTH_TOLERANCE = 0.02  # relative; lengths of normalised queries differ less, through the norm's epsilon
SMALLEST_TURN = 1e-9  # rotations by smaller angles, in radians over the context, count as none


@dataclass
class _ProbeRecord:
    """What the forward pass recorded of one attention module."""

    angles: Any = None  # cosines and sines, or complex numbers
    projected: list[Tensor] = field(default_factory=list)  # outputs of projections
    normed: list[tuple[Tensor, Tensor]] = field(default_factory=list)  # inputs and outputs of other modules
    call: Call | None = None


def rotations(model: PreTrainedModel, context: int) -> Rotations:
    """Return, by layer, the rotation of every self-attention layer, or the reason why it is unknown.

    Frequencies that depend on the text's length (dynamic NTK, long RoPE) are those for `context` tokens, at least 2.
    The model must be in evaluation mode. Raises ModelError when the architecture does not use the attention interface
    of transformers.
    """
    torch = libraries.torch
    positions = _probe_positions(context)
    config = model.config.get_text_config()
    tokens = torch.arange(len(positions))[None] % int(config.vocab_size)
    device: Any = model.get_input_embeddings().weight.device
    options: dict[str, Any] = {"attention_mask": torch.ones_like(tokens, device=device)}
    parameters = inspect.signature(model.forward).parameters
    if "position_ids" in parameters:
        options["position_ids"] = torch.from_numpy(positions)[None].to(device)
    else:
        positions = np.arange(len(positions))
    if "logits_to_keep" in parameters:
        options["logits_to_keep"] = 1
    by_layer: Rotations = {}
    with _record_modules(model) as records, torch.inference_mode():

        def record_call(call: Call) -> None:
            if call.layer is not None and not call.cross:
                records.setdefault(id(call.module), _ProbeRecord()).call = call

        with recording(model, record_call):
            model(input_ids=tokens.to(device), use_cache=False, **options)
        frequencies = _stored_frequencies(model)
        for record in records.values():
            if record.call is not None and record.call.layer is not None:
                by_layer[record.call.layer] = _rotation_of_layer(record, record.call, positions, context, frequencies)
    return dict(sorted(by_layer.items()))


def _probe_positions(context: int) -> NDArray[np.int64]:
    """Return the probe's positions: position 0, repeated `ZEROS` times, then positions up to the context's last."""
    powers = 2 ** np.arange(0, max(1, int(context - 1).bit_length()))
    sampled = sorted({int(position) for position in (*powers, *EXTRA_POSITIONS, context - 1) if 0 < position < context})
    return np.array([0] * ZEROS + sampled, dtype=np.int64)


@contextmanager
def _record_modules(model: PreTrainedModel) -> Iterator[dict[int, _ProbeRecord]]:
    """Yield each attention module's record, by id: the module's angles and the outputs of the modules inside it."""
    records: dict[int, _ProbeRecord] = {}
    hooks = []
    try:
        for module in model.modules():
            if getattr(module, "layer_idx", None) is None:
                continue
            record = records.setdefault(id(module), _ProbeRecord())
            hooks.append(module.register_forward_pre_hook(_record_angles(record), with_kwargs=True))
            children = (child for child in module.modules() if child is not module)
            hooks += [child.register_forward_hook(_record_output(record)) for child in children]
        yield records
    finally:
        for hook in hooks:
            hook.remove()


def _record_angles(record: _ProbeRecord) -> Any:
    def hook(module: Module, inputs: tuple[Any, ...], options: dict[str, Any]) -> None:
        angles = options.get("position_embeddings")
        record.angles = next((value for value in (angles, *inputs) if _are_angles(value)), record.angles)

    return hook


def _record_output(record: _ProbeRecord) -> Any:
    torch = libraries.torch

    def hook(module: Module, inputs: tuple[Any, ...], output: Any) -> None:
        if _are_angles(output):
            record.angles = output
        elif isinstance(output, torch.Tensor):
            weight = getattr(module, "weight", None)
            if weight is not None and weight.ndim == 2:
                record.projected.append(output)
            elif inputs and isinstance(inputs[0], torch.Tensor):
                record.normed.append((inputs[0], output))

    return hook


def _are_angles(value: Any) -> bool:
    """Return whether a value may be a rotary module's output: cosines and sines, or complex numbers."""
    torch = libraries.torch
    if isinstance(value, torch.Tensor):
        return bool(value.is_complex())
    return (
        isinstance(value, tuple)
        and len(value) == 2
        and all(isinstance(tensor, torch.Tensor) and tensor.is_floating_point() for tensor in value)
        and value[0].shape == value[1].shape
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
    probe: _ProbeRecord, call: Call, positions: NDArray[np.int64], context: int, frequencies: list[Array]
) -> Rotary | str:
    """Return the rotation of a layer, or the reason why it is unknown."""
    kind = type(call.module).__name__
    query = call.query[0].double().cpu().numpy()  # (heads, tokens, d)
    if not query.any():
        return NO_ROTATION  # queries of 0 are the same in any rotation
    # rounding of queries and, for a long context, of angles in single precision
    slack = 6 * float(libraries.torch.finfo(call.query.dtype).eps) + context * 2.0**-23
    try:
        candidates = [NO_ROTATION, *_possible_rotations(probe.angles, positions, query.shape[-1], context, frequencies)]
    except ModelError as reason:
        return f"{kind}: {reason}"
    sources = _possible_sources(probe, len(positions), query.shape[0] * query.shape[-1])
    if not sources:
        return f"{kind} does not show its queries before their rotation"
    errors: dict[Rotary, float] = {}
    smallest_error, scaled = np.inf, False
    for rotary, source in product(candidates, sources):
        unrotated = _rotated_back(query, positions, rotary)
        expected = _arrange_values(source, unrotated)
        if expected is None:
            continue
        error, variation = _distance_from_multiple(expected, unrotated)
        smallest_error = min(smallest_error, error)
        if error > slack:
            continue
        if variation > slack and query_scale(call.module) is None and not _has_one_length(query, slack):
            scaled = True
            continue
        errors[rotary] = min(error, errors.get(rotary, np.inf))
    if errors:
        best = min(errors, key=lambda rotary: errors[rotary])
        fitting = [rotary for rotary, error in errors.items() if error <= 2 * errors[best]]
        return best if len(fitting) == 1 else f"{kind}: {len(fitting)} ways to pair its dimensions fit equally well"
    if scaled:
        return f"{kind} multiplies its queries by a factor that depends on the token, besides their rotation"
    if probe.angles is None:
        return f"{kind} gets no cosines and sines, and its queries differ from the output of its projections"
    if smallest_error == np.inf:
        return f"{kind}: even at position 0 its queries differ from the output of its projections"
    return (
        f"{kind}: its queries, rotated back to position 0, differ from those before the rotation (by "
        f"{smallest_error:.1g} of their length; rounding explains {slack:.1g})"
    )


def _possible_rotations(
    angles: Any, positions: NDArray[np.int64], d: int, context: int, frequencies: list[Array]
) -> list[Rotary]:
    """Return the rotations that fit a layer's cosines and sines, for every pairing and choice of rotated dimensions."""
    if angles is None:
        return []
    if isinstance(angles, tuple):
        cosine, sine = (_by_token(angle, len(positions)) for angle in angles)
    else:
        cosine, sine = (_by_token(part, len(positions)) for part in (angles.real, angles.imag))
    candidates = []
    half = cosine.shape[1] // 2
    selections = [slice(None)]  # if each angle occurs once
    if cosine.shape[1] % 2 == 0:
        selections += [slice(0, half), slice(0, None, 2)]  # if each angle occurs twice, in two halves or side by side
    for columns in selections:
        cos, sin = cosine[:, columns], sine[:, columns]
        if 2 * cos.shape[1] > d:
            continue
        sizes = np.hypot(cos, sin)
        factor = float(np.median(sizes))
        if not factor > 0:
            continue
        if np.abs(sizes - factor).max() > 0.02 * factor:
            raise ModelError("its rotary module scales pairs of dimensions by different factors")
        measured = _measured_frequencies(cos, sin, positions)
        radians = _matching_frequencies(measured, frequencies, context)
        if np.abs(radians).max() * context < SMALLEST_TURN:
            continue  # the candidate NO_ROTATION covers this
        rounded_factor = 1.0 if abs(factor - 1.0) < 1e-3 else factor
        starts = sorted({0, d - 2 * cos.shape[1]})
        for layout, start, signed in product(LAYOUTS, starts, (radians, -radians)):  # NanoChat rotates backward
            rotary = Rotary(frequencies=tuple(signed.tolist()), layout=layout, start=start, factor=rounded_factor)
            canonical = replace(rotary, layout="half") if radians.size == 1 else rotary  # both layouts of a pair agree
            if canonical not in candidates:
                candidates.append(canonical)
    return candidates


def _by_token(angles: Tensor, tokens: int) -> Array:
    """Return the cosines or sines of the first row of a batch, of shape (tokens, pairs)."""
    rows = angles.detach().double().cpu()
    while rows.ndim > 2:
        rows = rows[0] if rows.shape[-2] == tokens else rows.squeeze(-2)
    return np.asarray(rows.numpy(), dtype=np.float64)


def _measured_frequencies(cosine: Array, sine: Array, positions: NDArray[np.int64]) -> Array:
    """Return the frequency of each pair of dimensions, in radians per token.

    The angle at each position refines the estimate, which predicts the number of full turns at the next position.
    """
    first = int(np.flatnonzero(positions == 1)[0]) if (positions == 1).any() else -1
    measured = np.arctan2(sine[first], cosine[first]) / max(1, int(positions[first]))
    for token in np.argsort(positions, kind="stable"):
        t = int(positions[token])
        if t > 1:
            angle = np.arctan2(sine[token], cosine[token])
            turns = np.round((measured * t - angle) / (2 * np.pi))
            measured = (angle + 2 * np.pi * turns) / t
    return np.asarray(measured, dtype=np.float64)


def _matching_frequencies(measured: Array, frequencies: list[Array], context: int) -> Array:
    """Return the model's stored frequencies, which are exact, if some agree with `measured`, else `measured`."""

    def distance(stored: Array) -> float:
        return float(np.abs(stored - measured).max())

    fitting = [stored for stored in frequencies if stored.shape == measured.shape and distance(stored) * context <= 0.1]
    return min(fitting, key=distance, default=measured)


def _possible_sources(record: _ProbeRecord, tokens: int, width: int) -> list[Array]:
    """Return the outputs of projections, and of norms after a projection, that may have the unrotated queries.

    Each is of shape (tokens, values), with at least `width` values.
    """
    projected = [rows for output in record.projected if (rows := _output_by_token(output, tokens)) is not None]
    sources = [rows for rows in projected if rows.shape[1] >= width]
    for norm_input, output in record.normed:
        before, after = _output_by_token(norm_input, tokens), _output_by_token(output, tokens)
        if before is None or after is None or after.shape[1] < width:
            continue
        # a norm after the rotation has another input than a projection's output
        if any(np.isin(before[-1], rows[-1]).all() for rows in projected):
            sources.append(after)
    return sources


def _output_by_token(output: Tensor, tokens: int) -> Array | None:
    """Return a module's output (tokens, values), heads concatenated; None if its shape does not fit a batch of one."""
    if output.ndim == 4 and output.shape[0] == 1 and output.shape[2] == tokens != output.shape[1]:
        output = output.transpose(1, 2)
    if output.ndim >= 3 and output.shape[0] == 1 and output.shape[1] == tokens:
        return np.asarray(output[0].double().cpu().reshape(tokens, -1).numpy(), dtype=np.float64)
    if output.shape[0] == tokens and output.ndim >= 2:
        return np.asarray(output.double().cpu().reshape(tokens, -1).numpy(), dtype=np.float64)
    return None


def _rotated_back(query: Array, positions: NDArray[np.int64], rotary: Rotary) -> Array:
    """Return R(-t) q_t divided by the rotation's factor, of shape (tokens, heads, d)."""
    heads, tokens, d = query.shape
    backward = np.tile(-positions, heads)
    unrotated = rotary.turned(query.reshape(heads * tokens, d), backward, compiled=False).reshape(heads, tokens, d)
    if rotary.factor != 1.0:
        unrotated = unrotated.copy()
        unrotated[..., rotary.start : rotary.end] /= rotary.factor
    return np.asarray(unrotated.transpose(1, 0, 2), dtype=np.float64)


def _arrange_values(source: Array, queries: Array) -> Array | None:
    """Return a source's values in the order of `queries` (tokens, heads, d); values at position 0 show the order.

    Return None if two dimensions match the same column of the source.
    """
    tokens, heads, d = queries.shape
    if source.shape[1] == heads * d:
        same_order = source.reshape(tokens, heads, d)
        if _distance_from_multiple(same_order[:ZEROS], queries[:ZEROS])[0] < 0.1:
            return same_order
    # of a fused or reordered projection, choose for each dimension the column that agrees at position 0
    targets = queries[:ZEROS].reshape(ZEROS, heads * d)
    values = source[:ZEROS]
    columns = np.empty(heads * d, dtype=np.int64)
    for start in range(0, heads * d, 256):
        distance = np.abs(values[:, None, :] - targets[:, start : start + 256, None]).sum(axis=0)
        columns[start : start + 256] = distance.argmin(axis=1)
    if len(set(columns.tolist())) < columns.size:
        return None
    return source[:, columns].reshape(tokens, heads, d)


def _distance_from_multiple(unrotated: Array, queries: Array) -> tuple[float, float]:
    """Return the largest relative distance of `unrotated` from multiples of `queries`, and how much their factors vary.

    Each token and head has its own factor; its variation is the largest range over a head's tokens, over the middle of
    that range.
    """
    squares = np.einsum("thd,thd->th", queries, queries)
    length = np.linalg.norm(unrotated, axis=-1)
    usable = (squares > 0) & (length > 1e-3 * np.median(length)) if length.size else np.zeros(0, dtype=np.bool_)
    if not usable.any():
        return np.inf, np.inf
    factor = np.einsum("thd,thd->th", unrotated, queries) / np.where(usable, squares, 1.0)
    error = np.linalg.norm(unrotated[usable] - factor[usable][:, None] * queries[usable], axis=-1) / length[usable]
    largest, smallest = np.where(usable, factor, -np.inf).max(axis=0), np.where(usable, factor, np.inf).min(axis=0)
    heads = usable.any(axis=0)
    return float(error.max()), float(((largest - smallest)[heads] / np.abs(0.5 * (largest + smallest)[heads])).max())


def _has_one_length(query: Array, slack: float) -> bool:
    """Return whether a layer's query vectors have equal lengths: then a norm layer explains why their factors vary."""
    lengths = np.linalg.norm(query, axis=-1)
    lengths = lengths[lengths > 1e-3 * np.median(lengths)]  # a token whose embedding is 0 has queries of 0
    return bool(np.ptp(lengths) <= max(slack, LENGTH_TOLERANCE) * lengths.mean())
