"""Norm spike and peak of the first token, and entropy: printed values beside the published series."""

from typing import Any

import pandas as pd

from boundpaper.tables import Column, Table, fixed, printed, sentences

ROWS = {  # quantity: name, digits
    "spike_first_above": ("first layer with ratio above {limit}", 0),
    "spike_largest_ratio": ("layer of the largest ratio", 0),
    "spike_largest_rise": ("layer of the largest rise of the norm", 0),
    "spike_mlp_write": ("layer (of 0 to 2) whose MLP writes most", 0),
    "ratio_layer_0": ("ratio to other tokens, layer 0", 2),
    "ratio_layer_1": ("ratio to other tokens, layer 1", 2),
    "ratio_layer_2": ("ratio to other tokens, layer 2", 2),
    "norm_layer_0": ("norm, layer 0", 1),
    "norm_layer_1": ("norm, layer 1", 1),
    "norm_layer_2": ("norm, layer 2", 1),
    "mlp_write_layer_1": ("norm of the MLP output there, layer 1", 1),
    "mlp_write_layer_2": ("norm of the MLP output there, layer 2", 1),
    "peak_norm": ("peak norm", 1),
    "peak_norm_layer": ("layer of the peak", 0),
    "plateau_first": ("first layer within 5 % of the peak", 0),
    "plateau_last": ("last layer within 5 % of the peak", 0),
    "min_entropy": ("smallest entropy", 4),
    "min_entropy_layer": ("layer of the smallest entropy", 0),
    "entropy_layer_0": ("entropy, layer 0", 4),
    "layers_with_more_entropy": ("layers with the higher entropy", 0),
}
GROUPS = {"spike": "Spike layer", "ratio": "First token", "norm": "First token", "mlp": "First token"}


def table(phase_metrics: pd.DataFrame, drope_stated: pd.DataFrame, drope_protocols: pd.DataFrame) -> Table:
    """Return one row per quantity, with the value printed in the report and the one in its published data."""
    limit = drope_stated.set_index("statement")["value"]["s5_4_spike_ratio"]
    metrics = {str(row["quantity"]): row for row in phase_metrics.to_dict("records")}
    rows = []
    for quantity, (name, digits) in ROWS.items():
        cells = metrics[quantity]
        row: dict[str, Any] = {"name": name.format(limit=f"{limit:g}"), "group": _group_title(quantity)}
        row["unit"] = "count" if digits == 0 else row["group"] if "ratio" not in quantity else "ratio"
        for model in ("rope", "drope"):
            published, printed_text = fixed(digits).show(cells[model], "plain"), cells[f"{model}_printed"]
            row |= {f"printed_{model}": printed_text, f"published_{model}": published}
            differs = quantity.startswith("spike") and printed_text and float(printed_text) != cells[model]
            row[f"mark_{model}"] = "other" if differs else ""
        rows.append(row)
    protocol = drope_protocols.set_index("section")
    return Table(
        rows=pd.DataFrame(rows),
        columns=[
            Column("name", "Quantity", sentences),
            *(
                column
                for model, name in (("rope", "RoPE"), ("drope", "DroPE"))
                for column in (
                    Column(
                        f"printed_{model}",
                        "printed",
                        printed(),
                        group=name,
                        missing="The report prints none.",
                        mark=f"mark_{model}",
                    ),
                    Column(f"published_{model}", "published", printed(), group=name),
                )
            ),
        ],
        groups="group",
        space=0,
        units="unit",
        marks={"other": "The spike layer printed is not the one of this definition."},
        caption=(
            "State of the first token and entropy of the representations: the cells of Section 5.4 of the report and "
            f"what the published series give [@africa2026]. Unit: layer; {protocol['items']['5 (phase metrics)']}, "
            f"{protocol['precision']['5 (phase metrics)']}."
        ),
        short="The first token's norm and the entropy of the representations",
        note=(
            f"The report defines the spike layer as the first whose norm ratio exceeds {limit:g}. The rows below it "
            "give three other definitions. Norms of MLP outputs are from another run (Experiment 8), published for "
            "layers 0 to 2."
        ),
    )


def _group_title(quantity: str) -> str:
    if quantity.startswith(("peak", "plateau")):
        return "Plateau"
    if "entropy" in quantity:
        return "Entropy"
    return GROUPS[quantity.partition("_")[0]]
