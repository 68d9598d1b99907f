"""Compute losses of pretrained models when a layer writes nothing, or dimensions of queries or keys are overwritten."""

from typing import Any

import pandas as pd

from analysis.studies.pretrained._costs import cost
from analysis.studies.pretrained._named import display_names, table_of_rows

SWEPT = ("mlp", "attention", "both")
TARGETS = ("massive", "random", "matched", "smallest")
RERUN = "python build.py run --recipe artifacts/recipes/pretrained-experiments.yaml"


def pretrained_ablations(
    layer_ablation: pd.DataFrame, pretrained_models: pd.DataFrame, subjects: pd.DataFrame
) -> pd.DataFrame:
    """Return the cost in nats per token when a layer's MLP, attention or both write nothing, by layer.

    Intervals are Student's over texts. Raises DataError if no pretrained model has rows for every layer.
    """
    rows: list[dict[str, Any]] = []
    for model, name in display_names(pretrained_models, subjects).items():
        model_rows = layer_ablation[layer_ablation["model"] == model]
        for site in SWEPT:
            for layer, cells in model_rows[model_rows["condition"] == f"sweep_{site}"].groupby("layer"):
                if costs := cost(cells):
                    rows.append({"model": model, "display_name": name, "part": site, **costs, "layer": layer})
    absence = f"layer_ablation has no pretrained model with rows for every layer; run: {RERUN}"
    return table_of_rows(rows, absence, "model display_name part layer value low high n note".split())


def pretrained_disruption(
    disruption: pd.DataFrame, pretrained_models: pd.DataFrame, subjects: pd.DataFrame
) -> pd.DataFrame:
    """Return the cost of filling dimensions, one row per model, selection, fill and target.

    `value` is the loss in nats per token; `less` the additional cost of the massive dimensions over this target, with
    Student's interval over texts; `dims` the number of filled dimensions, and `removed` the removed share of the
    squared norm. `p` is the permutation p of the massive dimensions among `masks` random selections: 1 plus the number
    of selections that cost at least as much, over 1 plus `masks`. Raises DataError if no pretrained model has rows.
    """
    rows: list[dict[str, Any]] = []
    for model, name in display_names(pretrained_models, subjects).items():
        cells = disruption[(disruption["model"] == model) & (disruption["unit_id"] == "")]
        costs: Any = cells[(cells["metric"] == "delta_nats") & cells["condition"].str.endswith("_pre")]
        for _, cell in costs.iterrows():
            select, target, fill, _ = str(cell["condition"]).split("_")
            massive = cells[cells["condition"] == f"{select}_massive_{fill}_pre"]
            filled_cells = cells[cells["condition"] == cell["condition"]]
            row: dict[str, Any] = {
                "model": model,
                "display_name": name,
                "select": select,
                "fill": fill,
                "target": target,
            }
            row |= {
                "dims": _metric_value(filled_cells, "dims"),
                "removed": _metric_value(filled_cells, "removed_share"),
            }
            if target == TARGETS[0]:
                row |= {"p": _metric_value(massive, "permutation_p"), "masks": _masks(massive)}
            elif added_cost := cost(massive, f"minus_{target}"):
                row |= {"less": added_cost["value"], "low": added_cost.get("low"), "high": added_cost.get("high")}
            note = _empty_cell_note(cell, target, massive)
            rows.append({**row, "value": cell["value"], "texts": int(cell["n"]), "note": note})
    columns = "model display_name select fill target dims removed value less low high p masks texts note".split()
    table = table_of_rows(rows, f"disruption has no pretrained model; run: {RERUN}", columns)
    return table.assign(masks=table["masks"].fillna(0).astype(int))


def _metric_value(cells: pd.DataFrame, metric: str) -> float | None:
    values = cells.loc[cells["metric"] == metric, "value"]
    return None if values.empty or pd.isna(values.iloc[0]) else float(values.iloc[0])


def _masks(cells: pd.DataFrame) -> int:
    counts = cells.loc[cells["metric"] == "permutation_p", "n"]
    return 0 if counts.empty else int(counts.iloc[0])


def _empty_cell_note(cost_cell: pd.Series, target: str, massive: pd.DataFrame) -> str:
    """Return the reasons for the empty cells of a row."""
    if pd.isna(cost_cell["value"]):
        return str(cost_cell["reason"])
    if target != TARGETS[0]:
        return "p: of the massive dimensions"
    return "less, low, high: of controls" + ("" if _masks(massive) else "; p: not ranked among random masks")
