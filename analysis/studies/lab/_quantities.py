"""A headline quantity of the pair's models."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from analysis.measure.quantities import Quantity, of_model


def measured(quantity: Quantity, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The quantity of every model of the pair's measurements: `quantity, model, side, training_seed, value, reason`.

    Raises
    ------
    DataError
        In the words of `of_model`.
    """
    found = []
    for (model, side, seed), rows in frames[quantity.frame].groupby(["model", "side", "training_seed"], sort=False):
        value, reason = of_model(quantity, rows, f"artifacts/measurements/{quantity.frame}/{model}.csv")
        names = {"quantity": quantity.key, "model": model, "side": side, "training_seed": seed}
        found.append({**names, "value": value, "reason": reason})
    return pd.DataFrame(found)
