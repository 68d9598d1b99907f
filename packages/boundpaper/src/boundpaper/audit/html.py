"""Read HTML as a document, with the parser of the standard library, which reports the line of every tag."""

import re
from html.parser import HTMLParser
from itertools import takewhile

from boundpaper.audit.documents import ReadDocument

_BLOCK = re.compile("p|li|h[1-6]|figcaption|caption|td|th|dd|dt|blockquote")
_SKIPPED = re.compile("script|style|svg|math|pre|nav|template|noscript|select")
_ASIDE = re.compile("blockquote|[uod]l")


def read(text: str, file: str, document: ReadDocument | None = None) -> ReadDocument:
    """Return `document`, or a new document, with the headings, tables and sentences of an HTML text added."""
    reader = HtmlReader(document or ReadDocument(file))
    reader.feed(text)
    reader.close()
    reader.flush()
    return reader.document


class HtmlReader(HTMLParser):
    """A parser that adds the text and the tables of HTML to a document."""

    def __init__(self, document: ReadDocument) -> None:
        super().__init__()
        self.document = document
        self.texts: list[str] = []  # the texts since the last block began
        self.line, self.tag, self.spans = 1, "", [1, 1]  # first line and tag of the block; rows and columns of a cell
        self.hidden_depth, self.aside_depth = 0, 0  # open elements with hidden text; open lists and quotations
        self.open_tables: list[OpenTable] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Add the collected text to the document before a block, and record the element that begins."""
        if _SKIPPED.fullmatch(tag):
            self.hidden_depth += 1
        elif self.hidden_depth:
            return
        elif tag == "table":
            self.flush()
            self.open_tables.append(OpenTable(self.getpos()[0]))
        elif tag == "tr" and self.open_tables:
            self.flush()
            self.open_tables[-1].rows.append((self.getpos()[0], []))
            self.open_tables[-1].column = 0
        elif tag == "br":
            self.handle_data(" ")
        elif _BLOCK.fullmatch(tag) or _ASIDE.fullmatch(tag):
            self.flush()
            self.aside_depth += _ASIDE.fullmatch(tag) is not None
            spans = (re.fullmatch(r"[1-9]\d{0,3}", dict(attrs).get(name) or "") for name in ("rowspan", "colspan"))
            self.tag, self.spans = tag, [min(int(span[0]), 100) if span else 1 for span in spans]

    def handle_endtag(self, tag: str) -> None:
        """At the end of a block, add the collected text to the document; at the end of a table, add the table."""
        if _SKIPPED.fullmatch(tag):
            self.hidden_depth = max(0, self.hidden_depth - 1)
        elif _BLOCK.fullmatch(tag) or _ASIDE.fullmatch(tag) or tag in ("tr", "table"):
            self.flush()
            self.aside_depth = max(0, self.aside_depth - (_ASIDE.fullmatch(tag) is not None))
            if tag == "table" and self.open_tables:
                self.open_tables.pop().close(self.document)

    def handle_data(self, data: str) -> None:
        """Collect the text that a browser shows."""
        if not self.hidden_depth:
            self.line = self.line if self.texts else self.getpos()[0]
            self.texts.append(data)

    def flush(self) -> None:
        """Add the collected text to the document, as a cell, a heading or sentences."""
        text, tag = "".join(self.texts), self.tag
        one_line = " ".join(text.split())
        self.texts, self.tag = [], ""
        if tag in ("td", "th"):
            if self.open_tables:
                self.open_tables[-1].add(one_line, tag == "th", *self.spans)
        elif one_line and re.fullmatch("h[1-6]", tag) and not self.aside_depth:
            self.document.add_heading(self.line + text.partition(one_line[0])[0].count("\n"), int(tag[1]), one_line)
        else:
            if tag == "caption" and self.open_tables:
                self.open_tables[-1].caption = one_line
            self.document.add_sentences(self.line, text, is_aside=self.aside_depth > 0)


class OpenTable:
    """A table that is being read: its cells by row and column, and the line and the header cells of each row."""

    def __init__(self, line: int) -> None:
        self.line, self.caption, self.column = line, "", 0
        self.rows: list[tuple[int, list[bool]]] = []
        self.cells: dict[tuple[int, int], str] = {}

    def add(self, text: str, is_header: bool, rows: int, columns: int) -> None:
        """Add a cell to the last row, and its text to each row and column that the cell spans."""
        if not self.rows:
            self.rows.append((self.line, []))
        row = len(self.rows) - 1
        while (row, self.column) in self.cells:
            self.column += 1
        self.cells |= {(row + i, self.column + j): text for i in range(rows) for j in range(columns)}
        self.column += columns
        self.rows[-1][1].append(is_header)

    def close(self, document: ReadDocument) -> None:
        """Add the table to a document, unless it has fewer than two columns and so only serves the layout."""
        columns = range(1 + max((column for _, column in self.cells), default=0))
        header_rows = len(list(takewhile(lambda row: row[1] and all(row[1]), self.rows)))
        if len(columns) > 1:
            texts = [[self.cells.get((row, column), "") for column in columns] for row in range(len(self.rows))]
            rows = [(line, row_texts) for (line, _), row_texts in zip(self.rows, texts, strict=True)]
            document.add_table(self.rows[0][0], rows, max(header_rows, 1), self.caption)
