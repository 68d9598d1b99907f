"""What the description of the layer-wise delta-P charts reports: ranges and places, no series."""

import pandas as pd

from artifacts.numbers import integer as whole
from tables import Column, Table

ANCHORINGS = {"question": "question", "answer": "answer"}
LANDMARKS = {
    "band": "band over all layers",
    "start": "start",
    "trough": "trough",
    "degraded": "“degraded” layers",
    "lowest": "lowest point",
    "end": "end",
}


def table(delta_p_landmarks: pd.DataFrame, models: pd.DataFrame) -> Table:
    """Return the table."""
    keys = ["model", "anchoring", "landmark", "data_set"]
    cells = delta_p_landmarks.pivot(index=keys, columns="metric", values="value").reset_index()
    cells["order"] = [list(LANDMARKS).index(name) for name in cells["landmark"]]
    cells = cells.sort_values(["model", "anchoring", "order"], ascending=[True, False, True], ignore_index=True)
    facts = {str(row["model"]): f"{row['display_name']} ({row['layers']} layers)" for _, row in models.iterrows()}
    rows = cells.assign(
        name=cells["model"].map(facts),
        anchored=cells["anchoring"].map(ANCHORINGS),
        words=cells["landmark"].map(LANDMARKS),
        series=[data_set if data_set != "all" else "all four" for data_set in cells["data_set"]],
        delta_p_text=[_range(row, "delta_p", ("delta_p_high", "delta_p_low")) for _, row in cells.iterrows()],
        layers_text=[_range(row, "layer", ("layer_low", "layer_high")) for _, row in cells.iterrows()],
    )
    return Table(
        rows=rows,
        columns=[
            Column("anchored", "Anchored", repeat=False),
            Column("words", "Landmark"),
            Column("series", "Data set"),
            Column("layers_text", "Layer", align="right", missing="not told"),
            Column("delta_p_text", "$\\Delta P$", unit="points", align="right", missing="not told"),
        ],
        groups="name",
        space=0,
        caption=(
            "Landmarks of the layer-wise $\\Delta P$ as a description of two charts reports them [@luo2026]: "
            f"{len(delta_p_landmarks)} numbers, read off by eye. Unit: one curve, mean over samples; neither the "
            "number of samples nor an interval is told."
        ),
        short="Reported landmarks of the layer-wise $\\Delta P$",
        note=(
            "$\\Delta P$: change of a probe's probability, in percentage points, when the answer can no longer "
            "attend to the question. Ranges span the four data sets. Layers count from 0. The description gives no "
            "other points of the curves, and none were added."
        ),
    )


def _range(row: pd.Series, single: str, ends: tuple[str, str]) -> str:
    show = whole()
    if pd.notna(row[single]):
        return show.show(row[single], "plain").replace("-", "−")
    if pd.isna(row[ends[0]]):
        return ""
    return " to ".join(show.show(row[end], "plain").replace("-", "−") for end in ends)
