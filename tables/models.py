"""Every model and checkpoint that the thesis speaks of: architecture, context, and what was captured and scored."""

import pandas as pd

from tables import Column, Table, fixed, integer

SUBJECTS = {
    "captured": "Captured for plasticity and rotation",
    "training": "Followed through training",
    "pair": "Compared with and without rotary embedding",
}


def table(models: pd.DataFrame) -> Table:
    """Return the table."""
    paired = models["subject"] == "pair"
    rows = models.assign(
        group=models["subject"].map(SUBJECTS),
        not_captured=["not captured" if each else "differs by checkpoint" for each in paired],
        not_scored=["studied without these benchmarks" if each else "in neither benchmark" for each in paired],
    )
    captured = rows[rows["subject"] == "captured"]
    same = int((captured["checkpoint_match"] == "same checkpoint").sum())
    scored = int((captured["scored_checkpoint"] != "").sum())
    return Table(
        rows=rows,
        columns=[
            Column("display_name", "Model"),
            Column("parameters_nominal_b", "Para-\nmeters", fixed(1), unit="billion"),
            Column("layers", "Layers", integer()),
            Column("query_heads", "query", integer(), group="Heads"),
            Column("key_heads", "key", integer(), group="Heads"),
            Column("head_dim", "dim.", integer(), group="Heads"),
            Column("claimed_context", "claimed", integer(), group="Context (tokens)", missing="the sources give none"),
            Column("captured_context", "captured", integer(), group="Context (tokens)", reason="not_captured"),
            Column("attention", "Attention", width="29mm"),
            Column("position_encoding", "Position encoding", width="36mm"),
            Column("captured_checkpoint", "Checkpoint captured or studied", width="38mm"),
            Column("scored_checkpoint", "Checkpoint scored", width="30mm", reason="not_scored"),
        ],
        groups="group",
        landscape=True,
        size="scriptsize",
        caption=(
            f"Models and checkpoints. {len(captured)} models were captured, {scored} of them have a score in LongBench "
            f"Pro or RULER, and of {same} the captured checkpoint is the scored one. Architecture and checkpoints as "
            "public model configurations, model cards and the capture's configuration give them."
        ),
        note="Parameters by name. Layers count cross-attention blocks. The claimed context includes extension by YaRN.",
    )
