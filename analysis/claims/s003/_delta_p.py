"""Look up landmarks of the delta-P charts for the claims on document 003."""

import pandas as pd

from boundpaper.claims.judge import QuotedCell, quote

SIZES = {"1b": "llama3.2-1b", "3b": "llama3.2-3b"}


def mark(landmarks: pd.DataFrame, size: str, landmark: str, metric: str, anchoring: str = "question") -> QuotedCell:
    """Return a landmark as document 003 describes it, for the model `1b` or `3b`."""
    return quote(landmarks, model=SIZES[size], anchoring=anchoring, landmark=landmark, metric=metric)


def start_values(landmarks: pd.DataFrame, size: str) -> pd.DataFrame:
    """Return both ends of the starting values; for one of the models they are equal."""
    rows = landmarks[(landmarks["model"] == SIZES[size]) & (landmarks["landmark"] == "start")]
    values = rows.loc[rows["metric"].str.startswith("delta_p"), "value"]
    return pd.DataFrame({"metric": ["high", "low"], "value": [values.max(), values.min()]})
