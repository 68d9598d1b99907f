"""Use matplotlib figures: convert them to PGFPlots if the conversion is exact, else let matplotlib draw them.

The module `convert` writes drawings with known parts in the style of the project's figures. Matplotlib's PGF backend
draws the others, in the document's fonts (`canvas`), and the build reports why. If neither can draw a part, an error
names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from boundpaper.build import process
from boundpaper.errors import MissingDependency, SpecError, ThesisError
from boundpaper.figures.spec import Figure
from boundpaper.figures.style import PALETTE, TEXT_WIDTH_MM, Look, look, style
from boundpaper.typeset.armour import plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

MOST_TEX = 1_500_000
"""Maximum number of characters of TeX commands: more take pdflatex many seconds, and may exhaust its memory."""
MOST_PATHS = 1000
"""In a drawing too large for TeX, collections with more paths, and lines with more points, are rasterized."""
RESOLUTION = 300
"""Resolution of rasterized artists in dots per inch."""
_MM_PER_INCH = 25.4
_SLACK = 0.02
"""Distance in inches by which a drawing may extend beyond its canvas before the canvas is enlarged."""
_MARKS = {"*": "o", "square*": "s", "triangle*": "^", "diamond*": "D", "pentagon*": "p"}
_DASHES = {
    "solid": "-",
    "dashed": "--",
    "dash dot": "-.",
    "densely dotted": ":",
    "dash dot dot": (0, (3, 1, 1, 1, 1, 1)),
}


def matplotlib_style(entity: str) -> dict[str, object]:
    """Return keyword arguments for `ax.plot`: see `boundpaper.figures.matplotlib_style`."""
    from boundpaper.figures.series import Series

    entity_look: Look = look(style(entity, {}, "matplotlib_style"), Series())
    base, _, mix = entity_look.color.partition("!")
    rgb = [int(PALETTE[base][i : i + 2], 16) / 255 for i in (0, 2, 4)]
    if mix:
        percent, _, mixed = mix.partition("!")
        fraction, level = int(percent) / 100, 1.0 if mixed == "white" else 0.0
        rgb = [v * fraction + level * (1 - fraction) for v in rgb]
    arguments: dict[str, object] = {"color": tuple(rgb), "marker": _MARKS[entity_look.mark]}
    arguments["linestyle"] = _DASHES[entity_look.dash]
    return {**arguments, "markerfacecolor": "white"} if entity_look.hollow else arguments


def from_matplotlib(
    drawing: Drawing,
    *,
    caption: str,
    note: str = "",
    short: str = "",
    width: float = TEXT_WIDTH_MM,
    height: float | None = None,
) -> Figure:
    """Return a Figure made of a matplotlib drawing: see `boundpaper.figures.from_matplotlib`."""
    try:
        from boundpaper.figures.matplotlib.convert import pgfplots
        from boundpaper.figures.matplotlib.usual import NotConverted
    except ModuleNotFoundError as error:
        raise MissingDependency.package(error.name) from None
    if not drawing.axes and len(drawing.get_children()) <= 1:
        raise SpecError("from_matplotlib: the drawing is empty: it has neither axes nor text; draw on it first")
    try:
        figure = _figure(pgfplots(drawing, width, height), width, "converted to PGFPlots")
        return replace(figure, caption=caption, note=note, short=short)
    except ThesisError:
        raise
    except NotConverted as error:
        reason = str(error)
    except Exception as error:  # the conversion does not know a part, which matplotlib draws
        reason = f"{type(error).__name__} during conversion ({_first_line(error)})"
    figure = _draw_as_pgf(drawing, width, height, reason)
    return replace(figure, caption=caption, note=note, short=short)


def _draw_as_pgf(drawing: Drawing, width: float, height: float | None, reason: str) -> Figure:
    """Return the figure drawn by matplotlib's PGF backend and scaled to `width`."""
    process.require("pdflatex")
    with _axes_height_set(drawing, width, height):
        try:
            sheet, inches = _sheet_or_error(drawing)
            if len(sheet.getvalue()) > MOST_TEX:
                raise NotImplementedError("too much for TeX")
        except NotImplementedError:  # PGF has no command for shaded triangles
            with _large_artists_rasterized(drawing) as kinds:
                sheet, inches = _sheet_or_error(drawing)
            reason += f"; {kinds} as pictures of {RESOLUTION} dots per inch" if kinds else ""
    commands = sheet.getvalue()
    if len(commands) > MOST_TEX:
        raise SpecError(
            f"from_matplotlib: the drawing takes {len(commands) / 1e6:.1f} million characters of TeX, more than "
            f"{MOST_TEX / 1e6:.1f}: give its largest artists rasterized=True, or draw fewer points"
        )
    scale = width / _MM_PER_INCH / inches
    conversion_note = f"drawn by matplotlib itself, because of {reason}"
    if not 0.8 <= scale <= 1.25:
        points = f"{10 * scale:.1f} pt instead of 10"
        inches_wide = f"{width / _MM_PER_INCH:.1f} in wide"
        conversion_note += f"; at {100 * scale:.0f}% of its size (texts of {points}): draw it {inches_wide}"
    box = (
        "\\providecommand{\\mathdefault}[1]{#1}%\n\\newsavebox{\\drawing}\\begin{lrbox}{\\drawing}%\n"
        + commands
        + "\\end{lrbox}%\n"
    )
    body = f"{box}\\resizebox{{{width:.4g}mm}}{{!}}{{\\usebox{{\\drawing}}}}"
    files = {f"-img{i}.png": picture for i, picture in enumerate(sheet.pictures)}
    return replace(_figure(body, width, conversion_note), files=files)


def _sheet_or_error(drawing: Drawing) -> tuple[Any, float]:
    """Return the result of `_draw_sheet`; raise a one-line SpecError if matplotlib or LaTeX cannot draw the sheet."""
    from boundpaper.figures.matplotlib.usual import quiet_fonts

    try:
        with quiet_fonts():
            return _draw_sheet(drawing)
    except (ThesisError, NotImplementedError):
        raise
    except Exception as error:
        raise SpecError(f"from_matplotlib: the drawing cannot be drawn: {_first_line(error)}") from error


@contextmanager
def _large_artists_rasterized(drawing: Drawing) -> Iterator[str]:
    """Rasterize, within the block, the artists that are too large for TeX; yield the names of their classes."""
    import numpy as np
    from matplotlib.collections import Collection, QuadMesh, TriMesh
    from matplotlib.lines import Line2D

    def is_large(artist: Any) -> bool:
        if isinstance(artist, Line2D):
            return np.size(artist.get_xydata()) > 2 * MOST_PATHS
        if not isinstance(artist, Collection):
            return False
        count = max(len(artist.get_paths()), np.size(artist.get_offsets()) // 2)
        return count > MOST_PATHS or isinstance(artist, QuadMesh | TriMesh)

    artists = [artist for artist in drawing.findobj(is_large) if not artist.get_rasterized()]
    for artist in artists:
        artist.set_rasterized(True)
    try:
        yield ", ".join(sorted({type(artist).__name__ for artist in artists}))
    finally:
        for artist in artists:
            artist.set_rasterized(False)


def _draw_sheet(drawing: Drawing) -> tuple[Any, float]:
    """Return the sheet of a drawing and the sheet's width in inches; enlarge the sheet if a part exceeds the canvas."""
    import matplotlib
    from matplotlib.transforms import Bbox

    from boundpaper.figures.matplotlib.canvas import Sheet, preamble

    def write_sheet(box: Any) -> Any:
        sheet = Sheet()
        drawing.savefig(
            sheet,
            format="pgf",
            backend="module://boundpaper.figures.matplotlib.canvas",
            dpi=RESOLUTION,
            bbox_inches=box,
        )
        return sheet

    settings: Any = {
        "pgf.texsystem": "pdflatex",
        "pgf.rcfonts": False,
        "pgf.preamble": preamble(),
        "savefig.bbox": None,
    }
    with matplotlib.rc_context(settings):
        sheet = write_sheet(None)
        width, height = drawing.get_size_inches()
        (left, low), (right, top) = sheet.area.get_points()
        if left >= -_SLACK and low >= -_SLACK and right <= width + _SLACK and top <= height + _SLACK:
            return sheet, float(width)
        full = Bbox.union([sheet.area.padded(_SLACK), Bbox([[0, 0], [width, height]])])
        if full.width > 4 * width or full.height > 4 * height:
            raise SpecError(
                f"from_matplotlib: the drawing is {width:.1f} by {height:.1f} in, but its parts take "
                f"{full.width:.0f} by {full.height:.0f} in: move texts and legends closer to the axes, or clip them "
                "(clip_on=True)"
            )
        return write_sheet(full), float(full.width)


@contextmanager
def _axes_height_set(drawing: Drawing, width: float, height: float | None) -> Iterator[None]:
    """Set, within the block, the drawing's height so that its first axes at `width` mm width are `height` mm high."""
    inches_wide, inches_high = drawing.get_size_inches()
    if height is None or not drawing.axes:
        yield
        return
    axes_height = drawing.axes[0].get_position().height * inches_high * width / inches_wide
    drawing.set_size_inches(inches_wide, inches_high * height / axes_height)
    try:
        yield
    finally:
        drawing.set_size_inches(inches_wide, inches_high)


def _figure(body: str, width: float, conversion_note: str) -> Figure:
    """Return a figure without caption, whose body begins with the note as a comment."""
    comment = re.sub(r"[^ -~]|[\\^]", " ", plain(conversion_note))  # without characters special to TeX
    return Figure(body=f"% {comment}\n{body}", width=width, conversion_note=conversion_note, caption="")


def _first_line(error: Exception) -> str:
    """Return the first line of an error's message, and the first LaTeX error that the message quotes."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    latex_error = next((line[2:] for line in lines if line.startswith("! ")), "")
    return f"{lines[0]}: {latex_error}" if latex_error else lines[0]
