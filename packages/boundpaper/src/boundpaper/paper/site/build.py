"""Write the site: every page is made again, changed ones are written, and old ones removed."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from boundpaper.build.pool import Workers
from boundpaper.paper.site.bibliography import bibliography_pages
from boundpaper.paper.site.code import code_pages
from boundpaper.paper.site.exhibits import draw_pictures, figure_pages, table_pages
from boundpaper.paper.site.graph import graph_pages
from boundpaper.paper.site.holdings import artifact_pages
from boundpaper.paper.site.ledger import ledger_pages
from boundpaper.paper.site.overview import overview_pages
from boundpaper.paper.site.page import assets
from boundpaper.paper.site.project import Project
from boundpaper.paper.site.reading import Reading
from boundpaper.paper.site.search import Row, chapter_rows, search_files
from boundpaper.store.files import write

FOLDER = "out/site"


def write_site(project: Project, draw: Callable[[], object], jobs: int = 0) -> tuple[int, int]:
    """Write the site below `out/site`; return how many files it has and how many of them changed.

    Exhibits, artifacts, the ledger and the pictures that chapters show must have been built; pictures lie in
    `out/figures` as PDF. `draw` makes those that are missing, while another process makes most pages. At most `jobs`
    processes run at a time, 0 standing for the number of processors.
    """
    workers = Workers(1)
    try:
        return keep(project.root / FOLDER, pages(project, workers, draw, jobs or os.cpu_count() or 1))
    except BaseException:
        workers.give_up()
        raise
    finally:
        workers.close()


def pages(project: Project, workers: Workers, draw: Callable[[], object], jobs: int) -> Iterator[tuple[str, bytes]]:
    """Path and content of every file of the site; if `jobs` allows, another process makes those of `_others`."""
    yield from assets().items()
    draw_pictures(project, [name for chapter in project.chapters for name in chapter.figures], jobs)
    begun = None
    if jobs > 1:
        workers.begin()
        begun = workers.submit(_others, replace(project))
    label = Reading(project).label
    yield from table_pages(project, label)
    draw()
    draw_pictures(project, [node.name for node in project.nodes if node.kind == "figure"], jobs)
    yield from figure_pages(project, label)
    files, found, used = workers.result(begun) if begun else _others(replace(project))
    yield from files
    yield from search_files(project, label, found)
    for key, nodes in used.items():
        project.used.setdefault(key, []).extend(nodes)
    yield from bibliography_pages(project)


def _others(project: Project) -> tuple[list[tuple[str, bytes]], list[Row], dict[str, list[str]]]:
    """All pages but those of exhibits and works, what is found of chapters, and the artifacts that cite each work."""
    reading = Reading(project)
    made = [*overview_pages(project, reading), *ledger_pages(project), *graph_pages(project), *code_pages(project)]
    cells = {name: sorted(places) for name, places in reading.printed.items()}
    apart = replace(project)  # which has noted no exhibit that cites a work
    return made + list(artifact_pages(apart, cells)), list(chapter_rows(reading)), apart.used


def keep(folder: Path, files: Iterator[tuple[str, bytes]]) -> tuple[int, int]:
    """Write files below a folder and remove all others there; return how many there are and how many changed."""
    paths, changed = set(), 0
    for name, content in files:
        path = folder / name
        paths.add(path)
        changed += write(path, content)
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir():
            if not any(path.iterdir()):
                path.rmdir()
        elif path not in paths:
            path.unlink()
            changed += 1
    return len(paths), changed
