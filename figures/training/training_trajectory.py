"""SmolLM3 over its checkpoints: the bias per token, the bias per window, and the plasticity drop."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Line, Panel, Shade
from boundpaper.figures.series import Origin

PHASES = {"Pre-train": "pre-training", "Anneal": "annealing", "LC 4K-32K": "to 32K", "LC 32K-64K": "to 64K"}


def figure(training_trajectory: pd.DataFrame) -> Figure:
    """Return the figure."""
    rows = training_trajectory.sort_values("order")
    first, last = int(rows["order"].min()), int(rows["order"].max())
    spans = rows.groupby("phase", sort=False)["order"].agg(["min", "max"])
    labels = list(rows["display_name"].str.split().str[-1])
    axis = Axis(
        label="checkpoint, by training steps",
        low=first - 0.5,
        high=last + 0.5,
        ticks=dict(zip(rows["order"].astype(float), labels, strict=True)),
        grid=False,
    )
    origins: tuple[Origin, ...] = ("reported", "recomputed", "reported")
    panels = (
        ("bias_token", Axis(label="bias / token", zero=True, ticks=(0, 10, 20))),
        ("bias_window", Axis(label="bias / window", zero=True, ticks=(0, 50, 100))),
        ("ap_drop", Axis(label="drop", zero=True, ticks=(0, 0.05, 0.1, 0.15))),
    )
    data = rows.assign(bias_token=1e3 * rows["bias_strength"])
    low, high = int(rows["context"].min()), int(rows["context"].max())
    return Figure(
        panels=[
            Panel(
                series=[
                    Line(x=data["order"], y=data[name], entity="smollm3-3b", origin=origin, legend=False, dash="solid")
                ],
                x=axis,
                y=scale,
                shades=[
                    Shade(
                        low=float(span["min"]) - 0.5,
                        high=float(span["max"]) + 0.5,
                        label=PHASES[str(phase)] if position == 0 else "",
                    )
                    for phase, span in spans.iterrows()
                ],
            )
            for position, ((name, scale), origin) in enumerate(zip(panels, origins, strict=True))
        ],
        columns=1,
        height=21,
        letters=True,
        share_x=True,
        legend="none",
        caption=(
            f"SmolLM3-3B over {len(rows)} checkpoints of one run [@shcherb2026], labelled by training steps (of the "
            "run up to annealing, of the phase after it). From annealing to the last checkpoint the bias per token "
            f"falls, but the window grows from {low:,} to {high:,} tokens, and per window the bias grows with the drop."
        ),
        note=(
            "Bias in thousandths a token; per window it is recomputed: per token times the window. Plasticity drop as "
            "printed. Unit: one checkpoint, mean "
            "over heads; the study gives no uncertainty."
        ),
        short="SmolLM3 in training: bias in both units, and the plasticity drop",
    )
