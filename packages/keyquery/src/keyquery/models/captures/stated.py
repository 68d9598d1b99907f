"""Apply a rotation that the user states for a capture that records none, and check it with the capture's vectors.

A statement is a JSON or YAML file with the frequencies or the base of the rotation. It may also be a model's
config.json, or a folder with one; then a narrow model with random weights is built from it and inspected.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundpaper.errors import DataError, ModelError
from boundpaper.store.rules import at_least, flag, listed, mapping, number, one_of, positive, require, whole
from boundpaper.store.text_file import parse_text, text_of
from keyquery.models.captures.reading import Capture
from keyquery.rotary import LAYOUTS, NO_ROTATION, Layout, Rotary, from_theta

RULE = mapping(
    {
        "theta": positive,
        "frequencies": listed(number),
        "layout": one_of(*LAYOUTS, mend=f"give how dimensions are paired: {' or '.join(LAYOUTS)}"),
        "dimensions": at_least(2),
        "start": whole,
        "factor": positive,
        "layers": listed(whole),
        "unturned": flag,
    }
)
"""Keys of a statement, or of each mapping in a list of them."""
CHECKED_HEADS = 8  # number of heads, or a few more, whose queries are compared with a statement
# A statement is refused if another rotation aligns queries better by this factor, and by this share more
BETTER_FACTOR, BETTER_SHARE = 1.5, 0.02


def with_stated_rotation(capture: Capture, path: Path) -> Capture:
    """Return a capture with the rotation that the user states.

    Raises DataError if the capture records its rotation, the statement is malformed or omits a layer, or the vectors
    contradict it. They do if undoing another pairing, or no rotation, aligns the queries of a head better.

    Parameters
    ----------
    capture : Capture
        A capture without a recorded rotation.
    path : Path
        A statement: a mapping for all layers, or a list of mappings, each with its `layers`. Keys are

        - `theta`, the base, and `dimensions`, the number of rotated dimensions (default: all from `start` on); or
          `frequencies`, the radians per token of each pair of dimensions; or `unturned: true`, for no rotation;
        - `layout`: `half` pairs dimensions p and p + m of m pairs (Llama), `interleaved` 2p and 2p + 1 (GPT-J);
        - optionally `start` (first rotated dimension, default 0) and `factor` (YaRN's attention factor, default 1).

        It may also be a model's config.json, or a folder that has one.
    """
    if capture.rotations is not None:
        raise DataError(f"{capture.root}: already states its rotation; leave --rotation out")
    layers = sorted({head.layer for head in capture.heads})
    widths = {layer: _vector_width(capture, layer) for layer in layers}
    content = _statement_content(path)
    if isinstance(content, Mapping) and "model_type" in content:
        by_layer = _rotations_of_config(path, dict(content), capture.context)
    else:
        by_layer = _rotations_of_statement(path, content, widths)
    missing = [layer for layer in layers if layer not in by_layer]
    if missing:
        raise DataError(f"{path}: no rotation stated for layer {missing[0]} (missing layers: {len(missing)}); add it")
    for layer in layers:
        rotary = by_layer[layer]
        if isinstance(rotary, Rotary) and rotary.end > widths[layer]:
            raise DataError(
                f"{path}: rotates layer {layer} up to dimension {rotary.end}, but its vectors have only {widths[layer]}"
            )
    stated = replace(capture, rotations={layer: by_layer[layer] for layer in layers})
    _require_agreement(stated, path)
    return stated


def _statement_content(file: Path) -> Any:
    path = file / "config.json" if file.is_dir() else file
    try:
        return parse_text(text_of(Path(), str(path)), str(path))
    except FileNotFoundError:
        raise DataError(
            f"{path}: no such file; --rotation takes a stated rotation, a config.json, or a folder that has one"
        ) from None


def _vector_width(capture: Capture, layer: int) -> int:
    return int(capture.queries(next(head for head in capture.heads if head.layer == layer)).vectors.shape[1])


def _rotations_of_statement(path: Path, statement: Any, widths: Mapping[int, int]) -> dict[int, Rotary | str]:
    """Return the rotation of each layer that a statement names; `widths` has the dimension of the layers' vectors."""
    rows = statement if isinstance(statement, list) else [statement]
    by_layer: dict[int, Rotary | str] = {}
    for index, row in enumerate(rows):
        where = f"{path}: entry {index + 1}" if isinstance(statement, list) else str(path)
        require(row, RULE, where)
        if isinstance(statement, list) and "layers" not in row:
            raise DataError(f"{where}: no layers; each of several entries must name its layers")
        for layer in row.get("layers", list(widths)):
            if layer in by_layer:
                raise DataError(f"{where}: layer {layer} has two entries; keep one")
            if layer in widths:
                by_layer[layer] = _rotation_of_row(where, row, widths[layer])
    return by_layer


def _rotation_of_row(where: str, row: Mapping[str, Any], width: int) -> Rotary:
    if row.get("unturned") is True:
        if {"theta", "frequencies"} & set(row):
            raise DataError(f"{where}: `unturned` is given together with `theta` or `frequencies`; remove one")
        return NO_ROTATION
    if ("theta" in row) == ("frequencies" in row):
        raise DataError(f"{where}: give either theta or frequencies")
    if "layout" not in row:
        raise DataError(f"{where}: no layout; say how dimensions are paired: {' or '.join(LAYOUTS)}")
    layout: Layout = row["layout"]
    start, factor = row.get("start", 0), row.get("factor", 1.0)
    try:
        if "frequencies" in row:
            if "dimensions" in row and row["dimensions"] != 2 * len(row["frequencies"]):
                raise DataError(
                    f"{where}: {len(row['frequencies'])} frequencies rotate {2 * len(row['frequencies'])} dimensions, "
                    f"not {row['dimensions']}"
                )
            frequencies = tuple(float(frequency) for frequency in row["frequencies"])
            return Rotary(frequencies=frequencies, layout=layout, start=int(start), factor=float(factor))
        dimensions = int(row.get("dimensions", width - int(start)))
        return from_theta(float(row["theta"]), dimensions, layout=layout, start=int(start), factor=float(factor))
    except (TypeError, ValueError) as error:
        raise DataError(f"{where}: {error}") from None


def _rotations_of_config(path: Path, settings: dict[str, Any], context: int) -> dict[int, Rotary | str]:
    """Return the rotations, by layer, of a narrow version of a model with this configuration."""
    from keyquery.models.attention.rotations import rotations
    from keyquery.models.checkpoints.narrow import narrow_model

    try:
        return rotations(narrow_model(settings), context)
    except ModelError as error:
        raise DataError(f"{path}: {error}; state the layout, and theta or frequencies, in a file") from None


def _require_agreement(capture: Capture, path: Path) -> None:
    """Raise DataError if queries align better as they are, or rotated back with another pairing, than as stated."""
    by_layer = {head.layer: head for head in capture.heads}
    layers = sorted(by_layer)[:: max(1, len(by_layer) // CHECKED_HEADS)]
    alignments: dict[str, list[float]] = {}
    for layer in layers:
        stated = capture.rotation(layer)
        if not isinstance(stated, Rotary) or stated.is_identity:
            continue
        queries = capture.queries(by_layer[layer])
        other: Layout = "interleaved" if stated.layout == "half" else "half"
        positions = queries.position.astype(np.int64)
        for name, rotary in (("stated", stated), (f"layout {other}", replace(stated, layout=other)), ("", NO_ROTATION)):
            unrotated = rotary.turned(queries.vectors, -positions)[:, stated.start : stated.end]
            alignments.setdefault(name, []).append(_alignment(unrotated))
    if not alignments:
        return
    means = {name: float(np.mean(values)) for name, values in alignments.items()}
    largest = max(means, key=lambda name: means[name])
    if means[largest] > BETTER_FACTOR * means["stated"] + BETTER_SHARE:
        other_way = f"with {largest}" if largest else "as they are"
        raise DataError(
            f"{path}: the vectors contradict this rotation: the squared length of a head's mean query is "
            f"{means['stated']:.2g} of the queries' mean squared length if they are rotated back as stated, but "
            f"{means[largest]:.2g} {other_way}; check layout and frequencies"
        )


def _alignment(vectors: NDArray[np.floating[Any]]) -> float:
    """Return the squared length of the mean of vectors over their mean squared length, minus 4 / n; at least 0."""
    double = vectors.astype(np.float64)
    mean_square = float(np.einsum("ij,ij->", double, double)) / len(double)
    if not mean_square:
        return 0.0
    return max(0.0, float(np.sum(double.mean(axis=0) ** 2)) / mean_square - 4.0 / len(double))
