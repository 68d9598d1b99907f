"""Accuracy on four tasks without parts of layer 1."""

import pandas as pd

from boundpaper.tables import Column, Table
from tables.drope_sinks._tasks import BELOW, task_columns, task_items, task_note, task_rows

CONDITIONS = {
    "baseline": "baseline",
    "layer1_mlp": "MLP removed",
    "layer1_attn": "attention removed",
    "layer1_both": "both removed",
    "layer1_bos_only": "both, first token only",
}


def table(layer1_task_shares: pd.DataFrame, layer1_task_tests: pd.DataFrame, functional_shares: pd.DataFrame) -> Table:
    """Return one row per model and condition."""
    rows = task_rows(layer1_task_shares, layer1_task_tests, CONDITIONS)
    keys = ["condition", "positional", "task", "printed_text"]
    baseline = functional_shares[functional_shares["condition"] == "baseline"][keys]
    equal_count = len(baseline.merge(layer1_task_shares[keys]))
    return Table(
        rows=rows,
        columns=[Column("name", "Layer 1"), *task_columns()],
        groups="positional",
        space=0,
        size="footnotesize",
        column_space=4,
        marks={"below": BELOW},
        caption=(
            "Accuracy without parts of layer 1, Section 7.3 of the report [@africa2026], with 95 % Wilson intervals "
            f"where every item counts. Unit: item; asked: {task_items(layer1_task_shares)}."
        ),
        short="Four tasks without parts of layer 1",
        note=(
            *task_note(layer1_task_shares, layer1_task_tests),
            f"{equal_count} of {len(baseline)} baseline cells equal those of the report's Section 5.5.",
        ),
    )
