"""Keys that the tiny pair verifies and ranks, by length of the prompt."""

import pandas as pd

from tables import Column, Table, fixed, signed

NAMES = {
    "verification_auc": "Yes to the key above yes to a miss",
    "verification_auc_one-digit": "the same, one digit changed",
    "ranking_likelihood": "Ranked first by likelihood",
    "ranking_yes": "Ranked first by the probability of yes",
}
RATIOS = (1.0, 2.0, 4.0)


def table(lab_choices: pd.DataFrame) -> Table:
    """Return the table."""
    rows = lab_choices[lab_choices["metric"].isin(NAMES) & lab_choices["ratio"].isin(RATIOS)]
    order = {name: place for place, name in enumerate(NAMES)}
    rows = rows.assign(name=rows["metric"].map(NAMES), order=rows["metric"].map(order))
    rows = rows.sort_values(["order", "ratio"], kind="stable", ignore_index=True)
    rows["length"] = [f"{ratio:g}×" for ratio in rows["ratio"]]
    for name in ("rope", "drope", "chance", "difference", "difference_low", "difference_high"):
        rows[name] = 100 * rows[name]
    for side in ("rope", "drope"):
        rows[f"{side}_range"] = [
            f"{100 * low:.0f}–{100 * high:.0f}"
            for low, high in zip(rows[f"{side}_least"], rows[f"{side}_most"], strict=True)
        ]
    return Table(
        rows=rows,
        columns=[
            Column("name", "Percent", repeat=False),
            Column("length", "Prompt"),
            Column("rope", "mean", fixed(1), group="RoPE"),
            Column("rope_range", "seeds", group="RoPE", align="right"),
            Column("drope", "mean", fixed(1), group="DroPE"),
            Column("drope_range", "seeds", group="DroPE", align="right"),
            Column("difference", "DroPE − RoPE", signed(1), ci=("difference_low", "difference_high")),
            Column("chance", "guess", fixed(0)),
        ],
        reason="note",
        caption=(
            f"Keys verified and ranked by the tiny pair, measured: {int(rows['n'].min())} to {int(rows['n'].max())} "
            "items a length and seed. Unit: one training seed; means over "
            f"{int(rows['seeds'].max())} seeds, the least and most of them, and the mean difference of the two models "
            "of a seed with its 95 % interval of Student's t. Two tiny models trained here on a synthetic language."
        ),
        short="Keys verified and ranked by the tiny pair",
        note=(
            "Yes to the key above yes to a miss: the chance that an exact key gets a higher probability of yes than a "
            "near miss. Ranked first: the share of items whose key is first among four candidates, each of those that "
            "share the first place counting its part. Prompt: in multiples of the training length."
        ),
    )
