"""What the tiny pair loses without one part of one layer, for every layer."""

import pandas as pd

from figures import Axis, Figure, Line, Panel, Rule, Shade

PARTS = {
    "mlp": "MLP",
    "attention": "attention",
    "both": "attention and MLP",
    "bos_mlp": "MLP at the first token",
}
APART = 0.07  # of a layer, so that the two models' intervals do not cover each other


def figure(lab_ablation_sweep: pd.DataFrame) -> Figure:
    """One panel per part; means over seeds, bars from the least to the most of them."""
    layers = sorted(lab_ablation_sweep["layer"].unique())
    panels = []
    for part, title in PARTS.items():
        rows = lab_ablation_sweep[lab_ablation_sweep["ablation"] == part]
        panels.append(
            Panel(
                title=title,
                series=[
                    Line(
                        entity=side,
                        x=rows["layer"] + shift,
                        y=rows[side],
                        low=rows[f"{side}_least"],
                        high=rows[f"{side}_most"],
                        marks=True,
                        origin="measured",
                    )
                    for side, shift in (("rope", -APART), ("drope", APART))
                ],
                shades=[Shade(low=0.6, high=1.4)],
                rules=[Rule(at=0, dash="solid")],
                x=Axis(label="layer", ticks=layers),
                y=Axis(label="added nats a token", zero=True),
            )
        )
    seeds = int(lab_ablation_sweep["seeds"].max())
    return Figure(
        panels=panels,
        columns=2,
        letters=True,
        height=36,
        caption=(
            "What the tiny pair loses when one part of one layer writes nothing: nats a token over the same text "
            "undisturbed, for each "
            f"of its {len(layers)} layers. Unit: one training seed, n = {seeds} a model; points are means over seeds, "
            "bars run from the least to the most of them. Below zero the text is predicted better without the part. "
            "Layer 1, the only one that the DroPE report ablates [@africa2026], is shaded. Panels differ in scale."
        ),
        short="Ablations of every layer of the tiny pair",
    )
