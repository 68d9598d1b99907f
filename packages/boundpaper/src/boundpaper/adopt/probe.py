"""Ask LaTeX for the column width, font and citation package under the author's preamble."""

import os
import re
from pathlib import Path

from boundpaper.adopt.folder import PageMeasures
from boundpaper.adopt.source import LatexFile
from boundpaper.errors import DataError

TIMEOUT = 120.0
BEGIN = r"\begin{document}"
_MEASURE = re.compile(r"^bound-page:(\w+)=(.+)$", re.MULTILINE)
_PROGRAM = re.compile(r"^%\s*+!\s*+TeX\s++(?:TS-)?program\s*+=\s*+(\w+)", re.IGNORECASE | re.MULTILINE)
_NOT_FOR_PDFLATEX = re.compile(
    r"\\usepackage\s*+(?:\[[^\]]{0,300}\])?\s*+\{[^{}]{0,300}\b(fontspec|unicode-math|polyglossia|luacode)\b"
)
ENGINES = {"pdflatex": "-draftmode", "xelatex": "-no-pdf", "lualatex": "--draftmode"}
"""Programs that compile a paper, each with the option to write no pages."""
_TITLE = re.compile(r"\\maketitle(?![A-Za-z@])")
_QUESTIONS = r"""x\par
\makeatletter
\typeout{bound-page:column=\strip@pt\columnwidth}
\typeout{bound-page:text=\strip@pt\textwidth}
\typeout{bound-page:height=\strip@pt\textheight}
\typeout{bound-page:size=\f@size}
\IfFileExists{t1\f@family.fd}{\typeout{bound-page:font=\f@family}}{}
\typeout{bound-page:family=\f@family}
\typeout{bound-page:cite=\ifdefined\parencite biblatex\else\ifdefined\citep natbib\else cite\fi\fi}
\makeatother
\end{document}
"""


def latex_program(main: LatexFile) -> str:
    """Return the program that compiles a paper, from its line `% !TeX program = ...`, or else from its packages."""
    program_line = _PROGRAM.search(main.text)
    if program_line and program_line[1].lower() in ENGINES:
        return program_line[1].lower()
    package = _NOT_FOR_PDFLATEX.search(main.code)
    return "pdflatex" if package is None else "lualatex" if package[1] == "luacode" else "xelatex"


def page_measures(main: LatexFile, scratch: Path) -> tuple[PageMeasures, str]:
    """Return the page measures under a main file's preamble, and its font family if pdfLaTeX lacks the font, else "".

    LaTeX measures after the title and a first word, since some classes (acmart, revtex) begin two columns there.
    `scratch` is an empty folder. Raises DataError when the LaTeX program is missing or rejects the preamble.
    """
    from boundpaper.build import process
    from boundpaper.paper.tex import latex

    program = latex_program(main)
    if process.missing(program):
        raise DataError(f"{program} is not installed")
    begin = main.code.find(BEGIN) + len(BEGIN)
    title_match = _TITLE.search(main.code, begin)
    head = main.text[: title_match.end() if title_match else begin] + "\n"
    (scratch / "probe.tex").write_bytes(main.encoded(head.replace("\\input{bound/bound}", "") + _QUESTIONS))
    environment = latex.environment()
    author_path = os.environ.get("TEXINPUTS", "").strip(":")  # folders of an author's document classes
    search_path = filter(None, (".", str(main.path.parent.resolve()), author_path))
    environment["TEXINPUTS"] = ":".join([*search_path, ""])
    argv = (program, ENGINES[program], "-interaction=nonstopmode", "-no-shell-escape", "probe.tex")
    result = process.run(argv, scratch, TIMEOUT, environment)
    measures = dict(_MEASURE.findall(result.output))
    try:
        column, text, height = (float(measures[name]) for name in ("column", "text", "height"))
        font = measures.get("font", "")
        page = PageMeasures(column, text, height, font=font, size=float(measures["size"]), cite=measures["cite"])
    except (KeyError, ValueError):
        raise DataError(f"{program} rejects the preamble") from None
    return page, "" if font else measures["family"]
