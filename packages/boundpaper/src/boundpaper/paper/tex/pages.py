"""Read the pages of a PDF as lines with position and size, and find faults of the layout."""

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
_REFERENCE = re.compile(r"(?P<kind>Tables?|Figures?) (?P<numbers>(?:(?:[A-Z]|\d+)\.\d+(?:, and | and |, | to )?)+)")
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
        Most pages from an exhibit to the nearest reference to it.
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
    """A line and its extent in pt from the top left of its page.

    `size` is the height of most words, or 0 if the line is rotated. `text` includes the signs of verdicts, which may be
    in the margin; `right` excludes them.
    """

    text: str
    left: float
    top: float
    right: float
    bottom: float
    size: float


@dataclass(frozen=True)
class PdfPage:
    """A page: its number from 1, its size in pt, its lines from the top, and its headings as (level, title)."""

    number: int
    width: float
    height: float
    lines: tuple[PageLine, ...]
    headings: tuple[tuple[int, str], ...] = ()

    @property
    def is_landscape(self) -> bool:
        """Return whether this is a page in landscape format."""
        return self.width > self.height or any(line.right > self.width for line in self.lines)


def read_limits(root: Path) -> Limits:
    """Return the layout limits of a project.

    Raises SpecError when the file is not a mapping of exactly these fields to numbers.
    """
    content = yaml_of(root, FILE, SpecError)
    field_rules = {field.name: rules.whole if field.type == "int" else rules.not_negative for field in fields(Limits)}
    rules.require(content, rules.mapping(field_rules, tuple(field_rules)), FILE, SpecError)
    return Limits(**content)


def read(content: bytes) -> list[PdfPage]:
    """Return the pages of a PDF with their lines, from poppler's pdftotext.

    Raises LatexError when pdftotext cannot read the file.
    """
    with temporary() as folder:
        (folder / "document.pdf").write_bytes(content)
        run = process.run(("pdftotext", "-bbox-layout", "document.pdf", "document.html"), folder, 120)
        if run.returncode:
            raise LatexError(f"pdftotext cannot read the PDF: {run.output.strip()}")
        parser = _BoxParser()
        parser.feed((folder / "document.html").read_text(encoding="utf-8"))
    headings = bookmarks(content)
    return [replace(page, headings=tuple(headings.get(page.number, ()))) for page in parser.pages]


def layout_faults(pages: Sequence[PdfPage], limits: Limits) -> list[str]:
    """Return the faults of the layout, each with its page.

    `pages` are all pages of the document; front matter before the first chapter heading is ignored.
    """
    layout = _Layout(pages)
    faults: list[tuple[int, str]] = []
    for index in range(layout.first_index, len(pages)):
        faults += [(index, fault) for fault in _page_faults(layout, index, limits)]
    for index, length in layout.float_runs():
        if length > limits.float_pages:
            faults.append((index, f"{length} pages of floats in a row before text, allowed {limits.float_pages}"))
    for index, name, distance in layout.distances():
        if distance is None:
            faults.append((index, f"{name} is not referred to in the text"))
        elif distance > limits.distance:
            faults.append((index, f"{name} is {distance} pages from its reference, allowed {limits.distance}"))
    return [f"page {pages[index].number}: {fault}" for index, fault in sorted(faults)]


def _page_faults(layout: _Layout, index: int, limits: Limits) -> Iterator[str]:
    page, is_last = layout.pages[index], layout.ends_chapter(index)
    lines = layout.body(page)
    text_count = sum(map(layout.is_text, lines))
    if not page.is_landscape:
        minimum = limits.last_fill if is_last else limits.fill
        if (fill := layout.fill(page)) < minimum:
            yield f"{fill:.0%} of its height is used, at least {minimum:.0%}"
    has_float = layout.exhibits(page) and not layout.has_long_table(page)
    if has_float and 0 < text_count < limits.text_lines and not is_last:
        yield f"{text_count} lines of text beside floats, at least {limits.text_lines}"
    if lines and layout.is_heading(lines[-1], page):
        yield f"the heading {lines[-1].text!r} is alone at the foot of the page"
    for name, row_count in layout.continued_tables(page):
        if row_count < limits.rows:
            yield f"{name} is continued with {row_count} lines, at least {limits.rows}"
    if not page.is_landscape:
        for line in lines:
            if line.right > layout.right + limits.beyond and not _VERDICTS.issuperset(line.text.replace(" ", "")):
                yield f"{line.text[:40]!r} extends beyond the text by {line.right - layout.right:.1f} pt"


class _Layout:
    """The layout of a document: the font size and the area of its text, and the pages on which chapters begin."""

    def __init__(self, pages: Sequence[PdfPage]) -> None:
        self.pages = pages
        lines = [line for page in pages if not page.is_landscape for line in page.lines]
        wide_lines = [line for line in lines if line.right - line.left > 300]
        self.size = Counter(round(line.size, 1) for line in wide_lines).most_common(1)[0][0]
        text_lines = [line for line in wide_lines if self.is_text(line)]
        self.right = Counter(round(line.right) for line in text_lines).most_common(1)[0][0]
        self.top = min(line.top for line in text_lines)
        self.bottom = max(line.bottom for line in text_lines)
        chapters = [(index, title) for index, page in enumerate(pages) for level, title in page.headings if level == 0]
        self.chapter_starts = [index for index, _ in chapters]
        self.first_index = next((index for index, title in chapters if title.startswith("1 ")), 0)

    def is_text(self, line: PageLine) -> bool:
        """Return whether a line is set in the size of the text."""
        return abs(line.size - self.size) < 0.4

    def is_heading(self, line: PageLine, page: PdfPage) -> bool:
        """Return whether a line is a heading of this page, or a part of one."""
        words = _letters(line.text)
        return len(words) > 3 and not self.is_text(line) and any(words in _letters(title) for _, title in page.headings)

    def body(self, page: PdfPage) -> list[PageLine]:
        """Return the lines of a page, except header and footer."""
        return [line for line in page.lines if self.top - 2 <= line.top and line.bottom <= self.bottom + 2]

    def fill(self, page: PdfPage) -> float:
        """Return the fraction of the text height that a page uses, down to its last line."""
        lowest = max((line.bottom for line in self.body(page)), default=self.top)
        return (lowest - self.top) / (self.bottom - self.top)

    def ends_chapter(self, index: int) -> bool:
        """Return whether a page ends a chapter or the document, or only landscape pages of the chapter follow it."""
        next_index = index + 1
        while next_index < len(self.pages) and self.pages[next_index].is_landscape:
            next_index += 1
        return next_index == len(self.pages) or next_index in self.chapter_starts

    def exhibits(self, page: PdfPage) -> list[str]:
        """Return the names of the exhibits whose captions begin on a page."""
        return [match["name"] for line in page.lines if (match := _CAPTION.match(line.text)) and not self.is_text(line)]

    def has_long_table(self, page: PdfPage) -> bool:
        """Return whether a page has a part of a long table, which is not a float."""
        return any(line.text == _FOOT or _CONTINUED.match(line.text) for line in page.lines)

    def continued_tables(self, page: PdfPage) -> Iterator[tuple[str, int]]:
        """Yield each long table that continues on a page, and the number of its rows there, not counting the header."""
        lines = self.body(page)
        for index, line in enumerate(lines):
            if match := _CONTINUED.match(line.text):
                heights: set[int] = set()  # one for each row, in steps of 4 pt
                for row in lines[index + 1 :]:
                    if self.is_text(row) or row.text == _FOOT or _CAPTION.match(row.text):
                        break
                    heights.add(round(row.top / 4))
                yield match["name"], len(heights) - 1

    def float_runs(self) -> Iterator[tuple[int, int]]:
        """Yield the first page and the length of each run of pages with only floats, if text follows the run."""
        start, length = 0, 0
        for index in range(self.first_index, len(self.pages)):
            page = self.pages[index]
            if index in self.chapter_starts:
                length = 0
            if any(map(self.is_text, self.body(page))):
                if length:
                    yield start, length
                length = 0
            elif self.exhibits(page) and not any(_CONTINUED.match(line.text) for line in page.lines):
                start, length = (start, length + 1) if length else (index, 1)

    def distances(self) -> Iterator[tuple[int, str, int | None]]:
        """Yield the page and the name of each exhibit, and its distance from the nearest reference, if any."""
        references: dict[str, list[int]] = {}
        for index in range(self.first_index, len(self.pages)):
            text = " ".join(line.text for line in self.body(self.pages[index]) if self.is_text(line))
            for match in _REFERENCE.finditer(text):
                for number in _NUMBER.findall(match["numbers"]):
                    references.setdefault(f"{match['kind'].rstrip('s')} {number}", []).append(index)
        for index in range(self.first_index, len(self.pages)):
            for name in self.exhibits(self.pages[index]):
                yield index, name, min((abs(index - page) for page in references.get(name, [])), default=None)


def _letters(text: str) -> str:
    """Return `text` without blanks and punctuation. Bookmarks and headings may differ in these."""
    return re.sub(r"\W", "", text)


class _BoxParser(HTMLParser):
    """A parser of the output of `pdftotext -bbox-layout`."""

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
        numbers = {name: float(value or 0) for name, value in attrs if name in _SIZES}
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
            is_rotated = len(text) > 2 and box["ymax"] - box["ymin"] > box["xmax"] - box["xmin"]
            size = 0.0 if is_rotated or not self._heights else Counter(self._heights).most_common(1)[0][0]
            self._lines.append(PageLine(text, box["xmin"], box["ymin"], box["xmax"], box["ymax"], size))
        elif tag == "page":
            lines = tuple(sorted(self._lines, key=lambda line: (line.top, line.left)))
            self.pages.append(PdfPage(len(self.pages) + 1, *self._size, lines))


_SIZES = frozenset({"width", "height", "xmin", "xmax", "ymin", "ymax"})
