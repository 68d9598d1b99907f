r"""Read LaTeX as a document: tables, captions, sentences, references, and PGFPlots coordinates as tables."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from boundpaper.adopt.source import Source, body_of
from boundpaper.audit.documents import Document, Place, Row
from boundpaper.typeset.characters import MATH

_LEVELS = {"part": 1, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5}
_BLOCK = re.compile(
    r"\\begin\{(?P<grid>tabular\*?|tabularx|tabulary|longtable|NiceTabular|tikzpicture|equation\*?|align\*?|"
    r"thebibliography|CCSXML)\}"
    r"|\\(?P<level>part|chapter|(?:sub){0,2}section|paragraph)\*?+\s*+(?:\[[^\]]{0,300}\]\s*+)?(?=\{)"
    r"|\\(?P<caption>caption(?:of\{\w+\})?)\*?+\s*+(?:\[[^\]]{0,300}\]\s*+)?(?=\{)"
    r"|(?P<float>\\(?:begin|end)\{(?:table|figure|sidewaystable|wraptable|wrapfigure)\*?\})"
    r"|\\item\b|\n[ \t]*+\n"
)
_LABEL = re.compile(r"\\label\s*+\{([^{}]{1,200})\}")
_REFERENCE = re.compile(r"\\(?:ref|eqref|autoref|cref|Cref|pageref|nameref|vref)\*?+\s*+\{([^{}]{1,300})\}")
OUTSIDE = re.compile(r"\\externaldocument\b|\\usepackage\{subfiles\}")
_POWER = re.compile(r"(?:\\(?:times|cdot)\s*+)?(?<!\d)10\s*+\^\s*+\{?\s*+([-+]?\d{1,3})\s*+\}?")
_SPAN = re.compile(r"\\multi(?P<kind>column|row)\s*+(?:\[[^\]]{0,40}\])?\s*+\{\s*+(?P<count>[^{}]{0,20})\}")
_RULES = re.compile(
    r"\\(?:toprule|midrule|bottomrule|hline|endhead|endfirsthead|endfoot|endlastfoot|addlinespace|specialrule|"
    r"cmidrule|cline|centering|small|footnotesize|rowcolor|noalign|arrayrulecolor|morecmidrules)(?![A-Za-z])"
    r"(?:\s*+(?:\[[^\]]{0,40}\]|\([^()]{0,20}\)|\{[^{}]{0,60}\}))*+"
)
_BLANK_OR_RULE = re.compile(rf"\s++|{_RULES.pattern}")
_FOLLOWED = re.compile(
    r"\\(?:cite\w*|label|footnote|footnotemark|footnotetext|vspace|hspace|includegraphics|url|bibliography|"
    r"bibliographystyle|textcolor|color|cellcolor|rotatebox|resizebox|begin|end|thanks|tablefootnote|tnote)\*?+"
    r"\s*+(?:\[[^\]]{0,300}\]\s*+)*+\{[^{}]{0,2000}\}(?:\{[^{}]{0,60}\})?"
)
_SIGNS = {command: sign for sign, command in reversed(MATH.items())} | {
    r"\%": "%", r"\&": "&", r"\#": "#", r"\_": "_", r"\sim": "~", r"\le": "≤", r"\ge": "≥", r"\to": "→",
    r"\dagger": "†", r"\ddagger": "‡", r"\ast": "*", r"\textminus": "-", r"\ldots": "...", r"\dots": "...", r"\S": "§",
    r"\epsilon": "ε", r"\phi": "φ",
    r"\,": "", r"\;": " ", r"\:": " ", r"\!": "", r"\ ": " ", r"\\": " ",
}  # fmt: skip
_COMMAND = re.compile(r"\\(?:[A-Za-z@]++\*?+|.)", re.DOTALL)
_SUPER = str.maketrans("0123456789-+", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺")
_RAISED = re.compile(r"\^\s*+\{?\s*+([*†‡§¶a-z])\s*+\}?")
_ARGUMENT = re.compile(r"\s*+(?:\[[^\]]{0,40}\]\s*+)?(?=\{)")
_CELL_END = re.compile(r"\\\\(?:\s*+\[[^\]]{0,20}\])?|\\tabularnewline|\\.|[{}&]", re.DOTALL)
_PLOT = re.compile(r"\\addplot\+?(?:3)?\s*+(?:\[(?P<options>[^\]]{0,1000})\])?\s*+(?:plot\s*+)?coordinates\s*+\{")
_POINT = re.compile(r"\(([^(),]{1,60}),([^(),]{1,60})\)")
_LEGEND = re.compile(r"\\addlegendentry\s*+(?:\[[^\]]{0,200}\])?\s*+(?=\{)|\\legend\s*+(?=\{)")
_AXIS_LABEL = re.compile(r"\b(?P<axis>[xy])label\s*+=\s*+(?:\{(?P<braced>[^{}]{0,200})\}|(?P<bare>[^,\]\n]{0,200}))")
_TITLE = re.compile(r"\btitle\s*+=\s*+\{(?P<title>[^{}]{0,300})\}")


def plain(tex: str) -> str:
    """Words and numbers that a piece of LaTeX prints, in one line, without layout, citations and labels."""
    return " ".join(_printed(tex).split())


def _printed(tex: str) -> str:
    """The same in as many lines as the piece has."""
    text = _FOLLOWED.sub(lambda match: " " + "\n" * match[0].count("\n"), tex).replace("{,}", ",")
    text = _POWER.sub(lambda match: ("×" if match[0][0] == "\\" else "") + "10" + match[1].translate(_SUPER), text)
    text = _COMMAND.sub(lambda match: _SIGNS.get(name := match[0].rstrip("*"), " " if len(name) > 2 else ""), text)
    text = _RAISED.sub(lambda match: match[1] if not match[1].isalpha() else "†", text)
    text = text.replace("---", "—").replace("--", "–").replace("``", '"').replace("''", '"').replace("~", " ")
    return re.sub(r"[{}$]", "", text)


def group(text: str, start: int) -> int:
    """The offset behind the brace that matches the one at `start`; the end of the text if there is none."""
    depth = 0
    for match in re.compile(r"\\.|[{}]", re.DOTALL).finditer(text, start):
        depth += (match[0] == "{") - (match[0] == "}")
        if depth == 0:
            return match.end()
    return len(text)


def read(text: str, file: str) -> Document:
    """Read a LaTeX file, except comments, verbatim parts and the preamble."""
    source = Source(Path(file), file, text, "utf-8")
    start, stop = body_of(source)
    code, position = source.code, start
    document = Document(file, "\\begin{document}" in code)
    reader = _Reader(source, document)
    for match in [*_BLOCK.finditer(code, start, stop), None]:
        if match is None or match.start() >= position:
            document.say(source.line(position), _printed(code[position : match.start() if match else stop]))
            position = reader.block(match) if match else stop
    document.references = [
        (name.strip(), Place(file, source.line(match.start())))
        for match in _REFERENCE.finditer(code, start, stop) for name in match[1].split(",")
    ]  # fmt: skip
    document.labels = [(match[1].strip(), Place(file, source.line(match.start()))) for match in _LABEL.finditer(code)]
    return document


class _Reader:
    """What of a document was read, its caption, and at which of its tables the open float begins."""

    def __init__(self, source: Source, document: Document) -> None:
        self.source, self.document, self.code = source, document, source.code
        self.floated, self.caption = -1, ""

    def block(self, match: re.Match[str]) -> int:
        """Read what begins at a match; return where it ends."""
        line, document = self.source.line(match.start()), self.document
        if match["float"]:
            if self.floated >= 0 and self.caption:
                floated = document.tables[self.floated :]
                document.tables[self.floated :] = [replace(table, caption=self.caption) for table in floated]
            self.floated = len(document.tables) if match["float"].startswith("\\begin") else -1
            self.caption = ""
        elif match["grid"]:
            end = self.code.find(f"\\end{{{match['grid']}}}", match.end())
            end = len(self.code) if end < 0 else end
            if match["grid"] == "tikzpicture":
                draw(document, self.code[match.start() : end], line)
            elif match["grid"].startswith(("tab", "long", "Nice")):
                self.grid(match.end(), end, line)
            return min(len(self.code), end + len(f"\\end{{{match['grid']}}}"))
        elif match["level"] or match["caption"]:
            opened = self.code.index("{", match.end())
            end = group(self.code, opened)
            text = plain(self.code[opened + 1 : end - 1])
            if match["caption"]:
                self.caption = text
                document.say(line, text)
            else:
                document.head(line, _LEVELS[match["level"]], text)
            return end
        return match.end()

    def grid(self, start: int, stop: int, line: int) -> None:
        """Add a table whose arguments begin at `start`; up to three rows above the first inner rule are its head."""
        while start < stop and (opened := _ARGUMENT.match(self.code, start, stop)):
            start = group(self.code, opened.end())
        rows = list(_rows(self.code, start, stop))
        heads = next((index for index in range(1, len(rows)) if rows[index][2]), 1)
        shown = [Row(self.source.line(place), tuple(cells)) for place, cells, _ in rows]
        self.document.tabulate(line, shown, heads if heads <= 3 else 1)


def _rows(code: str, start: int, stop: int) -> Iterator[tuple[int, list[str], bool]]:
    """The rows of a grid: where each begins, its cells, and whether a rule stands before it."""
    depth, cells, begin, ruled = 0, [""], start, False
    position = start
    for match in [*_CELL_END.finditer(code, start, stop), None]:
        token = match[0] if match else "\\\\"
        cells[-1] += code[position : match.start() if match else stop]
        position = match.end() if match else stop
        if match and (token in "{}" or depth > 0 or not token.startswith(("&", "\\\\", "\\tabularnewline"))):
            depth += (token == "{") - (token == "}")
            cells[-1] += token
        elif token == "&":
            cells.append("")
        else:
            ruled = ruled or bool(re.search(r"\\(?:midrule|hline|endhead|endfirsthead)", cells[0]))
            shown = [each for cell in (_RULES.sub("", cells[0]), *cells[1:]) for each in _spanned(cell)]
            if any(shown):
                while begin < stop and (blank := _BLANK_OR_RULE.match(code, begin, stop)):
                    begin = blank.end()
                yield begin, shown, ruled
                ruled = False
            cells, begin = [""], position


def _spanned(cell: str) -> list[str]:
    """The text of a cell, as often as columns that it spans."""
    span = _SPAN.search(cell)
    opened = cell.find("{", span.end()) if span else -1
    opened = cell.find("{", group(cell, opened)) if opened >= 0 else -1  # behind the alignment or the width
    inner = plain(cell[opened + 1 : group(cell, opened) - 1]) if opened >= 0 else plain(cell)
    count = span["count"].strip() if span and span["kind"] == "column" else ""
    return [inner] * (int(count) if count.isdecimal() and int(count) < 60 else 1)


def draw(document: Document, code: str, line: int) -> None:
    """Add the coordinates of a drawing as one table: one row per x, one column per series."""
    series: list[tuple[int, dict[str, str]]] = []
    for match in _PLOT.finditer(code):
        points = _POINT.findall(code[match.end() : code.find("}", match.end())])
        series.append((line + code.count("\n", 0, match.start()), {x.strip(): y.strip() for x, y in points}))
    names: list[str] = []
    for match in _LEGEND.finditer(code):
        inside = code[match.end() + 1 : group(code, match.end()) - 1]
        names += _listed(inside) if match[0].startswith("\\legend") else [inside]
    if series:
        named = [plain(name) for name in names[: len(series)]]
        named += [f"series {index + 1}" for index in range(len(named), len(series))]
        labels = {match["axis"]: plain(match["braced"] or match["bare"] or "") for match in _AXIS_LABEL.finditer(code)}
        title = _TITLE.search(code)
        at_x = dict.fromkeys(x for _, points in series for x in points)
        rows = [Row(series[0][0], (labels.get("x", ""), *named))]
        rows += [Row(series[0][0], (plain(x), *(points.get(x, "") for _, points in series))) for x in at_x]
        caption = f"{plain(title['title']) if title else ''} {labels.get('y', '')}".strip()
        document.tabulate(series[0][0], rows, 1, caption, "figure")


def _listed(text: str) -> list[str]:
    """The names of a legend; commas in braces or brackets part none."""
    found, depth = [""], 0
    for sign in text:
        depth += (sign in "{([") - (sign in "})]")
        if sign == "," and depth == 0:
            found.append("")
        else:
            found[-1] += sign
    return found
