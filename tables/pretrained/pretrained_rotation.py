"""Attention of pretrained models computed with and without the rotation."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed

QUANTITIES = {"first": "to the first token", "local": "to the five tokens before"}
COMPUTED = {"kept": "As the model\ncomputes it", "left_out": "Without\nthe rotation", "change": "Change"}


def table(pretrained_rotation: pd.DataFrame) -> Table:
    """Return one row per quantity, grouped by model."""
    keys = ["display_name", "quantity"]
    values = pretrained_rotation.pivot(index=keys, columns="computed", values=["value", "low", "high"])
    values.columns = pd.Index(["_".join(reversed(column)) for column in values.columns])
    order = pretrained_rotation[keys].drop_duplicates()
    rows = order.merge(values, left_on=keys, right_index=True)
    rows["label"] = rows["quantity"].map(QUANTITIES)
    [uniform] = pretrained_rotation.loc[pretrained_rotation["computed"] == "even", "value"].unique()
    texts = int(pretrained_rotation["n"].max())
    return Table(
        rows=rows,
        columns=[
            Column("label", "Attention, %", width=0.26),
            *(
                Column(f"{key}_value", name, fixed(1), ci=(f"{key}_low", f"{key}_high"))
                for key, name in COMPUTED.items()
            ),
        ],
        groups="display_name",
        size="footnotesize",
        caption=(
            "Attention of pretrained models, means over heads, as they compute it and with the rotation left out of "
            f"the computation. Unit: one text, n = {texts}; in brackets Student's 95 % interval over texts, of the "
            "change in pairs."
        ),
        short="Attention of pretrained models without the rotation in its computation",
        note=(
            "The models are unchanged; attention is computed again from queries and keys before the rotation. "
            f"Attention spread evenly over all earlier tokens would give the five {uniform:.1f} %."
        ),
    )
