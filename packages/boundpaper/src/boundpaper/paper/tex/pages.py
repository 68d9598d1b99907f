"""Read the pages of the PDF as lines with position and size, and find faults of layout."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from boundpaper.build import process
from boundpaper.errors import LatexError, SpecError
from boundpaper.paper.tex.pdf import bookmarks
from boundpaper.store import rules
from boundpaper.store.files import temporary
from boundpaper.store.text_file import yaml_of

FILE = "paper/layout.yaml"
_CAPTION = re.compile(r"(?P<name>(?:Table|Figure) (?:[A-Z]|\d+)\.\d+):")
_CONTINUED = re.compile(r"(?P<name>Table (?:[A-Z]|\d+)\.\d+), continued$")
_FOOT = "continued on the next page"
_CALL = re.compile(r"(?P<kind>Tables?|Figures?) (?P<numbers>(?:(?:[A-Z]|\d+)\.\d+(?:, and | and |, | to )?)+)")
_NUMBER = re.compile(r"(?:[A-Z]|(?<!\d)\d++)\.\d+")
_VERDICTS = frozenset("✓≈∼◦×□")


@dataclass(frozen=True)
class Limits:
    """Limits of a page's layout (`paper/layout.yaml`).

    Attributes
    ----------
    text_lines : int
        Least number of text lines on a page that also has a float, unless the page ends a chapter.
    fill : float
        Least used fraction of a page's height, unless the page ends a chapter.
    last_fill : float
        Least used fraction of the height of a page that ends a chapter.
    float_pages : int
        Most consecutive pages with only floats before the chapter's text continues.
    distance : int
        Most pages between an exhibit and the nearest reference to it.
    rows : int
        Least number of lines of a long table on a page that continues the table.
    beyond : float
        Most points by which a line may extend beyond the right edge of the text.
    """

    text_lines: int
    fill: float
    last_fill: float
    float_pages: int
    distance: int
    rows: int
    beyond: float


@dataclass(frozen=True)
class PageLine:
    """A line and its position in pt from the top left of its page; `size` is the height of most words, 0 if rotated.

    Signs of verdicts, which may stand in the margin, are in the text but not within `right`.
    """

    text: str
    left: float
    top: float
    right: float
    bottom: float
    size: float


@dataclass(frozen=True)
class PdfPage:
    """A page: its number in the file from 1, its size in pt, its lines from the top, (level, title) of its headings."""

    number: int
    width: float
    height: float
    lines: tuple[PageLine, ...]
    headings: tuple[tuple[int, str], ...] = ()

    @property
    def turned(self) -> bool:
        """Return whether this is a landscape page."""
        return self.width > self.height or any(line.right > self.width for line in self.lines)


def read_limits(root: Path) -> Limits:
    """Read the layout limits of a project.

    Raises SpecError when the file is not a mapping of exactly these fields to numbers.
    """
    content = yaml_of(root, FILE, SpecError)
    field_rules = {each.name: rules.whole if each.type == "int" else rules.not_negative for each in fields(Limits)}
    rules.require(content, rules.mapping(field_rules, tuple(field_rules)), FILE, SpecError)
    return Limits(**content)


def read(content: bytes) -> list[PdfPage]:
    """Return the pages of a PDF with their lines, from poppler's pdftotext.

    Raises LatexError when pdftotext cannot read the file.
    """
    with temporary() as folder:
        (folder / "document.pdf").write_bytes(content)
        done = process.run(("pdftotext", "-bbox-layout", "document.pdf", "document.html"), folder, 120)
        if done.returncode:
            raise LatexError(f"pdftotext cannot read the PDF: {done.output.strip()}")
        parser = _BoxReader()
        parser.feed((folder / "document.html").read_text(encoding="utf-8"))
    headings = bookmarks(content)
    return [replace(page, headings=tuple(headings.get(page.number, ()))) for page in parser.pages]


def layout_faults(pages: Sequence[PdfPage], limits: Limits) -> list[str]:
    """Return the faults of layout, each with its page.

    `pages` are all pages of the document; front matter before the first chapter heading is ignored.
    """
    book = _LayoutFacts(pages)
    by_page: list[tuple[int, str]] = []
    for place in range(book.first, len(pages)):
        by_page += [(place, fault) for fault in _page_faults(book, place, limits)]
    for place, length in book.runs():
        if length > limits.float_pages:
            by_page.append((place, f"{length} pages of floats in a row before text, allowed {limits.float_pages}"))
    for place, name, distance in book.distances():
        if distance is None:
            by_page.append((place, f"{name} is not referred to in the text"))
        elif distance > limits.distance:
            by_page.append((place, f"{name} is {distance} pages from its reference, allowed {limits.distance}"))
    return [f"page {pages[place].number}: {fault}" for place, fault in sorted(by_page)]


def _page_faults(book: _LayoutFacts, place: int, limits: Limits) -> Iterator[str]:
    page, last = book.pages[place], book.ends(place)
    text = [line for line in book.inside(page) if book.is_text(line)]
    if not page.turned:
        least = limits.last_fill if last else limits.fill
        if (fill := book.fill(page)) < least:
            yield f"{fill:.0%} of its height is used, at least {least:.0%}"
    if book.captions(page) and 0 < len(text) < limits.text_lines and not last and not book.flows(page):
        yield f"{len(text)} lines of text beside floats, at least {limits.text_lines}"
    content = book.inside(page)
    if content and book.is_heading(content[-1], page):
        yield f"the heading {content[-1].text!r} is alone at the foot of the page"
    for name, rows in book.continued(page):
        if rows < limits.rows:
            yield f"{name} is continued with {rows} lines, at least {limits.rows}"
    if not page.turned:
        for line in content:
            if line.right > book.right + limits.beyond and not _VERDICTS.issuperset(line.text.replace(" ", "")):
                yield f"{line.text[:40]!r} extends beyond the text by {line.right - book.right:.1f} pt"


class _LayoutFacts:
    """Facts from all pages: the text size, the text area, and where chapters begin."""

    def __init__(self, pages: Sequence[PdfPage]) -> None:
        self.pages = pages
        upright = [line for page in pages if not page.turned for line in page.lines]
        wide = [line for line in upright if line.right - line.left > 300]
        self.size = Counter(round(line.size, 1) for line in wide).most_common(1)[0][0]
        body = [line for line in wide if self.is_text(line)]
        self.left = Counter(round(line.left) for line in body).most_common(1)[0][0]
        self.right = Counter(round(line.right) for line in body).most_common(1)[0][0]
        self.top = min(line.top for line in body)
        self.bottom = max(line.bottom for line in body)
        chapters = [(place, title) for place, page in enumerate(pages) for level, title in page.headings if level == 0]
        self.starts = [place for place, _ in chapters]
        self.first = next((place for place, title in chapters if title.startswith("1 ")), 0)

    def is_text(self, line: PageLine) -> bool:
        """Return whether a line is set in the size of the text."""
        return abs(line.size - self.size) < 0.4

    def is_heading(self, line: PageLine, page: PdfPage) -> bool:
        """Return whether a line is a heading of this page, or a part of one."""
        signs = _signs(line.text)
        return len(signs) > 3 and not self.is_text(line) and any(signs in _signs(title) for _, title in page.headings)

    def inside(self, page: PdfPage) -> list[PageLine]:
        """Return the lines of a page, except header and footer."""
        return [line for line in page.lines if self.top - 2 <= line.top and line.bottom <= self.bottom + 2]

    def fill(self, page: PdfPage) -> float:
        """Return the used fraction of the text height, down to the last line of a page."""
        lowest = max((line.bottom for line in self.inside(page)), default=self.top)
        return (lowest - self.top) / (self.bottom - self.top)

    def ends(self, place: int) -> bool:
        """Return whether a chapter begins on the next page or after rotated pages, or the document ends here."""
        after = place + 1
        while after < len(self.pages) and self.pages[after].turned:
            after += 1
        return after == len(self.pages) or after in self.starts

    def captions(self, page: PdfPage) -> list[str]:
        """Return the exhibits with captions that begin on a page."""
        return [match["name"] for line in page.lines if (match := _CAPTION.match(line.text)) and not self.is_text(line)]

    def flows(self, page: PdfPage) -> bool:
        """Return whether a long table, which is not a float, begins, continues or ends on a page."""
        return any(line.text == _FOOT or _CONTINUED.match(line.text) for line in page.lines)

    def continued(self, page: PdfPage) -> Iterator[tuple[str, int]]:
        """Yield the long tables that continue on a page, with the number of lines there, except header and footer."""
        content = self.inside(page)
        for at, line in enumerate(content):
            if match := _CONTINUED.match(line.text):
                rows = 0
                heights: set[int] = set()
                for each in content[at + 1 :]:
                    if self.is_text(each) or each.text == _FOOT or _CAPTION.match(each.text):
                        break
                    if round(each.top / 4) not in heights:
                        heights.add(round(each.top / 4))
                        rows += 1
                yield match["name"], rows - 1

    def runs(self) -> Iterator[tuple[int, int]]:
        """Yield first page and length of each run of pages without text inside one chapter."""
        start, length = 0, 0
        for place in range(self.first, len(self.pages)):
            page = self.pages[place]
            if place in self.starts:
                length = 0
            if any(map(self.is_text, self.inside(page))):
                if length:
                    yield start, length
                length = 0
            elif self.captions(page) and not any(_CONTINUED.match(line.text) for line in page.lines):
                start, length = (start, length + 1) if length else (place, 1)

    def distances(self) -> Iterator[tuple[int, str, int | None]]:
        """Yield each exhibit, its page, and its distance in pages from the nearest reference in the text, or None."""
        calls: dict[str, list[int]] = {}
        for place in range(self.first, len(self.pages)):
            text = " ".join(line.text for line in self.inside(self.pages[place]) if self.is_text(line))
            for match in _CALL.finditer(text):
                for number in _NUMBER.findall(match["numbers"]):
                    calls.setdefault(f"{match['kind'].rstrip('s')} {number}", []).append(place)
        for place in range(self.first, len(self.pages)):
            for name in self.captions(self.pages[place]):
                near = [abs(place - each) for each in calls.get(name, [])]
                yield place, name, min(near) if near else None


def _signs(text: str) -> str:
    """Return the text without blanks and punctuation, in which outline and page may differ."""
    return re.sub(r"\W", "", text)


class _BoxReader(HTMLParser):
    """A reader of the output of `pdftotext -bbox-layout`."""

    def __init__(self) -> None:
        super().__init__()
        self.pages: list[PdfPage] = []
        self._size = (0.0, 0.0)
        self._lines: list[PageLine] = []
        self._words: list[str] = []
        self._box: dict[str, float] = {}
        self._end = 0.0
        self._heights: list[float] = []
        self._in_word = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a page, a line or a word."""
        numbers = {name: float(value or 0) for name, value in attrs if name in _PLACES}
        if tag == "page":
            self._size, self._lines = (numbers["width"], numbers["height"]), []
        elif tag == "line":
            self._box, self._words, self._heights = {**numbers, "xmax": numbers["xmin"]}, [], []
        elif tag == "word":
            self._in_word, self._end = True, numbers["xmax"]
            self._heights.append(round(numbers["ymax"] - numbers["ymin"], 1))

    def handle_data(self, data: str) -> None:
        """Add a word."""
        if self._in_word:
            self._words.append(data)
            self._box["xmax"] = self._box["xmax"] if _VERDICTS.issuperset(data) else max(self._box["xmax"], self._end)

    def handle_endtag(self, tag: str) -> None:
        """End a word, a line or a page."""
        if tag == "word":
            self._in_word = False
        elif tag == "line":
            box: dict[str, Any] = self._box
            text = " ".join(self._words)
            turned = len(text) > 2 and box["ymax"] - box["ymin"] > box["xmax"] - box["xmin"]
            size = 0.0 if turned or not self._heights else Counter(self._heights).most_common(1)[0][0]
            self._lines.append(PageLine(text, box["xmin"], box["ymin"], box["xmax"], box["ymax"], size))
        elif tag == "page":
            ordered = tuple(sorted(self._lines, key=lambda line: (line.top, line.left)))
            self.pages.append(PdfPage(len(self.pages) + 1, *self._size, ordered))


_PLACES = frozenset({"width", "height", "xmin", "xmax", "ymin", "ymax"})
