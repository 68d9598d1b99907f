"""Figures: one file per figure, `figures/STORY/NAME.py` with `def figure(<artifacts>) -> Figure`.

A figure says what it shows; the renderers in `_press` say how it looks. This module
only gathers the vocabulary, so that a figure's file needs one import:

    from figures import Axis, Figure, Line, Panel
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from figures._press.series import Bars, Bundle, Fit, Forest, Heatmap, Line, Points, Series, Stacked
from figures._press.spec import Annotation, Axis, Figure, Panel, Rule, Shade
from figures._press.style import TEXT_WIDTH_MM, Style, display

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

__all__ = [
    "TEXT_WIDTH_MM",
    "Annotation",
    "Axis",
    "Bars",
    "Bundle",
    "Figure",
    "Fit",
    "Forest",
    "Heatmap",
    "Line",
    "Panel",
    "Points",
    "Rule",
    "Series",
    "Shade",
    "Stacked",
    "Style",
    "display",
    "from_matplotlib",
    "matplotlib_style",
]


def from_matplotlib(drawing: MatplotlibFigure, **fields: Any) -> Figure:
    """Take over a figure drawn in matplotlib: see `figures._press.matplotlib.from_matplotlib`."""
    from figures._press.matplotlib import from_matplotlib as convert

    return convert(drawing, **fields)


def matplotlib_style(entity: str) -> dict[str, Any]:
    """Colour, marker and line style of an entity for `ax.plot`: see `figures._press.matplotlib.matplotlib_style`."""
    from figures._press.matplotlib import matplotlib_style as convert

    return convert(entity)
