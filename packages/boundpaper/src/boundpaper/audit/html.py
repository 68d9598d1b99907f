"""Read HTML as a document, with the standard parser, which knows the line of every tag."""

from html.parser import HTMLParser

from boundpaper.audit.documents import Document, Row

_APART_TEXT = "p li h1 h2 h3 h4 h5 h6 figcaption caption td th dd dt blockquote"
_APART = frozenset(_APART_TEXT.split())
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_SKIPPED_TEXT = "script style svg math pre nav template noscript select"
_SKIPPED = frozenset(_SKIPPED_TEXT.split())


def read(text: str, file: str) -> Document:
    """Read headings, tables and sentences of HTML, which are named by `file`."""
    return into(Document(file), text)


def into(document: Document, text: str, first: int = 1) -> Document:
    """Add what is read of HTML, whose first line is `first`, to a document."""
    reader = Reader(document, first)
    reader.feed(text)
    reader.close()
    return document


class Reader(HTMLParser):
    """A parser that adds what it is fed to a document; `open` holds the tables that are not at their end."""

    def __init__(self, document: Document, first: int = 1) -> None:
        super().__init__()
        self.document, self.first = document, first
        self.text: list[str] = []
        self.tag, self.line, self.skipped = "", first, 0
        self.open: list[Grid] = []

    def here(self) -> int:
        """The line reached."""
        return self.getpos()[0] - 1 + self.first

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Close what is open before a tag that parts text, and note what the tag opens."""
        if tag in _SKIPPED:
            self.skipped += 1
        elif self.skipped:
            return
        elif tag == "table":
            self.flush()
            self.open.append(Grid(self.here()))
        elif tag == "tr" and self.open:
            self.flush()
            self.open[-1].rows.append((self.here(), []))
        elif tag == "br":
            self.handle_data(" ")
        elif tag in _APART:
            self.flush()
            self.tag = tag
            if tag in ("td", "th") and self.open:
                self.open[-1].spans = (_count(dict(attrs).get("rowspan")), _count(dict(attrs).get("colspan")))

    def handle_endtag(self, tag: str) -> None:
        """Close what is open."""
        if tag in _SKIPPED:
            self.skipped = max(0, self.skipped - 1)
        elif tag in _APART or tag in ("tr", "table"):
            self.flush()
            if tag == "table" and self.open:
                self.open.pop().close(self.document)

    def handle_data(self, data: str) -> None:
        """Keep shown text."""
        if not self.skipped:
            self.line = self.line if self.text else self.here()
            self.text.append(data)

    def close(self) -> None:
        """Read what is left."""
        super().close()
        self.flush()

    def flush(self) -> None:
        """Close the open cell, heading or sentences."""
        text, tag = "".join(self.text), self.tag
        shown = " ".join(text.split())
        self.text, self.tag = [], ""
        if tag in ("td", "th"):
            if self.open:
                self.open[-1].add(shown, tag == "th")
        elif shown and tag in _HEADINGS:
            self.document.head(self.line + text.partition(shown[0])[0].count("\n"), int(tag[1]), shown)
        else:
            if tag == "caption" and self.open:
                self.open[-1].caption = shown
            self.document.say(self.line, text)


def _count(value: str | None) -> int:
    return min(int(value), 100) if value and value.isdecimal() and len(value) < 5 and int(value) > 0 else 1


class Grid:
    """A table while it is read; cells that span several rows or columns are repeated in each."""

    def __init__(self, line: int) -> None:
        self.line, self.caption, self.spans = line, "", (1, 1)
        self.rows: list[tuple[int, list[tuple[str, int, int, bool]]]] = []

    def add(self, text: str, head: bool) -> None:
        """Add a cell to the last row."""
        if not self.rows:
            self.rows.append((self.line, []))
        self.rows[-1][1].append((text, *self.spans, head))
        self.spans = (1, 1)

    def close(self, document: Document) -> None:
        """Add the table to a document, unless it has fewer than two rows or columns, since it is layout then."""
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
        columns = range(1 + max((column for _, column in grid), default=0))
        if len(columns) > 1:
            rows = [
                Row(line, tuple(grid.get((row, column), "") for column in columns))
                for row, (line, _) in enumerate(self.rows)
            ]
            document.tabulate(self.rows[0][0], rows, max(heads, 1), self.caption)
