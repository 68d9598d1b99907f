"""Read HTML as a document with the standard library's parser, which reports the line of every tag."""

import re
from html.parser import HTMLParser
from itertools import takewhile

from boundpaper.audit.documents import ReadDocument

_APART = re.compile("p|li|h[1-6]|figcaption|caption|td|th|dd|dt|blockquote")
_SKIPPED = re.compile("script|style|svg|math|pre|nav|template|noscript|select")
_ASIDE = re.compile("blockquote|[uod]l")


def read(text: str, file: str, document: ReadDocument | None = None) -> ReadDocument:
    """Read headings, tables and sentences of HTML into `document`, or into a new document if none is given."""
    reader = HtmlReader(document or ReadDocument(file))
    reader.feed(text)
    reader.close()
    reader.flush()
    return reader.document


class HtmlReader(HTMLParser):
    """A parser that adds text and tables to a document; `open` lists the tables not yet closed."""

    def __init__(self, document: ReadDocument) -> None:
        super().__init__()
        self.document = document
        self.text: list[str] = []
        self.tag, self.spans, self.line, self.skipped, self.asides = "", [1, 1], 1, 0, 0
        self.open: list[OpenTable] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """End the current text at a block tag, and record the element that the tag opens."""
        if _SKIPPED.fullmatch(tag):
            self.skipped += 1
        elif self.skipped:
            return
        elif tag == "table":
            self.flush()
            self.open.append(OpenTable(self.getpos()[0]))
        elif tag == "tr" and self.open:
            self.flush()
            self.open[-1].rows.append((self.getpos()[0], []))
            self.open[-1].column = 0
        elif tag == "br":
            self.handle_data(" ")
        elif _APART.fullmatch(tag) or _ASIDE.fullmatch(tag):
            self.flush()
            self.asides += _ASIDE.fullmatch(tag) is not None
            spans = (re.fullmatch(r"[1-9]\d{0,3}", dict(attrs).get(name) or "") for name in ("rowspan", "colspan"))
            self.tag, self.spans = tag, [min(int(span[0]), 100) if span else 1 for span in spans]

    def handle_endtag(self, tag: str) -> None:
        """Close the element of an end tag."""
        if _SKIPPED.fullmatch(tag):
            self.skipped = max(0, self.skipped - 1)
        elif _APART.fullmatch(tag) or _ASIDE.fullmatch(tag) or tag in ("tr", "table"):
            self.flush()
            self.asides = max(0, self.asides - (_ASIDE.fullmatch(tag) is not None))
            if tag == "table" and self.open:
                self.open.pop().close(self.document)

    def handle_data(self, data: str) -> None:
        """Collect the text that a browser shows."""
        if not self.skipped:
            self.line = self.line if self.text else self.getpos()[0]
            self.text.append(data)

    def flush(self) -> None:
        """Add the collected text as a cell, heading or sentences."""
        text, tag = "".join(self.text), self.tag
        words = " ".join(text.split())
        self.text, self.tag = [], ""
        if tag in ("td", "th"):
            if self.open:
                self.open[-1].add(words, tag == "th", *self.spans)
        elif words and re.fullmatch("h[1-6]", tag) and not self.asides:
            self.document.head(self.line + text.partition(words[0])[0].count("\n"), int(tag[1]), words)
        else:
            if tag == "caption" and self.open:
                self.open[-1].caption = words
            self.document.say(self.line, text, aside=self.asides > 0)


class OpenTable:
    """A table being read: cells by row and column, and for each row its line and its header cells."""

    def __init__(self, line: int) -> None:
        self.line, self.caption, self.column = line, "", 0
        self.rows: list[tuple[int, list[bool]]] = []
        self.cells: dict[tuple[int, int], str] = {}

    def add(self, text: str, head: bool, rows: int, columns: int) -> None:
        """Add a cell to the last row; repeat a cell that spans several rows or columns in each."""
        if not self.rows:
            self.rows.append((self.line, []))
        row = len(self.rows) - 1
        while (row, self.column) in self.cells:
            self.column += 1
        self.cells |= {(row + i, self.column + j): text for i in range(rows) for j in range(columns)}
        self.column += columns
        self.rows[-1][1].append(head)

    def close(self, document: ReadDocument) -> None:
        """Add the table to a document; a table of fewer than two columns is layout and is dropped."""
        places = range(1 + max((column for _, column in self.cells), default=0))
        heads = len(list(takewhile(lambda row: row[1] and all(row[1]), self.rows)))
        if len(places) > 1:
            rows = [(line, [self.cells.get((row, at), "") for at in places]) for row, (line, _) in enumerate(self.rows)]
            document.add_table(self.rows[0][0], rows, max(heads, 1), self.caption)
