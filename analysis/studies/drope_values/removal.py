"""Compare massive values after removing the rotation: in SmolLM-360M without training, in Llama-2-7B with training."""

import pandas as pd

LLAMA = "llama2-7b"


def massive_removal(drope_smollm_massive: pd.DataFrame, massive_counts: pd.DataFrame) -> pd.DataFrame:
    """Return total numbers of massive values with and without rotation, and the percent change, by model and tensor.

    `layers_more` counts the layers with more massive values after the removal, if values by layer are stored.
    """
    rows = []
    for (model, tensor), cells in drope_smollm_massive.groupby(["model", "tensor"], sort=False):
        layers = cells.pivot_table(index="layer", columns="variant", values="value")
        before, after = (float(layers[name].sum()) for name in ("rotation", "rotation removed"))
        layers_more = int((layers["rotation removed"] > layers["rotation"]).sum())
        rows.append(
            _removal_row(str(model), str(tensor), "no", before, after) | {"layers_more": layers_more, "note": ""}
        )
    reported_counts = massive_counts[massive_counts["run"] == "reported totals"]
    for cell in reported_counts.to_dict("records"):
        row = _removal_row(LLAMA, str(cell["tensor"]), "yes", float(cell["rope_mean"]), float(cell["drope_mean"]))
        rows.append(row | {"layers_more": None, "note": "layers_more: totals of another run than the layers"})
    return pd.DataFrame(rows).astype({"layers_more": "Int64"})


def _removal_row(model: str, tensor: str, recalibrated: str, before: float, after: float) -> dict[str, object]:
    return {
        "model": model,
        "tensor": tensor,
        "recalibrated": recalibrated,
        "before": before,
        "after": after,
        "change": 100 * (after / before - 1),
    }
