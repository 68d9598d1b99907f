"""Norms of queries, keys and values in layers 0 to 2, beside the values that the report prints for layer 1."""

import pandas as pd

from analysis.vocabulary import PAIR
from boundpaper.tables import Column, Table, fixed, printed, significant

TENSORS = ("query", "key", "value")


def table(drope_layer1_norms: pd.DataFrame, layer_norms: pd.DataFrame, attention_gain: pd.DataFrame) -> Table:
    """Return one row per layer and tensor."""
    cells = drope_layer1_norms.set_index(["metric", "positional"])["printed"]
    published_rows = {(row["layer"], row["tensor"]): row for row in layer_norms.to_dict("records")}
    rows = []
    for layer in (1, 0, 2):
        for tensor in TENSORS:
            row = {**published_rows[(layer, tensor)], "group": f"Layer {layer}"}
            if layer == 1 and tensor != "value":
                row |= {f"printed_{model.lower()}": cells[(f"{tensor}_norm", model)] for model in PAIR}
                row["printed_ratio"] = cells[(f"{tensor}_norm_ratio_to_rope", "DroPE")]
            rows.append(row)
    gain = attention_gain.iloc[0]
    unprinted = "The report prints query and key norms of layer 1 only."
    return Table(
        rows=pd.DataFrame(rows),
        columns=[
            Column("tensor", "Tensor"),
            *(
                Column(f"printed_{name}", title, printed(), group="Printed", missing=unprinted)
                for name, title in (("rope", "RoPE"), ("drope", "DroPE"), ("ratio", "ratio"))
            ),
            Column("mean_rope", "RoPE", fixed(1, thousands=True), group="Published, mean over tokens"),
            Column("mean_drope", "DroPE", fixed(1, thousands=True), group="Published, mean over tokens"),
            Column("mean_ratio", "ratio", significant(3), group="Published, mean over tokens"),
            Column("bos_ratio", "ratio", significant(3), group="At BOS"),
        ],
        groups="group",
        space=0,
        caption=(
            "L2 norms of the projections in layers 0 to 2: Section 9.3 of the report, and the published values "
            "[@africa2026]. Unit: text, mean over its tokens."
        ),
        short="Norms of queries, keys and values in the first layers",
        note=(
            f"The values of layer 1 grow {gain['value_ratio']:.1f}-fold. Attention averages values, so of the "
            f"{gain['output_ratio']:.0f}-fold growth of its output a factor of {gain['rest_ratio']:.1f} is left for "
            "sharper weights and the output projection."
        ),
    )
