"""SmolLM3 at the same positions before and after its context was extended."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed
from boundpaper.typeset.wording import whole

PHASES = {"Pre-train": "Pre-training", "Anneal": "Annealing", "LC 4K-32K": "To 32K", "LC 32K-64K": "To 64K"}


def table(training_equal_positions: pd.DataFrame, training_bin_means: pd.DataFrame) -> Table:
    """Return one row per checkpoint."""
    rows = training_equal_positions.assign(
        phase=training_equal_positions["phase"].map(PHASES),
        steps=[name.rpartition(" ")[2] for name in training_equal_positions["display_name"]],
    )
    half = (rows["at_2k_4k_high"] - rows["at_2k_4k"]).max()
    margin = (rows["drop_outer_high"] - rows["drop_outer"]).max()
    largest = training_bin_means["difference"].abs().max()
    return Table(
        rows=rows,
        columns=[
            Column("phase", "Phase", repeat=False),
            Column("steps", "Steps"),
            Column("context", "Window"),
            Column("at_0_1k", "0–1K", fixed(4), group="Plasticity"),
            Column("at_1k_2k", "1K–2K", fixed(4), group="Plasticity"),
            Column("at_2k_4k", "2K–4K", fixed(4), group="Plasticity"),
            Column("drop", "0–1K to\n2K–4K", fixed(4), group="Drop"),
            Column("drop_outer", "1K–2K to\n2K–4K", fixed(4), group="Drop"),
            Column("ap_drop", "printed,\nown window", fixed(3), group="Drop"),
        ],
        reason="note",
        groups="phase",
        group_style="rule",
        column_space=5,
        caption=(
            f"SmolLM3-3B at equal positions: plasticity within the first {whole(rows['context'].min())} tokens, "
            f"{len(rows)} checkpoints of one run, Tables 6 and 7 of the study [@shcherb2026]. Unit: one "
            "checkpoint, mean over heads."
        ),
        short="SmolLM3 at equal positions across phases",
        note=(
            "Recomputed: finer bins of the pre-training table are combined by their width, as if queries were spread "
            "evenly; the ends of the combined bins coincide. Weighted so, all bins of a checkpoint give its printed "
            f"overall plasticity within {largest:.4f}. Rounding leaves {half:.4f} either way on a plasticity and "
            f"{margin:.4f} on a drop."
        ),
    )
