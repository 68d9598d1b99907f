"""Loss of pretrained models after dimensions of queries and keys are overwritten."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed

SELECTS = {"threshold": "Massive dimensions", "top1": "Largest dimension of each head"}
FILLS = {"zero": "zeroed", "mean": "filled with their mean"}
TARGETS = {
    "massive": "these",
    "random": "random ones in their place",
    "matched": "random ones of equal norm",
    "smallest": "the smallest",
}


def table(pretrained_disruption: pd.DataFrame) -> Table:
    """Return one row per target, grouped by the choice of dimensions and their fill value."""
    frame = pretrained_disruption.copy()
    frame["group"] = [
        f"{SELECTS[select]}, {FILLS[fill]}" for select, fill in zip(frame["select"], frame["fill"], strict=True)
    ]
    frame["label"] = frame["target"].map(TARGETS)
    frame["percent"] = 100 * frame["removed"]
    frame["why"] = [
        str(note)[:1].upper() + str(note)[1:] if pd.isna(value) else ""
        for note, value in zip(frame["note"], frame["value"], strict=True)
    ]
    is_massive = frame["target"] == "massive"
    frame["why_less"] = frame["why"].mask(is_massive, "These are compared")
    frame["why_p"] = [
        "" if pd.notna(p) else "Not ranked among random masks" if flag else "Of the massive dimensions"
        for p, flag in zip(frame["p"], is_massive, strict=True)
    ]
    masks, texts = int(frame["masks"].max()), int(frame["texts"].max())
    names = ", ".join(frame["display_name"].unique())
    return Table(
        rows=frame,
        columns=[
            Column("label", "What is filled", width=0.26),
            Column("dims", "Dimensions", fixed(1)),
            Column("percent", "% of squared norm", fixed(1), reason="why"),
            Column("value", "Loss", fixed(3), reason="why"),
            Column("less", "Massive minus these", fixed(3), ci=("low", "high"), reason="why_less"),
            Column("p", "$p$", fixed(3), reason="why_p"),
        ],
        groups="group",
        size="footnotesize",
        caption=(
            f"What filling dimensions of queries and keys before the rotation costs {names}, in nats per "
            f"token. Unit: one text, n = {texts}; in brackets Student's 95 % interval of the difference over texts."
        ),
        short="Disrupted dimensions of a pretrained model",
        note=(
            f"$p$: the rank of the loss of the massive dimensions among {masks} random masks of as many dimensions, "
            "on the first texts; the smallest possible is one over the number of masks plus one."
        ),
    )
