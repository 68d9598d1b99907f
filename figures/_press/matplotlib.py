"""Figures that contributors draw in matplotlib, taken over through matplot2tikz.

matplot2tikz 0.5 draws axes, lines, areas and pictures well, and four things not; each is taken out of a copy of the
drawing before it converts, and written here instead:

- error bars come out as loose paths with stray marks for their caps: they become PGFPlots error bars;
- legends repeat an entry once per part of an error bar, and their texts are not escaped: they are written from
  matplotlib's own list of handles;
- texts are scaled by guesswork and only partly escaped: all go through this project's one escaper;
- pictures have an alpha channel and depend on the viewer's smoothing: they become plain RGB, each cell 8 pixels wide.
"""

from __future__ import annotations

import pickle
import re
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from artifacts.errors import MissingDependency, SpecError
from figures._press.scale import number
from figures._press.spec import Figure
from figures._press.style import PALETTE, TEXT_WIDTH_MM, Look, look, style
from figures._press.text import latex

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

_SIDE_MM = 15.0
"""Room for the tick labels and the label of one panel's y axis."""
_UNDER_MM = 17.0
"""Room between rows for tick labels, an axis label, and the next row's title."""
_MARKS = {"*": "o", "square*": "s", "triangle*": "^", "diamond*": "D", "pentagon*": "p"}
_DASHES = {
    "solid": "-",
    "dashed": "--",
    "dash dot": "-.",
    "densely dotted": ":",
    "dash dot dot": (0, (3, 1, 1, 1, 1, 1)),
}


def matplotlib_style(entity: str) -> dict[str, Any]:
    """What to pass to `ax.plot` so that an entity looks as it does in every other figure."""
    from figures._press.series import Series

    shown: Look = look(style(entity, {}, "matplotlib_style"), Series())
    base, _, mix = shown.color.partition("!")
    rgb = [int(PALETTE[base][i : i + 2], 16) / 255 for i in (0, 2, 4)]
    if mix:
        share, _, other = mix.partition("!")
        end = 1.0 if other == "white" else 0.0
        rgb = [v * int(share) / 100 + end * (1 - int(share) / 100) for v in rgb]
    settings: dict[str, Any] = {"color": tuple(rgb), "marker": _MARKS[shown.mark], "linestyle": _DASHES[shown.dash]}
    return {**settings, "markerfacecolor": "white"} if shown.hollow else settings


def from_matplotlib(
    drawing: Drawing, *, width: float = TEXT_WIDTH_MM, height: float | None = None, **fields: Any
) -> Figure:
    """Convert a figure drawn in matplotlib.

    Parameters
    ----------
    drawing : matplotlib.figure.Figure
        Left as it is; a grid of axes, each with at most one legend.
    width : float
        Of the whole figure in mm.
    height : float, optional
        Of each panel's axes in mm; by default the drawing's proportions.
    **fields
        `caption`, `short` and `note` of the Figure.

    Raises
    ------
    SpecError
        When matplot2tikz cannot convert a part of the drawing, with what it said.
    MissingDependency
        When matplot2tikz is not installed.
    """
    try:
        import matplot2tikz
    except ImportError:
        raise MissingDependency("matplot2tikz is missing; install it: pip install 'matplot2tikz>=0.5'") from None
    copy: Drawing = pickle.loads(pickle.dumps(drawing))
    if copy.legends:
        raise SpecError(
            "from_matplotlib: legends of the whole figure are not converted; give the legend to one of the axes"
        )
    axes = [a for a in copy.axes if not hasattr(a, "_colorbar")]
    rows, columns = _grid(axes)
    wide = (width - _SIDE_MM * columns) / columns
    drawn_wide, drawn_high = drawing.get_size_inches()
    tall = height if height is not None else max(20.0, drawn_high / rows / (drawn_wide / columns) * wide)
    words: list[str] = []
    extras = [_take_out(a, words) for a in axes]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            code = matplot2tikz.get_tikz_code(
                copy,
                filepath=Path(folder) / "raster.tex",
                axis_width=f"{number(wide)}mm",
                axis_height=f"{number(tall)}mm",
                textsize=5.0,  # half of the 10 points that _take_out sets: the converter's own factor becomes one
                extra_tikzpicture_parameters=[
                    "figure text, every axis/.append style={panel, axis lines*=left, title style={yshift=1.8mm}}"
                ],
                # one text each: the converter keeps several in a set, whose order changes with the hash seed
                extra_groupstyle_parameters=[f"horizontal sep={_SIDE_MM}mm, vertical sep={_UNDER_MM}mm"],
                include_disclaimer=False,
                float_format=".6g",
            )
        except NotImplementedError as error:
            raise SpecError(f"from_matplotlib: matplot2tikz cannot convert this drawing: {error}") from error
        files = {f"-{p.stem.removeprefix('raster-')}.png": _plain_png(p) for p in sorted(Path(folder).glob("*.png"))}
    ours = [w for w in said if "matplot2tikz" in str(w.filename)]
    if ours:
        raise SpecError(f"from_matplotlib: matplot2tikz cannot convert a part of this drawing: {ours[0].message}")
    return Figure(body=_mended(code, extras, words), files=files, width=width, **fields)


def _grid(axes: Sequence[Axes]) -> tuple[int, int]:
    spec = axes[0].get_subplotspec() if axes else None
    if spec is None:
        raise SpecError("from_matplotlib: the drawing has no axes from plt.subplots")
    rows, columns = spec.get_gridspec().get_geometry()
    return int(rows), int(columns)


def _take_out(axes: Axes, words: list[str]) -> tuple[str, str]:
    """Remove from one pair of axes what we write ourselves; return its legend and its error bars as PGFPlots code."""
    from matplotlib.container import ErrorbarContainer
    from matplotlib.text import Text

    def word(text: Text) -> None:
        if text.get_text():
            words.append(text.get_text())
            text.set_text(f"mplword{len(words) - 1}x")
        text.set_fontsize(10.0)

    legend = axes.get_legend()
    entries = ""
    if legend is not None:
        bars_of = [c for c in axes.containers if isinstance(c, ErrorbarContainer)]
        whole: dict[str, Any] = {str(c.get_label()): c.lines[0] for c in bars_of if c.lines[0] is not None}
        for handle, text in zip(legend.legend_handles, (t.get_text() for t in legend.texts), strict=True):
            image = _handle(whole.get(text, handle))
            entries += f"\\addlegendimage{{{image}}}\n\\addlegendentry{{{latex(text)}}}\n"
        legend.remove()
    bars, taken = "", set[int]()
    for container in list(axes.containers):
        held: Any = container if isinstance(container, ErrorbarContainer) else getattr(container, "errorbar", None)
        container.set_label("_nolegend_")
        if held is None or id(held) in taken:
            continue
        taken.add(id(held))
        bars += _error_bars(axes, held)
    for artist in axes.get_children():
        if not isinstance(artist, Text) and hasattr(artist, "set_label") and artist not in (axes.xaxis, axes.yaxis):
            artist.set_label("_nolegend_")
    for words_of in (axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts):
        word(words_of)
    return entries, bars


def _error_bars(axes: Axes, held: Any) -> str:
    """Write a container's error bars as one plot per direction, and take its lines out of the axes."""
    _, caps, stems = held.lines
    text = ""
    for stem in stems:
        segments = [s for s in stem.get_segments() if len(s)]
        flat = all(abs(s[0][1] - s[-1][1]) < 1e-12 for s in segments)
        axis = "x" if flat else "y"
        rows = "".join(
            f"{number((s[0][0] + s[-1][0]) / 2)} {number((s[0][1] + s[-1][1]) / 2)} "
            f"{number(abs(s[-1][0 if flat else 1] - s[0][0 if flat else 1]) / 2)}\n"
            for s in segments
        )
        tone = f"{_color(stem.get_color()[0])}, line width=0.6pt, solid"
        text += (
            f"\\addplot[draw=none, mark=none, errors, error bars/.cd, {axis} dir=both, {axis} explicit, "
            f"error bar style={{{tone}}}, "
            f"error mark options={{{tone}, rotate=90, mark size=1.4pt}}]\n"
            f"table[{axis} error=half] {{\nx y half\n{rows}}};\n"
        )
        stem.remove()
    for cap in caps:
        cap.remove()
    return text


def _color(color: Any) -> str:
    from matplotlib.colors import to_rgb

    r, g, b = (round(255 * v) for v in to_rgb(color))
    return f"color={{rgb,255:red,{r};green,{g};blue,{b}}}"


def _handle(handle: Any) -> str:
    """The image of one legend entry."""
    from matplotlib.collections import PathCollection
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    if isinstance(handle, Line2D):
        mark = next((k for k, v in _MARKS.items() if v == handle.get_marker()), "*")
        dash = {"-": "solid", "--": "dashed", "-.": "dash dot", ":": "densely dotted"}.get(str(handle.get_linestyle()))
        options = [_color(handle.get_color()), "line width=1pt"]
        options.append(dash if dash else "only marks" if handle.get_linestyle() == "None" else "dash dot dot")
        if handle.get_marker() not in ("None", "", None):
            face = handle.get_markerfacecolor()
            inside = _color("white" if str(face) == "none" else face).removeprefix("color=")
            fill = f", fill={inside}" if f"color={inside}" != options[0] else ""  # hollow marks stay hollow
            options.append(f"mark={mark}, mark size=1.8pt, mark options={{solid{fill}}}")
        else:
            options.append("no marks")
        return ", ".join(options)
    if isinstance(handle, PathCollection):
        return f"only marks, {_color(handle.get_facecolor()[0])}, mark=*, mark size=1.8pt"
    if isinstance(handle, Patch):
        tone = _color(handle.get_facecolor()).removeprefix("color=")
        return f"area legend, draw={tone}, fill={tone}"
    if hasattr(handle, "get_colors") or hasattr(
        handle, "get_color"
    ):  # a LineCollection: what an error bar's handle ends in
        return f"no marks, {_color(handle.get_color()[0])}, line width=1pt"
    raise SpecError(f"from_matplotlib: a legend entry of kind {type(handle).__name__} is not converted")


def _mended(code: str, extras: Sequence[tuple[str, str]], words: Sequence[str]) -> str:
    """Put legends, error bars and texts back; name pictures after the figure."""
    parts = re.split(r"(?=\\nextgroupplot\[|\\begin\{axis\}\[)", code)
    starts = [i for i, p in enumerate(parts) if p.startswith(("\\nextgroupplot[", "\\begin{axis}["))]
    if len(starts) != len(extras):
        raise SpecError(
            f"from_matplotlib: {len(extras)} axes drawn, {len(starts)} converted; use one grid of plain axes"
        )
    for i, (entries, bars) in zip(starts, extras, strict=True):
        head, brace, body = parts[i].partition("\n]\n")
        if entries:
            head += (
                ",\nlegend columns=-1, legend style={at={(0.5,1)}, anchor=south, yshift=0.6mm,"
                " /tikz/every even column/.append style={column sep=3mm}},\n"
                "title style={yshift=3.7mm}"
            )
        end = re.search(r"\n\\end\{(axis|groupplot)\}", body)
        cut = end.start() + 1 if end else len(body.rstrip()) + 1
        body = body.rstrip() + "\n" if not end else body
        parts[i] = head + brace + entries + body[:cut] + bars + body[cut:] + ("\n" if not end else "")
    code = "".join(parts).replace("{raster-", "{<< name >>-")
    for i, text in enumerate(words):
        code = code.replace(f"mplword{i}x", latex(text))
    return code


def _plain_png(path: Path) -> bytes:
    """A picture on white, without alpha, its cells enlarged to 8 pixels unless it is large already."""
    from PIL import Image

    from figures._press.png import SCALE, png

    with Image.open(path) as opened:
        picture = opened.convert("RGBA")
    flat = Image.new("RGBA", picture.size, "white")
    flat.alpha_composite(picture)
    times = SCALE if max(flat.size) <= 128 else 1
    big = flat.convert("RGB").resize((flat.width * times, flat.height * times), Image.Resampling.NEAREST)
    data, stride = big.tobytes(), big.width * 3
    lines = b"".join(b"\x00" + data[r * stride : (r + 1) * stride] for r in range(big.height))
    return png(lines, big.width, big.height)
