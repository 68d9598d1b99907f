"""LongBench Pro scores in both prompt modes, and plasticity, by input length; one column per family."""

import math

import pandas as pd

from boundpaper.figures import Axis, Figure, Line, Panel
from boundpaper.store.paper_vocabulary import words


def figure(lbp_lengths: pd.DataFrame, matched_models: pd.DataFrame) -> Figure:
    """Return the figure."""
    ticks = dict(zip(lbp_lengths["tokens"], lbp_lengths["length"].str.upper(), strict=True))
    top = 10 * math.ceil(lbp_lengths["lbp"].max() / 10)
    shown = {tokens: name for place, (tokens, name) in enumerate(sorted(ticks.items())) if place % 2 == 0}
    x = Axis(label="length (tokens)", scale="log", base=2, ticks=shown)
    level = Axis(label="plasticity", low=0.4, high=0.8, ticks=[0.4, 0.6, 0.8])
    binned = lbp_lengths[lbp_lengths["plasticity"].notna()].drop_duplicates(["model", "length"])
    rows_of = [
        (lbp_lengths[lbp_lengths["mode"] == mode], "lbp", label, Axis(label="score", low=0, high=top))
        for mode, label in words("mode").items()
    ]
    rows_of.append((binned, "plasticity", "plasticity", level))
    families = list(dict.fromkeys(matched_models["family"]))
    panels = [
        Panel(
            series=_lines(rows, matched_models[matched_models["family"] == family], value),
            x=x,
            y=y,
            title=f"{family}, {label.replace('without', 'no').removeprefix('with ')}",
        )
        for rows, value, label, y in rows_of
        for family in families
    ]
    models = list(matched_models["model"])
    present = [model for model in models if model in set(binned["model"])]
    absent = matched_models.loc[~matched_models["model"].isin(present), "display_name"]
    questions = lbp_lengths["questions"].iloc[0]
    scores = lbp_lengths.pivot(index=["model", "mode"], columns="length", values="lbp")
    fallen = (scores["128k"] < scores["8k"]).sum()
    return Figure(
        panels=panels,
        columns=len(families),
        height=24,
        legend="none",
        share_x=True,
        letters=True,
        caption=(
            f"From 8K to 128K {fallen} of {len(scores)} scores fall, and so does plasticity: LongBench Pro by input "
            f"length, {len(models)} matched models in both prompt modes [@longbenchpro2026], and plasticity of the bin "
            f"that ends at each length [@shcherb2026]; all as reported (hollow marks). Unit: one model; {questions} "
            f"questions per length. No bins are reported for {', '.join(absent)}, and none beyond the captured context."
        ),
        short="LongBench Pro and plasticity by input length",
    )


def _lines(rows: pd.DataFrame, models: pd.DataFrame, value: str) -> list[Line]:
    """Return one line per model of a family, labelled by the part of the name that differs within the family."""
    lines = []
    for model, name in zip(models["model"], models["display_name"], strict=True):
        chosen = rows[rows["model"] == model].sort_values("position")
        if len(chosen):
            short = str(name).rpartition("-")[2]
            lines.append(
                Line(entity=model, x=chosen["tokens"], y=chosen[value], origin="reported", direct=short, legend=False)
            )
    return lines
