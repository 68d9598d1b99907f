"""Find models that are not independent units because they share weights."""

from collections.abc import Sequence

import pandas as pd

from boundpaper.statistics.guards import Notes, dependent_units

FACT = "llama32_vision_text"


def twins(published_facts: pd.DataFrame) -> tuple[str, str]:
    """Return the two models with the same text weights: the derived model, then its origin."""
    fact = published_facts.set_index("fact").loc[FACT]
    return str(fact["subject"]), str(fact["printed"])


def shared_text_weights(models: Sequence[str], published_facts: pd.DataFrame) -> Notes:
    """Return notes on units that share text weights: empty unless both twins are among `models`."""
    pair = twins(published_facts)
    return dependent_units(models, [pair[1] if model in pair else None for model in models], "text weights")
