"""RULER and plasticity by input length."""

import pandas as pd

from boundpaper.figures import Annotation, Axis, Figure, Line, Panel, Rule
from boundpaper.typeset.wording import listed, whole

LENGTHS = ("4k", "8k", "16k", "32k", "64k", "128k")


def figure(ruler_summary: pd.DataFrame, ruler_lengths: pd.DataFrame) -> Figure:
    """Plot the scores of all models, and the plasticity where it is known."""
    tokens = dict(zip(ruler_lengths["length"], ruler_lengths["tokens"], strict=True))
    ticks = {tokens[length]: length.upper() for length in LENGTHS[1::2]}
    axis = Axis(label="input length (tokens)", scale="log", base=2, ticks=ticks)
    x = [tokens[length] for length in LENGTHS]
    scores = [
        Line(entity=row["model"], x=x, y=[row[length] for length in LENGTHS], origin="reported", direct=True)
        for _, row in ruler_summary.iterrows()
    ]
    known_lengths = ruler_lengths[ruler_lengths["plasticity"].notna()]
    plasticity = [
        Line(entity=str(model), x=rows["tokens"], y=rows["plasticity"], origin="reported", direct=True)
        for model, rows in known_lengths.groupby("model", sort=False)
    ]
    threshold = ruler_summary["threshold"].iloc[0]
    names = listed(list(known_lengths["display_name"].unique()))
    short_models = ruler_summary[ruler_summary["captured_context"] < ruler_summary["captured_context"].max()]
    return Figure(
        panels=[
            Panel(
                series=scores,
                x=axis,
                y=Axis(label="RULER score", low=0, high=100),
                rules=[Rule(at=threshold, dash="solid")],
                annotations=[Annotation(x=tokens["4k"], y=threshold, text=f"{threshold:g}", anchor="below right")],
                title="Score",
            ),
            Panel(series=plasticity, x=axis, y=Axis(label="plasticity"), title="Plasticity at that length"),
        ],
        letters=True,
        caption=(
            f"RULER falls with the input length, most where a model has seen no positions: (a) {len(ruler_summary)} "
            f"captured models [@hsieh2024; @qwen2025], (b) plasticity at the same lengths for {names} [@shcherb2026]. "
            f"Unit: one model; all values as reported (hollow marks), without uncertainty. Grey: {threshold:g}, the "
            f"score that an effective length must exceed. {listed(list(short_models['display_name']))} was captured "
            f"over {whole(short_models['captured_context'].max())} tokens only, so nothing is known of its plasticity "
            "beyond."
        ),
        short="RULER and plasticity by input length",
    )
