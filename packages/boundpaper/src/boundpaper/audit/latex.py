r"""Read LaTeX as a document: tables, captions, sentences, references, and PGFPlots coordinates as tables."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

from boundpaper.adopt.source import Source, body_of
from boundpaper.audit.documents import Document, Heading, Place, Row, Sentence, Table, filled, joined
from boundpaper.paper.sentences import split

_LEVELS = {"part": 1, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5}
_BLOCK = re.compile(
    r"\\begin\{(?P<grid>tabular\*?|tabularx|tabulary|longtable|NiceTabular|tikzpicture|equation\*?|align\*?|"
    r"thebibliography|CCSXML)\}"
    r"|\\(?P<level>part|chapter|(?:sub){0,2}section|paragraph)\*?+\s*+(?:\[[^\]]{0,300}\]\s*+)?(?=\{)"
    r"|\\(?P<caption>caption(?:of\{\w+\})?)\*?+\s*+(?:\[[^\]]{0,300}\]\s*+)?(?=\{)"
    r"|(?P<float>\\(?:begin|end)\{(?:table|figure|sidewaystable|wraptable|wrapfigure)\*?\})"
    r"|(?P<item>\\item\b)|(?P<gap>\n[ \t]*+\n)"
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
_SIGNS = {
    r"\%": "%", r"\&": "&", r"\#": "#", r"\_": "_", r"\$": "", r"\times": "×", r"\approx": "≈", r"\sim": "~",
    r"\leq": "≤", r"\le": "≤", r"\geq": "≥", r"\ge": "≥", r"\pm": "±", r"\to": "→", r"\rightarrow": "→",
    r"\cdot": "·", r"\dagger": "†", r"\ddagger": "‡", r"\ast": "*", r"\uparrow": "↑", r"\downarrow": "↓",
    r"\textminus": "-", r"\ldots": "...", r"\dots": "...", r"\S": "§",
    r"\,": "", r"\;": " ", r"\:": " ", r"\!": "", r"\ ": " ", r"\\": " ", r"\{": "{", r"\}": "}",
}  # fmt: skip
_GREEK_TEXT = "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu rho sigma tau phi chi psi omega"
_GREEK = frozenset(_GREEK_TEXT.split())
_COMMAND = re.compile(r"\\(?:[A-Za-z@]++\*?+|.)", re.DOTALL)
_SUPER = str.maketrans("0123456789-+", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺")
_RAISED = re.compile(r"\^\s*+\{?\s*+([*†‡§¶a-z])\s*+\}?")
_SPACE = re.compile(r"[\s~]++")
_PLOT = re.compile(r"\\addplot\+?(?:3)?\s*+(?:\[(?P<options>[^\]]{0,1000})\])?\s*+(?:plot\s*+)?coordinates\s*+\{")
_POINT = re.compile(r"\(([^(),]{1,60}),([^(),]{1,60})\)")
_LEGEND = re.compile(r"\\addlegendentry\s*+(?:\[[^\]]{0,200}\])?\s*+(?=\{)|\\legend\s*+(?=\{)")
_AXIS_LABEL = re.compile(r"\b(?P<axis>[xy])label\s*+=\s*+(?:\{(?P<braced>[^{}]{0,200})\}|(?P<bare>[^,\]\n]{0,200}))")
_TITLE = re.compile(r"\btitle\s*+=\s*+\{(?P<title>[^{}]{0,300})\}")


def plain(tex: str) -> str:
    """Words and numbers that a piece of LaTeX prints, without layout, citations and labels."""
    text = _FOLLOWED.sub(" ", tex)
    text = text.replace("{,}", ",")
    text = _POWER.sub(lambda match: ("×" if match[0][0] == "\\" else "") + "10" + match[1].translate(_SUPER), text)
    text = _COMMAND.sub(_sign, text)
    text = _RAISED.sub(lambda match: match[1] if not match[1].isalpha() else "†", text)
    text = text.replace("---", "—").replace("--", "–").replace("``", '"').replace("''", '"')
    return _SPACE.sub(" ", re.sub(r"[{}$]", "", text)).strip()


def _sign(match: re.Match[str]) -> str:
    """What a command prints by itself: a sign, a Greek letter, or nothing."""
    name = match[0].rstrip("*")
    if name in _SIGNS:
        return _SIGNS[name]
    if name[1:].lower() in _GREEK:
        case = "CAPITAL" if name[1].isupper() else "SMALL"
        return unicodedata.lookup(f"GREEK {case} LETTER {name[1:].upper().replace('LAMBDA', 'LAMDA')}")
    return " " if len(name) > 2 else ""


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
    code = source.code
    reader = _Reader(source, file)
    position = start
    for match in _BLOCK.finditer(code, start, stop):
        if match.start() < position:
            continue
        reader.prose(position, match.start())
        position = reader.block(match)
    reader.prose(position, stop)
    reader.caption_floats()
    body = code[start:stop]
    references = [
        (name.strip(), Place(file, source.line(start + match.start())))
        for match in _REFERENCE.finditer(body)
        for name in match[1].split(",")
    ]
    labels = [(match[1].strip(), Place(file, source.line(match.start()))) for match in _LABEL.finditer(code)]
    whole = "\\begin{document}" in code
    return Document(file, "latex", reader.tables, reader.sentences, reader.headings, labels, references, whole)


class _Reader:
    def __init__(self, source: Source, file: str) -> None:
        self.source, self.file, self.code = source, file, source.code
        self.tables: list[Table] = []
        self.sentences: list[Sentence] = []
        self.headings: list[Heading] = []
        self.path: list[tuple[int, str]] = []
        self.item = False
        self.floated: list[int] | None = None
        self.captions: list[tuple[list[int], str]] = []
        self.caption = ""

    def _above(self) -> tuple[str, ...]:
        return tuple(text for _, text in self.path)

    def prose(self, start: int, stop: int) -> None:
        shown = self.code[start:stop]
        if not shown.strip():
            return
        start += len(shown) - len(shown.lstrip())
        words = plain(self.code[start:stop])
        position = start
        for sentence in split(words):
            first = re.match(r"[\w-]+(?: [\w-]+)?", sentence)
            place = self.code.find(first[0].split(" ")[0], position, stop) if first else -1
            position = place if place >= 0 else position
            if re.search(r"\w", sentence):
                line = self.source.line(position)
                self.sentences.append(
                    Sentence(self.file, line, sentence, "item" if self.item else "prose", self._above())
                )

    def block(self, match: re.Match[str]) -> int:
        """Read what begins at a match; return where it ends."""
        line = self.source.line(match.start())
        if match["gap"]:
            self.item = False
            return match.end()
        if match["item"]:
            self.item = True
            return match.end()
        if match["float"]:
            if self.floated is not None:
                self.captions.append((self.floated, self.caption))
            self.floated = [] if match["float"].startswith("\\begin") else None
            self.caption = ""
            return match.end()
        if match["grid"]:
            end = self.code.find(f"\\end{{{match['grid']}}}", match.end())
            end = len(self.code) if end < 0 else end
            found: list[Table] = []
            if match["grid"] == "tikzpicture":
                found = figures(self.code[match.start() : end], self.file, line, self._above())
            elif match["grid"].startswith(("tab", "long", "Nice")):
                found = self._grid(match.end(), end, line)
            for table in found:
                if self.floated is not None:
                    self.floated.append(len(self.tables))
                self.tables.append(table)
            return min(len(self.code), end + len(f"\\end{{{match['grid']}}}"))
        opened = self.code.index("{", match.end())
        end = group(self.code, opened)
        text = plain(self.code[opened + 1 : end - 1])
        if match["caption"]:
            self.caption = text
            self.sentences += [Sentence(self.file, line, each, "caption", self._above()) for each in split(text)]
        else:
            level = _LEVELS[match["level"]]
            self.path = [each for each in self.path if each[0] < level]
            self.headings.append(Heading(line, level, text, self.file))
            self.sentences.append(Sentence(self.file, line, text, "heading", self._above()))
            self.path.append((level, text))
        return end

    def caption_floats(self) -> None:
        """Give each table of a float the float's caption."""
        for indices, caption in self.captions:
            for index in indices:
                table = self.tables[index]
                self.tables[index] = Table(
                    table.file, table.line, table.header, table.rows, caption or table.caption, table.path, table.kind
                )

    def _grid(self, start: int, stop: int, line: int) -> list[Table]:
        while start < stop and (
            opened := re.compile(r"\s*+(?:\[[^\]]{0,40}\]\s*+)?(?=\{)").match(self.code, start, stop)
        ):
            start = group(self.code, opened.end())
        rows = [(self.source.line(place), cells, ruled) for place, cells, ruled in _rows(self.code, start, stop)]
        if len(rows) < 2:
            return []
        heads = next((index for index in range(1, len(rows)) if rows[index][2]), 1)
        heads = heads if heads <= 3 else 1
        width = max(len(cells) for _, cells, _ in rows)
        names = [[*cells, *[""] * (width - len(cells))] for _, cells, _ in rows[:heads]]
        header = [joined([row[column] for row in names]) for column in range(width)]
        whole, body = filled(header, [Row(place, tuple(cells)) for place, cells, _ in rows[heads:]])
        return [Table(self.file, line, whole, body, "", self._above())] if body else []


def _rows(code: str, start: int, stop: int) -> Iterator[tuple[int, list[str], bool]]:
    """The rows of a grid: where each begins, its cells, and whether a rule stands before it."""
    depth, cells, cell, begin, ruled = 0, [], start, start, False
    end = re.compile(r"\\\\(?:\s*+\[[^\]]{0,20}\])?|\\tabularnewline|\\.|[{}&]", re.DOTALL)

    def text(last: int) -> str:
        return code[cell:last]

    for match in [*end.finditer(code, start, stop), None]:
        token = match[0] if match else "\\\\"
        if token in "{}" and match:
            depth += (token == "{") - (token == "}")
        elif depth > 0 and match:
            continue
        elif token == "&" and match:
            cells.append(text(match.start()))
            cell = match.end()
        elif token.startswith(("\\\\", "\\tabularnewline")):
            cells.append(text(match.start() if match else stop))
            first = _RULES.sub("", cells[0])
            ruled = ruled or bool(re.search(r"\\(?:midrule|hline|endhead|endfirsthead)", cells[0]))
            cells[0] = first
            shown = [each for cell_text in cells for each in _spanned(cell_text)]
            if any(each for each in shown):
                yield _behind_rules(code, begin, stop), shown, ruled
                ruled = False
            cells = []
            if match:
                cell = begin = match.end()


def _behind_rules(code: str, place: int, stop: int) -> int:
    """Where the text of a row begins, behind blanks and rules."""
    while place < stop and (match := _BLANK_OR_RULE.match(code, place, stop)):
        place = match.end()
    return place


def _spanned(cell: str) -> list[str]:
    """The text of a cell, as often as columns that it spans."""
    span = _SPAN.search(cell)
    if span is None:
        return [plain(cell)]
    opened = cell.find("{", span.end())
    if span["kind"] == "column" or opened >= 0:
        opened = cell.find("{", group(cell, opened)) if opened >= 0 else -1
    inner = plain(cell[opened + 1 : group(cell, opened) - 1]) if opened >= 0 else plain(cell)
    count = span["count"].strip()
    return [inner] * (int(count) if span["kind"] == "column" and count.isdecimal() and int(count) < 60 else 1)


def figures(code: str, file: str, line: int, path: tuple[str, ...]) -> list[Table]:
    """The coordinates of a drawing as one table: one row per x, one column per series."""
    series: list[tuple[str, int, list[tuple[str, str]]]] = []
    for match in _PLOT.finditer(code):
        end = code.find("}", match.end())
        points = [(x.strip(), y.strip()) for x, y in _POINT.findall(code[match.end() : end])]
        series.append(("", line + code.count("\n", 0, match.start()), points))
    names: list[str] = []
    for match in _LEGEND.finditer(code):
        inside = code[match.end() + 1 : group(code, match.end()) - 1]
        names += _listed(inside) if match[0].startswith("\\legend") else [inside]
    series = [
        (plain(names[index]) if index < len(names) else f"series {index + 1}", at, points)
        for index, (_, at, points) in enumerate(series)
    ]
    if not series:
        return []
    labels = {match["axis"]: plain(match["braced"] or match["bare"] or "") for match in _AXIS_LABEL.finditer(code)}
    title = _TITLE.search(code)
    at_x = dict.fromkeys(x for _, _, points in series for x, _ in points)
    values = [dict(points) for _, _, points in series]
    rows = [Row(series[0][1], (plain(x), *(each.get(x, "") for each in values))) for x in at_x]
    header, body = filled([labels.get("x", ""), *(name for name, _, _ in series)], rows)
    caption = " ".join(filter(None, [plain(title["title"]) if title else "", labels.get("y", "")]))
    return [Table(file, series[0][1], header, body, caption, path, "figure")]


def _listed(text: str) -> Sequence[str]:
    """The names of a legend; commas in braces or brackets part none."""
    found, depth, start = [], 0, 0
    for place, sign in enumerate(text):
        depth += (sign in "{([") - (sign in "})]")
        if sign == "," and depth == 0:
            found.append(text[start:place])
            start = place + 1
    return [*found, text[start:]]
