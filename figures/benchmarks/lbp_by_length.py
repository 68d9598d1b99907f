"""LongBench Pro scores against plasticity at 8K to 128K tokens: a panel per model, and a panel of rank correlations."""

from dataclasses import replace

import pandas as pd

from boundpaper.figures import Annotation, Axis, Figure, Line, Panel, Points, Rule, Style
from boundpaper.store.paper_vocabulary import words
from figures.pretrained._models import by_model

LOOKS = {
    "thinking": Style(color="okblack", mark="*"),
    "nonthinking": Style(color="okgrey", mark="square*", dash="dashed"),
}
COLUMNS = 4  # panels in a row
OFFSETS = {"thinking": -0.12, "nonthinking": 0.12}  # horizontal offsets of the two prompt modes at one length


def figure(lbp_lengths: pd.DataFrame, matched_models: pd.DataFrame, length_ordering_tests: pd.DataFrame) -> Figure:
    """Plot one panel per model, and the rank correlation over models at each length."""
    binned = lbp_lengths[lbp_lengths["plasticity"].notna()].sort_values("position")
    unbinned_names = ", ".join(matched_models.loc[~matched_models["model"].isin(binned["model"]), "display_name"])
    panels: list[Panel] = []
    for _, name, rows in by_model(binned):
        near, far = (rows.loc[rows.groupby("position")["lbp"].idxmin()].iloc[end] for end in (0, -1))
        panels.append(
            Panel(
                series=[
                    Line(entity=mode, x=points["plasticity"], y=points["lbp"], origin="reported", legend=not panels)
                    for mode in LOOKS
                    for points in [rows[rows["mode"] == mode]]
                ],
                x=Axis(label="plasticity", low=0.43, high=0.8, ticks=[0.5, 0.6, 0.7, 0.8]),
                y=Axis(label="" if len(panels) % COLUMNS else "score", low=0, high=60, ticks=[0, 20, 40, 60]),
                title=name,
                annotations=[
                    Annotation(x=near["plasticity"], y=near["lbp"], text=near["length"].upper(), anchor="below right"),
                    Annotation(x=far["plasticity"], y=rows["lbp"].min(), text=far["length"].upper(), anchor="below"),
                ],
            )
        )
    ranks = length_ordering_tests[length_ordering_tests["test"] == "spearman"].set_index("comparison")
    lengths, count = list(dict.fromkeys(binned["length"])), len(panels)
    positions = pd.Series(range(len(lengths)))
    relations = [
        Points(entity=mode, x=x, y=tests["estimate"], y_low=tests["ci_low"], y_high=tests["ci_high"], legend=False)
        for mode, offset in OFFSETS.items()
        for x, tests in [(positions + offset, ranks.loc[[f"{length}, {mode}" for length in lengths]])]
    ]
    panels.append(
        Panel(
            series=relations,
            x=Axis(label="input length", ticks={position: lengths[position].upper() for position in (0, 2, 4)}),
            y=Axis(label="$\\rho$ over models", low=-1.05, high=1.05, ticks=[-1, 0, 1]),
            title="at one length",
            rules=[Rule(at=0, dash="solid")],
        )
    )
    scores, binned_scores = (
        frame.pivot(index=["model", "mode"], columns="length", values="lbp") for frame in (lbp_lengths, binned)
    )
    falls, drawn_falls = (f"{(frame['128k'] < frame['8k']).sum()} of {len(frame)}" for frame in (scores, binned_scores))
    return Figure(
        panels=panels,
        columns=COLUMNS,
        height=26,
        letters=True,
        entities={mode: replace(look, label=f"prompts {words('mode')[mode]}") for mode, look in LOOKS.items()},
        caption=(
            f"From 8K to 128K tokens {drawn_falls} LongBench Pro scores drawn fall, as plasticity does: (a) to (g), a "
            "mark at each doubling, longer inputs to the left [@shcherb2026; @longbenchpro2026]. (h) That more "
            f"plastic models score higher at one length is not seen: rank correlation over {count} models with its 95 "
            f"% interval. Not drawn, as their plasticity is not known: {unbinned_names} (with it {falls} scores fall), "
            f"and 256K. Unit: one model; {lbp_lengths['questions'].iloc[0]} questions per length."
        ),
        short="LongBench Pro against plasticity, by input length",
    )
