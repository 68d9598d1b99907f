"""Check a paper without building it: its tables, the names that steps use, its bibliography and its settings."""

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
    """The number of checked artifacts, and the faults that the check found."""

    n_artifacts: int
    table_faults: dict[str, list[Fault]]  # by artifact
    other_faults: list[Fault]  # of bibliography, chapters, metadata, page limits and steps
    gaps: list[str]  # fields that works of the bibliography lack; the bibliography is printed without them

    @property
    def faults(self) -> list[Fault]:
        """Return all faults, the faults of tables first."""
        return [*chain.from_iterable(self.table_faults.values()), *self.other_faults]


def check_paper(root: Path, graph: Graph) -> CheckOutcome:
    """Check a paper's tables, names, bibliography and settings, and return the outcome."""
    described_names = [resource["name"] for resource in full_package(root)["resources"]]
    names = list(dict.fromkeys([*described_names, *graph.artifacts]))
    table_faults = {name: faults for name in names if (faults := faults_of(root, name))}
    bib = bibliography.read(root)
    messages = [
        *map(str, bib.faults),
        *map(str, lint.find_unknown_citations(chapters(root), bib.lines)),
        *_settings_faults(root),
    ]
    if not table_faults and not messages:  # only tables without faults can be read
        messages += lint.cited_by_tables(root, bib.lines)
    messages += [*graph.faults, *(line for step in graph.steps.values() for line in step.fault.splitlines())]
    other_faults = [Fault("", 0, "", message) for message in messages]
    return CheckOutcome(len(names), table_faults, other_faults, list(map(str, bib.gaps)))


def _settings_faults(root: Path) -> Iterator[str]:
    """Yield the faults of the paper's metadata and of its page limits."""
    for file, read in ((metadata.FILE, metadata.read), (pages.FILE, pages.read_limits)):
        try:
            if (root / file).is_file():
                read(root)
        except ThesisError as error:
            yield str(error)
