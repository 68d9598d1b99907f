"""Massive values of pretrained models on prose and on source code."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed

WHERE = {"pre": "Before the rotation", "post": "After the rotation"}
TENSORS = {"query": "queries", "key": "keys", "value": "values"}
THRESHOLD = 5.0  # threshold of the report


def table(pretrained_kinds: pd.DataFrame) -> Table:
    """Return one row per tensor at the report's threshold, in two groups: before and after the rotation."""
    frame = pretrained_kinds[pretrained_kinds["threshold"] == THRESHOLD].copy()
    frame["group"] = frame["where"].map(WHERE)
    frame["label"] = frame["tensor"].map(TENSORS)
    frame = frame.sort_values(["model", "where", "tensor"], ascending=[True, False, False], ignore_index=True)
    counts = frame.iloc[0]
    return Table(
        rows=frame,
        columns=[
            Column("label", "Massive values of", width=0.2),
            Column("prose", "Prose", fixed(1), ci=("prose_low", "prose_high")),
            Column("code", "Source code", fixed(1), ci=("code_low", "code_high")),
            Column("difference", "Difference", fixed(1), ci=("low", "high")),
        ],
        groups="group",
        size="footnotesize",
        caption=(
            f"Massive values of {', '.join(dict.fromkeys(frame['display_name']))} on prose and on source code, summed "
            f"over layers and heads. Unit: one text, n = {int(counts['prose_texts'])} and {int(counts['code_texts'])}; "
            "in brackets Student's 95 % interval over texts, of the difference Welch's."
        ),
        short="Massive values of a pretrained model on prose and code",
    )
