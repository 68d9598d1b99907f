"""Read Markdown as a document: convert it to HTML with markdown-it-py, keep the line numbers, and read the HTML."""

import re

from markdown_it import MarkdownIt

from boundpaper.audit import html, latex
from boundpaper.audit.documents import ReadDocument

_HEAD = re.compile(r"---\n.*?\n---", re.DOTALL)
_BREAK = re.compile(r"<br\s*+/?>", re.IGNORECASE)
_HEADING = re.compile(r"^#{1,6}[ \t]+(\S.*)", re.MULTILINE)
_MATHS = re.compile(r"\$([^$\n]{1,300})\$")
_DELIMITER = re.compile(r"\s*+\|?(?:\s*+:?-++:?\s*+\|)++\s*+(?::?-++:?\s*+)?")
_BAR = re.compile(r"(?<!\\)\|")
_CODE = re.compile(r"`[^`]+`")
_ABSOLUTE = re.compile(r"(?<=[\s|])\|([^|\s]++)\|(?=[\s|]|$)")


def read(text: str, file: str) -> ReadDocument:
    """Read headings, tables and sentences, also from embedded HTML and LaTeX figures; findings name the file `file`."""
    blocks = MarkdownIt("commonmark", {"html": True}).enable("table")
    reader, reader_line = html.HtmlReader(document := ReadDocument(file)), 0
    if head := _HEAD.match(text):
        text = "\n" * head[0].count("\n") + text[head.end() :]
    for token in blocks.parse(_with_bars_escaped(text)):
        line = token.map[0] if token.map else reader_line
        if token.type == "html_block":
            html.read("\n" * line + token.content, file, document)
        elif token.type == "fence" and "\\addplot" in token.content:
            latex.add_plot(document, token.content, line + 2)
        elif token.type in ("fence", "code_block"):
            document.hidden += _HEADING.findall(token.content)
        else:
            inner = [node for node in token.children or () if node.type != "html_inline" or _BREAK.match(node.content)]
            token.children = inner
            for node in inner:  # replace formulas by text, and keep only line breaks of HTML
                node.content = _MATHS.sub(lambda match: latex.plain(match[0]), node.content)
            code = blocks.renderer.render([token], blocks.options, {}).strip("\n")
            reader.feed("\n" * (line - reader_line) + code)
            reader_line = max(reader_line, line) + code.count("\n")
        if token.type == "table_open" and (before := document.sentences[-1:]):
            is_near = not before[0].level and line - before[0].place.line < 4
            reader.open[-1].caption = before[0].text if is_near else ""
    reader.close()
    reader.flush()
    return document


def _with_bars_escaped(text: str) -> str:
    """Escape bars in code and absolute values, in table rows that have more bars than the rule below the header."""
    lines, bars = text.split("\n"), 0
    for index, line in enumerate(lines):
        if "|" not in line:
            bars = 0
        elif _DELIMITER.fullmatch(following := "".join(lines[index + 1 : index + 2])):
            bars = len(_BAR.findall(following))
        if 0 < bars < len(_BAR.findall(line)):
            line = _CODE.sub(lambda match: _BAR.sub(r"\\|", match[0]), line)
            lines[index] = _ABSOLUTE.sub(r"\\|\1\\|", line)
    return "\n".join(lines)
