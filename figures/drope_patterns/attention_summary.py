"""Attention to BOS and to neighbours by layer (Figure 19 of the report)."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Line, Panel, Rule

KINDS = {"bos": "attention to BOS", "local": "attention to neighbours"}
MODELS = {"rope": "RoPE", "drope": "DroPE"}


def figure(attention_layers: pd.DataFrame, attention_agreement: pd.DataFrame, drope_protocols: pd.DataFrame) -> Figure:
    """Plot one panel per quantity, and the differences between the models."""
    agreement = attention_agreement[attention_agreement["layers"] == "all layers"].set_index("kind")
    panels = [
        Panel(
            title=title,
            series=[
                Line(entity=entity, x=attention_layers["layer"], y=attention_layers[f"{kind}_{entity}"], marks=True)
                for entity in MODELS
            ],
            x=Axis(label="layer", ticks=[0, 10, 20, 30]),
            y=Axis(label="mean over heads, %", zero=True),
        )
        for kind, title in KINDS.items()
    ]
    panels.append(
        Panel(
            title="DroPE minus RoPE",
            series=[
                Line(
                    entity=entity,
                    label=KINDS[kind].removeprefix("attention "),
                    x=attention_layers["layer"],
                    y=attention_layers[f"{kind}_difference"],
                    marks=True,
                )
                for kind, entity in (("bos", "series-3"), ("local", "series-4"))
            ],
            rules=[Rule(at=0, dash="solid")],
            x=Axis(label="layer", ticks=[0, 10, 20, 30]),
            y=Axis(label="points"),
        )
    )
    n = int(agreement["n"].iloc[0])
    return Figure(
        panels=panels,
        letters=True,
        height=45,
        caption=(
            f"Attention to BOS and to the neighbours in the {n} layers, mean over heads and "
            f"{drope_protocols.set_index('experiment')['items']['7']}, published values [@africa2026]. Unit: layer."
        ),
        short="Attention to BOS and to neighbours by layer",
        note=(
            f"DroPE attends less to neighbours in {agreement['layers_drope_less']['local']} layers and more to BOS in "
            f"{agreement['layers_drope_more']['bos']}, among them the last {agreement['late_run']['bos']}."
        ),
    )
