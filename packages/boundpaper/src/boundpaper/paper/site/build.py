"""Write the site: make every page, write the pages that changed, and remove obsolete files."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from markupsafe import Markup

from boundpaper.build.pool import ProcessWorkers
from boundpaper.paper.site.bibliography import bibliography_pages
from boundpaper.paper.site.code import code_pages
from boundpaper.paper.site.exhibits import draw_pictures, exhibit_list, exhibit_pages, short_caption
from boundpaper.paper.site.graph import graph_pages
from boundpaper.paper.site.history import histories
from boundpaper.paper.site.holdings import artifact_list, artifact_pages
from boundpaper.paper.site.ledger import ledger_pages
from boundpaper.paper.site.overview import overview_pages
from boundpaper.paper.site.page import page_assets
from boundpaper.paper.site.project import EXHIBITS, SiteProject
from boundpaper.paper.site.reading import ChapterPages
from boundpaper.paper.site.search import search_files
from boundpaper.store.files import write

FOLDER = "out/site"


def write_site(project: SiteProject, jobs: int = 0) -> tuple[int, int]:
    """Write the site below `out/site`; return the number of its files, and of the files that changed.

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
    """Yield the path and the content of every file of the site.

    With several `jobs`, a second process makes the pages of tables that no chapter shows, and some pages of artifacts.
    """
    reading = ChapterPages(project)
    labels = {node.key: reading.label(node.kind, node.name) for node in project.nodes if node.kind in EXHIBITS}
    separate = {key: label for key, label in labels.items() if jobs > 1 and not label and key.startswith("table:")}
    if jobs > 1:
        workers.begin()
        workers.submit(histories, project.root)  # caches the history that the pages of artifacts show
    tables = workers.submit(_exhibit_pages, replace(project), separate) if separate else None
    yield from page_assets().items()
    draw_pictures(project, jobs)
    printed = {name: sorted(cells) for name, cells in reading.printed.items()}
    makers = [node.key for node in project.nodes if node.makes]
    first_here = len(makers) * 3 // 8 if jobs > 1 else 0
    artifacts = workers.submit(_artifact_pages, replace(project), makers[:first_here], printed) if jobs > 1 else None
    yield from overview_pages(project, reading)
    yield from ledger_pages(project)
    yield from exhibit_pages(project, {key: label for key, label in labels.items() if key not in separate})
    yield from code_pages(project)
    captions = {key: short_caption(project, key) for key in labels if key not in separate}
    yield from graph_pages(project)
    yield from artifact_list(project)
    files_here, used_here = _artifact_pages(replace(project), makers[first_here:], printed)
    yield from files_here
    if tables:
        files, used, table_captions = workers.result(tables)
        yield from files
        captions |= table_captions
        _add_uses(project, used)
    yield from exhibit_list(project, labels, captions)
    yield from search_files(project, reading, captions)
    if artifacts:
        files, used = workers.result(artifacts)
        yield from files
        _add_uses(project, used)
    _add_uses(project, used_here)
    yield from bibliography_pages(project)


Files = list[tuple[str, bytes]]
Uses = dict[str, list[str]]


def _exhibit_pages(project: SiteProject, labels: Mapping[str, str]) -> tuple[Files, Uses, dict[str, Markup]]:
    """Return the pages of exhibits, the exhibits that cite each work, and the short captions by key."""
    files = list(exhibit_pages(project, labels))
    return files, project.used, {key: short_caption(project, key) for key in labels}


def _artifact_pages(
    project: SiteProject, keys: Sequence[str], printed: Mapping[str, Collection[tuple[int, str]]]
) -> tuple[Files, Uses]:
    """Return the pages of the artifacts that the steps `keys` make, and the artifacts that cite each work."""
    return list(artifact_pages(project, keys, printed)), project.used


def _add_uses(project: SiteProject, used: Uses) -> None:
    for key, nodes in used.items():
        project.used.setdefault(key, []).extend(nodes)


def write_files(folder: Path, files: Iterator[tuple[str, bytes]]) -> tuple[int, int]:
    """Write files below a folder and remove all others there; return the number of files, and of changed files."""
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
