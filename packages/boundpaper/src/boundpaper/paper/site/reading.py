"""Prepare the chapters as pages, on which numbers link to cells and the marks of verdicts link to claims."""

import json
import re
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from string import ascii_uppercase
from typing import Any

from markupsafe import Markup

from boundpaper.errors import SpecError
from boundpaper.paper import looks
from boundpaper.paper.lookup import positions_where
from boundpaper.paper.site.exhibits import exhibit_html
from boundpaper.paper.site.grid import cell_id
from boundpaper.paper.site.latex import ChapterReader, definitions
from boundpaper.paper.site.numbering import Numbers, number_chapters
from boundpaper.paper.site.project import Chapter, SiteProject
from boundpaper.store.reader import read
from boundpaper.store.text_file import text_of
from boundpaper.typeset import addresses
from boundpaper.typeset.words_of import words_of_html

FINDINGS = 5
"""Most findings on the first page."""
_SENTENCE = re.compile(r"(?<=[.?!])\s+(?=[A-Z\\$])")


@dataclass(frozen=True)
class ChapterPage:
    """A chapter as a page: its number, its text, and its headings as (level, address, HTML)."""

    chapter: Chapter
    number: str
    html: Markup
    heads: tuple[tuple[int, str, Markup], ...] = ()

    @property
    def label(self) -> str:
        """Return `Chapter 3` or `Appendix A`; empty for a chapter without a number."""
        return f"{'Appendix' if self.number.isalpha() else 'Chapter'} {self.number}" if self.number else ""


@dataclass
class ChapterPages:
    """The pages of all chapters, and the cells that they print."""

    project: SiteProject
    _cells: dict[str, set[tuple[int, str]]] = field(default_factory=lambda: defaultdict(set))
    _frames: dict[str, tuple[Any, dict[Any, Any]]] = field(default_factory=dict)

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """Return the LaTeX of each chapter."""
        return {
            chapter.name: text_of(self.project.root, f"out/chapters/{chapter.name}.tex", SpecError)
            for chapter in self.project.chapters
        }

    @cached_property
    def numbers(self) -> Numbers:
        """Return the numbers of chapters, sections, formulas, tables and figures."""
        paper = self.project.metadata
        numbers = {name: str(number) for number, name in enumerate(paper.chapters, 1)}
        numbers |= dict(zip(paper.appendices, ascii_uppercase, strict=False))
        return number_chapters((name, numbers.get(name, ""), text) for name, text in self.texts.items())

    def label(self, kind: str, name: str) -> str:
        """Return the printed number of an exhibit, as in `Figure 8.1`; empty if no chapter shows it."""
        label = self.numbers.labels.get(f"{kind[:3]}:{name}")
        return label.words if label else ""

    @cached_property
    def pages(self) -> tuple[ChapterPage, ...]:
        """Return the chapters in the order of the paper.

        Raises SpecError with everything that the web edition cannot show, each with file and line.
        """
        macros = definitions(looks.own_preamble(self.project.root))
        pages, faults = [], []
        for chapter in self.project.chapters:
            reader = self._reader(chapter.name, macros)
            html = Markup(reader.html())
            faults += reader.faults
            heads = tuple((level, address, Markup(title)) for level, address, title in reader.heads)
            pages.append(ChapterPage(chapter, self.numbers.chapters[chapter.name], html, heads))
        if faults:
            raise SpecError("\n".join(faults))
        return tuple(pages)

    @property
    def printed(self) -> Mapping[str, set[tuple[int, str]]]:
        """Return the cells that chapters print, as (row, column) by artifact; rows count from 0."""
        return self._cells if self.pages else {}

    @cached_property
    def findings(self) -> tuple[Markup, ...]:
        """Return the findings for the first page: sentences of the abstract that print values of artifacts."""
        if "abstract" not in self.texts:
            return ()
        text = re.sub(r"(?m)^%.*\n", "", self.texts["abstract"])
        sentences = [words for words in _SENTENCE.split(text) if "\\numberof" in words or "\\verdictof" in words]
        reader = self._reader("abstract", {})
        return tuple(Markup(reader.read(words, 0).replace('="../', '="')) for words in sentences[:FINDINGS])

    def _reader(self, name: str, macros: Mapping[str, tuple[int, str]]) -> ChapterReader:
        printed: dict[tuple[str, str], deque[dict[str, Any]]] = defaultdict(deque)
        for value in json.loads(text_of(self.project.root, f"out/bound/{name}.json", SpecError)):
            origin = value["origins"][0]
            claim = origin["where"].get("claim", "") if origin["artifact"] == "claims" else ""
            printed[claim or origin["artifact"], value["shown"]].append(origin)

        def link_value(_: str, target: str, latex: str, html: str) -> str:
            origins = printed[target, latex]
            return self._link_origin(origins.popleft(), html) if origins else ""

        labels, numbers = self.numbers.labels, self.numbers.places[name]
        return ChapterReader(
            self.texts[name], name, labels, numbers, macros, link_value, self._cite, self._exhibit_html
        )

    def _link_origin(self, origin: Mapping[str, Any], html: str) -> str:
        """Return a printed value as a link to its cell, or a verdict as a link to its ledger row."""
        artifact, column, where = origin["artifact"], origin["column"], origin["where"]
        if artifact == "claims" and "claim" in where:
            row = self.project.rows[where["claim"]]
            tip = f"{row['verdict']}: {row['statement']} {row['reason']}"
            style = "to" if 'class="mark' in html else "n"
            return _link_html(addresses.claim(where["claim"]), html, tip, style)
        if artifact not in self._frames:
            self._frames[artifact] = read(self.project.root, artifact), {}
        frame, index = self._frames[artifact]
        rows = positions_where(frame, where, index)
        address = addresses.artifact(artifact)
        if len(rows) == 1 and column in frame.columns:
            self._cells[artifact].add((rows[0], column))
            address += f"#{cell_id(rows[0], column)}"
        condition = ", ".join(f"{name} = {cell}" for name, cell in where.items())
        return _link_html(address, html, f"{artifact}, {column}{condition and ': '}{condition}", "n")

    def _cite(self, command: str, keys: str, option: str) -> str:
        works = self.project.works
        links = []
        for key in map(str.strip, keys.split(",")):
            if key not in works:
                return ""
            names, _, year = works[key].label.rpartition(", ")
            forms = {"citet": f"{names} ({year})", "cite": f"{names} ({year})", "citeauthor": names, "citeyear": year}
            label = escape(forms.get(command, works[key].label))
            links.append(_link_html(addresses.work(key), label, words_of_html(works[key].html), "cite"))
        citation = "; ".join(links) + (f", {option}" if option else "")
        return f"({citation})" if command == "citep" else citation

    def _exhibit_html(self, kind: str, name: str, number: str) -> str:
        return exhibit_html(self.project, kind, name, f"{kind.capitalize()} {number}")


def _link_html(address: str, html: str, tip: str, style: str) -> str:
    return f'<a class="{style}" href="../{escape(address)}" data-tip="{escape(tip)}">{html}</a>'
