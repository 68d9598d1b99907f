"""Mean and spread of two keys' score difference, early and late in the context, by the distance of the keys."""

import itertools

import pandas as pd

from boundpaper.tables import Column, Table, fixed

QUANTITIES = {"gap": ("Mean", 1), "spread": ("Spread", 1), "plasticity": ("Plasticity", 2), "sway": ("Sway", 2)}
ENDS = ("first", "last")


def table(pretrained_exchange_levels: pd.DataFrame, pretrained_competition: pd.DataFrame) -> Table:
    """Return rows for aligned queries by distance of the keys, then rows for pooled queries of each model."""
    levels = pretrained_exchange_levels.query("weights == 'all' and role != 'own again'")
    cells = ["display_name", "texts", "apart_low", "apart_high"]
    wide = levels.pivot(index=cells, columns="quantity", values=list(ENDS))
    wide = wide.set_axis([f"{column[1]}_{column[0]}" for column in wide.columns], axis=1).reset_index()
    is_all_pairs = wide["apart_high"] - wide["apart_low"] == wide["apart_high"].max()
    wide["label"] = [f"{low:,} to {high:,}" for low, high in zip(wide["apart_low"], wide["apart_high"], strict=True)]
    wide.loc[is_all_pairs, "label"] = "all pairs"
    wide["part"] = wide["display_name"] + " on " + wide["texts"] + ", aligned"
    wide = wide.assign(is_range=~is_all_pairs)
    wide = wide.sort_values(["part", "is_range", "apart_low"], ascending=[False, True, True])
    extremes = [rows.iloc[[0, 1, -1]] for _, rows in pretrained_competition.groupby("display_name", sort=False)]
    pooled = pd.concat(extremes).drop_duplicates(["display_name", "distance"])
    label = [f"{distance:,.0f}" if distance else "all pairs" for distance in pooled["distance"]]
    pooled = pooled.assign(label=label, part=pooled["display_name"] + ", pooled bins")
    return Table(
        rows=pd.concat([wide, pooled], ignore_index=True),
        columns=[
            Column("label", "Keys, tokens apart"),
            *(
                Column(f"{name}_{end}", end, fixed(digits), group=group, missing="not asked")
                for (name, (group, digits)), end in itertools.product(QUANTITIES.items(), ENDS)
            ),
        ],
        groups="part",
        size="footnotesize",
        caption=(
            "What plasticity divides, apart: the size of the mean score difference of two keys and its spread over "
            "queries, in the first part of the context that has such keys and in the last, for aligned queries and "
            "for pooled bins. Means over heads and pairs."
        ),
        short="Mean and spread of the score difference",
        note=(
            "Unscaled products. Aligned: quarters of 4,096 tokens from the second on. Pooled: bins of the own "
            "context, a distance is the middle of a range. Sway: probability that a query's winner changes when the "
            "keys exchange positions. The mean difference holds what position prefers and what the keys are."
        ),
    )
