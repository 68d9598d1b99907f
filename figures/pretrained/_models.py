"""Helpers for figures of pretrained models: their order, names and styles."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from boundpaper.figures import Line, Shade
from boundpaper.figures.style import styles

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd


def layer_line(rows: pd.DataFrame, entity: str, label: str = "") -> Line:
    """Return measured values by layer as a line, with a band for their interval."""
    line = Line(entity=entity, label=label, x=rows["layer"], y=rows["value"], low=rows["low"], high=rows["high"])
    return replace(line, uncertainty="band", origin="measured", marks=True)


def full_attention(layers: pd.DataFrame, heads: pd.DataFrame) -> list[Shade]:
    """Return shades over the layers of full attention, which have captured heads; empty if these are all layers."""
    model = layers["model"].iloc[0]
    full_layers = sorted(heads.loc[heads["model"] == model, "layer"].unique())
    if len(full_layers) == layers["layer"].nunique():
        return []
    labels = {len(full_layers) // 2: "layers of full attention"}  # only the middle shade is named
    return [
        Shade(low=layer - 0.5, high=layer + 0.5, label=labels.get(index, ""), entity="neutral")
        for index, layer in enumerate(full_layers)
    ]


def by_model(rows: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield key, name and rows of each model: first the models of the vocabulary, in its order."""
    looks, names = styles(), dict(zip(rows["model"], rows["display_name"], strict=True))
    order = [*(model for model in looks if model in names), *(model for model in names if model not in looks)]
    for number, model in enumerate(order, 1):
        look = looks.get(model)
        group = rows[rows["model"] == model]
        yield (model, look.label, group) if look else (f"series-{number}", names[model], group)
