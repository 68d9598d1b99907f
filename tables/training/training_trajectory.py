"""Rotation and plasticity of SmolLM3 at ten checkpoints, with the bias per token and per window."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, significant
from boundpaper.typeset.wording import whole

PHASES = {"Pre-train": "Pre-training", "Anneal": "Annealing", "LC 4K-32K": "To 32K", "LC 32K-64K": "To 64K"}


def table(training_trajectory: pd.DataFrame) -> Table:
    """Return one row per checkpoint."""
    is_wrong = ~training_trajectory["ap_drop_agrees"].astype(bool)
    rows = training_trajectory.assign(
        phase=training_trajectory["phase"].map(PHASES),
        bias_token=1e3 * training_trajectory["bias_strength"],
        slope=1e3 * training_trajectory["alpha_k"],
        mark=["drop" if flag else "" for flag in is_wrong],
        steps=[name.rpartition(" ")[2] for name in training_trajectory["display_name"]],
    )
    shortest, longest = (whole(context) for context in (rows["context"].min(), rows["context"].max()))
    gaps = ", ".join(f"{gap:.3f}" for gap in rows.loc[is_wrong, "ap_drop_recomputed"])
    pairs = [
        f"{row['ap_first_20']:.3f} and {row['ap_last_20']:.3f} ({row['phase']}, {row['steps']})"
        for _, row in rows[is_wrong].iterrows()
    ]
    return Table(
        rows=rows,
        columns=[
            Column("steps", "Steps"),
            Column("bias_token", "per token\n($10^{-3}$)", fixed(1), group="Bias"),
            Column("bias_window", "per\nwindow", fixed(0), group="Bias"),
            Column("slope", "$|\\alpha_K|$\n($10^{-3}$)", significant(3), group="Keys"),
            Column("key_drift", "drift", fixed(1), group="Keys"),
            Column("r_k_a", "$|r_k^a|$", fixed(3), group="Keys"),
            Column("separation_strength", "sep.", fixed(3), group="Plane"),
            Column("plane_var", "var.", fixed(3), group="Plane"),
            Column("ap_overall", "overall", fixed(3), group="Plasticity"),
            Column("ap_first_20", "first\n20 %", fixed(3), group="Plasticity"),
            Column("ap_last_20", "last\n20 %", fixed(3), group="Plasticity"),
            Column("ap_drop", "drop", fixed(3), mark="mark", group="Plasticity"),
        ],
        groups="phase",
        column_space=3.8,
        space=0,
        marks={
            "drop": (
                f"The ends printed beside it, {', '.join(pairs)}, differ by {gaps}, and no rounding of them gives the "
                "printed drop."
            )
        },
        caption=(
            f"SmolLM3-3B over {len(rows)} checkpoints of one training run, Table 5 of the study [@shcherb2026]. Per "
            f"window: per token times the window of the phase, {shortest} to {longest} tokens. Unit: one checkpoint, "
            "mean over heads."
        ),
        short="SmolLM3 in training: rotation and plasticity by checkpoint",
        note=(
            "Steps are of the run up to annealing and of the phase after it. "
            "Bias: bias strength, mean query projection times key slope $\\alpha_K$. Drift: how far the mean key moves "
            "along the axis from one end of the window to the other. Plane: separation and share of variance. Bias per "
            "window and drift are recomputed from printed columns; first and last 20 % are of that window, so they lie "
            "at other positions in each phase."
        ),
    )
