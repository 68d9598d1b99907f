"""Suggest the usual cause of a message of LaTeX, or how to correct it."""

import re

_HINTS: tuple[tuple[str, str], ...] = (
    (r"Undefined control sequence", "a command is misspelt, or its package is missing in paper/preamble.tex"),
    (r"Missing \$ inserted|Extra }, or forgotten \$", "a _, ^ or Greek letter is outside $...$"),
    (
        r"Misplaced alignment tab|Extra alignment tab",
        "write an & in a text as \\&; in a table, a row has too many cells",
    ),
    (
        r"File `?[^']*' not found|Can't find file",
        "the file is not built or not installed; run `python build.py doctor`",
    ),
    (
        r"Runaway argument|Paragraph ended before|File ended while scanning",
        "a closing brace is missing before this line",
    ),
    (r"Environment .* undefined", "a package that defines it is missing in paper/preamble.tex"),
    (r"\\begin\{[^{}]*\} [^\\]*ended by \\end|\\end occurred inside a group", "a \\begin or { in this file is open"),
    (
        r"Too many unprocessed floats|Float\(s\) lost",
        "too many exhibits in a row: put text or \\clearpage after one",
    ),
    (r"Dimension too large|Arithmetic overflow", "values too large for TeX: scale them in the figure's function"),
    (r"TeX capacity exceeded", "out of TeX memory: draw fewer points, or find a command that calls itself"),
    (r"Unicode character|inputenc", "the font lacks the sign: write it as LaTeX, as in $\\geq$"),
    (r"Missing number|Illegal unit of measure", "a length lacks its number or unit, such as 3pt"),
    (r"Option clash", "a package is loaded twice with different options; load it once"),
    (r"Lonely \\item|missing \\item", "an \\item is outside a list, or a list has no \\item"),
    (r"Package pgfplots Error|Package pgf", "an option or a coordinate of the plot is wrong"),
    (r"already defined", "give it another name"),
)
_KINDS = {
    "undefined reference": "no such \\label; exhibits have tab:NAME and fig:NAME, and must be shown in a chapter",
    "undefined citation": "no such entry in paper/references.bib",
    "multiply defined label": "a \\label is defined twice, or an exhibit is shown twice",
    "missing character": "the font lacks the sign: write it as LaTeX, as in $\\geq$",
    "missing file": "an included file must be in out/figures and have the figure's name",
    "float too high": "for a table, use long=True or fewer rows; for a figure, a smaller height",
    "overfull box": "reword the line, let a long name break, or make the table narrower",
}


def hint(kind: str, message: str) -> str:
    """Return a hint for a message of a log; empty if there is none.

    `kind` is the kind of a `boundpaper.paper.tex.log.LogMessage`, and `message` is LaTeX's text.
    """
    if kind in _KINDS:
        return _KINDS[kind]
    return next((words for pattern, words in _HINTS if re.search(pattern, message)), "")
