"""Make the tables and figures of `tables/NAME.py` and `figures/NAME.py` for the author's document class."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from boundpaper.adopt.cells import Data
from boundpaper.adopt.folder import Folder
from boundpaper.adopt.functions import call_function, load_functions
from boundpaper.errors import SpecError
from boundpaper.suggestions import or_known

if TYPE_CHECKING:
    from boundpaper.figures.spec import Figure
    from boundpaper.tables.cells import Grid

CITE_COMMANDS = {"natbib": r"\citep", "biblatex": r"\parencite", "cite": r"\cite"}
WIDTH_ERROR = 5.0
"""The largest error of a table's estimated width, in pt."""
FONTS = {"ptm": "mathptmx", "qtm": "mathptmx", "ntxtlf": "mathptmx", "cmr": "lmodern", "lmr": "lmodern"}
"""The LaTeX package that sets a figure and its formulas in the font of the text, by the text's font family."""
OUTLINES = {"cmss": "lmss", "cmtt": "lmtt"}
"""The outline family with the letters of a bitmap family, by bitmap family."""
PALATINO = ("ppl", "pplx", "qpl", "zpltlf")
PALATINO_FONTS = "\\usepackage{mathpazo}\n\\usepackage{tgpagella}\n"


def table_of(folder: Folder, data: Data, name: str, part: Literal["float", "tabular", "rows"]) -> str:
    """Return the LaTeX of the table in `tables/NAME.py`: its float, only its tabular, or only the tabular's rows.

    The float spans one or both columns of the page. Raises SpecError when the file is absent, a parameter names no
    data, the author's code raises an error, or the table is wider than the page.
    """
    from boundpaper.tables.latex import TablePlacement, latex
    from boundpaper.tables.read import read
    from boundpaper.tables.width import PageWidths, fit_table, text_width

    grid: Grid = read(_exhibit_of(folder, data, "table", name), name)
    column_pt, text_pt = folder.page.column, folder.page.text
    narrow_width = min(250.0, column_pt)
    fit = fit_table(grid, PageWidths(column_pt, text_pt, narrow_width))
    spans_both = fit.width > column_pt + WIDTH_ERROR and text_pt > column_pt and part == "float"
    if spans_both:
        fit = fit_table(grid, PageWidths(text_pt, text_pt, narrow_width))
    width = text_pt if spans_both or grid.table.landscape else column_pt
    if fit.width > width + WIDTH_ERROR and part == "float":
        raise SpecError(
            f"tables/{name}.py: tab:{name} is {fit.width:.0f} pt wide, but the {'text' if spans_both else 'column'} is "
            f'{width:.0f} pt wide: use size="scriptsize", landscape=True, or fewer columns'
        )
    lines_per_float = 0.0
    if grid.table.long and text_pt > column_pt:
        if fit.paragraphs:
            raise SpecError(
                f"tables/{name}.py: on two-column pages, long=True splits the rows into floats, in which cells cannot "
                "wrap: remove width=, or use fewer columns"
            )
        text_lines = text_width(" ".join([grid.table.caption, *grid.table.notes])) * folder.page.size / width
        height = text_pt if grid.table.landscape else folder.page.height
        lines_per_float = max(4.0, 0.85 * height / (1.2 * folder.page.size) - 8.0 - text_lines)
    placement = TablePlacement(PageWidths(width, text_pt, narrow_width), spans_both, lines_per_float, part)
    return _with_cite_command(latex(grid, placement), folder)


def needed_packages(tex: str) -> list[str]:
    """Return the packages that a table's LaTeX needs, except citation packages, which the author chooses."""
    match = re.search(r"^% Packages: (.*)\.$", tex, re.MULTILINE)
    return [package for package in (match[1].split(", ") if match else ()) if package != "natbib"]


@dataclass(frozen=True)
class IncludedFigure:
    """A figure for the paper: the LaTeX of its float, its specification, and the preamble under which it is drawn."""

    text: str
    figure: Figure
    preamble: str

    def pdf(self, name: str) -> bytes:
        """Return the figure's PDF, compiled by pdflatex; raise LatexError or MissingDependency if that fails."""
        from boundpaper.paper.tex.alone import content_of

        return content_of(self.figure, "pdf", name, self.preamble)


def figure_of(folder: Folder, data: Data, name: str, path: str) -> IncludedFigure:
    """Return the figure in `figures/NAME.py` as a float that spans one or both columns and includes the PDF `path`.

    A figure without a width is as wide as a column. The first line of the float contains a digest of the picture's
    source. Raises SpecError when the file is absent, a parameter names no data, the author's code raises an error, or
    the figure is wider than the page.
    """
    from boundpaper.figures.metrics import MM_PER_POINT
    from boundpaper.figures.render import float_tex, picture_files, tex
    from boundpaper.figures.render import preamble as default_preamble
    from boundpaper.figures.style import TEXT_WIDTH_MM

    figure: Figure = _exhibit_of(folder, data, "figure", name)
    column_mm, text_mm = folder.page.column * MM_PER_POINT, folder.page.text * MM_PER_POINT
    if figure.width is TEXT_WIDTH_MM:  # the default object, not an equal number given by the author
        figure = replace(figure, width=column_mm)
    if figure.width > text_mm + 0.1:
        raise SpecError(
            f"figures/{name}.py: fig:{name} is {figure.width:.0f} mm wide, but the text is {text_mm:.0f}: use "
            f"width={text_mm:.0f}, or omit width to fill one column"
        )
    preamble = default_preamble().replace(PALATINO_FONTS, _font_commands(folder.page.font))
    if folder.page.size <= 10:
        preamble = preamble.replace("[11pt,", "[10pt,")
    digest = hashlib.blake2b(tex(figure, name, preamble).encode(), digest_size=16)
    for file, picture in sorted(picture_files(figure, name).items()):
        digest.update(file.encode() + picture)
    float_text = float_tex(figure, name, path=path, spans_both=figure.width > column_mm + 0.1)
    return IncludedFigure(f"% Picture {digest.hexdigest()}\n{_with_cite_command(float_text, folder)}", figure, preamble)


def _font_commands(family: str) -> str:
    """Return the LaTeX that sets a figure and its formulas in a font family; for an empty family, in Palatino."""
    if family in FONTS:
        return f"\\usepackage{{{FONTS[family]}}}\n"
    if not family or family in PALATINO:
        return PALATINO_FONTS
    return f"\\renewcommand{{\\rmdefault}}{{{OUTLINES.get(family, family)}}}\n\\usepackage[italic]{{mathastext}}\n"


def _with_cite_command(text: str, folder: Folder) -> str:
    return re.sub(r"\\citep\b", lambda _: CITE_COMMANDS[folder.page.cite], text)


def _exhibit_of(folder: Folder, data: Data, kind: str, name: str) -> Any:
    """Return the Table of `table()` in `tables/NAME.py`, or the Figure of `figure()` in `figures/NAME.py`."""
    from boundpaper.figures.spec import Figure
    from boundpaper.tables.spec import Table

    file, spec_class = f"{kind}s/{name}.py", {"table": Table, "figure": Figure}[kind]
    path = folder.root / file
    if not path.is_file():
        names = [script.stem for script in sorted(path.parent.glob("*.py"))]
        raise SpecError(f"no {file}{or_known(name, names)}")
    functions = load_functions(path, file)
    if kind not in functions:
        raise SpecError(
            f"{file}: no function {kind}; write `def {kind}(NAME_OF_DATA): return {spec_class.__name__}(...)`"
        )
    result = call_function(functions[kind], file, path, data)
    if not isinstance(result, spec_class):
        raise SpecError(
            f"{file}: {kind}() returned {type(result).__name__}; end it with `return {spec_class.__name__}(...)`"
        )
    return result
