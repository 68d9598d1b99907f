"""SmolLM3 during pre-training: plasticity by position within the short window."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed
from boundpaper.typeset.wording import whole
from tables.training._positions import position_rows


def table(training_positions: pd.DataFrame) -> Table:
    """Return one row per checkpoint of pre-training, with one column per bin."""
    pretraining = training_positions[~training_positions["extension"].astype(bool)]
    rows, bins = position_rows(pretraining)
    return Table(
        rows=rows,
        columns=[
            Column("display_name", "Checkpoint"),
            *(Column(field, title, fixed(3), group="Plasticity at positions") for field, title in bins.items()),
        ],
        reason="reason",
        caption=(
            "Plasticity by position during pre-training of SmolLM3-3B, window of "
            f"{whole(pretraining['context'].max())} tokens, {len(rows)} checkpoints, Table 6 of the study "
            "[@shcherb2026]. Unit: one checkpoint, mean over heads."
        ),
        short="SmolLM3 in pre-training: plasticity by position",
        note="Bins are positions of the query in tokens, 1K being 1,024.",
    )
