"""Attention patterns over all layers: printed means, and agreement between the published layers of both models."""

import pandas as pd

from boundpaper.store.frames import pick
from boundpaper.tables import Column, Table, fixed, integer, printed, pvalue, signed

ROWS = {
    "bos_attention": "attention to BOS",
    "local_attention": "attention to neighbours",
    "sink_heads": "sink heads",
    "local_heads": "local heads",
}
KINDS = {"bos_attention": "bos", "local_attention": "local"}


def table(
    drope_attention: pd.DataFrame,
    attention_agreement: pd.DataFrame,
    attention_tests: pd.DataFrame,
    drope_protocols: pd.DataFrame,
) -> Table:
    """Return one row per printed quantity, with the agreement of both models where values by layer are published."""
    cells = drope_attention.set_index(["metric", "positional"])["printed"]
    agreement = attention_agreement[attention_agreement["layers"] == "all layers"].set_index("kind")
    rows = []
    for metric, name in ROWS.items():
        row = {"name": name, "rope": cells[(metric, "RoPE")], "drope": cells[(metric, "DroPE")]}
        if metric in KINDS:
            kind = KINDS[metric]
            test = pick(attention_tests, comparison=f"{kind}, all layers", test="paired_t")
            correlation = pick(attention_tests, comparison=f"{kind}, all layers", test="pearson")
            differences = agreement.loc[kind]
            row |= {
                "difference": test["estimate"],
                "low": test["ci_low"],
                "high": test["ci_high"],
                "p": test["p_value"],
                "absolute": differences["mean_absolute_difference"],
                "largest": differences["largest_difference"],
                "layer": differences["largest_difference_layer"],
                "more": differences["layers_drope_more"],
                "r": correlation["estimate"],
            }
        rows.append(row)
    n = int(agreement["n"].iloc[0])
    items = drope_protocols.set_index("experiment")["items"]["7"]
    unpublished = "Published per layer are attention to BOS and to neighbours only, no classes of heads."
    group = "DroPE minus RoPE over layers, points"
    return Table(
        rows=pd.DataFrame(rows),
        columns=[
            Column("name", "Quantity"),
            Column("rope", "RoPE", printed(), group="Printed"),
            Column("drope", "DroPE", printed(), group="Printed"),
            Column("difference", "mean", signed(1), ci=("low", "high"), group=group, missing=unpublished),
            Column("p", "$p$", pvalue(), group=group, missing=unpublished),
            Column("absolute", "absolute", fixed(1), group=group, missing=unpublished),
            Column("largest", "largest", signed(1), group=group, missing=unpublished),
            Column("layer", "in layer", integer(), group=group, missing=unpublished),
            Column("more", "DroPE\nmore", integer(), missing=unpublished),
            Column("r", "$r$", fixed(2), missing=unpublished),
        ],
        caption=(
            f"Attention patterns over all {n} layers: the printed means of Section 8.3 of the report, and the "
            f"agreement of the published layers of both models [@africa2026]. Unit: layer; {items}, {n} heads each."
        ),
        short="Attention patterns over all layers",
        note=(
            f"Paired $t$ over {n} layers with 95 % interval, as if layers were independent, which those of one network "
            "are not; absolute: mean of the absolute differences; DroPE more: layers where DroPE attends more; $r$: "
            "Pearson's correlation of the two profiles."
        ),
    )
