"""Bias per token, bias per window, and plasticity drop of SmolLM3 by training checkpoint."""

import pandas as pd

from boundpaper.figures import Annotation, Axis, Figure, Line, Panel, Shade
from boundpaper.figures.series import Origin

PHASES = {"Pre-train": "pre-training", "Anneal": "annealing", "LC 4K-32K": "to 32K", "LC 32K-64K": "to 64K"}


def figure(training_trajectory: pd.DataFrame) -> Figure:
    """Plot one panel per quantity over the checkpoints."""
    rows = training_trajectory.sort_values("order")
    first, last = int(rows["order"].min()), int(rows["order"].max())
    phase_ends = rows.groupby("phase", sort=False)["order"].agg(["min", "max"])
    labels = list(rows["display_name"].str.split().str[-1])
    ticks = dict(zip(rows["order"].astype(float), labels, strict=True))
    axis = Axis(label="checkpoint, by training steps", low=first - 0.5, high=last + 0.5, ticks=ticks, grid=False)
    origins: tuple[Origin, ...] = ("reported", "recomputed", "reported")
    panels = (
        ("bias_token", "bias per token", Axis(label="bias ($10^{-3}$)", low=0, high=24, ticks=(0, 10, 20))),
        ("bias_window", "bias per window, recomputed", Axis(label="bias", low=0, high=160, ticks=(0, 50, 100))),
        ("ap_drop", "plasticity drop", Axis(label="drop", low=0, high=0.24, ticks=(0, 0.05, 0.1, 0.15))),
    )
    rows = rows.assign(bias_token=1e3 * rows["bias_strength"])
    annealed, end = rows[rows["phase"] == "Anneal"].iloc[-1], rows.iloc[-1]
    heights = {name: float(end[name]) + 0.07 * (scale.high or 0) for name, _, scale in panels}
    low, high = int(rows["context"].min()), int(rows["context"].max())
    return Figure(
        panels=[
            Panel(
                series=[
                    Line(x=rows["order"], y=rows[name], entity="smollm3-3b", origin=origin, legend=False, dash="solid")
                ],
                title=title,
                x=axis,
                y=scale,
                annotations=[
                    Annotation(x=last, y=heights[name], text=_factor_text(end[name] / annealed[name]), anchor="above")
                ],
                shades=[  # every second phase stays white: only its middle, where its name stands
                    Shade(low=middle - half, high=middle + half, label="" if position else PHASES[str(phase)])
                    for number, (phase, ends) in enumerate(phase_ends.iterrows())
                    for middle, half in [(ends.mean(), 0.0 if number % 2 else (ends["max"] - ends["min"] + 1) / 2)]
                ],
            )
            for position, ((name, title, scale), origin) in enumerate(zip(panels, origins, strict=True))
        ],
        columns=1,
        height=21,
        letters=True,
        share_x=True,
        legend="none",
        caption=(
            "As SmolLM3-3B is extended the bias per token falls, but per window it grows with the plasticity drop. "
            f"{len(rows)} checkpoints of one run [@shcherb2026], by training steps (of the run up to annealing, then "
            f"of the phase), windows of {low:,} to {high:,} tokens; factors: since annealing."
        ),
        note=(
            "Hollow: as printed; solid: per token times the window. Unit: one checkpoint, mean over heads; the study "
            "gives no uncertainty."
        ),
        short="SmolLM3 in training: bias in both units, and the plasticity drop",
    )


def _factor_text(factor: float) -> str:
    """Return a factor of change as text: a multiplication if it is above 1, else a division."""
    return f"$\\times {factor:.3g}$" if factor > 1 else f"$\\div {1 / factor:.3g}$"
