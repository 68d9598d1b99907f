"""Share of passkeys that pretrained models retrieve, and share that they verify, by prompt length."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Panel, Points, Rule
from figures.pretrained._models import by_model

TASKS = {"passkey": "passkey retrieved", "verification": "passkey verified"}
OFFSET = 0.12  # horizontal offset, in octaves, between points of one length


def figure(pretrained_retrieval: pd.DataFrame) -> Figure:
    """Plot one panel per task, with one point per model and prompt length."""
    models = list(by_model(pretrained_retrieval))
    names, ticks = (list(dict.fromkeys(pretrained_retrieval[column])) for column in ("display_name", "tokens"))
    least, most = pretrained_retrieval["n"].min(), pretrained_retrieval["n"].max()
    prompts = f"n = {least}" if least == most else f"n = {least} to {most}"
    panels = []
    for task, title in TASKS.items():
        rows = pretrained_retrieval[pretrained_retrieval["task"] == task]
        if rows.empty:
            continue
        points = [
            Points(
                entity=entity,
                label=name,
                x=cells["tokens"] * 2 ** (2 * OFFSET * (number - (len(models) - 1) / 2)),
                y=100 * cells["share"],
                y_low=100 * cells["low"],
                y_high=100 * cells["high"],
                origin="measured",
                legend=len(models) > 1,
            )
            for number, (entity, name, model_rows) in enumerate(models)
            if len(cells := model_rows[model_rows["task"] == task])
        ]
        chance = float(rows["chance"].iloc[0])
        panels.append(
            Panel(
                series=points,
                title=title,
                rules=[Rule(at=100 * chance, label="a guess")] if chance else [],
                x=Axis(
                    label="tokens of the prompt", scale="log", base=2, ticks={tokens: f"{tokens:,}" for tokens in ticks}
                ),
                y=Axis(label="% of prompts", low=0, high=104, ticks=[0, 25, 50, 75, 100]),
            )
        )
    return Figure(
        panels=panels,
        columns=len(panels),
        height=45,
        share_y=True,
        letters=True,
        caption=(
            f"Keys of five digits in English filler, by length of the prompt, for {', '.join(names)}: those "
            "retrieved exactly, and those shown and rightly taken or refused, where the line is what a guess gets. "
            f"Unit: one prompt, {prompts} a length; bars: Wilson's 95 % interval."
        ),
        short="Keys retrieved by a pretrained model, by length",
    )
