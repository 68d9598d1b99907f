"""Passkey retrieval by context length, one protocol per panel (Figures H and 24 of the report)."""

from dataclasses import replace

import pandas as pd

from boundpaper.figures import Axis, Figure, Panel, Points, Shade, Style

MODELS = {"rope": "RoPE", "drope": "DroPE"}
OFFSETS = {"RoPE": -0.24, "DroPE": 0.0, "simple": 0.24}  # horizontal offsets of the points at one length
PANELS = {"lengths": "lengths", "errors": "error analysis", "formats": "prompt formats"}


def figure(context_cells: pd.DataFrame, drope_figures: pd.DataFrame) -> Figure:
    """Plot points with Wilson intervals, shaded beyond the training length; hollow points are read off a figure."""
    known_cells = context_cells[context_cells["share"].notna()]
    trained = int(context_cells["context"][~context_cells["beyond"].astype(bool)].max())
    plotted_values = drope_figures[(drope_figures["figure"] == "H") & (drope_figures["series"] == "DroPE")]
    unprinted = plotted_values[plotted_values["x"].astype(int) == trained]
    longest = known_cells["context"].max()
    panels = []
    for protocol, title in PANELS.items():
        rows = known_cells[known_cells["protocol"] == protocol]
        positions = {context: float(number) for number, context in enumerate(sorted(set(rows["context"])))}
        series: list[Points] = []
        for entity, model in MODELS.items():
            model_rows = rows[rows["positional"] == model]
            for prompt in dict.fromkeys(model_rows["format"]):
                if model == "RoPE" and prompt == "simple":
                    continue  # the report prints one value for both formats
                cells = model_rows[model_rows["format"] == prompt]
                points = Points(
                    entity=entity,
                    label=model,
                    legend=protocol == "lengths",
                    x=cells["context"].map(positions) + OFFSETS["simple" if prompt == "simple" else model],
                    y=cells["share"],
                    y_low=cells["ci_low"],
                    y_high=cells["ci_high"],
                )
                if prompt == "simple":
                    points = replace(points, entity="drope-simple", label="DroPE, simple prompt", legend=True)
                series.append(points)
        if protocol == "lengths":
            series.append(
                Points(
                    entity="drope",
                    label="DroPE, in a figure only",
                    origin="reported",
                    x=unprinted["x"].astype(int).map(positions) + OFFSETS["simple"],
                    y=unprinted["value"],
                )
            )
        trials, last = rows["trials"].iloc[0], rows["context"].max()
        panels.append(
            Panel(
                title=f"{title}, $n = {trials}$",
                series=series,
                shades=[Shade(low=positions[trained] + 0.5, high=None, label="beyond")] if last > trained else [],
                x=Axis(
                    label="context (tokens)",
                    low=-0.5,
                    high=positions[last] + 0.5,
                    ticks={number: f"{context // 1024}K" for context, number in positions.items()},
                ),
                y=Axis(label="passkey accuracy, %", low=-4, high=104, ticks=[0, 25, 50, 75, 100]),
            )
        )
    return Figure(
        panels=panels,
        letters=True,
        share_y=True,
        height=36,
        entities={"drope-simple": Style(color="okvermillion!60!black", mark="diamond*")},
        caption=(
            f"At 8K tokens DroPE finds {_cell_text(known_cells, 'lengths', longest)} passkeys in one protocol and "
            f"{_cell_text(known_cells, 'errors', longest)} in another: three of Section 11 of the report "
            "[@africa2026], (a) Section 11.2, (b) 11.5, (c) 11.7, where DroPE has RULER's prompt unless named. Bars: "
            "95 % Wilson intervals; lengths in their order, points of one length side by side. Grey: beyond the "
            "training length. Unit: trial, unseeded."
        ),
        short="Passkey accuracy by context length",
        note=(
            "Hollow: a value that the report draws in its Figure H and prints nowhere, so that no interval can be "
            "given; that figure joins (a) and the first point of (b) into one line."
        ),
    )


def _cell_text(cells: pd.DataFrame, protocol: str, context: int) -> str:
    rows = cells[(cells["protocol"] == protocol) & (cells["context"] == context) & (cells["positional"] == "DroPE")]
    return f"{rows['correct'].iloc[0]} of {rows['trials'].iloc[0]}"
