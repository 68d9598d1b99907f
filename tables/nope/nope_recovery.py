"""Recovery of every captured model, printed and recomputed, with size and place of the largest rise of plasticity."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, integer, signed
from boundpaper.typeset.wording import listed
from tables._house import model_footnotes, model_marks

SHAPES = {"falls": "falls throughout", "rises": "rises", "open": "open"}


def table(nope_recovery_recomputed: pd.DataFrame, families: pd.DataFrame) -> Table:
    """Return one row per captured model."""
    rows = nope_recovery_recomputed
    longest = rows["captured_context"].max()
    is_wrong = rows["agreement"] == "contradicted"
    is_twin = rows["network"] != rows["model"]
    names = rows.set_index("model")["display_name"]
    rows = rows.assign(
        mark=[
            ",".join(filter(None, (mark, "twin" if flag else "")))
            for mark, flag in zip(model_marks(rows, longest, scored=False), is_twin, strict=True)
        ],
        wrong=["wrong" if flag else "" for flag in is_wrong],
        profile=rows["shape"].map(SHAPES),
        rise=[_rise_in_percent(row) for _, row in rows.iterrows()],
    )
    owners = list(names[rows.loc[is_twin, "network"]])
    order = rows["family"].map(families.set_index("family")["order"])
    order = order.mask(rows["family"].isin(rows.loc[is_twin, "family"]), 0)  # the family of the layer study comes first
    rows = rows.assign(order=order).sort_values(["order", "recovery"], ascending=[True, False], ignore_index=True)
    margin = max((rows[f"{name}_high"] - rows[name]).max() for name in ("recovery", "draw_up"))
    count = int(rows["reported"].notna().sum())
    return Table(
        rows=rows,
        columns=[
            Column("display_name", "Model", mark="mark"),
            Column("text_layers", "Layers", integer()),
            Column("reported", "printed", signed(3), mark="wrong", missing="not in the study", group="Recovery"),
            Column("recovery", "recomputed", signed(4), group="Recovery"),
            Column("draw_up", "Draw-up", signed(3)),
            Column("rise", "Rise at", unit="% of context", missing="nowhere"),
            Column("profile", "Profile"),
        ],
        groups="family",
        group_style="rule",
        space=0,
        marks={
            **model_footnotes(rows, longest),
            "twin": f"Self-attention layers only; the text weights are those of {listed(owners)}.",
            "wrong": "Outside of what the rounding of the deciles leaves open.",
        },
        caption=(
            f"Recovery of plasticity in the fixed window and largest rise anywhere, {len(rows)} captured models, of "
            f"which {count} are in Finding 3 of the layer study; recomputed from the deciles of Table 4 of the "
            "benchmark notes [@shcherb2026]. Unit: one model, mean over heads."
        ),
        short="Recovery by model, printed and recomputed",
        note=(
            "Recovery: mean of deciles 6 and 7 minus that of 4 and 5, counted from 0. Draw-up: the largest rise from a "
            "decile to a later one, negative where every later decile is lower, and the part of the context that it "
            "spans. The rounding of the printed deciles leaves each of them open by up to "
            f"{fixed(4).show(margin, 'plain')} either way. A profile falls throughout where "
            "no rounding allows a rise, rises where none explains the rise away, and is open in between."
        ),
    )


def _rise_in_percent(row: pd.Series) -> str:
    if pd.isna(row["rise_from"]):
        return ""
    return f"{10 * int(row['rise_from'])}–{10 * int(row['rise_to']) + 10}"
