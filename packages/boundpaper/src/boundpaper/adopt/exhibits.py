"""Make tables and figures for the author's document class from `tables/NAME.py` and `figures/NAME.py`."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from boundpaper.adopt.cells import Data
from boundpaper.adopt.folder import Folder
from boundpaper.adopt.functions import call_function, load_functions
from boundpaper.errors import SpecError
from boundpaper.suggestions import or_known

if TYPE_CHECKING:
    from boundpaper.figures.spec import Figure
    from boundpaper.tables.cells import Grid as Cells

CITED = {"natbib": r"\citep", "biblatex": r"\parencite", "cite": r"\cite"}
OVER = 5.0
"""Possible error in points of the estimated width of a table."""
FONTS = {"ptm": "mathptmx", "qtm": "mathptmx", "ntxtlf": "mathptmx", "cmr": "lmodern", "lmr": "lmodern"}
"""LaTeX packages that set a figure, formulas included, in the font family of the text."""
OUTLINES = {"cmss": "lmss", "cmtt": "lmtt"}
"""Bitmap font families, and for each the family that has the same letters as outlines."""
PALATINO = ("ppl", "pplx", "qpl", "zpltlf")
OWN_FONTS = "\\usepackage{mathpazo}\n\\usepackage{tgpagella}\n"


def table_of(folder: Folder, data: Data, name: str, form: str) -> str:
    """Return the LaTeX of `tables/NAME.py`: a float over one or both page columns, the tabular alone, or its rows.

    Raises SpecError when the file is absent, a parameter names no table, or the table is wider than the page; also when
    the author's code raises an error, with the place in that code.
    """
    from boundpaper.tables.latex import TablePlacement, latex
    from boundpaper.tables.read import read
    from boundpaper.tables.width import PageWidths, fit_table, text_width

    cells: Cells = read(_exhibit_of(folder, data, "table", name), name)
    page, text = folder.page.column, folder.page.text
    narrow = min(250.0, page)
    fit = fit_table(cells, PageWidths(page, text, narrow))
    wide = fit.width > page + OVER and text > page and form == "float"
    if wide:
        fit = fit_table(cells, PageWidths(text, text, narrow))
    room = text if wide or cells.table.landscape else page
    if fit.width > room + OVER and form == "float":
        raise SpecError(
            f"tables/{name}.py: tab:{name} is {fit.width:.0f} pt wide, and {'the text' if wide else 'the column'} "
            f'only {room:.0f}: take size="scriptsize", landscape=True, or fewer columns'
        )
    lines = 0.0
    if cells.table.long and text > page:
        if fit.paragraphs:
            raise SpecError(
                f"tables/{name}.py: long=True splits the rows into floats on two-column pages, where cells cannot "
                "wrap: remove width=, or use fewer columns"
            )
        words = text_width(" ".join([cells.table.caption, *cells.table.notes])) * folder.page.size / room
        high = text if cells.table.landscape else folder.page.height
        lines = max(4.0, 0.85 * high / (1.2 * folder.page.size) - 8.0 - words)
    tex = latex(cells, TablePlacement(PageWidths(room, text, narrow), wide, lines, form))  # type: ignore[arg-type]
    return _with_cite_command(tex, folder)


def needed_packages(tex: str) -> list[str]:
    """Return the packages that a table's LaTeX needs, except citation packages, which the author chooses."""
    listed = re.search(r"^% Packages: (.*)\.$", tex, re.MULTILINE)
    return [package for package in (listed[1].split(", ") if listed else ()) if package != "natbib"]


@dataclass(frozen=True)
class IncludedFigure:
    """A figure for the paper: the LaTeX of its float, and the source of its PDF."""

    text: str
    figure: Figure
    head: str

    def pdf(self, name: str) -> bytes:
        """Compile the picture with pdflatex; raise LatexError or MissingDependency if that fails."""
        from boundpaper.paper.tex.alone import content_of

        return content_of(self.figure, "pdf", name, self.head)


def figure_of(folder: Folder, data: Data, name: str, path: str) -> IncludedFigure:
    """Return the figure of `figures/NAME.py`: a float over one or both page columns that includes the PDF `path`.

    A figure without a width is as wide as a column. The first line of the float contains a digest of the picture's
    source. Raises SpecError when the file is absent, a parameter names no data, or the figure is wider than the page;
    also when the author's code raises an error, with the place in that code.
    """
    from boundpaper.figures.metrics import MM_PER_POINT
    from boundpaper.figures.render import float_tex, picture_files, preamble, tex
    from boundpaper.figures.style import TEXT_WIDTH_MM

    figure: Figure = _exhibit_of(folder, data, "figure", name)
    column, text = folder.page.column * MM_PER_POINT, folder.page.text * MM_PER_POINT
    if figure.width is TEXT_WIDTH_MM:  # the default object, not an equal number given by the author
        figure = replace(figure, width=column)
    if figure.width > text + 0.1:
        raise SpecError(
            f"figures/{name}.py: fig:{name} is {figure.width:.0f} mm wide, but the text is {text:.0f}: use "
            f"width={text:.0f}, or omit width to fill one column"
        )
    head = preamble().replace(OWN_FONTS, _font_commands(folder.page.font))
    if folder.page.size <= 10:
        head = head.replace("[11pt,", "[10pt,")
    digest = hashlib.blake2b(tex(figure, name, head).encode(), digest_size=16)
    for file, content in sorted(picture_files(figure, name).items()):
        digest.update(file.encode() + content)
    float_text = float_tex(figure, name, path=path, both=figure.width > column + 0.1)
    return IncludedFigure(f"% Picture {digest.hexdigest()}\n{_with_cite_command(float_text, folder)}", figure, head)


def _font_commands(family: str) -> str:
    """Return the LaTeX that sets the font family of a figure's text and formulas; Palatino by default."""
    if family in FONTS:
        return f"\\usepackage{{{FONTS[family]}}}\n"
    if not family or family in PALATINO:
        return OWN_FONTS
    return f"\\renewcommand{{\\rmdefault}}{{{OUTLINES.get(family, family)}}}\n\\usepackage[italic]{{mathastext}}\n"


def _with_cite_command(text: str, folder: Folder) -> str:
    return re.sub(r"\\citep\b", lambda _: CITED[folder.page.cite], text)


def _exhibit_of(folder: Folder, data: Data, kind: str, name: str) -> Any:
    """Return the Table or Figure that `table()` of `tables/NAME.py` or `figure()` of `figures/NAME.py` makes."""
    from boundpaper.figures.spec import Figure
    from boundpaper.tables.spec import Table

    file, Kind = f"{kind}s/{name}.py", {"table": Table, "figure": Figure}[kind]
    path = folder.root / file
    if not path.is_file():
        names = [script.stem for script in sorted(path.parent.glob("*.py"))]
        raise SpecError(f"no {file}{or_known(name, names)}")
    functions = load_functions(path, file)
    if kind not in functions:
        raise SpecError(f"{file}: no function {kind}; write `def {kind}(NAME_OF_DATA): return {Kind.__name__}(...)`")
    result = call_function(functions[kind], file, path, data)
    if not isinstance(result, Kind):
        raise SpecError(f"{file}: {kind}() returned {type(result).__name__}; end it with `return {Kind.__name__}(...)`")
    return result
