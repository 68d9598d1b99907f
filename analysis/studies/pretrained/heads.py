"""Summarise plasticity of every captured head of pretrained models, by layer."""

import pandas as pd

from analysis.studies.pretrained._named import display_names
from boundpaper.errors import DataError


def pretrained_heads(
    head_metrics: pd.DataFrame, pretrained_models: pd.DataFrame, subjects: pd.DataFrame
) -> pd.DataFrame:
    """Return by layer the median, smallest and largest overall plasticity and drop, over the heads with a value.

    Raises DataError if no pretrained model's heads were analysed.
    """
    rows = []
    for model, name in display_names(pretrained_models, subjects).items():
        model_heads = head_metrics[head_metrics["model"] == model]
        for metric in ("ap_overall", "ap_drop"):
            by_layer = model_heads.dropna(subset=[metric]).groupby("layer")[metric]
            summary = by_layer.agg(value="median", least="min", most="max", heads="count").reset_index()
            rows.append(summary.assign(model=model, display_name=name, metric=metric))
    table = pd.concat(rows, ignore_index=True) if rows else pd.DataFrame()
    if table.empty:
        raise DataError("head_metrics has no pretrained model; measure one: python build.py heads CAPTURE")
    return table[["model", "display_name", "metric", "layer", "value", "least", "most", "heads"]]
