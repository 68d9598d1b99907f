"""Which of the subjects are pretrained models, and their names."""

from __future__ import annotations

import pandas as pd

ROLE = "pretrained"


def named(pretrained_models: pd.DataFrame, subjects: pd.DataFrame) -> dict[str, str]:
    """Names in print of the models of this role, by key."""
    chosen = subjects.loc[subjects["role"] == ROLE, "model"]
    mine = pretrained_models[pretrained_models["model"].isin(chosen)]
    return dict(zip(mine["model"], mine["display_name"], strict=True))
