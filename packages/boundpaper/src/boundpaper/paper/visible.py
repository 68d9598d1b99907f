"""Blank the parts of LaTeX that readers do not see, such as comments and command names; offsets stay the same."""

import re
from collections.abc import Mapping

SILENT = {
    "label": 1, "ref": 1, "cref": 1, "Cref": 1, "autoref": 1, "nameref": 1, "eqref": 1, "pageref": 1, "crefrange": 2,
    "input": 1, "include": 1, "includegraphics": 1, "url": 1, "href": 1, "hyperref": 0, "hspace": 1, "vspace": 1,
    "setlength": 2, "addtolength": 2, "setcounter": 2, "addtocounter": 2, "rule": 2, "parbox": 1, "begin": 1, "end": 1,
    "part": 1, "chapter": 1, "section": 1, "subsection": 1, "subsubsection": 1, "paragraph": 1, "phantom": 1,
    "color": 1, "textcolor": 1, "usepackage": 1, "bibliography": 1, "thispagestyle": 1, "pagestyle": 1,
}  # fmt: skip
"""Commands whose arguments are not prose, with the number of these arguments; optional arguments are also removed."""
CITE = re.compile(
    r"\\(?:no)?[cC]ite(?:p|t|alt|alp|author|year|yearpar)?\*?\s*(?P<notes>(?:\[(?:(?!\\(?:no)?[cC]ite)[^\]])*+\]\s*+)*+)\{(?P<keys>[^{}]*)\}"
)
_HIDDEN = re.compile(
    r"\\verb\*?(?P<sign>[^A-Za-z\s*]).*?(?P=sign)|(?<!\\)(?:\\\\)*(?P<comment>%[^\n]*)"
    r"|\\begin\{(?P<name>verbatim\*?|Verbatim|lstlisting|minted|alltt|comment|filecontents\*?)\}.*?\\end\{(?P=name)\}"
    r"|\\(?:lstinline|mintinline\{\w+\})(?:\[[^\]]*\])?(?:\{[^{}]*\}|(?P<other>[^A-Za-z\s{\[]).*?(?P=other))",
    re.DOTALL,
)
_WORDS_IN_BRACKETS = frozenset({"caption", "section", "subsection", "subsubsection", "paragraph", "chapter", "item"})
_LAYOUT_ENVIRONMENTS = frozenset({
    "tabular", "tabular*", "tabularx", "tabulary", "array", "longtable", "minipage", "multicols", "wrapfigure",
    "wraptable", "adjustbox", "subfigure", "subtable", "adjustwidth", "thebibliography", "NiceTabular", "tblr",
})  # fmt: skip
_COMMAND = re.compile(r"\\(?:(?P<name>[A-Za-z@]+)\*?|\\\*?(?=\s*\[))")
_BRACE = re.compile(r"\\[^A-Za-z]|[{}]")
_BRACKET = re.compile(r"\s*\[[^\][]*(?:\[[^\][]*\][^\][]*)*\]")
_SIGN_COMMANDS = frozenset({
    "times", "cdot", "pm", "sim", "approx", "le", "leq", "ge", "geq", "quad", "in", "to", "rightarrow", "percent", "S",
    "textminus", "minus",
})  # fmt: skip


def blank_out(text: str) -> str:
    """Return the text with each character replaced by a blank, except line ends."""
    return re.sub(r"[^\n]", " ", text)


def without_hidden(text: str) -> str:
    """Return a text with comments and verbatim parts blanked."""
    return _HIDDEN.sub(lambda match: blank_out(match[0]), text)


def without_commands(text: str, silent: Mapping[str, int]) -> str:
    """Return a text with blanks for each command's name, its options, and as many arguments as `silent` says."""
    closing = closing_places(text)
    pieces, position = [], 0
    for match in _COMMAND.finditer(text):
        if match.start() < position:
            continue
        name, end = match["name"] or "", match.end()
        count = silent.get(name, 0)
        if name == "begin":
            environment = re.compile(r"\s*\{([^{}]*)\}").match(text, end)
            count = 4 if environment and environment[1] in _LAYOUT_ENVIRONMENTS else 1
        if name in ("newcommand", "renewcommand", "providecommand"):
            count = 1
        if name == "def":
            signature = re.compile(r"\s*\\[A-Za-z@]+[^{]*").match(text, end)
            end = signature.end() if signature else end
        while True:
            if (count or name not in _WORDS_IN_BRACKETS) and (bracket := _BRACKET.match(text, end)):
                end = bracket.end()
                continue
            brace = re.compile(r"\s*").match(text, end).end()  # type: ignore[union-attr]  # always matches
            if count > 0 and brace in closing:
                end, count = closing[brace], count - 1
                continue
            break
        command = text[match.start() : end]
        pieces += [text[position : match.start()], command if name in _SIGN_COMMANDS else blank_out(command)]
        position = end
    return "".join([*pieces, text[position:]])


def closing_places(text: str) -> dict[int, int]:
    """Map the offset of each opening brace to the offset after its closing brace."""
    closing, open_braces = {}, []
    for match in _BRACE.finditer(text):
        if match[0] == "{":
            open_braces.append(match.start())
        elif match[0] == "}" and open_braces:
            closing[open_braces.pop()] = match.end()
    return closing
