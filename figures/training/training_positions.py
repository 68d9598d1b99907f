"""Plasticity of SmolLM3 by absolute position, and by the bias accumulated up to a position."""

import pandas as pd

from boundpaper.figures import Annotation, Axis, Figure, Line, Panel, Style
from boundpaper.store.frames import pick

LOOKS = {
    "Pre-train": Style(color="okpurple", mark="*"),
    "Anneal": Style(color="okpurple!75!black", mark="diamond*", dash="densely dotted"),
    "LC 4K-32K": Style(color="okpurple!50!black", mark="square*", dash="dashed"),
    "LC 32K-64K": Style(color="okblack", mark="triangle*", dash="dash dot"),
}
PHASES = {"Pre-train": "pre-training", "Anneal": "annealing", "LC 4K-32K": "to 32K", "LC 32K-64K": "to 64K"}
TICKS = {512: "512", 4096: "4K", 32768: "32K"}


def figure(training_positions: pd.DataFrame, training_tests: pd.DataFrame) -> Figure:
    """Plot one panel per horizontal axis and one line per checkpoint."""
    bins = training_positions[training_positions["plasticity"].notna()].sort_values(["order", "start"])
    bins = bins.assign(name=[_checkpoint_in_words(row) for _, row in bins.iterrows()])
    names = list(dict.fromkeys(bins["name"]))
    phases = bins.drop_duplicates("name").set_index("name")["phase"]
    start = bins.iloc[0]  # the first phase is named there, since other curves surround its end
    last_names = set(phases[phases != start["phase"]].drop_duplicates(keep="last").index)
    label, x = f"{names[0].replace(', ', ', from ')} steps", start["middle"]
    first_name = Annotation(x=x, y=0.715, text=label, entity=names[0], target=(x, start["plasticity"]))
    bin_note = f", {len(bins)} bins, not independent"
    panels = (
        ("middle", "position", Axis(label="position (tokens)", scale="log", base=2, ticks=TICKS)),
        ("gathered_bias", "gathered bias", Axis(label="bias per token $\\times$ position", scale="log")),
    )
    rho = {
        name: pick(training_tests, comparison=f"plasticity against {name}, bins of all checkpoints")["estimate"]
        for _, name, _ in panels
    }
    return Figure(
        panels=[
            Panel(
                series=[
                    Line(
                        x=rows[column],
                        y=rows["plasticity"],
                        entity=str(name),
                        origin="reported",
                        direct=PHASES[rows["phase"].iloc[0]] if name in last_names and column == "middle" else False,
                        legend=False,
                    )
                    for name, rows in bins.groupby("name", sort=False)
                ],
                title=f"by {name}",
                x=axis,
                y=Axis(label="plasticity", ticks=[0.4, 0.5, 0.6, 0.7], low=0.4, high=0.73),
                annotations=[
                    Annotation(
                        x=bins[column].min(), y=0.42, text=f"$\\rho = {rho[name]:.2f}${bin_note}", anchor="right"
                    ),
                    *([first_name] if column == "middle" else []),
                ],
            )
            for column, name, axis in panels
        ],
        legend="none",
        letters=True,
        share_y=True,
        entities={str(name): LOOKS[phase] for name, phase in phases.items()},
        caption=(
            "At equal positions extended checkpoints of SmolLM3-3B are more plastic; by gathered bias their far ends "
            f"join those of pre-training. Plasticity of {len(names)} checkpoints of one run [@shcherb2026] (a) against "
            "the position of the query, (b) against the bias per token times that position."
        ),
        note=(
            f"Points are the middles of the {len(bins)} bins of Tables 6 and 7, a line for each checkpoint, "
            "later phases darker. Spearman's $\\rho$ is over these bins; those of a checkpoint are not independent. "
            "Unit: mean over heads; the study gives no uncertainty."
        ),
        short="SmolLM3 by position, and by the bias gathered up to it",
    )


def _checkpoint_in_words(row: pd.Series) -> str:
    """Return a checkpoint's phase in words, and the number of steps at the end of its display name."""
    return f"{PHASES[row['phase']]}, {str(row['display_name']).rpartition(' ')[2]}"
