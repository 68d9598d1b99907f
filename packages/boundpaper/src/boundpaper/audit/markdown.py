"""Read Markdown as a document, with markdown-it-py, which knows the line of every block."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from boundpaper.audit import html, latex
from boundpaper.audit.documents import Document, Heading, Row, Sentence, Table, filled
from boundpaper.paper.sentences import split

_BREAK = re.compile(r"<br\s*+/?>", re.IGNORECASE)
_MATHS = re.compile(r"\$([^$\n]{1,300})\$")
_DELIMITER = re.compile(r"\s*+\|?(?:\s*+:?-++:?\s*+\|)++\s*+(?::?-++:?\s*+)?")
_BAR = re.compile(r"(?<!\\)\|")
_CODE = re.compile(r"`[^`]+`")
_ABSOLUTE = re.compile(r"(?<=[\s|])\|([^|\s]++)\|(?=[\s|]|$)")


def read(text: str, file: str) -> Document:
    """Read headings, tables and sentences; tables in HTML and figures in LaTeX inside it too.

    Parameters
    ----------
    text : str
    file : str
        The name that findings give.
    """
    shown = _with_bars_escaped(_without_front_matter(text))
    blocks = MarkdownIt("commonmark", {"html": True}).enable("table").parse(shown)
    tables: list[Table] = []
    sentences: list[Sentence] = []
    headings: list[Heading] = []
    path: list[tuple[int, str]] = []
    inside: list[str] = []
    position = 0
    while position < len(blocks):
        token = blocks[position]
        line = token.map[0] + 1 if token.map else 0
        above = tuple(text for _, text in path)
        if token.type == "table_open":
            end = next(place for place in range(position, len(blocks)) if blocks[place].type == "table_close")
            lead = sentences[-1].text if sentences and sentences[-1].kind != "heading" else ""
            tables.append(_table(blocks[position:end], file, line, lead if _near(sentences, line) else "", above))
            position = end
        elif token.type == "heading_open":
            words = plain(blocks[position + 1])
            level = int(token.tag[1:])
            path = [each for each in path if each[0] < level]
            headings.append(Heading(line, level, words))
            sentences.append(Sentence(file, line, words, "heading", tuple(text for _, text in path)))
            path.append((level, words))
            position += 1
        elif token.type in ("list_item_open", "list_item_close"):
            inside.append("item") if token.nesting > 0 else inside.pop()
        elif token.type == "inline":
            sentences += _sentences(token, file, line, bool(inside), above)
        elif token.type == "html_block":
            part = html.read(token.content, file, line)
            tables += part.tables
            sentences += part.sentences
        elif token.type == "fence" and "\\addplot" in token.content:
            tables += latex.figures(token.content, file, line + 1, above)
        position += 1
    return Document(file, "markdown", tables, sentences, headings)


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


def _near(sentences: Sequence[Sentence], line: int) -> bool:
    return bool(sentences) and line - sentences[-1].line <= 4


def _sentences(token: Token, file: str, line: int, item: bool, path: tuple[str, ...]) -> Iterator[Sentence]:
    """The sentences of a paragraph, each with the line in which it begins."""
    shown = plain(token)
    source, place = token.content.split("\n"), 0
    for text in split(shown.replace("\n", " ")):
        beginning = text[:12]
        for index in range(place, len(source)):
            if beginning.split(" ")[0] and beginning.split(" ")[0] in source[index]:
                place = index
                break
        yield Sentence(file, line + place, text, "item" if item else "prose", path)


def plain(token: Token) -> str:
    """The words of an inline token, without emphasis marks, pictures and addresses."""
    parts = []
    for child in token.children or ():
        if child.type in ("text", "code_inline"):
            parts.append(child.content)
        elif child.type in ("softbreak", "hardbreak") or (child.type == "html_inline" and _BREAK.match(child.content)):
            parts.append("\n" if child.type != "html_inline" else " ")
    return _MATHS.sub(lambda match: latex.plain(match[0]), "".join(parts)).strip()


def _table(blocks: Sequence[Token], file: str, line: int, lead: str, path: tuple[str, ...]) -> Table:
    rows: list[Row] = []
    for token in blocks:
        if token.type == "tr_open":
            rows.append(Row(token.map[0] + 1 if token.map else line + len(rows), ()))
        elif token.type == "inline":
            rows[-1] = Row(rows[-1].line, (*rows[-1].cells, plain(token).replace("\n", " ")))
    header, body = filled(rows[0].cells, rows[1:])
    return Table(file, line, header, body, lead, path)
