"""Write the site: make every page, write the pages that changed, and remove obsolete files."""

import pickle
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
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
Files = Iterable[tuple[str, bytes]]


@dataclass
class Part:
    """A part of the site: its files, how many of them changed, the nodes that cite each work, and short captions."""

    paths: set[Path] = field(default_factory=set)
    changed: int = 0
    used: dict[str, set[str]] = field(default_factory=dict)
    captions: dict[str, Markup] = field(default_factory=dict)

    def write(self, folder: Path, files: Files) -> None:
        """Write files, given by path and content, below a folder."""
        for name, content in files:
            self.paths.add(folder / name)
            self.changed += write(folder / name, content)

    def add(self, other: "Part") -> None:
        """Add what another part has."""
        self.paths |= other.paths
        self.changed += other.changed
        self.captions |= other.captions
        for work, keys in other.used.items():
            self.used.setdefault(work, set()).update(keys)


def write_site(project: SiteProject, workers: ProcessWorkers) -> tuple[int, int]:
    """Write the site below `out/site`; return the number of its files, and of the files that changed.

    Exhibits, artifacts, the ledger and the PDFs of figures in `out/figures` must have been built. The workers write the
    pages of artifacts, and of tables that no chapter shows.
    """
    folder, site = project.root / FOLDER, Part(used=project.used)
    reading = ChapterPages(project)
    labels = {node.key: reading.label(node.kind, node.name) for node in project.nodes if node.kind in EXHIBITS}
    unprinted = {key: label for key, label in labels.items() if not label and key.startswith("table:")}
    printed = {key: label for key, label in labels.items() if key not in unprinted}
    pickled = pickle.dumps(replace(project))  # without cached values
    _unpickled.cache_clear()  # of a site that this process wrote earlier
    ended_histories = workers.call(histories, project.root)
    ended_parts = [workers.call(_write_part, pickled, folder, exhibit_pages, (unprinted,), unprinted)]
    site.write(folder, page_assets().items())
    draw_pictures(project, workers.number + 1)
    cells = {name: sorted(positions) for name, positions in reading.printed.items()}
    makers, revisions = [node.key for node in project.nodes if node.makes], ended_histories()
    count = 2 * workers.number + 1  # this process, which makes the other pages, takes one share, and each worker two
    shares = [makers[first::count] for first in range(count)]
    for keys in shares[1:]:
        ended_parts.append(workers.call(_write_part, pickled, folder, artifact_pages, (keys, cells, revisions), ()))
    site.write(folder, overview_pages(project, reading))
    site.write(folder, ledger_pages(project))
    site.write(folder, exhibit_pages(project, printed))
    site.captions = {key: short_caption(project, key) for key in printed}
    site.write(folder, code_pages(project))
    site.write(folder, graph_pages(project))
    site.write(folder, artifact_list(project))
    site.write(folder, artifact_pages(project, shares[0], cells, revisions))
    for ended in ended_parts:
        site.add(ended())
    site.write(folder, exhibit_list(project, labels, site.captions))
    site.write(folder, search_files(project, reading, site.captions))
    site.write(folder, bibliography_pages(project))
    return len(site.paths), site.changed + _remove_others(folder, site.paths)


def _write_part(
    pickled: bytes, folder: Path, make_pages: Callable[..., Files], arguments: tuple[object, ...], keys: Iterable[str]
) -> Part:
    """Write pages that `make_pages` makes of a pickled project; return a `Part` with captions of exhibits `keys`."""
    project = _unpickled(pickled)
    part = Part(used=project.used)
    part.write(folder, make_pages(project, *arguments))
    return replace(part, captions={key: short_caption(project, key) for key in keys})


@lru_cache(1)
def _unpickled(pickled: bytes) -> SiteProject:
    """Return a project, which a worker keeps for later calls with the values that it caches."""
    return pickle.loads(pickled)  # type: ignore[no-any-return]


def write_files(folder: Path, files: Files) -> None:
    """Write files below a folder and remove all others there."""
    part = Part()
    part.write(folder, files)
    _remove_others(folder, part.paths)


def _remove_others(folder: Path, paths: Collection[Path]) -> int:
    """Remove all files below a folder except `paths`, and empty folders; return the number of removed files."""
    removed = 0
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir():
            if not any(path.iterdir()):
                path.rmdir()
        elif path not in paths:
            path.unlink()
            removed += 1
    return removed
