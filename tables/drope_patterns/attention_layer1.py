"""Attention in layer 1: printed and published values, uniform attention, and the sink rate of Experiment 4."""

import pandas as pd

from analysis.vocabulary import PAIR
from boundpaper.tables import Column, Table, fixed, printed

KINDS = {"bos": ("bos_attention", "attention to BOS"), "local": ("local_attention", "attention to neighbours")}


def table(
    drope_attention_layer1: pd.DataFrame,
    attention_layers: pd.DataFrame,
    attention_experiments: pd.DataFrame,
    uniform_bos_attention: pd.DataFrame,
) -> Table:
    """Return two printed quantities, then the sink heads that Experiment 4 finds in the same layer."""
    cells = drope_attention_layer1.set_index(["metric", "positional"])["printed"]
    layer = attention_layers.set_index("layer").loc[1]
    rows = [
        {
            "name": name,
            "experiment": "7",
            **{f"printed_{model.lower()}": cells[(metric, model)] for model in PAIR},
            **{f"published_{model}": layer[f"{kind}_{model}"] for model in ("rope", "drope")},
        }
        for kind, (metric, name) in KINDS.items()
    ]
    sinks = attention_experiments[
        (attention_experiments["quantity"] == "sink heads") & (attention_experiments["layers"] == "layer 1")
    ].iloc[0]
    rows.append(
        {
            "name": "sink heads",
            "experiment": str(sinks["experiment"]),
            "printed_rope": f"{sinks['rope']:.0f}%",
            "printed_drope": f"{sinks['drope']:.0f}%",
        }
    )
    uniform = uniform_bos_attention.set_index("texts")
    levels = [f"{uniform['bos'][name]:.1f} % for {uniform['tokens'][name]} tokens" for name in ("longest", "shortest")]
    elsewhere = "In the sink rates of Experiment 4."
    return Table(
        rows=pd.DataFrame(rows),
        columns=[
            Column("name", "Layer 1"),
            Column("experiment", "Experiment"),
            Column("printed_rope", "RoPE", printed(), group="Printed"),
            Column("printed_drope", "DroPE", printed(), group="Printed"),
            Column("published_rope", "RoPE", fixed(2), group="Published, %", missing=elsewhere),
            Column("published_drope", "DroPE", fixed(2), group="Published, %", missing=elsewhere),
        ],
        caption=(
            "Attention in layer 1, Section 8.3 of the report, beside the share of sink heads that its Section 5.3 "
            "gives for the same layer [@africa2026]. Unit: layer, mean over heads and texts."
        ),
        short="Attention in layer 1",
        note=(
            f"A head that attends evenly to all it sees gives BOS {' and '.join(levels)}, the shortest and longest "
            f"sentences of Experiment 7; both models lie in this range. Experiment 4 ran on {sinks['texts']}, where "
            "even attention gives more."
        ),
    )
