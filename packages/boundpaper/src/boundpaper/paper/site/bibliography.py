"""Write the bibliography as a page: each work, and the pages that cite it, judge it or print its values."""

from collections.abc import Iterator

from boundpaper.paper.site.page import page
from boundpaper.paper.site.project import SiteProject
from boundpaper.paper.site.walk import links_by_kind


def bibliography_pages(project: SiteProject) -> Iterator[tuple[str, bytes]]:
    """Yield `bibliography.html`; call this after making the pages of exhibits and artifacts, which record citations."""
    entries = []
    for key, work in project.works.items():
        chapters = [f"chapter:{chapter.name}" for chapter in project.chapters if key in chapter.cites]
        documents = [document for document in project.documents if document.citation == key]
        judged = [document for document in documents if project.judges(document.key)]
        entries.append((work, links_by_kind(project, dict.fromkeys([*chapters, *project.used.get(key, ())])), judged))
    values = {"entries": entries, "project": project}
    yield "bibliography.html", page("bibliography.html.j2", "bibliography.html", title="Bibliography", **values)
