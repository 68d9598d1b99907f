"""Measure whether heads attend alike in two states of one network, by class and by attention to the first token."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.studies.pretrained._named import table_of_rows
from analysis.studies.pretrained._pairs import ModelPair, model_pairs, pair_names
from boundpaper.errors import DataError
from boundpaper.statistics.bootstrap import percentile_interval, resamples
from boundpaper.statistics.correlations.coefficient import coefficient

CLASSES = ("sink", "local", "distributed", "mixed")
PREFIX = "pattern_"
DRAWS = 2000
COLUMNS = tuple("model display_name contrast layer heads same expected kappa low high r note".split())
RERUN = "python build.py run --recipe artifacts/recipes/distilled.yaml"


def pretrained_head_agreement(
    attention_patterns: pd.DataFrame, pretrained_models: pd.DataFrame, subjects: pd.DataFrame
) -> pd.DataFrame:
    """Return the number of heads that keep their class, one row per model, contrast and layer, and over all layers.

    `same` counts heads of the same class in both states, `expected` the heads expected to agree if the classes of a
    layer were permuted among its heads, and `kappa` is Cohen's kappa (1960): (same - expected) / (heads - expected).
    Over all layers (empty `layer`), `same` and `expected` are summed first, so differences between layers do not count;
    the interval resamples layers. `r` is Pearson's correlation of the heads' attention to the first token, over all
    layers after subtracting each layer's mean. Raises DataError if no network was measured in two states, or their
    heads differ.
    """
    names = pair_names(pretrained_models, subjects)
    rows: list[dict[str, Any]] = []
    for pair in model_pairs(pretrained_models, subjects):
        heads = _heads_in_both_states(attention_patterns, pair)
        if heads is None:
            continue
        labels = {"model": pair.model, "display_name": names[pair.model], "contrast": pair.contrast}
        layers = [(layer, cells, *_same_and_expected(cells)) for layer, cells in heads.groupby(level="layer")]
        for layer, cells, same, expected in layers:
            facts = {"layer": layer, "heads": len(cells), "same": same, "expected": expected, "r": _pearson(cells)}
            rows.append(
                {**labels, **facts, "kappa": _kappa(same, expected, len(cells)), "note": "low, high: of all layers"}
            )
        counts = np.array([(same, expected, len(cells)) for _, cells, same, expected in layers])
        columns = ["first_attention", "second_attention"]
        deviations = heads[columns] - heads.groupby(level="layer")[columns].transform("mean")
        same, expected, n = counts.sum(axis=0)
        total = {"heads": int(n), "same": int(same), "expected": expected, "kappa": _kappa(same, expected, n)}
        rows.append(
            {**labels, **total, "r": _pearson(deviations), **_kappa_interval(counts), "note": "layer: all of them"}
        )
    absence = f"attention_patterns has no network in two states; run: {RERUN}"
    result = table_of_rows(rows, absence, COLUMNS).astype({"layer": "Int64"})
    for column, reason in (("kappa", "every head is of one class"), ("r", "attention that does not vary")):
        is_empty = result[column].isna()
        result.loc[is_empty, "note"] += f"; {column}: {reason}"
    return result


def _heads_in_both_states(table: pd.DataFrame, pair: ModelPair) -> pd.DataFrame | None:
    """Return each head's class and attention to the first token in both states; None if a state was not measured."""
    columns: dict[str, Any] = {}
    for side, model in (("first", pair.first), ("second", pair.second)):
        rows = table[(table["model"] == model) & table["head"].notna() & (table["unit_id"] == "")]
        rows = rows.astype({"layer": int, "head": int}).set_index(["layer", "head"])
        classes = rows.loc[rows["metric"].str.startswith(PREFIX), "metric"].str.removeprefix(PREFIX)
        attention = rows.loc[(rows["metric"] == "first_attention") & (rows["condition"] == ""), "value"].astype(float)
        if classes.empty:
            return None
        columns[side], columns[f"{side}_attention"] = classes, attention
    if set(columns["first"].index) != set(columns["second"].index):
        raise DataError(f"attention_patterns: {pair.first} and {pair.second} have different heads; run: {RERUN}")
    return pd.DataFrame(columns)


def _same_and_expected(heads: pd.DataFrame) -> tuple[int, float]:
    """Return the number of heads with the same class in both states, and the number expected by chance."""
    totals = [heads[side].value_counts().reindex(CLASSES, fill_value=0).to_numpy() for side in ("first", "second")]
    return int((heads["first"] == heads["second"]).sum()), float((totals[0] * totals[1]).sum() / len(heads))


def _kappa(same: float, expected: float, heads: float) -> float | None:
    return None if expected >= heads else (same - expected) / (heads - expected)


def _pearson(heads: pd.DataFrame) -> float | None:
    return coefficient(heads["first_attention"].to_numpy(dtype=float), heads["second_attention"].to_numpy(dtype=float))


def _kappa_interval(counts: NDArray[np.float64]) -> dict[str, float]:
    """Return the percentile interval of kappa from resampled layers; `counts` has three numbers by layer.

    These are the heads of the same class, the number expected by chance, and all heads.
    """
    same, expected, heads = np.concatenate([counts[index].sum(axis=1) for index in resamples(len(counts), DRAWS)]).T
    kappas = (same - expected)[expected < heads] / (heads - expected)[expected < heads]
    return dict(zip(("low", "high"), percentile_interval(kappas), strict=True)) if len(kappas) else {}
