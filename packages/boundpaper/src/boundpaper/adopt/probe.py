"""A probe of the author's preamble: ask LaTeX how wide a column is, in which font, and how works are cited."""

from __future__ import annotations

import os
import re
from pathlib import Path

from boundpaper.adopt.folder import Page
from boundpaper.adopt.source import Source

TIMEOUT = 120.0
BEGIN = r"\begin{document}"
_TOLD = re.compile(r"^bound-page:(\w+)=(.+)$", re.MULTILINE)
_TITLE = re.compile(r"\\maketitle(?![A-Za-z@])")
_ASKED = r"""x\par
\makeatletter
\typeout{bound-page:column=\strip@pt\columnwidth}
\typeout{bound-page:text=\strip@pt\textwidth}
\typeout{bound-page:height=\strip@pt\textheight}
\typeout{bound-page:size=\f@size}
\typeout{bound-page:font=\f@family}
\typeout{bound-page:cite=\ifdefined\parencite biblatex\else\ifdefined\citep natbib\else cite\fi\fi}
\makeatother
\end{document}
"""


def measured(main: Source, scratch: Path) -> Page | None:
    """Page measures under the preamble of a main file; None if there is no LaTeX or it refuses the preamble.

    Asked after the title and a first word, since some classes begin their two columns there (acmart, revtex).

    Parameters
    ----------
    main : Source
    scratch : Path
        An empty folder, in which LaTeX writes.
    """
    from boundpaper.build import process
    from boundpaper.paper.tex import latex

    if process.missing("pdflatex"):
        return None
    begin = main.code.find(BEGIN) + len(BEGIN)
    title = _TITLE.search(main.code, begin)
    head = main.text[: title.end() if title else begin] + "\n"
    (scratch / "probe.tex").write_bytes(main.encoded(head.replace("\\input{bound/bound}", "") + _ASKED))
    environment = latex.environment()
    own = os.environ.get("TEXINPUTS", "").strip(":")  # where an author keeps classes
    environment["TEXINPUTS"] = ":".join((".", str(main.path.parent.resolve()), *([own] if own else []), ""))
    argv = ("pdflatex", "-draftmode", "-interaction=nonstopmode", "-no-shell-escape", "probe.tex")
    done = process.run(argv, scratch, TIMEOUT, environment)
    told = dict(_TOLD.findall(done.output))
    try:
        column, text, height = (float(told[name]) for name in ("column", "text", "height"))
        return Page(column, text, height, font=told["font"], size=float(told["size"]), cite=told["cite"])
    except (KeyError, ValueError):
        return None
