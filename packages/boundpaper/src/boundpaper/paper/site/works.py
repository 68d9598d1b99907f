"""Prepare the bibliography for pages: each work and its citation, as in the PDF.

BibTeX formats all entries again, and its output is converted to HTML.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup, escape

from boundpaper.errors import SpecError
from boundpaper.paper import bibliography
from boundpaper.paper.bibliography import FILE, Bibliography, markup, setting
from boundpaper.paper.bibliography.signs import MarkupFault
from boundpaper.paper.site.page import typeset
from boundpaper.paper.tex import latex
from boundpaper.paper.tex.bibtex import bibliography_style, bibtex_failure
from boundpaper.store.files import temporary
from boundpaper.typeset import addresses

_CITATION = re.compile(
    r'<span class="citation">\[(?P<keys>[^],<]*)(?P<place>,(?:(?!\]</span>|<span class="citation">).)*+)?\]</span>',
    re.DOTALL,
)
_ITEM = re.compile(r"\\bibitem\s*(?=[\[{])")


@dataclass(frozen=True)
class CitedWork:
    """A work of the bibliography: its key, its citation (`Su et al., 2024`), and its entry as HTML."""

    key: str
    label: str
    html: Markup


def cited_works(root: Path) -> dict[str, CitedWork]:
    """Return the works of a project's bibliography by key, in the PDF's order; empty if there is no file.

    Raises SpecError when the bibliography has faults, or the output of its style cannot be converted; MissingDependency
    without BibTeX.
    """
    references = bibliography.read(root).checked()
    if not references.entries:
        return {}
    works = {}
    for label, key, body in _bibliography_items(_typeset_by_bibtex(references, bibliography_style(root))):
        try:
            html = typeset(setting.html(markup.read(body)))
            citation = str(setting.html(markup.read(label)).striptags()) if label else key
        except MarkupFault as error:
            place = f"{FILE}:{references.lines.get(key, 0)}: {key}"
            raise SpecError(f"{place}, as the bibliography style prints it: {error}") from None
        except Exception as error:  # latex2mathml has no error class
            place = f"{FILE}:{references.lines.get(key, 0)}: {key}"
            raise SpecError(f"{place}: the site cannot typeset a formula ({error})") from None
        works[key] = CitedWork(key, citation, html)
    return works


def _typeset_by_bibtex(references: Bibliography, style: str) -> str:
    """Return BibTeX's output for all entries."""
    with temporary() as folder:
        (folder / "references.bib").write_text(references.text, encoding="utf-8")
        lines = (r"\relax", r"\citation{*}", rf"\bibstyle{{{style}}}", r"\bibdata{references}")
        (folder / "works.aux").write_text("\n".join(lines) + "\n", encoding="utf-8")
        run = latex.bibtex("works", cwd=folder, bibliographies=".")
        if run.timed_out or run.returncode:
            raise bibtex_failure(folder / "works.blg", run.output)
        return (folder / "works.bbl").read_text(encoding="utf-8", errors="replace")


def _bibliography_items(bbl: str) -> Iterator[tuple[str, str, str]]:
    """Yield the label, the key and the LaTeX of each work; the label is empty if the style has no labels."""
    bbl = bbl.partition(r"\end{thebibliography}")[0]
    for item in _ITEM.split(bbl)[1:]:
        label_end, label = 0, ""
        if item.startswith("["):
            label_end = _closing_offset(item, 0, "[]")
            label = _citation_of_label(item[1 : label_end - 1])
        begin = item.index("{", label_end)
        end = _closing_offset(item, begin, "{}")
        yield label, item[begin + 1 : end - 1].strip(), " ".join(item[end:].split())


def _citation_of_label(label: str) -> str:
    """Return the citation `names, year` that natbib makes of a label `names(year)all names`."""
    depth = 0
    for begin, char in enumerate(label):
        depth += {"{": 1, "}": -1}.get(char, 0)
        if char == "(" and not depth:
            return " ".join(f"{label[:begin]}, {label[begin + 1 : _closing_offset(label, begin, '()') - 1]}".split())
    return " ".join(label.split())


def _closing_offset(text: str, begin: int, pair: str) -> int:
    """Return the offset after the bracket that closes the bracket at `begin`; ignore brackets within braces."""
    depth = brace_depth = 0
    for offset, char in enumerate(text[begin:], begin):
        if pair != "{}":
            brace_depth += {"{": 1, "}": -1}.get(char, 0)
        if not brace_depth:
            depth += (char == pair[0]) - (char == pair[1])
            if not depth:
                return offset + 1
    return len(text)


def link_citations(html: str, works: Mapping[str, CitedWork], root: str = "") -> tuple[Markup, tuple[str, ...]]:
    """Return a text with its citations linked to the bibliography, and the keys that it cites.

    `html` has citations as `boundpaper.typeset.text.prose` writes them; a key that is not in `works` stays as it is.
    `root` is the relative path from the page to the site's folder.
    """
    keys: dict[str, None] = {}

    def linked(match: re.Match[str]) -> str:
        links = []
        for key in match["keys"].split("; "):
            if key in works:
                keys[key] = None
            links.append(work_link(works[key], root) if key in works else escape(key))
        return f'<span class="citation">({"; ".join(links)}{match["place"] or ""})</span>'

    return Markup(_CITATION.sub(linked, html)), tuple(keys)


def work_link(work: CitedWork, root: str = "") -> Markup:
    """Return the citation of a work, linked to its entry."""
    return Markup('<a href="{}{}">{}</a>').format(root, addresses.work(work.key), work.label)
