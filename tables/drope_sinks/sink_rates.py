"""Sink rates by layer: printed values beside the published series."""

import pandas as pd

from analysis.vocabulary import PAIR
from boundpaper.tables import Column, Table, fixed, printed, sentences


def table(sink_rate_bands: pd.DataFrame, sink_summary: pd.DataFrame, drope_protocols: pd.DataFrame) -> Table:
    """Return one row per printed layer or range of layers."""
    rows = pd.DataFrame({"layers": sink_rate_bands["layers"].drop_duplicates()})
    for model in PAIR:
        cells = sink_rate_bands[sink_rate_bands["positional"] == model].set_index("layers")
        for name in ("printed_text", "mean", "smallest", "largest"):
            rows[f"{name}_{model}"] = rows["layers"].map(cells[name])
        is_wrong = cells["agreement"] == "contradicted"
        rows[f"mark_{model}"] = ["wrong" if is_wrong[layers] else "" for layers in rows["layers"]]
    value = sink_summary.set_index("quantity")["value"]
    prompts = drope_protocols.set_index("section")["items"]["5 (sinks)"]
    return Table(
        rows=rows.assign(rule=rows["layers"] == "average", name=rows["layers"].replace("average", "all, average")),
        columns=[
            Column("name", "Layers", sentences),
            *(
                column
                for model in PAIR
                for column in (
                    Column(
                        f"printed_text_{model}", "printed", printed(), group=model, mark=f"mark_{model}", align="right"
                    ),
                    Column(f"mean_{model}", "mean", fixed(2), group=model),
                    Column(f"smallest_{model}", "lowest", fixed(2), group=model),
                    Column(f"largest_{model}", "highest", fixed(2), group=model),
                )
            ),
        ],
        rule_before="rule",
        space=0,
        marks={"wrong": "The published rates of these layers reach another number than the range printed."},
        caption=(
            "Sink rate, the share of heads whose mean attention to the first token is at least "
            f"{value['threshold']:.1f}, in percent: cells of Section 5.3 of the report, and mean and extremes over "
            f"the layers of the published series [@africa2026]. Unit: layer; {prompts}."
        ),
        short="Sink rates by layer",
        note=(
            "Attention spread evenly over T tokens has the score $H_T / T$, which reaches the threshold up to T = "
            f"{value['longest_even_sink']:.0f}; these prompts have {value['shortest_prompt']:.0f} to "
            f"{value['longest_prompt']:.0f} tokens. The scores are taken before the rotation in the report's listing."
        ),
    )
