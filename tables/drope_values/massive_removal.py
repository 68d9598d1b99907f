"""Massive values after removing the rotation, without and with further training."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, signed

NAMES = {"smollm-360m": "SmolLM-360M", "llama2-7b": "Llama-2-7B"}
AFTER = {"no": "rotation removed, nothing trained", "yes": "rotation removed and recalibrated"}


def table(massive_removal: pd.DataFrame) -> Table:
    """Return one row per model and tensor."""
    keys = massive_removal[["model", "recalibrated"]].to_numpy().tolist()
    rows = massive_removal.assign(group=[f"{NAMES[str(model)]}: {AFTER[str(method)]}" for model, method in keys])
    more = rows.dropna(subset=["layers_more"]).set_index("tensor")["layers_more"]
    return Table(
        rows=rows,
        columns=[
            Column("tensor", "Projection"),
            Column("before", "with rotation", fixed(1), group="Massive values"),
            Column("after", "without", fixed(1), group="Massive values"),
            Column("change", "Change, %", signed(0)),
        ],
        groups="group",
        space=0,
        caption=(
            "Massive values of two models with and without their rotation: SmolLM-360M was not trained further, "
            "Llama-2 was [@africa2026]. Means over texts of the totals over layers."
        ),
        short="Massive values when the rotation is removed",
        note=(
            f"SmolLM-360M: five texts, each one passage repeated. After the removal {more['query']} of its layers have "
            f"more massive queries and {more['key']} more massive keys. Llama-2-7B: the reported totals. One model "
            "each, so size, recipe and recalibration cannot be told apart."
        ),
    )
