r"""Draw with matplotlib's PGF backend in the document's fonts.

The renderer differs from the backend's in three ways. Texts are escaped by the project and set in the document's fonts.
Pictures are stored beside the drawing, without a request to smooth them. Parts far outside the canvas are clipped,
since TeX lengths end at 5.7 m. `savefig(backend="module://...")` uses the class `FigureCanvas`.
"""

from __future__ import annotations

import io
from functools import cache
from pathlib import Path as File
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.backends.backend_mixed import MixedModeRenderer
from matplotlib.backends.backend_pgf import FigureCanvasPgf, LatexManager, RendererPgf
from matplotlib.path import Path
from matplotlib.transforms import Bbox, IdentityTransform
from PIL import Image

from boundpaper.figures.matplotlib.words import latex_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

CELL = 8
"""Pixels per cell of a small picture, so that cell borders stay sharp in viewers that smooth pictures."""
_PREAMBLE = File(__file__).parents[1] / "templates" / "preamble.tex"
_BOLD = frozenset({"semibold", "demibold", "demi", "bold", "heavy", "extra bold", "black"})
_SLANTS = {"italic": r"\itshape", "oblique": r"\slshape"}


class Sheet(io.StringIO):
    """The output file of a drawing.

    The text includes the PNG files `pictures` as `<< name >>-img0.png` and so on. `area` is the area that the drawing
    covers, in inches of its canvas.
    """

    def __init__(self) -> None:
        super().__init__()
        self.pictures: list[bytes] = []
        self.area = Bbox.unit()


@cache
def preamble() -> str:
    """Return the lines of the shared preamble that set the fonts of text and mathematics."""
    lines = _PREAMBLE.read_text(encoding="utf-8").splitlines()
    fonts = [line for line in lines if line.startswith(r"\usepackage") and "pgf" not in line]
    return "\n".join([*fonts, r"\everymath={}"])


class Renderer(RendererPgf):
    """A renderer that writes paths, texts and pictures as PGF commands."""

    def draw_path(self, gc: Any, path: Path, transform: Any, rgbFace: Any = None) -> None:
        """Write a path; clip a filled path that extends far beyond the canvas."""
        visible: Any = transform.transform_path(path)
        if rgbFace is not None and self._leaves_box(visible.vertices):
            box = self._clip_box()
            polygons: list[Any] = [Path(p).clip_to_bbox(box) for p in visible.to_polygons() if len(p) > 2]
            visible = Path.make_compound_path(*[polygon for polygon in polygons if len(polygon.vertices)])
        if len(visible.vertices):
            super().draw_path(gc, visible, IdentityTransform(), rgbFace)

    def draw_markers(
        self, gc: Any, marker_path: Path, marker_trans: Any, path: Path, trans: Any, rgbFace: Any = None
    ) -> None:
        """Write the markers that are on the canvas or near it."""
        points = trans.transform_path(path)
        if self._leaves_box(points.vertices):
            (x0, y0), (x1, y1) = self._clip_box().get_points()
            x, y = points.vertices.T
            points = Path(points.vertices[(x >= x0) & (x <= x1) & (y >= y0) & (y <= y1)])
        if len(points.vertices):
            super().draw_markers(gc, marker_path, marker_trans, points, IdentityTransform(), rgbFace)

    def draw_image(self, gc: Any, x: float, y: float, im: Any, transform: Any = None) -> None:
        """Store a picture, enlarged if it has few pixels, and write the command that includes it."""
        if not im.shape[0] or not im.shape[1]:
            return
        self.fh.write("\\begin{pgfscope}%\n")
        self._print_pgf_clip(gc)
        if transform is None:
            a, b, c, d = im.shape[1], 0.0, 0.0, im.shape[0]
            left, low = x, y
        else:
            a, b, c, d, left, low = transform.frozen().to_values()
            left, low = left + x, low + y
        matrix = tuple(v / self.dpi for v in (a, b, c, d, left, low))
        self.fh.write("\\pgfsys@transformcm{%f}{%f}{%f}{%f}{%fin}{%fin}%%\n" % matrix)  # noqa: UP031
        name = f"<< name >>-img{len(self.fh.pictures)}.png"
        self.fh.write(f"\\pgftext[left,bottom]{{\\includegraphics[width=1in,height=1in]{{{name}}}}}%\n")
        self.fh.write("\\end{pgfscope}%\n")
        self.fh.pictures.append(_encode_png(im[::-1]))

    def draw_text(
        self, gc: Any, x: float, y: float, s: str, prop: Any, angle: float, ismath: Any = False, mtext: Any = None
    ) -> None:
        """Write a text, anchored as matplotlib anchors it."""
        r, g, b = gc.get_rgb()[:3]
        anchor = "left,base"
        has_anchor = mtext and mtext.get_verticalalignment() != "center_baseline"
        if has_anchor and (angle == 0 or mtext.get_rotation_mode() == "anchor"):  # LaTeX knows the exact size
            x, y = mtext.get_transform().transform(mtext.get_unitless_position())
            edges = {"left": "left", "right": "right", "top": "top", "bottom": "bottom", "baseline": "base"}
            alignments = (mtext.get_horizontalalignment(), mtext.get_verticalalignment())
            anchor = ",".join(edges[alignment] for alignment in alignments if alignment != "center")
        if self._leaves_box(np.array([[x, y]], dtype=float)):
            return
        self.fh.write("\\begin{pgfscope}%\n")
        self._print_pgf_clip(gc)
        alpha = gc.get_alpha()
        if alpha != 1.0:
            self.fh.write(f"\\pgfsetfillopacity{{{alpha:f}}}\\pgfsetstrokeopacity{{{alpha:f}}}%\n")
        self.fh.write(f"\\definecolor{{textcolor}}{{rgb}}{{{r:f},{g:f},{b:f}}}%\n")
        self.fh.write("\\pgfsetstrokecolor{textcolor}\\pgfsetfillcolor{textcolor}%\n")
        position = f"x={x / self.dpi:f}in,y={y / self.dpi:f}in"
        options = ",".join(filter(None, (position, anchor, f"rotate={angle:f}")))
        text = _styled_latex(s, prop, ismath)
        self.fh.write(f"\\pgftext[{options}]{{\\color{{textcolor}}{text}}}%\n\\end{{pgfscope}}%\n")

    def get_text_width_height_descent(self, s: str, prop: Any, ismath: Any) -> tuple[float, float, float]:
        """Return width, height and depth of a text in pixels, as LaTeX measures them."""
        # matplotlib's LaTeX process makes `^` an active character, which is defined here as a superscript
        text = r"\def^{\sp}" + _styled_latex(s, prop, ismath)
        metrics = LatexManager._get_cached_or_new()._get_box_metrics(text)
        width, height, depth = (points * self.dpi / 72.27 for points in metrics)
        return width, height, depth

    def _clip_box(self) -> Bbox:
        """Return the area outside which nothing is written: three times the canvas in both directions."""
        width, height = self.get_canvas_width_height()
        return Bbox([[-width, -height], [2 * width, 2 * height]])

    def _leaves_box(self, vertices: Any) -> bool:
        (x0, y0), (x1, y1) = self._clip_box().get_points()
        x, y = vertices.T
        return not bool(np.all((x >= x0) & (x <= x1) & (y >= y0) & (y <= y1)))


class FigureCanvas(FigureCanvasPgf):
    """The canvas with which `savefig` writes a drawing to a file, a `Sheet`."""

    def get_renderer(self) -> Renderer:
        """Return a renderer for measuring, whose output is discarded."""
        return Renderer(self.figure, Sheet())

    def _print_pgf_to_fh(self, fh: Any, *, bbox_inches_restore: Any = None) -> None:
        sheet: Sheet = fh
        figure: Drawing = self.figure
        width, height = figure.get_figwidth(), figure.get_figheight()
        sheet.write("\\makeatletter\\begin{pgfpicture}%\n\\pgfpathrectangle{\\pgfpointorigin}")
        sheet.write(f"{{\\pgfqpoint{{{width:f}in}}{{{height:f}in}}}}%\n\\pgfusepath{{use as bounding box,clip}}%\n")
        renderer = Renderer(figure, sheet)
        mixed_renderer: Any = MixedModeRenderer(
            figure, width, height, figure.dpi, renderer, bbox_inches_restore=bbox_inches_restore
        )
        figure.draw(mixed_renderer)
        sheet.write("\\end{pgfpicture}\\makeatother%\n")
        sheet.area = figure.get_tightbbox(renderer)


def _styled_latex(text: str, prop: Any, ismath: Any) -> str:
    """Return the LaTeX of a text in the size, weight and slant of `prop`, monospaced if the family of `prop` is."""
    size = prop.get_size_in_points() * 72.27 / 72
    weight = prop.get_weight()
    is_bold = weight in _BOLD if isinstance(weight, str) else weight >= 600
    family = r"\ttfamily" if prop.get_family()[0] == "monospace" else r"\fontfamily{\familydefault}"
    style = family + (r"\bfseries" if is_bold else "") + _SLANTS.get(prop.get_style(), "")
    body = text if ismath == "TeX" else latex_words(text)
    return f"{{\\fontsize{{{size:.4f}}}{{{1.2 * size:.4f}}}{style}\\selectfont {body}}}"


def _encode_png(pixels: Any) -> bytes:
    """Encode a picture as PNG without metadata; include an alpha channel only if a pixel is transparent."""
    picture = Image.fromarray(np.ascontiguousarray(pixels))
    if picture.mode == "RGBA" and picture.getchannel("A").getextrema()[0] == 255:
        picture = picture.convert("RGB")
    if max(picture.size) <= 128:
        picture = picture.resize((picture.width * CELL, picture.height * CELL), Image.Resampling.NEAREST)
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()
