r"""Read the tables, captions, sentences and references of LaTeX; the coordinates of PGFPlots become tables."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from boundpaper.adopt.source import LatexFile, body_span
from boundpaper.audit.documents import FileLine, ReadDocument, Row
from boundpaper.paper.visible import closing_places
from boundpaper.typeset.characters import MATH

_LEVELS = {"part": 1, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5}
_BLOCK = re.compile(
    r"\\begin\{(?P<block>(?P<grid>tabular[*xy]?|longtable|NiceTabular)|tikzpicture|equation\*?|align\*?|thebibliography|"
    r"CCSXML)\}"
    r"|\\(?P<level>part|chapter|(?:sub){0,2}section|paragraph)\*?+\s*+(?:\[[^\]]{0,300}\]\s*+)?(?=\{)"
    r"|\\(?P<caption>caption(?:of\{\w+\})?)\*?+\s*+(?:\[[^\]]{0,300}\]\s*+)?(?=\{)"
    r"|(?P<float>\\(?:begin|end)\{(?:table|figure|sidewaystable|wraptable|wrapfigure)\*?\})"
    r"|\\item\b|\n[ \t]*+\n"
)
_LABEL = re.compile(r"\\label\s*+\{([^{}]{1,200})\}|\blabel\s*=\s*+\{?([\w:.-]+)|\\begin\{\w+\}\[(\w+:[\w:.-]+)\]")
_REFERENCE = re.compile(r"\\(?:ref|eqref|autoref|cref|Cref|pageref|nameref|vref)\*?+\s*+\{([^{}]{1,300})\}")
_ESCAPE_OPTION = re.compile(r"\bescape(?:char|inside)\b")
OTHER_DOCUMENTS = re.compile(r"\\externaldocument\b|\\usepackage\{subfiles\}")
_POWER = re.compile(r"(?:\\(?:times|cdot)\s*+)?(?<!\d)10\s*+\^\s*+\{?\s*+([-+]?\d{1,3})\s*+\}?")
_SPAN = re.compile(r"\\multi(?P<kind>column|row)\s*+(?:\[[^\]]{0,40}\])?\s*+\{\s*+(?P<count>[^{}]{0,20})\}")
_RULES = re.compile(
    r"\\(?:toprule|midrule|bottomrule|hline|endhead|endfirsthead|endfoot|endlastfoot|addlinespace|specialrule|"
    r"cmidrule|cline|centering|small|footnotesize|rowcolor|noalign|arrayrulecolor|morecmidrules)(?![A-Za-z])"
    r"(?:\s*+(?:\[[^\]]{0,40}\]|\([^()]{0,20}\)|\{[^{}]{0,60}\}))*+"
)
_BLANK_OR_RULE = re.compile(rf"\s++|{_RULES.pattern}")
_WITH_ARGUMENT = re.compile(
    r"\\(?:cite\w*|label|footnote|footnotemark|footnotetext|vspace|hspace|includegraphics|url|bibliography|"
    r"bibliographystyle|textcolor|color|cellcolor|rotatebox|resizebox|begin|end|thanks|tablefootnote|tnote)\*?+"
    r"\s*+(?:\[[^\]]{0,300}\]\s*+)*+\{[^{}]{0,2000}\}(?:\{[^{}]{0,60}\})?"
)
_CHARACTERS = {command: char for char, command in reversed(MATH.items())} | {
    r"\%": "%", r"\&": "&", r"\#": "#", r"\_": "_", r"\sim": "~", r"\le": "≤", r"\ge": "≥", r"\to": "→",
    r"\dagger": "†", r"\ddagger": "‡", r"\ast": "*", r"\textminus": "-", r"\ldots": "...", r"\dots": "...", r"\S": "§",
    r"\epsilon": "ε", r"\phi": "φ", r"\sqrt": "√",
    r"\,": "", r"\;": " ", r"\:": " ", r"\!": "", r"\ ": " ", r"\\": " ",
}  # fmt: skip
_COMMAND = re.compile(r"\\(?:[A-Za-z@]++\*?+|.)", re.DOTALL)
_SUPERSCRIPTS = str.maketrans("0123456789-+", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺")
_FOOTNOTE_MARK = re.compile(r"\^\s*+\{?\s*+([*†‡§¶a-z])\s*+\}?")
_ARGUMENT = re.compile(r"\s*+(?:\[[^\]]{0,40}\]\s*+)?(?=\{)")
_INNER_RULE = re.compile(r"\\(?:midrule|hline|endhead|endfirsthead)")
_CELL_END = re.compile(r"(?P<sign>&|\\\\(?:\s*+\[[^\]]{0,20}\])?|\\tabularnewline)|\\.|[{}]", re.DOTALL)
_COMMA = re.compile(r"(?P<sign>,)|\\.|[{}()\[\]]", re.DOTALL)
_PLOT = re.compile(r"\\addplot\+?(?:3)?\s*+(?:\[(?P<options>[^\]]{0,1000})\])?\s*+(?:plot\s*+)?coordinates\s*+\{")
_POINT = re.compile(r"\(([^(),]{1,60}),([^(),]{1,60})\)")
_LEGEND = re.compile(r"\\addlegendentry\s*+(?:\[[^\]]{0,200}\])?\s*+(?=\{)|\\legend\s*+(?=\{)")
_AXIS_LABEL = re.compile(r"\b(?P<axis>[xy])label\s*+=\s*+(?:\{(?P<braced>[^{}]{0,200})\}|(?P<bare>[^,\]\n]{0,200}))")
_TITLE = re.compile(r"\btitle\s*+=\s*+\{(?P<title>[^{}]{0,300})\}")


def plain(tex: str) -> str:
    """Return the text that LaTeX code prints, in one line, without layout, citations and labels."""
    return " ".join(_printed(tex).split())


def _printed(tex: str) -> str:
    """Return the text that LaTeX code prints, with the line breaks of the code."""
    text = _WITH_ARGUMENT.sub(lambda match: " " + "\n" * match[0].count("\n"), tex).replace("{,}", ",")
    text = _POWER.sub(lambda match: "×" * (match[0][0] == "\\") + "10" + match[1].translate(_SUPERSCRIPTS), text)
    text = _COMMAND.sub(lambda match: _CHARACTERS.get(name := match[0].rstrip("*"), " " if len(name) > 2 else ""), text)
    text = _FOOTNOTE_MARK.sub(lambda match: match[1] if not match[1].isalpha() else "†", text)
    text = text.replace("---", "—").replace("--", "–").replace("``", '"').replace("''", '"').replace("~", " ")
    return re.sub(r"[{}$]", "", text)


def read(text: str, file: str) -> ReadDocument:
    """Return the document in a LaTeX text, without comments, verbatim text and the preamble."""
    source = LatexFile(Path(file), file, text, "utf-8")
    (start, stop), code = body_span(source), source.code
    document, ends = ReadDocument(file, "\\begin{document}" in code), closing_places(code)
    position, first_table, caption = start, 0, ""  # the first table of the present float, and its caption
    for match in _BLOCK.finditer(code, start, stop):
        if match.start() < position:
            continue
        document.add_sentences(source.line(position), _printed(code[position : match.start()]))
        line, position = source.line(match.start()), match.end()
        if match["float"]:
            if caption and match["float"].startswith("\\end"):
                tables = document.tables[first_table:]
                document.tables[first_table:] = [replace(table, caption=caption) for table in tables]
            first_table, caption = len(document.tables), ""
        elif match["block"]:
            end_command = f"\\end{{{match['block']}}}"
            end = found if (found := code.find(end_command, position)) >= 0 else len(code)
            if match["grid"]:
                while position < end and (argument := _ARGUMENT.match(code, position, end)):
                    position = ends.get(argument.end(), len(code))
                _add_tabular(document, source, position, end, line)
            elif match["block"] == "tikzpicture":
                add_plot(document, code[match.start() : end], line)
            position = min(len(code), end + len(end_command))
        elif match["level"] or match["caption"]:
            argument_start, position = position + 1, ends.get(position, len(code))
            text = plain(code[argument_start : position - 1])
            if match["caption"]:
                caption = text
                document.add_sentences(line, text)
            else:
                document.add_heading(line, _LEVELS[match["level"]], text)
    document.add_sentences(source.line(position), _printed(code[position:stop]))
    for match in _REFERENCE.finditer(code, start, stop):
        place = FileLine(file, source.line(match.start()))
        document.references += [(name.strip(), place) for name in match[1].split(",")]
    label_source = source.text if _ESCAPE_OPTION.search(source.text) else code  # escaped listings may define labels
    names: set[str] = set()
    for match in _LABEL.finditer(source.text):  # also options of listings, which `code` does not contain
        name = match[match.lastindex or 0].strip()
        is_label = label_source[match.start()] == "\\" if match[1] else name not in names
        if is_label:
            names.add(name)
            document.labels.append((name, FileLine(file, source.line(match.start()))))
    return document


def _add_tabular(document: ReadDocument, source: LatexFile, start: int, stop: int, line: int) -> None:
    """Add the table in a span of the source; the rows above the first inner rule, if at most three, are its header."""
    rows: list[Row] = []
    cells: list[str] = []
    rules: list[int] = []
    for end, cell, separator in _split_code(_CELL_END, source.code, start, stop):
        cells.append(cell)
        if separator == "&":
            continue
        rules += [len(rows)] if rows and _INNER_RULE.search(cells[0]) else []
        texts = [text for code in (_RULES.sub("", cells[0]), *cells[1:]) for text in _repeat_spanned(code)]
        if any(texts):
            while start < stop and (blank := _BLANK_OR_RULE.match(source.code, start, stop)):
                start = blank.end()
            rows.append((source.line(start), texts))
        cells, start = [], end
    header_rows = next((rule for rule in rules if rule < len(rows)), 1)
    document.add_table(line, rows, header_rows if header_rows <= 3 else 1)


def _split_code(separators: re.Pattern[str], code: str, start: int, stop: int) -> Iterator[tuple[int, str, str]]:
    """Yield the end of each separator outside brackets, the text before the separator, and the separator."""
    depth = 0
    for match in separators.finditer(code, start, stop):
        depth += (match[0] in "{([") - (match[0] in "})]")
        if match["sign"] and depth <= 0:
            yield match.end(), code[start : match.start()], match[0]
            start = match.end()
    yield stop, code[start:stop], ""


def _repeat_spanned(cell: str) -> list[str]:
    """Return the text of a cell once for each column that the cell spans."""
    span = _SPAN.search(cell)
    if span is None:
        return [plain(cell)]
    ends, brace = closing_places(cell), cell.find("{", span.end())
    brace = cell.find("{", ends.get(brace, len(cell))) if brace >= 0 else -1  # after the alignment or the width
    text = plain(cell[brace + 1 : ends.get(brace, len(cell)) - 1]) if brace >= 0 else plain(cell)
    count = span["count"].strip() if span["kind"] == "column" else ""
    return [text] * (int(count) if count.isdecimal() and int(count) < 60 else 1)


def add_plot(document: ReadDocument, code: str, line: int) -> None:
    """Add the coordinates of a plot to a document as a table with a row per x value and a column per series."""
    plots = list(_PLOT.finditer(code))
    points = (_POINT.findall(code[match.end() : code.find("}", match.end())]) for match in plots)
    series = [{x.strip(): y.strip() for x, y in pairs} for pairs in points]
    if not series:
        return
    names, ends = list[str](), closing_places(code)
    for match in _LEGEND.finditer(code):
        start, stop = match.end() + 1, ends.get(match.end(), len(code)) - 1
        if match[0].startswith("\\legend"):
            names += [name for _, name, _ in _split_code(_COMMA, code, start, stop)]
        else:
            names.append(code[start:stop])
    line += code.count("\n", 0, plots[0].start())
    legend = [plain(name) for name in names[: len(series)]]
    legend += [f"series {index + 1}" for index in range(len(legend), len(series))]
    labels = {match["axis"]: plain(match["braced"] or match["bare"] or "") for match in _AXIS_LABEL.finditer(code)}
    title = _TITLE.search(code)
    xs = dict.fromkeys(x for y_by_x in series for x in y_by_x)
    rows: list[Row] = [(line, [labels.get("x", ""), *legend])]
    rows += [(line, [plain(x), *(y_by_x.get(x, "") for y_by_x in series)]) for x in xs]
    caption = f"{plain(title['title']) if title else ''} {labels.get('y', '')}".strip()
    document.add_table(line, rows, 1, caption, "figure")
