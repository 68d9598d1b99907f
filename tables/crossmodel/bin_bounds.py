"""What the buckets of each capture keep of a mean query."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, integer, text


def table(bin_bounds: pd.DataFrame, models: pd.DataFrame, checkpoints: pd.DataFrame) -> Table:
    """One row per capture."""
    names = dict(zip(models["model"], models["display_name"], strict=True))
    names |= dict(zip(checkpoints["checkpoint"], checkpoints["display_name"], strict=True))
    rows = bin_bounds.assign(name=bin_bounds["capture"].map(names))
    rows["part"] = ["Checkpoints of SmolLM3" if family == "SmolLM3" else "Captured models" for family in rows["family"]]
    return Table(
        rows=rows,
        columns=[
            Column("name", "Capture"),
            Column("base", "Base", integer(), reason="note"),
            Column("scaling", "Scaling", text),
            Column("width", "Bucket (tokens)", integer()),
            Column("half_turns", "Half turns", fixed(2)),
            Column("kept_low", "least", fixed(2), group="Kept of an even mean"),
            Column("kept_high", "most", fixed(2), group="Kept of an even mean"),
            Column("kept_least", "Kept at least", fixed(2)),
        ],
        groups="part",
        size="footnotesize",
        caption=(
            f"Part of a mean query's squared length that rotation inside a bucket leaves, of {len(rows)} captures. "
            "Unit: one capture."
        ),
        short="What buckets keep of a mean query",
        note=(
            "Half turns: share of rotary pairs that turn by half a circle and more within the bucket. Even mean: as "
            "long in every pair; least and most differ where the sources give no base, and are of the bases that they "
            "give. At least: what a head of the plasticity of the last fifth must have kept; where that is more, the "
            "mean query is not even and lies in the slow pairs."
        ),
    )
