"""Read HTML as a document, with the standard parser, which knows the line of every tag."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from boundpaper.audit.documents import Document, Heading, Row, Sentence, Table, filled, joined
from boundpaper.paper.sentences import split

_APART_TEXT = "p li h1 h2 h3 h4 h5 h6 figcaption caption td th dd dt blockquote"
_APART = frozenset(_APART_TEXT.split())
_SKIPPED_TEXT = "script style svg math pre nav template noscript select"
_SKIPPED = frozenset(_SKIPPED_TEXT.split())
_SPACE = re.compile(r"\s++")


def read(text: str, file: str, first: int = 1) -> Document:
    """Read headings, tables and sentences.

    Parameters
    ----------
    text : str
    file : str
    first : int
        The line of the text's beginning.
    """
    reader = _Reader(file, first)
    reader.feed(text)
    reader.close()
    reader.flush()
    return Document(file, "html", reader.tables, reader.sentences, reader.headings)


class _Reader(HTMLParser):
    def __init__(self, file: str, first: int) -> None:
        super().__init__()
        self.file, self.first = file, first
        self.tables: list[Table] = []
        self.sentences: list[Sentence] = []
        self.headings: list[Heading] = []
        self.path: list[tuple[int, str]] = []
        self.text: list[str] = []
        self.tag, self.line = "", first
        self.skipped = 0
        self.open: list[_Grid] = []

    def here(self) -> int:
        return self.getpos()[0] - 1 + self.first

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SKIPPED:
            self.skipped += 1
        elif self.skipped:
            return
        elif tag == "table":
            self.flush()
            self.open.append(_Grid(self.here()))
        elif tag == "tr" and self.open:
            self.flush()
            self.open[-1].begin(self.here())
        elif tag == "br":
            self.text.append(" ")
        elif tag in _APART:
            self.flush()
            self.tag, self.line = tag, self.here()
            if tag in ("td", "th") and self.open:
                self.open[-1].spans = tuple(_count(dict(attrs).get(name)) for name in ("rowspan", "colspan"))

    def handle_endtag(self, tag: str) -> None:
        if tag in _SKIPPED:
            self.skipped = max(0, self.skipped - 1)
        elif tag == "table" and self.open:
            self.flush()
            grid = self.open.pop()
            table = grid.table(self.file, tuple(text for _, text in self.path))
            if table is not None:
                self.tables.append(table)
        elif tag in _APART or tag == "tr":
            self.flush()

    def handle_data(self, data: str) -> None:
        if not self.skipped:
            if not self.text:
                self.line = self.here() + len(data) - len(data.lstrip("\n"))
            self.text.append(data)

    def flush(self) -> None:
        """Close the open cell, heading or sentences."""
        text = _SPACE.sub(" ", "".join(self.text)).strip()
        tag, self.tag = self.tag, ""
        self.text = []
        if tag in ("td", "th") and self.open:
            self.open[-1].add(text, tag == "th")
        elif tag == "caption" and self.open:
            self.open[-1].caption = text
        if not text or tag in ("td", "th"):
            return
        above = tuple(each for _, each in self.path)
        if re.fullmatch("h[1-6]", tag):
            level = int(tag[1])
            self.path = [each for each in self.path if each[0] < level]
            self.headings.append(Heading(self.line, level, text))
            self.sentences.append(Sentence(self.file, self.line, text, "heading", above))
            self.path.append((level, text))
        else:
            kind = "caption" if tag in ("caption", "figcaption") else "item" if tag == "li" else "prose"
            self.sentences += [Sentence(self.file, self.line, each, kind, above) for each in split(text)]  # type: ignore[arg-type]


def _count(value: str | None) -> int:
    return min(int(value), 100) if value and value.isdecimal() and len(value) < 5 and int(value) > 0 else 1


class _Grid:
    """A table while it is read; cells that span several rows or columns are repeated in each."""

    def __init__(self, line: int) -> None:
        self.line, self.caption = line, ""
        self.rows: list[tuple[int, list[tuple[str, int, int, bool]]]] = []
        self.spans: tuple[int, ...] = (1, 1)

    def begin(self, line: int) -> None:
        self.rows.append((line, []))

    def add(self, text: str, head: bool) -> None:
        if not self.rows:
            self.begin(self.line)
        down, across = self.spans
        self.rows[-1][1].append((text, down, across, head))
        self.spans = (1, 1)

    def table(self, file: str, path: tuple[str, ...]) -> Table | None:
        """The table; None if it has fewer than two rows or columns, since it is layout then."""
        grid: dict[tuple[int, int], str] = {}
        heads = 0
        for index, (_, cells) in enumerate(self.rows):
            place = 0
            for text, down, across, _ in cells:
                while (index, place) in grid:
                    place += 1
                grid |= {(index + i, place + j): text for i in range(down) for j in range(across)}
                place += across
            if index == heads and cells and all(head for *_, head in cells):
                heads += 1
        width = 1 + max((column for _, column in grid), default=0)
        texts = [tuple(grid.get((row, column), "") for column in range(width)) for row in range(len(self.rows))]
        heads = max(heads, 1)
        if len(texts) <= heads or width < 2:
            return None
        header = tuple(joined([row[column] for row in texts[:heads]]) for column in range(width))
        body = [Row(line, row) for (line, _), row in zip(self.rows[heads:], texts[heads:], strict=True)]
        header, rows = filled(header, body)
        return Table(file, self.rows[0][0], header, rows, self.caption, path) if rows else None
