"""Run the checks that need no build: of tables, of names that steps use, of the bibliography and of settings."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from boundpaper.build.graph import Graph
from boundpaper.errors import ThesisError
from boundpaper.paper import bibliography, lint, metadata
from boundpaper.paper.metadata import chapters
from boundpaper.paper.tex import pages
from boundpaper.store.descriptor import full_package
from boundpaper.store.schema import Fault
from boundpaper.store.schema import check as faults_of


@dataclass(frozen=True)
class CheckOutcome:
    """The outcome of a check.

    `tables` has the faults of each faulty artifact, `others` the faults of bibliography, chapters, metadata, page
    limits and steps, and `gaps` the fields that the bibliography lacks and is printed without.
    """

    artifacts: int
    tables: dict[str, list[Fault]]
    others: list[Fault]
    gaps: list[str]

    @property
    def faults(self) -> list[Fault]:
        """Return all faults, of tables first."""
        return [*chain.from_iterable(self.tables.values()), *self.others]


def check_paper(root: Path, graph: Graph) -> CheckOutcome:
    """Check a paper's tables, names, bibliography and settings; return the outcome."""
    described = [entry["name"] for entry in full_package(root)["resources"]]
    names = list(dict.fromkeys([*described, *graph.artifacts]))
    tables = {name: faults for name in names if (faults := faults_of(root, name))}
    bib = bibliography.read(root)
    words = [
        *map(str, bib.faults),
        *map(str, lint.find_unknown_citations(chapters(root), bib.lines)),
        *_settings_faults(root),
    ]
    if not tables and not words:  # tables that could be read
        words += lint.cited_by_tables(root, bib.lines)
    words += [*graph.faults, *(line for step in graph.steps.values() for line in step.fault.splitlines())]
    return CheckOutcome(len(names), tables, [Fault("", 0, "", line) for line in words], [str(gap) for gap in bib.gaps])


def _settings_faults(root: Path) -> Iterator[str]:
    """Yield the faults of the paper's metadata and of the limits of its pages."""
    for file, read in ((metadata.FILE, metadata.read), (pages.FILE, pages.read_limits)):
        try:
            if (root / file).is_file():
                read(root)
        except ThesisError as error:
            yield str(error)
