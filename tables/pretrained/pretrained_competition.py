"""Mean and spread of the score difference at one position, plasticity and sway, at fixed distances of the keys."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed

SHOWN = {"gap": ("Mean difference", 1), "spread": ("Spread", 1), "plasticity": ("Plasticity", 2), "sway": ("Sway", 2)}
ENDS = ("first", "last")


def table(pretrained_exchange_levels: pd.DataFrame) -> Table:
    """All pairs of a capture, then ranges of distances between the keys that two quarters of queries have."""
    cells = ["display_name", "texts", "apart_low", "apart_high"]
    alike = pretrained_exchange_levels[pretrained_exchange_levels["weights"] == "all"]
    wide = alike.pivot(index=cells, columns="quantity", values=list(ENDS))
    wide.columns = [f"{quantity}_{end}" for end, quantity in wide.columns]
    wide = wide.reset_index()
    whole = wide["apart_high"] - wide["apart_low"] == wide["apart_high"].max()
    wide["label"] = [f"{low:,} to {high:,}" for low, high in zip(wide["apart_low"], wide["apart_high"], strict=True)]
    wide.loc[whole, "label"] = "all pairs"
    wide["part"] = wide["display_name"] + ", " + wide["texts"]
    wide = wide.assign(near=~whole).sort_values(["part", "near", "apart_low"], ascending=[False, True, True])
    return Table(
        rows=wide,
        columns=[
            Column("label", "Keys, tokens apart"),
            *(
                Column(f"{quantity}_{end}", end, fixed(digits), group=group)
                for quantity, (group, digits) in SHOWN.items()
                for end in ENDS
            ),
        ],
        groups="part",
        size="footnotesize",
        caption=(
            "What plasticity divides, apart, for queries turned to one position: the size of the mean score difference "
            "of two keys and its spread over queries, in the first quarter of the context that has such keys before it "
            "and in the last. Means over heads and pairs."
        ),
        short="Mean and spread of the score difference",
        note=(
            "Unscaled products. Sway: pairs whose winner changes when the two keys exchange positions. The mean "
            "difference, that of the mean query, holds what position prefers and what the keys are."
        ),
    )
