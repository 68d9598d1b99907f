"""Tabulate the report's two models side by side: series by layer, and quantities with their printed values."""

from collections.abc import Mapping

import pandas as pd

from analysis.vocabulary import PAIR


def by_layer(series: pd.DataFrame, columns: Mapping[str, str], value: str = "value") -> pd.DataFrame:
    """Return a series of long form with one row per layer; `columns` gives NAME in a metric's columns `NAME_MODEL`."""
    values = series.pivot(index="layer", columns=["metric", "positional"], values=value)
    table = {f"{name}_{model.lower()}": values[metric, model] for metric, name in columns.items() for model in PAIR}
    return pd.DataFrame(table).rename_axis("layer").reset_index()


def larger_model(table: pd.DataFrame, name: str) -> list[str]:
    """Return, by row, the model whose value of a quantity is the larger one; RoPE if they are equal."""
    pairs = zip(table[f"{name}_rope"], table[f"{name}_drope"], strict=True)
    return ["DroPE" if drope > rope else "RoPE" for rope, drope in pairs]


def beside_printed(
    quantities: Mapping[str, Mapping[str, float]], source: pd.DataFrame, printed_as: Mapping[str, str]
) -> pd.DataFrame:
    """Return both models' quantities and their printed values; `printed_as` maps quantities to the report's names."""
    printed_values = {(row["positional"], row["metric"]): row["printed"] for _, row in source.iterrows()}
    rows = []
    for name in quantities["RoPE"]:
        row: dict[str, object] = {"quantity": name, **{model.lower(): quantities[model][name] for model in PAIR}}
        metric = printed_as.get(name, name)
        row |= {f"{model.lower()}_printed": printed_values.get((model, metric), "") for model in PAIR}
        note = "" if row["rope_printed"] else "rope_printed, drope_printed: the report prints none"
        rows.append(row | {"note": note})
    return pd.DataFrame(rows)
