"""The layers of Llama-3.2-11B-Vision with the largest recovery."""

import pandas as pd

from boundpaper.tables import Column, Table, integer
from tables.nope._layers import layers_table


def table(nope_layer_cells: pd.DataFrame, models: pd.DataFrame) -> Table:
    """Return one row per layer."""
    names = models.set_index("model")["display_name"]
    rows = nope_layer_cells[nope_layer_cells["model"] == "llama3.2-11b"].reset_index(drop=True)
    twin_layers = set(nope_layer_cells.loc[nope_layer_cells["model"] == "llama3.1-8b", "text_layer"])
    shared = len(twin_layers & set(rows["text_layer"]))
    note = (
        "The study chose the layers by the recovery shown. Text layer: the layer's number among the self-attention "
        f"layers, which is its number in {names['llama3.1-8b']}; {shared or 'none'} of the {len(rows)} is among the "
        "layers that the study lists there."
    )
    columns = (Column("text_layer", "Text\nlayer", integer()), Column("adjacency", "Adjacent to\ncross layer"))
    return layers_table(rows, str(names["llama3.2-11b"]), "the second table of the per-layer anatomy", columns, note)
