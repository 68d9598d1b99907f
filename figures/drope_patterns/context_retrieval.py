"""Passkey retrieval by context length, one protocol per panel (Figures H and 24 of the report)."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Panel, Points, Shade

MODELS = {"rope": "RoPE", "drope": "DroPE"}
ASIDE = {"RoPE": 0.92, "DroPE": 1.08, "simple": 1.26}  # points of one length stand side by side
PANELS = {"lengths": "lengths", "errors": "error analysis", "formats": "prompt formats"}


def figure(context_cells: pd.DataFrame, drope_figures: pd.DataFrame) -> Figure:
    """Points with Wilson intervals; the training range is shaded; a point of the report without data is marked."""
    known = context_cells[context_cells["share"].notna()]
    trained = int(context_cells["context"][~context_cells["beyond"].astype(bool)].max())
    drawn = drope_figures[(drope_figures["figure"] == "H") & (drope_figures["series"] == "DroPE")]
    alone = drawn[drawn["x"].astype(int) == trained]
    first, last = int(context_cells["context"].min()), int(context_cells["context"].max())
    panels = []
    for protocol, title in PANELS.items():
        rows = known[known["protocol"] == protocol]
        series: list[Points] = []
        for entity, model in MODELS.items():
            there = rows[rows["positional"] == model]
            for form in dict.fromkeys(there["format"]):
                if model == "RoPE" and form == "simple":
                    continue  # one printed value stands for both formats
                cells = there[there["format"] == form]
                series.append(
                    Points(
                        entity="drope-simple" if form == "simple" else entity,
                        label="DroPE, simple prompt" if form == "simple" else model,
                        legend=protocol == "lengths" or form == "simple",
                        x=cells["context"] * (ASIDE[model] if form != "simple" else ASIDE["simple"]),
                        y=cells["share"],
                        y_low=cells["ci_low"],
                        y_high=cells["ci_high"],
                    )
                )
        if protocol == "lengths":
            series.append(
                Points(
                    entity="reported",
                    label="DroPE as drawn in the report, no number in its tables",
                    origin="reported",
                    x=alone["x"].astype(int),
                    y=alone["value"],
                )
            )
        trials = rows["trials"].iloc[0]
        panels.append(
            Panel(
                title=f"{title}, $n = {trials}$",
                series=series,
                shades=[Shade(low=None, high=trained, label="training length" if protocol == "errors" else "")],
                x=Axis(
                    label="context, tokens",
                    scale="log",
                    base=2,
                    low=first * 0.82,
                    high=last * 1.2,
                    ticks={1024: "1K", 2048: "2K", 4096: "4K", 8192: "8K"},
                ),
                y=Axis(label="passkey accuracy, %", low=-4, high=104, ticks=[0, 25, 50, 75, 100]),
            )
        )
    return Figure(
        panels=panels,
        columns=3,
        letters=True,
        share_y=True,
        height=48,
        entities={"drope-simple": "series-4"},
        caption=(
            "Passkey accuracy by context length in the three protocols of Section 11 of the report [@africa2026]: "
            "(a) Section 11.2, (b) 11.5, (c) 11.7, where DroPE has RULER's prompt unless named. Bars: 95 % Wilson "
            "intervals; no length between was tried. Shaded: up to the training length. Unit: trial, unseeded."
        ),
        short="Passkey accuracy by context length",
        note=(
            "The hollow point lies on RoPE's. The report's Figure H joins (a) and the first point of (b) into one "
            "line. DroPE at 8K tokens has "
            f"{_cell(known, 'lengths', last)} in (a) and {_cell(known, 'errors', last)} in (b)."
        ),
    )


def _cell(cells: pd.DataFrame, protocol: str, context: int) -> str:
    rows = cells[(cells["protocol"] == protocol) & (cells["context"] == context) & (cells["positional"] == "DroPE")]
    return f"{rows['correct'].iloc[0]} of {rows['trials'].iloc[0]}"
