"""Answers of pretrained models: unchanged, and with some dimensions set to their mean."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, pvalue

TASKS = {
    "cities": "Cities and countries",
    "sports": "Athletes and sports",
    "sentiment": "Sentiment of a review",
    "passkey": "Passkey in the prompt",
}
CONDITIONS = {"baseline": "as it is", "top1": "largest dimensions levelled", "random-0": "random dimensions levelled"}
AGAINST = {"top1": "largest against none", "random-0": "random against none"}


def table(pretrained_answers: pd.DataFrame, pretrained_knowledge_tests: pd.DataFrame) -> Table:
    """Return one row per condition, grouped by task, with McNemar's p against the unchanged model."""
    frame = pretrained_answers.copy()
    places = {"weights": "in the weights", "prompt": "in the prompt"}
    frame["group"] = [
        f"{TASKS[task]}, {places[place]}" for task, place in zip(frame["task"], frame["held_in"], strict=True)
    ]
    frame["label"] = frame["condition"].map(CONDITIONS)
    tests = pretrained_knowledge_tests.set_index(["study", "comparison"])["p_value"]
    frame["p"] = [
        tests.get((row["model"], f"{row['task']}, {AGAINST.get(row['condition'], '')}"), float("nan"))
        for _, row in frame.iterrows()
    ]
    for name in ("share", "low", "high", "unparsed", "chance"):
        frame[name] = 100 * frame[name]
    return Table(
        rows=frame,
        columns=[
            Column("label", "Model", width=0.28),
            Column("share", "Right", fixed(0), ci=("low", "high")),
            Column("unparsed", "Unread", fixed(0)),
            Column("chance", "Guess", fixed(0)),
            Column("p", "$p$", pvalue(), missing="The model as it is."),
            Column("n", "Items"),
        ],
        groups="group",
        size="footnotesize",
        caption=(
            f"Answers of {', '.join(dict.fromkeys(frame['display_name']))} in percent of the items, the knowledge held "
            "in the weights or in the prompt. Unit: one item; in brackets Wilson's 95 % interval."
        ),
        short="Answers of a pretrained model",
        note=(
            "Unread: answers outside those allowed; they count as wrong. Guess: the accuracy of guessing among the "
            "allowed answers. $p$: McNemar's exact test of the same items against the model as it is, uncorrected."
        ),
    )
