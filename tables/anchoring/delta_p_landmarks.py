"""Landmarks of delta P by layer: ranges from the description of two charts, and measured values."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, integer

ANCHORINGS = {"question": "question", "answer": "answer"}
LANDMARKS = {
    "band": "band over all layers",
    "start": "start",
    "trough": "trough",
    "degraded": "“degraded” layers",
    "lowest": "lowest point",
    "end": "end",
}
LAYERS = ("layer_low", "layer_high")
KEYS = ["model", "anchoring", "landmark", "data_set"]


def table(
    delta_p_landmarks: pd.DataFrame, models: pd.DataFrame, anchoring_landmarks: pd.DataFrame, subjects: pd.DataFrame
) -> Table:
    """Return the table: reported models, then measured models in the order of `subjects`."""
    reported_rows = _reported_rows(delta_p_landmarks, models)
    own_rows = _measured_rows(anchoring_landmarks)
    order = {model: index for index, model in enumerate(subjects["model"])}
    own_rows = own_rows.sort_values("model", key=lambda names: names.map(order), kind="stable", ignore_index=True)
    return Table(
        rows=pd.concat([reported_rows, own_rows], ignore_index=True),
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
            "Landmarks of the layer-wise $\\Delta P$: "
            f"{len(delta_p_landmarks)} numbers, read off by eye, as a description of two charts reports them "
            "[@luo2026], and values measured here with their 95 % bootstrap intervals. Unit: one curve, mean over "
            "samples; for the reported ones neither the number of samples nor an interval is given."
        ),
        short="Reported and measured landmarks of the layer-wise $\\Delta P$",
        note=(
            "$\\Delta P$: change of a probe's probability, in percentage points, when the answer can no longer "
            "attend to the question. Reported ranges span the four data sets; the description gives no other points "
            "of the curves, and none were added. Measured: groups made layer by layer, layers whose probe is above "
            f"chance, {own_rows['n'].min()} to {own_rows['n'].max()} names that planted statements, or questions, are "
            "about. The models differ, so the two kinds of value cannot be compared. Layers count from 0."
        ),
    )


def _reported_rows(landmarks: pd.DataFrame, models: pd.DataFrame) -> pd.DataFrame:
    cells = landmarks.pivot(index=KEYS, columns="metric", values="value").reset_index()
    facts = {
        str(row["model"]): f"{row['display_name']} ({row['layers']} layers), reported" for _, row in models.iterrows()
    }
    return _in_print_order(cells).assign(
        name=lambda rows: rows["model"].map(facts),
        series=lambda rows: rows["data_set"].where(rows["data_set"] != "all", "all four"),
        delta_p_text=lambda rows: [
            _range_text(row, "delta_p", ("delta_p_high", "delta_p_low")) for _, row in rows.iterrows()
        ],
        layers_text=lambda rows: [_range_text(row, "layer", LAYERS) for _, row in rows.iterrows()],
    )


def _measured_rows(landmarks: pd.DataFrame) -> pd.DataFrame:
    """Return rows with points of the question-anchored curves and the range of the answer-anchored curves."""
    question = landmarks[(landmarks["group"] == "question") & (landmarks["landmark"] != "highest")]
    answer = landmarks[landmarks["group"] == "answer"]
    keys = ["model", "data", "group"]
    highest = answer[answer["landmark"] == "highest"].set_index(keys)
    band = answer[answer["landmark"] == "lowest"].set_index(keys)
    ends = highest["delta_p"].map(_one_decimal) + " to " + band["delta_p"].map(_one_decimal)
    band = band.assign(landmark="band", delta_p_text=ends)
    points = question.assign(
        layers_text=question["layer"].astype(str), delta_p_text=[_with_interval(row) for _, row in question.iterrows()]
    )
    rows = pd.concat([points, band.reset_index()], ignore_index=True).rename(
        columns={"group": "anchoring", "data": "data_set"}
    )
    rows["name"] = [f"{row['display_name']} ({row['layers']} layers), measured here" for _, row in rows.iterrows()]
    rows["layers_text"] = rows["layers_text"].fillna("all")
    return _in_print_order(rows).assign(series=lambda frame: frame["data_set"])


def _one_decimal(value: float) -> str:
    return fixed(1).show(value, "plain").replace("-", "−")


def _with_interval(row: pd.Series) -> str:
    return f"{_one_decimal(row['delta_p'])} [{_one_decimal(row['delta_p_low'])}, {_one_decimal(row['delta_p_high'])}]"


def _in_print_order(rows: pd.DataFrame) -> pd.DataFrame:
    order = [list(LANDMARKS).index(name) for name in rows["landmark"]]
    rows = rows.assign(order=order, anchored=rows["anchoring"].map(ANCHORINGS), words=rows["landmark"].map(LANDMARKS))
    return rows.sort_values(["model", "anchoring", "order"], ascending=[True, False, True], ignore_index=True)


def _range_text(row: pd.Series, column: str, columns: tuple[str, str]) -> str:
    number = integer()
    if pd.notna(row[column]):
        return number.show(row[column], "plain").replace("-", "−")
    if pd.isna(row[columns[0]]):
        return ""
    return " to ".join(number.show(row[end], "plain").replace("-", "−") for end in columns)
