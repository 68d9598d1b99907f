"""Exchange of positions in a pretrained model, in this model without its rotation, and in its two students."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed
from tables.pretrained.distillation_quantities import NAMES

LABELS = {
    "plasticity": "Plasticity",
    "sway": "Sway",
    "position_part": "Part of position",
    "content_part": "Part of content",
    "gap": "Mean difference",
    "spread": "Spread",
    "linear_share": "Linear share",
}


def table(distilled_exchange: pd.DataFrame) -> Table:
    """Return one row per quantity and quarter of the context, and one column per model."""
    rows = distilled_exchange.assign(
        label=distilled_exchange["quantity"].map(LABELS), new=~distilled_exchange["quantity"].duplicated()
    )
    return Table(
        rows=rows,
        columns=[
            Column("label", "Quantity"),
            Column("from_token", "From token", fixed(0)),
            *(Column(name, label, fixed(2)) for name, label in NAMES.items()),
            Column("difference", "Difference of\nstudents", fixed(3), ci=("low", "high"), reason="note"),
        ],
        rule_before="new",
        size="footnotesize",
        caption=(
            "Exchange of positions in a pretrained model, in the same with its rotation removed, and in two students "
            "trained from these on the same windows, by quarter of 4,096 tokens. Means over heads and pairs of keys, "
            "aligned queries."
        ),
        short="Exchange of positions in two students",
        note=(
            "Difference: distilled without rotation minus trained further with it, Student's interval over key heads. "
            "The students were trained a second time, in float32. Mean difference and spread are unscaled products."
        ),
    )
