"""Prepare the bibliography for pages: each work and its citation, as printed in the PDF.

BibTeX formats all entries again, and its output is converted.
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
    """A work: its key, its citation (`Su et al., 2024`), and its entry as HTML."""

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
    by_key = {}
    for label, key, body in _bibliography_items(_typeset_by_bibtex(references, bibliography_style(root))):
        try:
            shown = typeset(setting.html(markup.read(body)))
            name = str(setting.html(markup.read(label)).striptags()) if label else key
        except MarkupFault as error:
            raise SpecError(
                f"{FILE}:{references.lines.get(key, 0)}: {key}, as the bibliography style prints it: {error}"
            ) from None
        except Exception as error:  # latex2mathml has no error class
            raise SpecError(
                f"{FILE}:{references.lines.get(key, 0)}: {key}: the site cannot typeset a formula ({error})"
            ) from None
        by_key[key] = CitedWork(key, name, shown)
    return by_key


def _typeset_by_bibtex(references: Bibliography, style: str) -> str:
    """Return BibTeX's output for all entries."""
    with temporary() as folder:
        (folder / "references.bib").write_text(references.text, encoding="utf-8")
        lines = (r"\relax", r"\citation{*}", rf"\bibstyle{{{style}}}", r"\bibdata{references}")
        (folder / "works.aux").write_text("\n".join(lines) + "\n", encoding="utf-8")
        done = latex.bibtex("works", cwd=folder, bibliographies=".")
        if done.timed_out or done.returncode:
            raise bibtex_failure(folder / "works.blg", done.output)
        return (folder / "works.bbl").read_text(encoding="utf-8", errors="replace")


def _bibliography_items(bbl: str) -> Iterator[tuple[str, str, str]]:
    """Yield label, key and LaTeX of each work; the label is `names, year`, or empty if the style has no labels."""
    bbl = bbl.partition(r"\end{thebibliography}")[0]
    for part in _ITEM.split(bbl)[1:]:
        at, label = 0, ""
        if part.startswith("["):
            at = _closing_offset(part, 0, "[]")
            label = _cited_as(part[1 : at - 1])
        begin = part.index("{", at)
        end = _closing_offset(part, begin, "{}")
        yield label, part[begin + 1 : end - 1].strip(), " ".join(part[end:].split())


def _cited_as(label: str) -> str:
    """Return natbib's citation of a work, from a text `names(year)all names`."""
    begin = next((at for at, sign, depth in _brace_depths(label) if sign == "(" and not depth), -1)
    if begin < 0:
        return " ".join(label.split())
    return " ".join(f"{label[:begin]}, {label[begin + 1 : _closing_offset(label, begin, '()') - 1]}".split())


def _brace_depths(text: str) -> Iterator[tuple[int, str, int]]:
    depth = 0
    for at, sign in enumerate(text):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        yield at, sign, depth


def _closing_offset(text: str, begin: int, pair: str) -> int:
    """Return the offset after the bracket that closes the bracket at `begin`; ignore brackets within braces."""
    depth = inside = 0
    for at in range(begin, len(text)):
        sign = text[at]
        if pair != "{}":
            inside += {"{": 1, "}": -1}.get(sign, 0)
        if not inside:
            depth += (sign == pair[0]) - (sign == pair[1])
            if not depth:
                return at + 1
    return len(text)


def link_citations(html: str, works: Mapping[str, CitedWork], root: str = "") -> tuple[Markup, tuple[str, ...]]:
    """Return a text with its citations linked to the bibliography, and the keys that it cites.

    Citations in `html` are as written by `boundpaper.typeset.text.prose`; a key that is not in `works` stays unchanged.
    `root` is the relative path from the page to the site's folder.
    """
    keys: dict[str, None] = {}

    def linked(match: re.Match[str]) -> str:
        shown = []
        for key in match["keys"].split("; "):
            if key in works:
                keys[key] = None
                shown.append(work_link(works[key], root))
            else:
                shown.append(escape(key))
        return f'<span class="citation">({"; ".join(shown)}{match["place"] or ""})</span>'

    return Markup(_CITATION.sub(linked, html)), tuple(keys)


def work_link(work: CitedWork, root: str = "") -> Markup:
    """Return the citation of a work, linked to its entry."""
    return Markup('<a href="{}{}">{}</a>').format(root, addresses.work(work.key), work.label)
