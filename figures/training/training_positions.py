"""SmolLM3 by position: plasticity at absolute positions, and at the bias gathered up to a position."""

import itertools

import pandas as pd

from boundpaper.figures import Axis, Figure, Line, Panel, Style
from boundpaper.store.frames import pick

LOOKS = (
    Style(color="okblue!40!white", mark="*", dash="solid"),
    Style(color="okblue!70!white", mark="square*", dash="dashed"),
    Style(color="okblue", mark="triangle*", dash="dash dot"),
    Style(color="okblue!60!black", mark="diamond*", dash="densely dotted"),
    Style(color="okorange", mark="*", dash="solid"),
    Style(color="okorange!75!black", mark="square*", dash="dashed"),
    Style(color="okvermillion", mark="*", dash="solid"),
    Style(color="okvermillion!70!black", mark="square*", dash="dashed"),
)


PHASES = {"Pre-train": "pre-training", "Anneal": "annealing", "LC 4K-32K": "to 32K", "LC 32K-64K": "to 64K"}
TICKS = {512: "512", 4096: "4K", 32768: "32K"}


def figure(training_positions: pd.DataFrame, training_tests: pd.DataFrame) -> Figure:
    """Return the figure."""
    known = training_positions[training_positions["plasticity"].notna()].sort_values(["order", "start"])
    known = known.assign(name=[_checkpoint(row) for _, row in known.iterrows()])
    names = list(dict.fromkeys(known["name"]))
    phases = known.drop_duplicates("name").set_index("name")["phase"].map(PHASES)
    first = set(phases.drop_duplicates().index)
    panels = (
        ("middle", Axis(label="position (tokens)", scale="log", base=2, ticks=TICKS)),
        ("gathered_bias", Axis(label="bias per token $\\times$ position", scale="log")),
    )
    place, gathered = (
        pick(training_tests, comparison=f"plasticity against {name}, bins of all checkpoints")
        for name in ("position", "gathered bias")
    )
    return Figure(
        panels=[
            Panel(
                series=[
                    Line(
                        x=rows[column],
                        y=rows["plasticity"],
                        entity=str(name),
                        origin="reported",
                        legend=name in first,
                    )
                    for name, rows in known.groupby("name", sort=False)
                ],
                x=axis,
                y=Axis(label="plasticity"),
            )
            for column, axis in panels
        ],
        columns=2,
        letters=True,
        share_y=True,
        entities={
            name: Style(color=look.color, mark=look.mark, dash=look.dash, label=phases[name])
            for name, look in zip(names, itertools.cycle(LOOKS), strict=False)
        },
        caption=(
            f"Plasticity of SmolLM3-3B by position, {len(names)} checkpoints of one run [@shcherb2026]: (a) against "
            "the position of the query, (b) against the bias per token times that position. Extended checkpoints are "
            "more plastic at equal positions; by gathered bias their far ends join those of pre-training."
        ),
        note=(
            f"Points are the middles of the {len(known)} bins of Tables 6 and 7. Spearman's $\\rho$ over them is "
            f"${place['estimate']:.2f}$ in (a) and ${gathered['estimate']:.2f}$ in (b); bins of a checkpoint are not "
            "independent. Unit: mean over heads; the study gives no uncertainty. "
            "Within a phase, later checkpoints are drawn darker."
        ),
        short="SmolLM3 by position, and by the bias gathered up to it",
    )


def _checkpoint(row: pd.Series) -> str:
    """A checkpoint by its phase and the steps in it: the words of the study's names that a reader knows."""
    return f"{PHASES[row['phase']]}, {str(row['display_name']).rpartition(' ')[2]}"
