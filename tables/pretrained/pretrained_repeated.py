"""Loss of pretrained models after dimensions are overwritten, on natural text and on repeated sentences."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed

FILLS = {"zero": "Zeroed", "mean": "Filled with their mean"}
TARGETS = {
    "massive": "massive dimensions",
    "random": "random ones in their place",
    "matched": "random ones of equal norm",
    "smallest": "the smallest",
}


def table(pretrained_repeated: pd.DataFrame) -> Table:
    """Return one row per target, grouped by fill value."""
    frame = pretrained_repeated.copy()
    frame["group"] = frame["fill"].map(FILLS)
    frame["label"] = frame["target"].map(TARGETS)
    facts, names = frame.iloc[0], ", ".join(frame["display_name"].unique())
    return Table(
        rows=frame,
        columns=[
            Column("label", "What is filled", width=0.24),
            Column("natural", "Natural text", fixed(2), ci=("natural_low", "natural_high")),
            Column("repeated", "Repeated sentence", fixed(2), ci=("repeated_low", "repeated_high")),
            Column("difference", "Difference", fixed(2), ci=("low", "high")),
        ],
        groups="group",
        size="footnotesize",
        caption=(
            f"What filling dimensions of queries and keys before the rotation costs {names} on natural text "
            "and on one repeated sentence, in nats per token. Unit: one text, n = "
            f"{int(facts['natural_texts'])} and {int(facts['repeated_texts'])}; in brackets Student's 95 % interval "
            "over texts, of the difference Welch's."
        ),
        short="Disrupted dimensions of a pretrained model on repeated sentences",
        note=(
            f"Without disruption the model loses {facts['plain_natural']:.2f} and {facts['plain_repeated']:.2f} nats "
            "per token on them. The sentences begin documents of the same book; the dimensions were chosen on other "
            "texts of the same kind. Source: the texts of the DroPE report are repeated sentences."
        ),
    )
