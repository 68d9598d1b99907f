"""Write the site: render every page, write those that changed, and remove obsolete files."""

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from boundpaper.build.pool import ProcessWorkers
from boundpaper.paper.site.bibliography import bibliography_pages
from boundpaper.paper.site.code import code_pages
from boundpaper.paper.site.exhibits import draw_pictures, exhibit_pages
from boundpaper.paper.site.graph import graph_pages
from boundpaper.paper.site.history import histories
from boundpaper.paper.site.holdings import artifact_pages
from boundpaper.paper.site.ledger import ledger_pages
from boundpaper.paper.site.overview import overview_pages
from boundpaper.paper.site.page import page_assets
from boundpaper.paper.site.project import SiteProject
from boundpaper.paper.site.reading import ChapterPages
from boundpaper.paper.site.search import search_files
from boundpaper.store.files import write

FOLDER = "out/site"


def write_site(project: SiteProject, jobs: int = 0) -> tuple[int, int]:
    """Write the site below `out/site`; return how many files it has and how many of them changed.

    Exhibits, artifacts, the ledger and the PDFs of figures in `out/figures` must have been built. At most `jobs`
    processes run at a time; 0 means the number of processors.
    """
    workers = ProcessWorkers(1)
    try:
        return write_files(project.root / FOLDER, site_pages(project, workers, jobs or os.cpu_count() or 1))
    except BaseException:
        workers.kill_all()
        raise
    finally:
        workers.close()


def site_pages(project: SiteProject, workers: ProcessWorkers, jobs: int) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of every file of the site; if `jobs` allows, another process makes pages of artifacts."""
    if jobs > 1:
        workers.begin()
        workers.submit(histories, project.root)  # caches the changes for the pages of artifacts
    yield from page_assets().items()
    draw_pictures(project, jobs)
    reading = ChapterPages(project)
    cells = {name: sorted(places) for name, places in reading.printed.items()}
    begun = None
    if jobs > 1:
        begun = workers.submit(_artifact_pages, replace(project, call=_missing_artifact), cells)
    yield from overview_pages(project, reading)
    yield from ledger_pages(project)
    yield from exhibit_pages(project, reading.label)
    yield from code_pages(project)
    files, used = workers.result(begun) if begun else _artifact_pages(project, cells)
    yield from files
    for key, nodes in used.items():
        project.used.setdefault(key, []).extend(nodes)
    yield from bibliography_pages(project)
    yield from search_files(project, reading)
    yield from graph_pages(project)


def _artifact_pages(
    project: SiteProject, printed: Mapping[str, Collection[tuple[int, str]]]
) -> tuple[list[tuple[str, bytes]], dict[str, list[str]]]:
    """Return the pages of artifacts, and the citing artifacts of each work."""
    project = replace(project)
    return list(artifact_pages(project, printed)), project.used


def _missing_artifact(key: str) -> Any:
    raise AssertionError(f"{key}: the page of an artifact cannot show an exhibit")


def write_files(folder: Path, files: Iterator[tuple[str, bytes]]) -> tuple[int, int]:
    """Write files below a folder and remove all other files there; return the number of files and of changed files."""
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
