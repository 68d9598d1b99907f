"""Perplexity without a layer's output at the first token, in Experiments 4 (Figure 13 of the report) and 6."""

import pandas as pd

from boundpaper.figures import Axis, Bars, Figure, Panel

LABELS = {"baseline": "baseline", "ablated": "output removed"}
MODELS = {"rope": "RoPE", "drope": "DroPE"}


def figure(bos_mlp_effects: pd.DataFrame) -> Figure:
    """Plot Experiment 4 as the report shows it, and Experiment 6 in the same layer of both models."""
    panels = []
    top = 3 * float(bos_mlp_effects["ablated_ppl"].max())
    for experiment, title in ((4, "MLP output removed"), (6, "MLP and attention output removed")):
        rows = bos_mlp_effects[bos_mlp_effects["experiment"] == experiment].set_index("positional")
        labels = [f"{name}, layer {rows['layer'][name]}" for name in MODELS.values()]
        panels.append(
            Panel(
                title=title,
                series=[
                    Bars(
                        entity=state,
                        label=LABELS[state],
                        x=labels,
                        y=[rows[column][name] for name in MODELS.values()],
                        values=[rows[f"{state}_printed"][name] for name in MODELS.values()],
                    )
                    for state, column in (("baseline", "baseline_ppl"), ("ablated", "ablated_ppl"))
                ],
                y=Axis(label="perplexity", scale="log", low=1, high=top),
            )
        )
    drope = bos_mlp_effects[(bos_mlp_effects["experiment"] == 4) & (bos_mlp_effects["positional"] == "DroPE")]
    return Figure(
        panels=panels,
        letters=True,
        share_y=True,
        height=52,
        entities={"ablated": "disrupted"},
        caption=(
            "Perplexity before and after a layer's output at the first token is removed, as printed in Sections 5.3 "
            "and 7.3 of the report [@africa2026], one value per bar. Logarithmic axis from 1, the smallest possible "
            "perplexity."
        ),
        short="Perplexity without a layer's output at the first token",
        note=(
            f"The left panel compares different layers: DroPE's layer {drope['layer'].iloc[0]} writes "
            f"{drope['write_share'].iloc[0]:.1f} % of the norm that the first token has there."
        ),
    )
