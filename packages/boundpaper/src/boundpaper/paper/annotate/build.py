"""Write annotated copies: one page per document, and an overview of the statements found and changed."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boundpaper.paper.annotate.copies import DocumentCopy, copies
from boundpaper.paper.annotate.coverage import Coverage, coverage
from boundpaper.paper.annotate.inputs import printed_numbers, rows_by_source
from boundpaper.paper.annotate.lines import copy_blocks
from boundpaper.paper.annotate.placing import CHANGED, HEADING, PlacedRow, place_rows
from boundpaper.paper.metadata import read as read_metadata
from boundpaper.paper.site.build import write_files
from boundpaper.paper.site.overview import VERDICTS
from boundpaper.paper.site.page import page, page_assets
from boundpaper.store.documents import documents
from boundpaper.typeset import addresses
from boundpaper.typeset.plural import counted

FOLDER = "out/annotated"
SITE = "../site/"


@dataclass(frozen=True)
class AnnotatedCopy:
    """A copy of a document, with the ledger rows about it."""

    copy: DocumentCopy
    title: str
    placed: tuple[PlacedRow, ...]
    coverage: Coverage

    @property
    def page(self) -> str:
        """Return the file name of the copy's page."""
        return f"{self.copy.document}.html"

    @property
    def changed(self) -> list[PlacedRow]:
        """Return the rows whose statement changed, the most serious first."""
        return sorted(
            (each for each in self.placed if each.state in CHANGED), key=lambda each: CHANGED.index(each.state)
        )

    @property
    def states(self) -> Counter[str]:
        """Count the rows by `state`."""
        return Counter(each.state for each in self.placed)

    @property
    def unseen(self) -> list[PlacedRow]:
        """Return rows located only by a heading, if their reported value does not occur below it."""
        seen = {row["claim"] for each in self.coverage.stated for mark in each.marks for row in mark.rows}
        return [each for each in self.placed if each.state == HEADING and each.row["claim"] not in seen]

    @property
    def words(self) -> str:
        """Return one line about the document."""
        counts, states = self.coverage.counts, self.states
        share = (
            f"{100 * counts['judged'] / self.coverage.total:.0f}% of {self.coverage.total} numbers judged"
            if self.coverage.total
            else "no number"
        )
        changed = ", ".join(f"{states[state]} {state}" for state in CHANGED if states[state]) or "none changed"
        rows = counted(len(self.placed), "row")
        return f"{self.copy.document} ({self.copy.file}): {rows} of the ledger, {changed}; {share}"


def annotate(root: Path, folder: Path, sources: Iterable[str]) -> tuple[list[AnnotatedCopy], list[str]]:
    """Write annotated copies of the documents in `folder` to `out/annotated`.

    The ledger must be built. `folder` has the reader's copies and is not changed. Return the annotated copies, and the
    names of other files in the folder.
    """
    rows = rows_by_source(root)
    recorded = {key: [row["anchor"] for row in own if row["anchor"]] for key, own in rows.items()}
    recognised, others = copies(folder, recorded)
    names = [re.compile(pattern) for pattern in read_metadata(root).names]
    titles = {document.key: document.title for document in documents(root)}
    sources = list(sources)
    done = []
    for copy in recognised:
        places = place_rows(rows[copy.document], copy)
        data = printed_numbers(root, sources, copy.document, copy.sentences)
        done.append(AnnotatedCopy(copy, titles[copy.document], tuple(places), coverage(copy, places, data, names)))
    write_files(root / FOLDER, _annotation_pages(done, others, (root / "out/site/ledger.html").is_file()))
    return done, others


def _annotation_pages(done: Sequence[AnnotatedCopy], others: Sequence[str], site: bool) -> Iterator[tuple[str, bytes]]:
    yield from page_assets().items()
    common: dict[str, Any] = {"done": done, "site": SITE if site else "", "addresses": addresses}
    yield "index.html", page("annotated.html.j2", "index.html", title="Annotated sources", others=others, **common)
    for each in done:
        yield (
            each.page,
            page(
                "document.html.j2",
                each.page,
                title=f"{each.copy.document}: {each.title}",
                document=each,
                lines=list(copy_blocks(each.copy, each.coverage)),
                verdicts=VERDICTS,
                **common,
            ),
        )
