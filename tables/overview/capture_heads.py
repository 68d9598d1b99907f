"""Sampled heads of each capture, the scaling of its rotation, and the stated context."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, integer

SCALED_BY = {"model": "model's", "capture": "capture's"}


def table(capture_heads: pd.DataFrame) -> Table:
    """Return one row per captured model."""
    whose = capture_heads["scaled_by"].map(SCALED_BY).where(capture_heads["scaling"] != "none", "")
    rows = capture_heads.assign(whose=whose)
    counts = sorted(set(rows["drawn"]))
    fewer = rows[rows["sampled"] < rows["drawn"]]
    left = " and ".join(f"{row['sampled']} of {row['display_name']}" for _, row in fewer.iterrows())
    longer = rows.loc[rows["beyond"] > 0, "display_name"].tolist()
    return Table(
        rows=rows,
        columns=[
            Column("display_name", "Model"),
            Column("heads", "all", integer(), group="Query heads"),
            Column("share", "analysed, %", fixed(0), group="Query heads"),
            Column("scaling", "scaling", group="Rotation"),
            Column("whose", "whose", group="Rotation", blank=True),
            Column("original_positions", "from", integer(), group="Rotation", missing="not scaled"),
            Column("stated", "stated", integer(), group="Context (tokens)"),
            Column("captured", "captured", integer(), group="Context (tokens)"),
        ],
        groups="family",
        space=0,
        size="footnotesize",
        caption=(
            f"What each capture holds: {' or '.join(str(count) for count in counts)} query heads per model, drawn with "
            "one seed from all layers, and the rotation under which the model ran. From public configurations of the "
            "captures and the models [@shcherb2026; @wolf2020]."
        ),
        short="What each capture holds",
        note=(
            "Layers of cross-attention, which do not attend to the text, are not counted"
            + (f"; of the heads drawn, those in such layers were not analysed, which leaves {left}" if left else "")
            + ". *From*: positions before the "
            f"scaling. Captured beyond the stated context: {' and '.join(longer)} [@qwen2025]. All captures read "
            "documents of LongBench Pro."
        ),
    )
