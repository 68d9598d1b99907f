"""Write the site: every page is made again, changed ones are written, and old ones removed."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future
from itertools import chain
from pathlib import Path

from boundpaper.build.pool import Workers
from boundpaper.paper.site.bibliography import bibliography_pages
from boundpaper.paper.site.code import code_pages
from boundpaper.paper.site.exhibits import exhibit_pages
from boundpaper.paper.site.graph import graph_pages
from boundpaper.paper.site.holdings import artifact_pages
from boundpaper.paper.site.ledger import ledger_pages
from boundpaper.paper.site.overview import overview_pages
from boundpaper.paper.site.page import assets
from boundpaper.paper.site.project import EXHIBITS, Project
from boundpaper.store.files import write

FOLDER = "out/site"
MANY = 40  # exhibits whose pages another process makes: it takes two seconds until it has imported what it needs

Kept = tuple[set[Path], int, dict[str, list[str]]]
"""Paths of files, how many of them changed, and by the key of each work what cites it."""


def write_site(project: Project, jobs: int = 1) -> tuple[int, int]:
    """Write the site below `out/site`; return how many files it has and how many of them changed.

    Exhibits, artifacts and the ledger must have been built; the pictures of figures lie in `out/figures` as PDF. With
    more than one of `jobs` the pages of many exhibits are made in a process of their own, beside all others.
    """
    folder, workers = project.root / FOLDER, Workers(1)
    apart: Future[Kept] | None = None
    printed: dict[str, list[str]] = {}
    try:
        if jobs > 1 and sum(node.kind in EXHIBITS for node in project.nodes) >= MANY:
            workers.begin()
            apart = workers.submit(exhibits, Project(project.root, project.nodes, project.call))
        first = (assets().items(), overview_pages(project), ledger_pages(project), artifact_pages(project, printed))
        paths, changed = put(folder, chain(*first, graph_pages(project), code_pages(project)))
        shown, more, used = workers.result(apart) if apart else exhibits(project)
    except BaseException:
        workers.give_up()
        raise
    finally:
        workers.close()
    for key, artifacts in printed.items():
        used.setdefault(key, []).extend(artifacts)
    last, rest = put(folder, bibliography_pages(project, used))
    paths |= shown | last
    changed += more + rest
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir():
            if not any(path.iterdir()):
                path.rmdir()
        elif path not in paths:
            path.unlink()
            changed += 1
    return len(paths), changed


def exhibits(project: Project) -> Kept:
    """Write the pages of exhibits."""
    used: dict[str, list[str]] = {}
    return *put(project.root / FOLDER, exhibit_pages(project, used)), used


def put(folder: Path, files: Iterable[tuple[str, bytes]]) -> tuple[set[Path], int]:
    """Write files below a folder; return their paths and how many of them changed."""
    paths, changed = set(), 0
    for name, content in files:
        paths.add(folder / name)
        changed += write(folder / name, content)
    return paths, changed
