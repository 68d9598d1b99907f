"""Read Markdown as a document: markdown-it-py converts each block to HTML, which is read at the block's line."""

import re

from markdown_it import MarkdownIt

from boundpaper.audit import html, latex
from boundpaper.audit.documents import ReadDocument

_FRONT_MATTER = re.compile(r"---\n.*?\n---", re.DOTALL)
_BREAK = re.compile(r"<br\s*+/?>", re.IGNORECASE)
_HEADING = re.compile(r"^#{1,6}[ \t]+(\S.*)", re.MULTILINE)
_MATHS = re.compile(r"\$([^$\n]{1,300})\$")
_DELIMITER = re.compile(r"\s*+\|?(?:\s*+:?-++:?\s*+\|)++\s*+(?::?-++:?\s*+)?")
_BAR = re.compile(r"(?<!\\)\|")
_CODE = re.compile(r"`[^`]+`")
_ABSOLUTE = re.compile(r"(?<=[\s|])\|([^|\s]++)\|(?=[\s|]|$)")


def read(text: str, file: str) -> ReadDocument:
    """Return the document in a Markdown text, with embedded HTML and LaTeX figures; `file` is its name in findings."""
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    reader, reader_line = html.HtmlReader(document := ReadDocument(file)), 0
    if front_matter := _FRONT_MATTER.match(text):
        text = "\n" * front_matter[0].count("\n") + text[front_matter.end() :]
    for token in parser.parse(_with_bars_escaped(text)):
        line = token.map[0] if token.map else reader_line
        if token.type == "html_block":
            html.read("\n" * line + token.content, file, document)
        elif token.type == "fence" and "\\addplot" in token.content:
            latex.add_plot(document, token.content, line + 2)
        elif token.type in ("fence", "code_block"):
            document.code_headings += _HEADING.findall(token.content)
        else:
            # Of inline HTML keep only line breaks, and replace formulas by text.
            nodes = [node for node in token.children or () if node.type != "html_inline" or _BREAK.match(node.content)]
            for node in nodes:
                node.content = _MATHS.sub(lambda match: latex.plain(match[0]), node.content)
            token.children = nodes
            code = parser.renderer.render([token], parser.options, {}).strip("\n")
            reader.feed("\n" * (line - reader_line) + code)
            reader_line = max(reader_line, line) + code.count("\n")
        if token.type == "table_open" and document.sentences:
            previous = document.sentences[-1]
            is_near = not previous.level and line - previous.place.line < 4
            reader.open_tables[-1].caption = previous.text if is_near else ""
    reader.close()
    reader.flush()
    return document


def _with_bars_escaped(text: str) -> str:
    """In table rows with too many bars, escape the bars in code and in absolute values; return the text."""
    lines, expected_bars = text.split("\n"), 0
    for index, line in enumerate(lines):
        if "|" not in line:
            expected_bars = 0
        elif _DELIMITER.fullmatch(next_line := "".join(lines[index + 1 : index + 2])):
            expected_bars = len(_BAR.findall(next_line))
        if 0 < expected_bars < len(_BAR.findall(line)):
            line = _CODE.sub(lambda match: _BAR.sub(r"\\|", match[0]), line)
            lines[index] = _ABSOLUTE.sub(r"\\|\1\\|", line)
    return "\n".join(lines)
