"""Find models that are not independent units, since they have the same weights."""

from collections.abc import Sequence

import pandas as pd

from boundpaper.statistics.guards import Notes, dependent_units

FACT = "llama32_vision_text"


def twin(published_facts: pd.DataFrame) -> tuple[str, str]:
    """Return the model that shares another model's text weights, and that other model."""
    origin = published_facts.set_index("fact").loc[FACT]
    return str(origin["subject"]), str(origin["printed"])


def shared_text_weights(models: Sequence[str], published_facts: pd.DataFrame) -> Notes:
    """Return the guard for units that share text weights; it fires if both models of the pair are among the models."""
    pair = twin(published_facts)
    return dependent_units(models, [pair[1] if model in pair else None for model in models], "text weights")
