"""Write the first page, with findings and verdicts by document, and one page per chapter."""

from collections import Counter
from collections.abc import Iterator

from markupsafe import Markup

from boundpaper.paper.site.exhibits import within
from boundpaper.paper.site.page import page
from boundpaper.paper.site.project import Chapter, SiteProject
from boundpaper.paper.site.reading import ChapterPages
from boundpaper.paper.site.walk import node_links
from boundpaper.paper.site.works import work_link
from boundpaper.typeset import addresses

VERDICTS = ("holds", "holds after rounding", "not significant", "not supported", "contradicted", "not testable")
"""Verdicts in the order from good to bad."""
PDF = "out/thesis.pdf"


def overview_pages(project: SiteProject, reading: ChapterPages) -> Iterator[tuple[str, bytes]]:
    """Yield `index.html`, `chapter/NAME.html` for each chapter, and the PDF if it was built from these chapters."""
    counts = Counter((row["source"], row["kind"], row["verdict"]) for row in project.claims)
    documents = [
        (document, [counts[document.key, kind, verdict] for verdict in VERDICTS], kind)
        for document in project.documents
        for kind in ("statement", "cell check")
        if any(counts[document.key, kind, verdict] for verdict in VERDICTS)
    ]
    kinds = Counter(node.kind for node in project.nodes)
    first = next((("figure", name) for chapter in project.chapters for name in chapter.figures), None)
    pdf = project.root / PDF
    texts = [project.root / f"out/chapters/{name}.tex" for name in reading.texts]
    sizes = {}
    if pdf.is_file() and pdf.stat().st_mtime_ns >= max((each.stat().st_mtime_ns for each in texts), default=0):
        yield "thesis.pdf", pdf.read_bytes()
        sizes["thesis.pdf"] = round(pdf.stat().st_size / 1000)
    values = {
        "project": project,
        "verdicts": VERDICTS,
        "documents": documents,
        "kinds": kinds,
        "addresses": addresses,
        "reading": reading,
        "picture": within(project, *first, reading.label(*first)).replace('="../', Markup('="')) if first else "",
        "pdf": sizes.get("thesis.pdf", 0),
    }
    yield "index.html", page("index.html.j2", "index.html", title=project.metadata.title, **values)
    pages = reading.pages
    for place, each in enumerate(pages):
        path = addresses.chapter(each.chapter.name)
        near = (pages[place - 1] if place else None, pages[place + 1] if place + 1 < len(pages) else None)
        values_of_page = {"read": each, "before": near[0], "after": near[1], **_exhibit_links(project, each.chapter)}
        yield path, page("chapter.html.j2", path, title=each.chapter.title, reading=reading, **values_of_page)


def _exhibit_links(project: SiteProject, chapter: Chapter) -> dict[str, object]:
    return {
        "chapter": chapter,
        "project": project,
        "numbers": node_links(project, [project.outline.maker[name] for name in chapter.numbers]),
        "works": [work_link(project.works[key], "../") for key in chapter.cites if key in project.works],
        "claims": [project.rows[name] for name in chapter.claims if name in project.rows],
        "addresses": addresses,
    }
