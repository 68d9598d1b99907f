"""Helpers for figures of pretrained models: their order, names and styles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boundpaper.figures import Shade
from boundpaper.figures.style import styles

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd


def full_attention(layers: pd.DataFrame, heads: pd.DataFrame) -> list[Shade]:
    """Return shades over the full-attention layers (those with captured heads); empty if all layers are such."""
    model = layers["model"].iloc[0]
    full = sorted(heads.loc[heads["model"] == model, "layer"].unique())
    if len(full) == layers["layer"].nunique():
        return []
    middle = full[len(full) // 2 : len(full) // 2 + 1]
    labels = dict.fromkeys(middle, "layers of full attention")
    return [Shade(low=layer - 0.5, high=layer + 0.5, label=labels.get(layer, ""), entity="neutral") for layer in full]


def by_model(rows: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield key, name and rows of each model: first the models of the vocabulary, in its order."""
    known, names = styles(), dict(zip(rows["model"], rows["display_name"], strict=True))
    order = [*(model for model in known if model in names), *(model for model in names if model not in known)]
    for number, model in enumerate(order, 1):
        look = known.get(model)
        group = rows[rows["model"] == model]
        yield (model, look.label, group) if look else (f"series-{number}", names[model], group)
