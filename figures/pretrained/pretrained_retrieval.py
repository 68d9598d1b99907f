"""Keys that pretrained models retrieve and verify, by length of the prompt."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Line, Panel, Rule

TASKS = {"passkey": "key retrieved", "verification": "key verified"}
ASIDE = 1.07  # points of one length stand side by side


def figure(pretrained_retrieval: pd.DataFrame) -> Figure:
    """One panel per task, a line per model."""
    models = dict(zip(pretrained_retrieval["model"], pretrained_retrieval["display_name"], strict=True))
    ticks = sorted(set(pretrained_retrieval["tokens"]))
    least, most = pretrained_retrieval["n"].min(), pretrained_retrieval["n"].max()
    prompts = f"n = {least}" if least == most else f"n = {least} to {most}"
    panels = []
    for task, title in TASKS.items():
        rows = pretrained_retrieval[pretrained_retrieval["task"] == task]
        if rows.empty:
            continue
        lines = [
            Line(
                entity=f"series-{number}",
                label=name,
                x=mine["tokens"] * ASIDE ** (number - 1),
                y=100 * mine["share"],
                low=100 * mine["low"],
                high=100 * mine["high"],
                origin="measured",
                legend=len(models) > 1,
            )
            for number, (model, name) in enumerate(models.items(), 1)
            if len(mine := rows[rows["model"] == model])
        ]
        chance = float(rows["chance"].iloc[0])
        panels.append(
            Panel(
                series=lines,
                title=title,
                rules=[Rule(at=100 * chance, label="a guess")] if chance else [],
                x=Axis(label="tokens of the prompt", scale="log", base=2, ticks=ticks),
                y=Axis(label="% of prompts", low=0, high=104, ticks=[0, 25, 50, 75, 100]),
            )
        )
    return Figure(
        panels=panels,
        columns=len(panels),
        height=45,
        share_y=True,
        letters=True,
        legend="none" if len(models) == 1 else "below",
        caption=(
            f"Keys of five digits in English filler, by length of the prompt, for {', '.join(models.values())}: those "
            "retrieved exactly, and those shown and rightly taken or refused, where the line is what a guess gets. "
            f"Unit: one prompt, {prompts} a length; bars: Wilson's 95 % interval."
        ),
        short="Keys retrieved by a pretrained model, by length",
    )
