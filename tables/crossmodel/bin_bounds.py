"""Share of a mean query's squared length that remains after the rotation inside each capture's buckets."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, integer, text


def table(bin_bounds: pd.DataFrame, models: pd.DataFrame, checkpoints: pd.DataFrame) -> Table:
    """Return one row per capture."""
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
            "Half turns: share of rotary pairs that rotate by half a circle or more within the bucket. Even mean: a "
            "mean query of equal length in every pair; if the sources give no base, least and most are over the bases "
            "that they give. At least: the share that a head with the plasticity of the last fifth kept; if that is "
            "more, the mean query is not even and lies in the slow pairs."
        ),
    )
