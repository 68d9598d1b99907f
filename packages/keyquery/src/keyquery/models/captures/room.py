"""Check the disk space that a capture needs, before a model is loaded."""

import shutil
from typing import Any

from boundpaper.errors import ModelError
from keyquery.models.captures.options import CaptureOptions
from keyquery.models.checkpoints.estimate import attention_layers
from keyquery.models.checkpoints.loading import configuration

FLOAT = 4  # bytes per float
COPIES = 2  # of each vector: one in the parts of documents, one in the merged files


def check_space(options: CaptureOptions, documents: int | None) -> None:
    """Raise ModelError if a capture does not fit on the disk.

    `documents` is the number of documents; if it is None (unknown), nothing is checked. The error says what is needed,
    what is free, and how to need less.
    """
    if documents is None:
        return
    folder = options.out
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    needed = COPIES * documents * bytes_of_document(options, configuration(options.model).get_text_config())
    if needed > free:
        raise ModelError(
            f"{options.model.name}: {documents:,} documents take about {needed / 1e9:.1f} GB of disk, and {folder} has "
            f"{free / 1e9:.1f} GB free; give a lower --rate, fewer --heads, --documents or --parts, or another --out"
        )


def bytes_of_document(options: CaptureOptions, config: Any) -> int:
    """Return the approximate bytes of one document's vectors on disk, if heads are spread evenly over layers."""
    layers = [
        layer
        for layer in attention_layers(config)
        if layer.kind != "cross" and (not options.only_layers or layer.index in options.only_layers)
    ]
    available = sum(layer.query_heads for layer in layers)
    if not available:
        return 0
    heads = len(options.only_heads) or min(options.heads or available, available)
    key_heads = min(heads, sum(layer.key_heads for layer in layers))
    head_dim = layers[0].head_dim
    stream = min(len(layers), heads) * config.hidden_size
    floats = {"values": key_heads * head_dim, "outputs": heads * head_dim, "residual": stream, "mlp": stream}
    floats_per_token = (heads + key_heads) * head_dim + sum(floats[name] for name in options.parts)
    return int(float(min(options.rate * options.buckets, options.context) * floats_per_token * FLOAT))
