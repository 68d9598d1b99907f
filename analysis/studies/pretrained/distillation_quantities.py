"""Compare the report's experiments on a teacher, the teacher without rotation, and its two students.

The untrained model without rotation shows the effect of removing the rotation, the student without rotation the effect
of retraining, and the control, a student with rotation, the effect of any training.
"""

import numpy as np
import pandas as pd

from analysis.studies.pretrained._named import table_of_rows
from analysis.studies.pretrained._pairs import students_of_pairs
from analysis.studies.pretrained.beginning import STARTS
from analysis.studies.pretrained.distillation import ARMS
from keyquery.measure.quantities import QUANTITIES, quantity_of_model

COLUMNS = ("teacher", "untouched", *ARMS.values())
AFTER_BEGINNING = ("sinks", "bos_value")  # frames measured on texts that begin with the beginning token


def distillation_quantities(
    massive_values: pd.DataFrame,
    disruption: pd.DataFrame,
    sinks: pd.DataFrame,
    bos_value: pd.DataFrame,
    layer_ablation: pd.DataFrame,
    attention_patterns: pd.DataFrame,
    layer_content: pd.DataFrame,
    crosslayer_balance: pd.DataFrame,
    subjects: pd.DataFrame,
) -> pd.DataFrame:
    """Return headline quantities of experiments 1, 2 and 4 to 9, one column per model; `note` explains empty cells.

    Quantities measured only on the teacher, or on no model, are omitted. Raises DataError if no model without
    rotation shares an experiment with its teacher.
    """
    frames = {name: frame for name, frame in locals().items() if name != "subjects"}
    rows: list[dict[str, object]] = []
    for pair, pair_models in students_of_pairs(subjects).items():
        for quantity in (quantity for quantity in QUANTITIES if quantity.frame in frames):
            frame = frames[quantity.frame]
            ending = STARTS["token"] if quantity.frame in AFTER_BEGINNING else ""
            models = {column: model + ending for column, model in pair_models.items()}
            cells_by_column = {column: frame[frame["model"] == model] for column, model in models.items()}
            has_variant = any(len(cells) for name, cells in cells_by_column.items() if name != "teacher")
            if not len(cells_by_column["teacher"]) or not has_variant:
                continue
            facts = {name: getattr(quantity, name) for name in ("experiment", "label", "unit", "digits")}
            values: dict[str, float | None] = {}
            notes = []
            for column in COLUMNS:
                cells = cells_by_column.get(column, frame.iloc[:0])
                value, reason = np.nan, "not measured on this model"
                if len(cells):
                    file = f"artifacts/measurements/{quantity.frame}/{models[column]}"
                    value, reason = quantity_of_model(quantity, cells, file)
                values[column] = None if np.isnan(value) else float(value)
                notes += [f"{column}: {reason.split(':')[0]}"] if np.isnan(value) else []
            if all(value is None for value in values.values()):
                continue  # this model has no such part
            rows.append({"pair": pair, "quantity": quantity.key, **facts, **values, "note": "; ".join(notes)})
    return table_of_rows(
        rows,
        "no model without rotation shares an experiment with its teacher; measure both: python build.py run --recipe "
        "artifacts/recipes/distilled.yaml",
    )
