"""Helpers for figures of pretrained models: order, name and style of each model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boundpaper.figures import Shade
from boundpaper.figures.style import styles

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd


def full_attention(layers: pd.DataFrame, heads: pd.DataFrame) -> list[Shade]:
    """Ranges of the layers that attend to the whole text, which are those with captured heads, where others do not."""
    model = layers["model"].iloc[0]
    full = sorted(heads.loc[heads["model"] == model, "layer"].unique())
    if len(full) == layers["layer"].nunique():
        return []
    named = full[len(full) // 2 : len(full) // 2 + 1]
    told = dict.fromkeys(named, "layers of full attention")
    return [Shade(low=at - 0.5, high=at + 0.5, label=told.get(at, ""), entity="neutral") for at in full]


def each_model(rows: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield entity, name and rows of each model: those that the vocabulary knows first, in its order."""
    known, names = styles(), dict(zip(rows["model"], rows["display_name"], strict=True))
    order = [*(model for model in known if model in names), *(model for model in names if model not in known)]
    for place, model in enumerate(order, 1):
        look = known.get(model)
        mine = rows[rows["model"] == model]
        yield (model, look.label, mine) if look else (f"series-{place}", names[model], mine)
