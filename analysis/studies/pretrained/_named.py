"""Return printed names of measured models, and tables that must not be empty."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from boundpaper.errors import DataError

ROLE = "pretrained"
REPORTED = "reported"  # role of models with measurements reported in a document


def display_names(pretrained_models: pd.DataFrame, subjects: pd.DataFrame) -> dict[str, str]:
    """Return the printed names of the pretrained models, by key."""
    models = subjects.loc[subjects["role"] == ROLE, "model"]
    rows = pretrained_models[pretrained_models["model"].isin(models)]
    return dict(zip(rows["model"], rows["display_name"], strict=True))


def measured_labels(subjects: pd.DataFrame, tables: Iterable[pd.DataFrame]) -> dict[str, str]:
    """Return the printed names of reported models that were measured, by key."""
    labels = subjects[subjects["role"] == REPORTED].set_index("model")["label"]
    models = {str(model) for table in tables for model in table["model"].unique()}
    return {str(model): f"{label}, measured" for model, label in labels.items() if model in models}


def table_of_rows(rows: Sequence[Mapping[str, Any]], absence: str, columns: Iterable[str] = ()) -> pd.DataFrame:
    """Return rows as a table, with `columns` if given; raises DataError(`absence`) if there are no rows."""
    if not rows:
        raise DataError(absence)
    table = pd.DataFrame(rows)
    return table.reindex(columns=list(columns)) if columns else table
