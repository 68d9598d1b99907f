"""SmolLM3 during the extensions of its context: plasticity by position."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed
from boundpaper.typeset.wording import listed, whole
from tables.training._positions import position_rows


def table(training_positions: pd.DataFrame) -> Table:
    """Return one row per checkpoint of the extensions, with one column per bin."""
    extension = training_positions[training_positions["extension"].astype(bool)]
    rows, bins = position_rows(extension)
    windows = listed([whole(context) for context in sorted(set(extension["context"]))])
    return Table(
        rows=rows,
        columns=[
            Column("display_name", "Checkpoint"),
            *(Column(field, title, fixed(3), group="Plasticity at positions") for field, title in bins.items()),
        ],
        reason="reason",
        caption=(
            f"Plasticity by position during the context extensions of SmolLM3-3B, windows of {windows} tokens, "
            f"{len(rows)} checkpoints, Table 7 of the study [@shcherb2026]. Unit: one checkpoint, mean over heads."
        ),
        short="SmolLM3 in its extensions: plasticity by position",
        note="Bins are positions of the query in tokens, 1K being 1,024.",
    )
