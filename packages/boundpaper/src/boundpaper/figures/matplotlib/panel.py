"""Define the parts of a converted drawing: panels, axes and marks."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.path import Path

from boundpaper.figures.matplotlib.words import latex_words

_PATH_COMMANDS = {
    Path.MOVETO: "moveto",
    Path.LINETO: "lineto",
    Path.CURVE3: "quadraticcurveto",
    Path.CURVE4: "curveto",
}


def number(value: float) -> str:
    """Return a number as text with ten significant digits, more than PGFPlots reads."""
    text = f"{value:.10g}"
    return "0" if text == "-0" else text


def latex_lines(text: str) -> str:
    """Return the LaTeX of a text of one or more lines."""
    return r"\\".join(latex_words(line) for line in text.split("\n")) if text.strip() else ""


def kind_of(artist: Any) -> str:
    """Return the class name of an artist with an article: "a Line2D"."""
    name = type(artist).__name__
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"


@dataclass
class ConvertedAxis:
    """An axis with limits, scale, ticks and their labels, and all values drawn along it."""

    low: float
    high: float
    is_log: bool
    ticks: list[float]
    tick_labels: list[str]
    minor_ticks: list[float]
    has_grid: bool
    label: str
    values: set[float] = field(default_factory=set)

    def contains(self, value: float) -> bool:
        """Return whether a value is within the limits."""
        slack = 1e-9 * abs(self.high - self.low)
        return self.low - slack <= value <= self.high + slack


@dataclass
class ConvertedPanel:
    """A pair of axes with plots and a legend, at a row and column of the grid.

    `ratio` is height over width. `plots` have PGFPlots code, and `entries` have the pictures and names of the legend.
    `legend_at` is the position of the legend in fractions of the axes; if it is None, the legend is above them.
    """

    row: int
    column: int
    x: ConvertedAxis
    y: ConvertedAxis
    ratio: float
    title: str
    plots: list[str] = field(default_factory=list)
    entries: list[tuple[str, str]] = field(default_factory=list)
    legend_at: tuple[float, float] | None = None


class Marks:
    """The shapes of all marks of a drawing, each of which PGFPlots declares once."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def name(self, path: Any, is_filled: bool, scale: float) -> str:
        """Return the name of a mark of this shape; `scale` converts its lengths to points of 1/72 inch."""
        commands = []
        for points, code in path.iter_segments(simplify=False, curves=True):
            pairs = [f"\\pgfqpoint{{{x * scale:.4f}bp}}{{{y * scale:.4f}bp}}" for x, y in np.reshape(points, (-1, 2))]
            if code == Path.CLOSEPOLY:
                commands.append(r"\pgfpathclose")
                continue
            commands.append(f"\\pgfpath{_PATH_COMMANDS[code]}" + "".join(f"{{{p}}}" for p in pairs))
        shape = "".join(commands) + (r"\pgfusepathqfillstroke" if is_filled else r"\pgfusepathqstroke")
        return self.names.setdefault(shape, f"drawn-{len(self.names) + 1}")

    def declarations(self) -> str:
        """Return the PGFPlots declarations of all marks."""
        return "".join(f"\\pgfdeclareplotmark{{{name}}}{{{shape}}}\n" for shape, name in self.names.items())
