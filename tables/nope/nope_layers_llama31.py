"""The layers of Llama-3.1-8B with the largest recovery."""

import pandas as pd

from boundpaper.tables import Table
from tables.nope._layers import layers_table


def table(nope_layer_cells: pd.DataFrame, models: pd.DataFrame) -> Table:
    """Return one row per layer."""
    name = str(models.set_index("model").at["llama3.1-8b", "display_name"])
    rows = nope_layer_cells[nope_layer_cells["model"] == "llama3.1-8b"].reset_index(drop=True)
    note = "The study chose the layers by the recovery shown."
    return layers_table(rows, name, "the first table of the per-layer anatomy", (), note)
