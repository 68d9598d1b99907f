"""Rotation metrics of the two models captured for RULER, with the bias over their windows."""

import pandas as pd

from boundpaper.store.frames import wide
from boundpaper.tables import Column, Table, fixed
from boundpaper.typeset.wording import whole

SCALE = 1e4  # of bias and slope


def table(reported_rotation_ruler: pd.DataFrame, captured_models: pd.DataFrame) -> Table:
    """Return one row per model."""
    facts = captured_models[["model", "display_name", "captured_context", "bias_window"]]
    rows = wide(reported_rotation_ruler, by=["model"]).merge(facts, on="model")
    rows = rows.assign(token=SCALE * rows["bias_strength"], slope=SCALE * rows["alpha_k"])
    windows = " and ".join(whole(length) for length in rows["captured_context"])
    return Table(
        rows=rows,
        columns=[
            Column("display_name", "Model"),
            Column("token", "per token\n($10^{-4}$)", fixed(2), group="Bias"),
            Column("bias_window", "per window", fixed(1), group="Bias"),
            Column("slope", "$|\\alpha_K|$\n($10^{-4}$)", fixed(2)),
            Column("r_k_a", "$|r_k^a|$", fixed(3)),
            Column("r_q_a", "$|r_q^a|$", fixed(3)),
            Column("separation_strength", "Separation", fixed(3)),
            Column("plane_var", "Variance\nin plane", fixed(3)),
        ],
        caption=(
            f"Rotation metrics of the {len(rows)} models captured for RULER, Table 9 of the study [@shcherb2026]. "
            "Unit: one model, mean over heads."
        ),
        short="Rotation metrics of the models captured for RULER",
        note=f"Bias per window: per token times the captured context, {windows} tokens.",
    )
