"""Four tasks under interventions on the first token's MLP output and on Q and K."""

import pandas as pd

from boundpaper.tables import Column, Table
from tables.drope_sinks._tasks import BELOW, task_columns, task_items, task_note, task_rows

CONDITIONS = {
    "baseline": "baseline",
    "bos_mlp_ablation": "MLP output removed",
    "qk_disruption": "Q and K disrupted",
    "combined": "both",
}


def table(functional_shares: pd.DataFrame, functional_tests: pd.DataFrame, bos_mlp_effects: pd.DataFrame) -> Table:
    """Return one row per model and condition."""
    rows = task_rows(functional_shares, functional_tests, CONDITIONS)
    layers = bos_mlp_effects[bos_mlp_effects["experiment"] == 4].set_index("positional")["layer"]
    return Table(
        rows=rows,
        columns=[Column("name", "Condition"), *task_columns()],
        groups="positional",
        space=0,
        size="footnotesize",
        column_space=4,
        marks={"below": BELOW},
        caption=(
            "Accuracy under interventions at the first token and on Q and K, Section 5.5 of the report [@africa2026], "
            f"with 95 % Wilson intervals where every item counts. Unit: item; asked: {task_items(functional_shares)}."
        ),
        short="Four tasks under interventions at the first token and on Q and K",
        note=(
            *task_note(functional_shares, functional_tests),
            f"The MLP output is removed in layer {layers['RoPE']} of RoPE and layer {layers['DroPE']} of DroPE, which "
            "are not matching layers. After the removal alone, no answer of RoPE can be read; with Q and K disrupted "
            "as well, some can.",
        ),
    )
