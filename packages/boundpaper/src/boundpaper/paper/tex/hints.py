"""Suggest the usual cause of a LaTeX message, and how to mend it."""

import re

_HINTS: tuple[tuple[str, str], ...] = (
    (r"Undefined control sequence", "a command is misspelt, or its package is missing in paper/preamble.tex"),
    (r"Missing \$ inserted|Extra }, or forgotten \$", "a _, ^ or Greek letter stands outside of $...$"),
    (
        r"Misplaced alignment tab|Extra alignment tab",
        "an & in a text must be written \\&; in a table, a row is too long",
    ),
    (
        r"File `?[^']*' not found|Can't find file",
        "the file is not built or not installed; `python build.py doctor` tells",
    ),
    (
        r"Runaway argument|Paragraph ended before|File ended while scanning",
        "a closing brace is missing before this line",
    ),
    (r"Environment .* undefined", "a package that defines it is missing in paper/preamble.tex"),
    (r"\\begin\{[^{}]*\} [^\\]*ended by \\end|\\end occurred inside a group", "a \\begin or { of this file has no end"),
    (r"Too many unprocessed floats|Float\(s\) lost", "too many exhibits in a row: put text between, or a \\clearpage"),
    (r"Dimension too large|Arithmetic overflow", "values too large for TeX: scale them in the figure's function"),
    (r"TeX capacity exceeded", "too much at once: draw fewer points, or look for a command that calls itself"),
    (r"Unicode character|inputenc", "the font lacks the sign: write it as LaTeX, as in $\\geq$"),
    (r"Missing number|Illegal unit of measure", "a length lacks its number or unit, such as 3pt"),
    (r"Option clash", "a package is loaded twice with other options"),
    (r"Lonely \\item|missing \\item", "an \\item stands outside of a list, or a list has none"),
    (r"Package pgfplots Error|Package pgf", "an option or a coordinate of the plot is wrong"),
    (r"already defined", "give it another name"),
)
_KINDS = {
    "undefined reference": "no \\label of that name; exhibits have tab:NAME and fig:NAME, and must be shown",
    "undefined citation": "no such entry in paper/references.bib",
    "multiply defined label": "the same \\label twice, or an exhibit shown twice",
    "missing character": "the font lacks the sign: write it as LaTeX, as in $\\geq$",
    "missing file": "what is included has to lie in out/figures, and its name be that of the figure",
    "float too high": "a table breaks over pages with long=True, or takes fewer rows; a figure takes a smaller height",
    "overfull box": "reword the line, let a long name break, or make the table narrower",
}


def hint(kind: str, message: str) -> str:
    """Return a hint for a finding of a log; empty if there is none.

    `kind` is that of a `boundpaper.paper.tex.log.LogMessage`, and `message` holds LaTeX's words.
    """
    if kind in _KINDS:
        return _KINDS[kind]
    return next((words for pattern, words in _HINTS if re.search(pattern, message)), "")
