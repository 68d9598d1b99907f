"""LongBench Pro and plasticity by input length: scores in both prompt modes, plasticity of the bin that ends there."""

import math

import pandas as pd

from artifacts.typeset.wording import MODES, base_scored
from figures import Axis, Figure, Line, Panel


def figure(lbp_lengths: pd.DataFrame, matched_models: pd.DataFrame) -> Figure:
    """Return the figure."""
    ticks = dict(zip(lbp_lengths["tokens"], lbp_lengths["length"].str.upper(), strict=True))
    top = 10 * math.ceil(lbp_lengths["lbp"].max() / 10)
    x = Axis(label="input length (tokens)", scale="log", base=2, ticks=ticks)
    models = list(matched_models["model"])
    panels = []
    for mode, words in MODES.items():
        rows = lbp_lengths[lbp_lengths["mode"] == mode]
        panels.append(
            Panel(
                series=[_line(rows, model, "lbp") for model in models],
                x=x,
                y=Axis(label="LongBench Pro", low=0, high=top),
                title=f"Score {words}",
            )
        )
    binned = lbp_lengths[lbp_lengths["plasticity"].notna()].drop_duplicates(["model", "length"])
    present = [model for model in models if model in set(binned["model"])]
    panels.append(
        Panel(
            series=[_line(binned, model, "plasticity") for model in present],
            x=x,
            y=Axis(label="plasticity"),
            title="Plasticity",
        )
    )
    absent = matched_models.loc[~matched_models["model"].isin(present), "display_name"]
    questions = lbp_lengths["questions"].iloc[0]
    return Figure(
        panels=panels,
        columns=2,
        height=46,
        letters=True,
        caption=(
            f"LongBench Pro by input length for {len(models)} matched models in both prompt modes [@longbenchpro2026], "
            "and plasticity of the length bin that ends at each length [@shcherb2026]; all values as reported (hollow "
            f"marks). Unit: one model; {questions} questions per length. No length bins are reported for "
            f"{', '.join(absent)}, and none beyond the captured context. "
            f"{base_scored(matched_models)}"
        ),
        short="LongBench Pro and plasticity by input length",
    )


def _line(rows: pd.DataFrame, model: str, value: str) -> Line:
    chosen = rows[rows["model"] == model].sort_values("position")
    return Line(entity=model, x=chosen["tokens"], y=chosen[value], origin="reported")
