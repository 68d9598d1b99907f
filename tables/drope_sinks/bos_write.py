"""Output of attention to the first token: the report's means beside the published series."""

from typing import Any

import pandas as pd

from analysis.vocabulary import PAIR
from boundpaper.tables import Column, Table, fixed, printed

ROWS = {  # quantity: name, digits
    "bos_value_norm": ("value norm of the first token, mean", 3),
    "bos_attention_mass": ("attention on the first token, mean (%)", 1),
    "effective_write": ("write score, mean", 3),
    "max_write_layer": ("layer of the largest write score", 0),
    "max_write": ("largest write score", 3),
    "second_write": ("second largest write score", 3),
    "second_write_layer": ("its layer", 0),
    "product_of_means": ("mean value norm times mean attention", 3),
    "value_norm_without_layer_1": ("value norm, mean without layer 1", 3),
    "write_without_layer_1": ("write score, mean without layer 1", 3),
    "layers_with_more_write": ("layers with the larger write score", 0),
}


def table(
    write_summary: pd.DataFrame,
    bos_value_norms: pd.DataFrame,
    drope_protocols: pd.DataFrame,
    write_layers: pd.DataFrame,
) -> Table:
    """Return one row per quantity, and value norms for the layers where norms of other tokens are published."""
    scores = write_summary.set_index("quantity")
    rows: list[dict[str, Any]] = []
    for quantity, (name, digits) in ROWS.items():
        cells = scores.loc[quantity]
        row: dict[str, Any] = {"name": name, "group": f"Over {len(write_layers)} layers"}
        row["unit"] = {0: "count", 1: "%", 3: "norm"}[digits]  # a write score is a fraction of a norm
        for model in ("rope", "drope"):
            row[f"printed_{model}"] = cells[f"{model}_printed"]
            row[f"published_{model}"] = fixed(digits).show(cells[model], "plain")
        rows.append(row)
    norms = bos_value_norms.set_index(["positional", "layer"])["percent"]
    for layer in sorted(set(bos_value_norms["layer"])):
        row = {
            "name": f"layer {layer}",
            "group": "Value norm of the first token in percent of the mean over tokens",
            "unit": "%",
        }
        for model in PAIR:
            row |= {f"printed_{model.lower()}": "", f"published_{model.lower()}": f"{norms[model, layer]:.1f}"}
        rows.append(row)
    unprinted = "The report prints none."
    items = drope_protocols.set_index("section")["items"]
    sentences = str(items["6"]).partition(";")[0]
    return Table(
        rows=pd.DataFrame(rows),
        columns=[
            Column("name", "Quantity"),
            Column("printed_rope", "printed", printed(), group="RoPE", missing=unprinted),
            Column("published_rope", "published", printed(), group="RoPE"),
            Column("printed_drope", "printed", printed(), group="DroPE", missing=unprinted),
            Column("published_drope", "published", printed(), group="DroPE"),
        ],
        groups="group",
        space=0,
        units="unit",
        caption=(
            "Values and attention at the first token: the cells of Section 6.3 of the report and what the published "
            "series give [@africa2026]. The write score is the mean over heads of attention on the first token times "
            f"the norm of its value vector. Unit: layer; {sentences}."
        ),
        short="What attention to the first token writes",
        note=(
            "The mean of products is not the product of means, since heads and layers with larger values attend less "
            "to the first token. In DroPE's layer 1 scores were clamped before the softmax. The last rows are from "
            "another run (Experiment 8)."
        ),
    )
