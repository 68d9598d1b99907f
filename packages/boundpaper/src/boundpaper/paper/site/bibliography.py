"""Write the bibliography as a page: each work, and where the project cites it, judges it or prints its values."""

from collections.abc import Iterator

from boundpaper.paper.site.page import page
from boundpaper.paper.site.project import SiteProject
from boundpaper.paper.site.walk import links_by_kind


def bibliography_pages(project: SiteProject) -> Iterator[tuple[str, bytes]]:
    """Yield `bibliography.html`; call this after the pages of exhibits and artifacts, which record their citations."""
    shown = []
    for key, work in project.works.items():
        chapters = [f"chapter:{chapter.name}" for chapter in project.chapters if key in chapter.cites]
        judged = [each for each in project.documents if each.citation == key and project.judges(each.key)]
        shown.append((work, links_by_kind(project, dict.fromkeys([*chapters, *project.used.get(key, ())])), judged))
    values = {"shown": shown, "project": project}
    yield "bibliography.html", page("bibliography.html.j2", "bibliography.html", title="Bibliography", **values)
