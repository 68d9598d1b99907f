"""Check the disk space that a capture needs, before a model is loaded."""

import shutil
from typing import Any

from boundpaper.errors import ModelError
from keyquery.models.captures.options import CaptureOptions
from keyquery.models.checkpoints.estimate import attention_layers
from keyquery.models.checkpoints.loading import configuration

FLOAT = 4  # bytes per float
COPIES = 2  # parts of documents, and the merged files


def check_space(options: CaptureOptions, documents: int | None) -> None:
    """Raise ModelError for a capture that does not fit on the disk.

    `documents` is the number of documents; if None (unknown), nothing is checked. The error says how much space is
    needed, how much is free, and how to need less.
    """
    if documents is None:
        return
    place = options.out
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    needed = COPIES * documents * bytes_of_document(options, configuration(options.model).get_text_config())
    if needed > free:
        raise ModelError(
            f"{options.model.name}: {documents:,} documents take about {needed / 1e9:.1f} GB of disk, and {place} has "
            f"{free / 1e9:.1f} GB free; give a lower --rate, fewer --heads, --documents or --parts, or another --out"
        )


def bytes_of_document(options: CaptureOptions, text: Any) -> int:
    """Return the approximate bytes of one document's vectors on disk, if heads are spread evenly over layers."""
    layers = [attention_layer for attention_layer in attention_layers(text) if attention_layer.kind != "cross"]
    captured = [layer for layer in layers if not options.only_layers or layer.index in options.only_layers]
    head_count = sum(layer.query_heads for layer in captured)
    if not head_count:
        return 0
    heads = len(options.only_heads) or min(options.heads or head_count, head_count)
    used = min(len(captured), heads)
    groups = min(heads, sum(layer.key_heads for layer in captured))
    width = captured[0].head_dim
    sides = {
        "values": groups * width,
        "outputs": heads * width,
        "residual": used * text.hidden_size,
        "mlp": used * text.hidden_size,
    }
    numbers = (heads + groups) * width + sum(sides[name] for name in options.parts)
    return int(float(min(options.rate * options.buckets, options.context) * numbers * FLOAT))
