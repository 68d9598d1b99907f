"""Layer 1 against the later layers, by tensor: printed and plotted values beside the published counts."""

from typing import Any

import pandas as pd

from analysis.vocabulary import PAIR
from boundpaper.tables import Column, Table, fixed, printed, significant
from boundpaper.typeset.wording import listed

TENSORS = ("query", "key", "value")


def table(
    massive_layer_summary: pd.DataFrame,
    massive_counts: pd.DataFrame,
    drope_layer1_massive: pd.DataFrame,
    drope_figures: pd.DataFrame,
) -> Table:
    """Return one row per tensor for layer 1, then one row per tensor for the later layers."""
    summary = {str(row["tensor"]): row for row in massive_layer_summary.to_dict("records")}
    cells = drope_layer1_massive.set_index(["layers", "positional", "metric"])["printed"]
    plotted_values = drope_figures[drope_figures["figure"] == "B"].set_index(["series", "x"])["printed"]
    later_layers = int(summary[TENSORS[0]]["later_layers"])
    rows: list[dict[str, Any]] = []
    for layers, prefix, heading in (
        ("1", "layer1", "Layer 1"),
        ("2-31", "later", f"Layers 2 to 31, mean over {later_layers} layers"),
    ):
        for tensor in TENSORS:
            mean = "" if prefix == "layer1" else "mean_"
            rope, drope = (summary[tensor][f"{prefix}_{mean}{model}"] for model in ("rope", "drope"))
            row = {"heading": heading, "tensor": tensor, "rope": rope, "drope": drope, "ratio": drope / rope}
            if tensor == TENSORS[0]:
                row |= {f"printed_{model}": cells[(layers, model, "count")] for model in PAIR}
                row["printed_change"] = cells[(layers, "DroPE", "change_from_rope")]
            if prefix == "layer1":
                row |= {f"plotted_{model}": plotted_values[(model, tensor.capitalize())] for model in PAIR}
            rows.append(row)
    one_tensor = "The report's table names no tensor; its values are those of the queries."
    one_layer = "Its figure shows layer 1 only."
    query, key = summary["query"], summary["key"]
    counts = [f"{int(summary[tensor]['layers_drope_more'])} for the {tensor}" for tensor in TENSORS]
    texts = int(massive_counts["texts"].min())
    return Table(
        rows=pd.DataFrame(rows),
        columns=[
            Column("tensor", "Tensor"),
            Column("rope", "RoPE", fixed(1), group="Published counts"),
            Column("drope", "DroPE", fixed(1), group="Published counts"),
            Column("ratio", "ratio", significant(2), group="Published counts"),
            Column("printed_RoPE", "RoPE", printed(), group="Printed", missing=one_tensor),
            Column("printed_DroPE", "DroPE", printed(), group="Printed", missing=one_tensor),
            Column("printed_change", "change", printed(), group="Printed", missing=one_tensor),
            Column("plotted_RoPE", "RoPE", printed(), group="Plotted", missing=one_layer),
            Column("plotted_DroPE", "DroPE", printed(), group="Plotted", missing=one_layer),
        ],
        groups="heading",
        caption=(
            "Massive values in layer 1 and in the later layers: the counts published with the report (means over "
            f"{texts} texts, unit: layer), the values of its Section 2.3 and the coordinates of its Figure B "
            "[@africa2026]."
        ),
        short="Massive values in layer 1 and in the later layers",
        note=(
            f"Massive query values fall by {-query['later_change']:.1f} % over layers 2 to 31, by the stated share "
            f"or more in {int(query['later_layers_fallen_by_stated'])} of these {later_layers} layers. Of all "
            f"{later_layers + 2} layers, DroPE has more massive values than RoPE in {listed(counts)}. Layer 1 holds "
            f"{query['layer1_share_drope']:.1f} % of DroPE's massive query values and "
            f"{key['layer1_share_drope']:.1f} % of its massive key values."
        ),
    )
