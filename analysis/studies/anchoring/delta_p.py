"""Count the printed numbers on Delta P over layers, and compare the two models that they describe."""

import pandas as pd

MODEL_BY_SIZE = {"1b": "llama3.2-1b", "3b": "llama3.2-3b"}


def delta_p_counts(delta_p_landmarks: pd.DataFrame, models: pd.DataFrame) -> pd.DataFrame:
    """Return the number of landmarks, the distance between the lowest points, and the degraded share of the layers.

    `lowest_difference` is the distance in percentage points between the lowest points of the two models;
    `degraded_layers_*` counts the layers that are called degraded, both ends included, and `degraded_share_*` divides
    them by the layers of the model.
    """
    values = delta_p_landmarks.set_index(["model", "landmark", "metric"])["value"]
    layers = models.set_index("model")["layers"]
    lowest = [float(values[(model, "lowest", "delta_p")]) for model in MODEL_BY_SIZE.values()]
    rows = [("numbers", float(len(delta_p_landmarks))), ("lowest_difference", abs(lowest[0] - lowest[1]))]
    for size, model in MODEL_BY_SIZE.items():
        low, high = (float(values[(model, "degraded", f"layer_{end}")]) for end in ("low", "high"))
        rows.append((f"degraded_layers_{size}", high - low + 1))
        rows.append((f"degraded_share_{size}", (high - low + 1) / float(layers[model])))
    return pd.DataFrame(rows, columns=["quantity", "value"])
