"""Look up landmarks of the delta-P charts for the claims on document 003."""

import pandas as pd

from analysis.claims._shared import rows_where
from boundpaper.claims.judge import QuotedCell, quote

SIZES = {"1b": "llama3.2-1b", "3b": "llama3.2-3b"}


def landmark_cell(
    landmarks: pd.DataFrame, size: str, landmark: str, metric: str, anchoring: str = "question"
) -> QuotedCell:
    """Return the printed cell of a landmark in the curves of the 1B or 3B model; `size` is `1b` or `3b`."""
    return quote(landmarks, model=SIZES[size], anchoring=anchoring, landmark=landmark, metric=metric)


def start_range(landmarks: pd.DataFrame, size: str) -> tuple[float, float]:
    """Return the lowest and the highest starting value of a model's question-anchored curves."""
    rows = rows_where(landmarks, model=SIZES[size], landmark="start")
    values = rows.loc[rows["metric"].str.startswith("delta_p"), "value"]
    return float(values.min()), float(values.max())
