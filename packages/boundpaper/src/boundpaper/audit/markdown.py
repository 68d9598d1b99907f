"""Read Markdown as a document, with markdown-it-py, which knows the line of every block."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

from boundpaper.audit import html, latex
from boundpaper.audit.documents import Document, Kind, Row, Sentence
from boundpaper.paper.sentences import split

_BREAK = re.compile(r"<br\s*+/?>", re.IGNORECASE)
_MATHS = re.compile(r"\$([^$\n]{1,300})\$")
_DELIMITER = re.compile(r"\s*+\|?(?:\s*+:?-++:?\s*+\|)++\s*+(?::?-++:?\s*+)?")
_BAR = re.compile(r"(?<!\\)\|")
_CODE = re.compile(r"`[^`]+`")
_ABSOLUTE = re.compile(r"(?<=[\s|])\|([^|\s]++)\|(?=[\s|]|$)")


def read(text: str, file: str) -> Document:
    """Read headings, tables and sentences, of HTML and figures in LaTeX inside it too; findings give `file` as name."""
    shown = _with_bars_escaped(_without_front_matter(text))
    blocks = MarkdownIt("commonmark", {"html": True}).enable("table").parse(shown)
    document = Document(file)
    rows: list[Row] = []
    inside, tabled, head = 0, 0, 0
    for token in blocks:
        line = token.map[0] + 1 if token.map else 0
        inside += token.nesting * (token.type in ("list_item_open", "list_item_close"))
        if token.type == "table_open":
            tabled, rows = line, []
        elif token.type == "table_close":
            last = document.sentences[-1] if document.sentences else None
            near = last is not None and last.kind != "heading" and tabled - last.line <= 4
            document.tabulate(tabled, rows[0].cells, rows[1:], last.text if last and near else "")
            tabled = 0
        elif token.type == "tr_open":
            rows.append(Row(line or tabled + len(rows), ()))
        elif token.type == "inline" and tabled:
            rows[-1] = Row(rows[-1].line, (*rows[-1].cells, plain(token).replace("\n", " ")))
        elif token.type == "heading_open":
            head = int(token.tag[1:])
        elif token.type == "inline" and head:
            document.head(line, head, plain(token))
            head = 0
        elif token.type == "inline":
            _say(document, token, line, "item" if inside else "prose")
        elif token.type == "html_block":
            html.into(document, token.content, line)
        elif token.type == "fence" and "\\addplot" in token.content:
            latex.draw(document, token.content, line + 1)
    return document


def _without_front_matter(text: str) -> str:
    """The text with a YAML head as empty lines."""
    if not text.startswith("---\n") or (end := text.find("\n---", 4)) < 0:
        return text
    return "\n" * text[: end + 4].count("\n") + text[end + 4 :]


def _with_bars_escaped(text: str) -> str:
    """The text with bars of code and absolute values escaped in rows of more bars than the rule below their head."""
    lines = text.split("\n")
    bars = 0
    for index, line in enumerate(lines):
        if index + 1 < len(lines) and "|" in line and _DELIMITER.fullmatch(lines[index + 1]):
            bars = len(_BAR.findall(lines[index + 1]))
        elif "|" not in line:
            bars = 0
        if 0 < bars < len(_BAR.findall(line)):
            line = _CODE.sub(lambda match: _BAR.sub(r"\\|", match[0]), line)
            lines[index] = _ABSOLUTE.sub(r"\\|\1\\|", line)
    return "\n".join(lines)


def _say(document: Document, token: Token, line: int, kind: Kind) -> None:
    """Add the sentences of a paragraph, each with the line in which it begins."""
    source, place = token.content.split("\n"), 0
    for text in split(plain(token).replace("\n", " ")):
        beginning = text[:12].split(" ")[0]
        found = (index for index in range(place, len(source)) if beginning and beginning in source[index])
        place = next(found, place)
        document.sentences.append(Sentence(document.file, line + place, text, kind, document.above))


def plain(token: Token) -> str:
    """The words of an inline token, without emphasis marks, pictures and addresses."""
    parts = []
    for child in token.children or ():
        if child.type in ("text", "code_inline"):
            parts.append(child.content)
        elif child.type in ("softbreak", "hardbreak") or (child.type == "html_inline" and _BREAK.match(child.content)):
            parts.append("\n" if child.type != "html_inline" else " ")
    return _MATHS.sub(lambda match: latex.plain(match[0]), "".join(parts)).strip()
