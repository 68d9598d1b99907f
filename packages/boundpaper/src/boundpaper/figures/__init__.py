"""Define figures: one file per figure, `figures/STORY/NAME.py` with `def figure(<artifacts>) -> Figure`.

A figure's file specifies what is shown; the renderers in this folder decide how it looks. This module collects the
names that a figure's file needs, so that one import is enough:

    from boundpaper.figures import Axis, Figure, Line, Panel
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boundpaper.figures.series import Bars, Bundle, Fit, Forest, Heatmap, Line, Points, Series, Stacked
from boundpaper.figures.spec import Annotation, Axis, Figure, Panel, Rule, Shade
from boundpaper.figures.style import TEXT_WIDTH_MM, Style, display

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


def from_matplotlib(
    drawing: MatplotlibFigure,
    *,
    caption: str,
    note: str = "",
    short: str = "",
    width: float = TEXT_WIDTH_MM,
    height: float | None = None,
) -> Figure:
    """Return a Figure made of a matplotlib drawing, converted to PGFPlots if possible, else drawn by matplotlib.

    Parameters
    ----------
    drawing : matplotlib.figure.Figure
        The drawing, which is not changed.
    caption, note, short : str
        Texts of the Figure.
    width : float
        Width of the whole figure in mm.
    height : float, optional
        Height of each panel's axes in mm; by default from the drawing's proportions.

    Returns
    -------
    Figure
        A figure whose `conversion_note` says whether matplotlib drew it, and why.

    Raises
    ------
    SpecError
        When matplotlib cannot draw an artist, or LaTeX cannot set a text; the message names the artist or text.
    MissingDependency
        When matplotlib is not installed, or LaTeX, with which its backend measures texts.

    Examples
    --------
    >>> import boundpaper as bp
    >>> from matplotlib.figure import Figure
    >>> drawing = Figure()
    >>> _ = drawing.subplots().plot([1, 7, 14], [0.5, 8.1, 18.4])
    >>> bp.from_matplotlib(drawing, caption="Growth.").conversion_note
    'converted to PGFPlots'
    """
    from boundpaper.figures import matplotlib as adapter

    return adapter.from_matplotlib(drawing, caption=caption, note=note, short=short, width=width, height=height)


def matplotlib_style(entity: str) -> dict[str, object]:
    """Return keyword arguments of `ax.plot` that give an entity the look it has in all other figures.

    Parameters
    ----------
    entity : str
        An entity with a look in the paper's vocabulary.

    Returns
    -------
    dict
        `color` (RGB from 0 to 1), `marker` and `linestyle`, and for hollow marks `markerfacecolor`.

    Examples
    --------
    >>> from boundpaper.figures import matplotlib_style
    >>> sorted(matplotlib_style("neutral"))
    ['color', 'linestyle', 'marker']
    """
    from boundpaper.figures import matplotlib as adapter

    return adapter.matplotlib_style(entity)
