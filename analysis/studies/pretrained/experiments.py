"""Compare the DroPE report's Experiments 1-9 between pretrained models, the report's rotary model and small models."""

from typing import Any

import numpy as np
import pandas as pd

from analysis.studies.pretrained._costs import half_interval
from analysis.studies.pretrained._named import display_names, measured_labels, table_of_rows
from boundpaper.statistics.locations.student import student_interval
from keyquery.measure.quantities import QUANTITIES, Quantity, quantity_of_model

REPORTED, SMALL = "reported", "small"
BASE, ARM = 400, "A"  # small models with rotation, after the first training phase
UNMEASURED = "not measured on this model"


def pretrained_experiments(
    massive_values: pd.DataFrame,
    disruption: pd.DataFrame,
    knowledge: pd.DataFrame,
    sinks: pd.DataFrame,
    bos_value: pd.DataFrame,
    layer_ablation: pd.DataFrame,
    attention_patterns: pd.DataFrame,
    layer_content: pd.DataFrame,
    crosslayer_balance: pd.DataFrame,
    pretrained_models: pd.DataFrame,
    subjects: pd.DataFrame,
    experiments_reported: pd.DataFrame,
    population_quantities: pd.DataFrame,
    population_models: pd.DataFrame,
) -> pd.DataFrame:
    """Return headline quantities, one row per quantity and column: reported, small, and each pretrained model.

    `reported` is Llama-2-7B with rotation; `small` the mean over the seeds of the population's models with rotation,
    with Student's interval; a pretrained model's value is over its texts, with Student's interval if the measurement
    stores this number's spread over texts (not for extremes or means over layers). A reported model that was measured
    also has a column. Quantities that no pretrained model has are omitted; `note` explains empty cells. Raises
    DataError if no pretrained model has any of the experiments.
    """
    frame_names = {quantity.frame for quantity in QUANTITIES}
    frames = {name: frame for name, frame in locals().items() if name in frame_names}
    names = display_names(pretrained_models, subjects) | measured_labels(subjects, frames.values())
    reported_values = experiments_reported.set_index("quantity")["rope"]
    small_models = population_models.query("base == @BASE and arm == @ARM")["model"]
    small = population_quantities[population_quantities["model"].isin(small_models)]
    rows: list[dict[str, Any]] = []
    for quantity in QUANTITIES:
        frame = frames[quantity.frame]
        by_model = {model: frame[frame["model"] == model] for model in names}
        if not any(len(cells) for cells in by_model.values()):
            continue
        facts = {name: getattr(quantity, name) for name in ("experiment", "label", "unit", "digits")}
        facts = {"quantity": quantity.key, **facts}
        value = reported_values.get(quantity.key)
        note = quantity.unreported if value is None else "low, high: the source prints no interval of this"
        rows.append({**facts, "column": REPORTED, "name": "Llama-2-7B", "value": value, "n": 0, "note": note})
        rows.append({**facts, "column": SMALL, "name": "Small, rotary", **_small_model_columns(small, quantity)})
        for model, cells in by_model.items():
            unmeasured = {"value": None, "n": 0, "note": UNMEASURED}
            value_columns = _value_columns(quantity, cells, model) if len(cells) else unmeasured
            rows.append({**facts, "column": model, "name": names[model], **value_columns})
    absence = (
        "no pretrained model has any of experiments 1 to 9; measure them: python build.py run --recipe "
        "artifacts/recipes/pretrained.yaml"
    )
    return table_of_rows(
        rows, absence, "quantity experiment label unit digits column name value low high n note".split()
    )


def _small_model_columns(rows: pd.DataFrame, quantity: Quantity) -> dict[str, Any]:
    cells = rows[rows["quantity"] == quantity.key]
    values = cells["value"].dropna().to_numpy(dtype=float)
    if not len(values):
        reasons = sorted({str(reason).split(":")[0] for reason in cells["reason"].dropna()} - {""})
        return {"value": None, "n": 0, "note": "; ".join(reasons)}
    low, high = student_interval(values) or (None, None)
    note = "" if low is not None else "the seeds have one value"
    return {"value": values.mean(), "low": low, "high": high, "n": len(values), "note": note}


def _value_columns(quantity: Quantity, rows: pd.DataFrame, model: str) -> dict[str, Any]:
    """Return the value for a model, with its interval over texts if the spread over texts is known."""
    value, reason = quantity_of_model(quantity, rows, f"artifacts/measurements/{quantity.frame}/{model}")
    if np.isnan(value):
        return {"value": None, "n": 0, "note": reason.split(":")[0]}
    over_chance = rows[(rows["condition"] == quantity.condition) & (rows["metric"] == f"{quantity.metric}_over_chance")]
    if len(over_chance) and over_chance["value"].isna().all():
        return {"value": None, "n": 0, "note": "no better than a guess as it is, so that nothing can fall"}
    model_rows = rows[(rows["condition"] == quantity.condition) & (rows["unit_id"] == "") & rows["head"].isna()]
    if quantity.over not in ("model", "layer"):
        return {"value": value, "n": 0, "note": "low, high: taken over layers, no spread over texts is kept"}
    if quantity.over == "layer":
        model_rows = model_rows[model_rows["layer"] == quantity.layer]
    elif model_rows["layer"].isna().any():
        model_rows = model_rows[model_rows["layer"].isna()]
    spread, mean = (model_rows[model_rows["metric"] == name] for name in (f"{quantity.metric}_sd", quantity.metric))
    if len(spread) != 1 or len(mean) != 1:
        return {"value": value, "n": 0, "note": "low, high: no spread over texts is kept"}
    count = int(mean["n"].iloc[0])
    half = half_interval(float(spread["value"].iloc[0]), count) * quantity.scale
    return {"value": value, "low": value - half, "high": value + half, "n": count, "note": ""}
