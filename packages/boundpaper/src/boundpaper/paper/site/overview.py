"""Write the first page, with the findings and the verdicts by document, and a page for each chapter."""

from collections import Counter
from collections.abc import Iterator

from markupsafe import Markup

from boundpaper.paper.site.exhibits import exhibit_html
from boundpaper.paper.site.page import page
from boundpaper.paper.site.project import Chapter, SiteProject
from boundpaper.paper.site.reading import ChapterPages
from boundpaper.paper.site.walk import node_links
from boundpaper.paper.site.works import work_link
from boundpaper.typeset import addresses

VERDICTS = ("holds", "holds after rounding", "not significant", "not supported", "contradicted", "not testable")
"""Verdicts from good to bad."""
PDF = "out/thesis.pdf"


def overview_pages(project: SiteProject, reading: ChapterPages) -> Iterator[tuple[str, bytes]]:
    """Yield `index.html`, `chapter/NAME.html` for each chapter, and the PDF if it is newer than all chapters."""
    counts = Counter((row["source"], row["kind"], row["verdict"]) for row in project.claims)
    documents = [
        (document, [counts[document.key, kind, verdict] for verdict in VERDICTS], kind)
        for document in project.documents
        for kind in ("statement", "cell check")
        if any(counts[document.key, kind, verdict] for verdict in VERDICTS)
    ]
    kinds = Counter(node.kind for node in project.nodes)
    first = next((("figure", name) for chapter in project.chapters for name in chapter.figures), None)
    pdf, kilobytes = project.root / PDF, 0
    texts = [project.root / f"out/chapters/{name}.tex" for name in reading.texts]
    if pdf.is_file() and pdf.stat().st_mtime_ns >= max((text.stat().st_mtime_ns for text in texts), default=0):
        yield "thesis.pdf", pdf.read_bytes()
        kilobytes = round(pdf.stat().st_size / 1000)
    values = {
        "project": project,
        "verdicts": VERDICTS,
        "documents": documents,
        "kinds": kinds,
        "addresses": addresses,
        "reading": reading,
        "picture": exhibit_html(project, *first, reading.label(*first)).replace('="../', Markup('="')) if first else "",
        "kilobytes": kilobytes,
    }
    yield "index.html", page("index.html.j2", "index.html", title=project.metadata.title, **values)
    pages = reading.pages
    for previous, current, following in zip([None, *pages[:-1]], pages, [*pages[1:], None], strict=True):
        path, title = addresses.chapter(current.chapter.name), current.chapter.title
        neighbours = {"previous_page": previous, "current_page": current, "next_page": following}
        values = {**neighbours, **_chapter_values(project, current.chapter)}
        yield path, page("chapter.html.j2", path, title=title, reading=reading, **values)


def _chapter_values(project: SiteProject, chapter: Chapter) -> dict[str, object]:
    return {
        "chapter": chapter,
        "project": project,
        "numbers": node_links(project, [project.outline.maker[name] for name in chapter.numbers]),
        "works": [work_link(project.works[key], "../") for key in chapter.cites if key in project.works],
        "claims": [project.rows[name] for name in chapter.claims if name in project.rows],
        "addresses": addresses,
    }
