"""What the tiny pair can do, within the training length and beyond it."""

import pandas as pd

from tables import Column, Table, percent, signed

TASKS = {
    "cities": "City in land, yes or no",
    "cities_open": "City in land, open",
    "sports": "Athlete plays sport, yes or no",
    "sports_open": "Athlete plays sport, open",
    "statements": "Truth of a statement",
    "sentiment": "Tone of a review",
    "copy": "List copied",
    "verification": "Key shown is the key, yes or no",
    "passkey": "Key in filler",
}


def table(lab_task_scores: pd.DataFrame, lab_pair_models: pd.DataFrame) -> Table:
    """Return the table."""
    rows = lab_task_scores.assign(order=lab_task_scores["task"].map({name: place for place, name in enumerate(TASKS)}))
    rows["ratio"] = pd.to_numeric(rows["length"].str.removesuffix("x")).fillna(0.0)
    rows = rows[rows["order"].notna() & ((rows["length"] == "") | rows["task"].isin(["passkey", "verification"]))]
    rows = rows.sort_values(["order", "ratio"], kind="stable", ignore_index=True)
    rows["name"] = rows["task"].map(TASKS)
    rows["shown_length"] = [length.replace("x", "×") if length else "short" for length in rows["length"]]
    for side in ("rope", "drope"):
        rows[side] = 100 * rows[side]
        rows[f"{side}_range"] = [
            f"{100 * low:.1f}–{100 * high:.1f}"
            for low, high in zip(rows[f"{side}_least"], rows[f"{side}_most"], strict=True)
        ]
    for name in ("difference", "difference_low", "difference_high"):
        rows[name] = 100 * rows[name]
    rows["missed"] = ["missed" if reached == "no" else "" for reached in rows["reached"]]
    rows["new_task"] = ~rows["task"].duplicated()
    target = rows["target"].iloc[0]
    trained = int(lab_pair_models["training_length"].iloc[0])
    return Table(
        rows=rows,
        columns=[
            Column("name", "Task", repeat=False),
            Column("shown_length", "Prompt", mark="missed"),
            Column("rope", "mean", percent(1), group="RoPE"),
            Column("rope_range", "seeds", group="RoPE", align="right"),
            Column("drope", "mean", percent(1), group="DroPE"),
            Column("drope_range", "seeds", group="DroPE", align="right"),
            Column("difference", "DroPE − RoPE", signed(1), ci=("difference_low", "difference_high"), unit="points"),
        ],
        reason="note",
        marks={"missed": f"A seed of either model is below the {100 * target:.0f} % that the recipe aimed at."}
        if rows["missed"].any()
        else {},
        caption=(
            f"The tiny pair, measured: share of items answered exactly, {int(rows['n'].min())} items a task, length "
            f"and seed. Unit: one training seed; means over {int(rows['seeds'].max())} seeds, the least and most of "
            "them, and the mean difference of the two models of a seed with its 95 % interval of Student's t. Two tiny "
            "models trained here on a synthetic language."
        ),
        short="Tasks of the tiny pair",
        note=(
            f"Prompt: filled up to this multiple of the training length ({trained} tokens), or as short as the "
            "question. A guess is right half the time on yes-or-no items, statements and reviews."
        ),
    )
