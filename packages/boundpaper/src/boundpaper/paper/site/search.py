"""List what the search box finds: sections of chapters, exhibits, claims, artifacts and works."""

import json
import re
from collections.abc import Iterator, Mapping

from markupsafe import Markup

from boundpaper.paper.site.project import EXHIBITS, SiteProject
from boundpaper.paper.site.reading import ChapterPages
from boundpaper.typeset import addresses
from boundpaper.typeset.words_of import words_of_html

_HEAD = re.compile(r'(?=<h[23] id="([^"]*)">)')


def search_files(
    project: SiteProject, reading: ChapterPages, captions: Mapping[str, Markup]
) -> Iterator[tuple[str, bytes]]:
    """Yield `search.js`, which has the address, the title and the text of every entry.

    It is a script, since a page that is opened from a folder cannot load other files. `captions` has the short caption
    of each exhibit by key.
    """
    entries = [*_chapter_entries(reading), *_exhibit_entries(project, reading, captions), *_other_entries(project)]
    text = json.dumps(entries, ensure_ascii=False, separators=(",", ":"))
    yield "search.js", f"found({text});\n".encode()


def _chapter_entries(reading: ChapterPages) -> Iterator[tuple[str, str, str]]:
    for page in reading.pages:
        path = addresses.chapter(page.chapter.name)
        first, *sections = _HEAD.split(str(page.html))
        titles = {address: words_of_html(title) for _, address, title in page.heads}
        for address, html in [("", first), *zip(sections[::2], sections[1::2], strict=True)]:
            chapter = " ".join(filter(None, (page.label, page.chapter.title)))
            title = f"{chapter}: {titles[address]}" if address in titles else chapter
            if text := _words_of_section(html):
                yield f"{path}#{address}" if address else path, title, text


def _exhibit_entries(
    project: SiteProject, reading: ChapterPages, captions: Mapping[str, Markup]
) -> Iterator[tuple[str, str, str]]:
    for node in project.nodes:
        if node.kind in EXHIBITS:
            label = reading.label(node.kind, node.name) or node.kind.capitalize()
            yield project.address(node.key), f"{label}: {node.name}", words_of_html(captions[node.key])


def _other_entries(project: SiteProject) -> Iterator[tuple[str, str, str]]:
    for row in project.claims:
        title = f"{row['source']}, {row['section']}: {row['verdict']}"
        yield addresses.claim(row["claim"]), title, f"{row['statement']} ({row['claim']})"
    for node in project.nodes:
        if node.makes:
            yield addresses.artifact(node.name), f"{node.kind.capitalize()} {node.name}", node.doc
    for key, work in project.works.items():
        yield addresses.work(key), work.label, words_of_html(work.html)


def _words_of_section(html: str) -> str:
    """Return the words in a section's HTML, without equations, and without exhibits, which are separate entries."""
    for begin, end in (("<table", "</table>"), ("<figure", "</figure>"), ('<math display="block"', "</math>")):
        before, *pieces = html.split(begin)
        html = " ".join([before, *(piece.partition(end)[2] for piece in pieces)])
    html = re.sub(r"</(?:p|li|d[td]|h\d)>", " ", html)  # else the words of two elements would touch
    return re.sub(r"\s+", " ", words_of_html(html)).strip()
