"""Write annotated copies: a page for each document, and an overview of all documents."""

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
    placed_rows: tuple[PlacedRow, ...]
    coverage: Coverage

    @property
    def page(self) -> str:
        """Return the file name of the copy's page."""
        return f"{self.copy.document}.html"

    @property
    def changed_rows(self) -> list[PlacedRow]:
        """Return the rows whose statement changed, the most serious change first."""
        return [row for state in CHANGED for row in self.placed_rows if row.state == state]

    @property
    def states(self) -> Counter[str]:
        """Return the number of rows by `state`."""
        return Counter(row.state for row in self.placed_rows)

    @property
    def unseen_rows(self) -> list[PlacedRow]:
        """Return the rows that are located only by a heading, and whose reported value does not occur below it."""
        seen = {row["claim"] for sentence in self.coverage.sentences for mark in sentence.marks for row in mark.rows}
        return [placed for placed in self.placed_rows if placed.state == HEADING and placed.row["claim"] not in seen]

    @property
    def words(self) -> str:
        """Return one line of text: the number of ledger rows, what changed, and the share of judged numbers."""
        counts, states = self.coverage.counts, self.states
        share = (
            f"{100 * counts['judged'] / self.coverage.total:.0f}% of {self.coverage.total} numbers judged"
            if self.coverage.total
            else "no number"
        )
        changes = ", ".join(f"{states[state]} {state}" for state in CHANGED if states[state]) or "none changed"
        rows = counted(len(self.placed_rows), "row")
        return f"{self.copy.document} ({self.copy.file}): {rows} of the ledger, {changes}; {share}"


def annotate(root: Path, folder: Path, sources: Iterable[str]) -> tuple[list[AnnotatedCopy], list[str]]:
    """Write annotated copies of the documents in `folder` to `out/annotated`.

    `folder` has the reader's copies and is not changed; the ledger must be built. `sources` are the names of the source
    tables. Return the annotated copies, and the names of the files in the folder that are not judged documents.
    """
    rows_by_document = rows_by_source(root)
    anchors = {key: [row["anchor"] for row in rows if row["anchor"]] for key, rows in rows_by_document.items()}
    document_copies, other_files = copies(folder, anchors)
    names = [re.compile(pattern) for pattern in read_metadata(root).names]
    titles = {document.key: document.title for document in documents(root)}
    sources = list(sources)
    annotated_copies = []
    for copy in document_copies:
        rows = tuple(place_rows(rows_by_document[copy.document], copy))
        data = printed_numbers(root, sources, copy.document, copy.sentences)
        annotated_copies.append(AnnotatedCopy(copy, titles[copy.document], rows, coverage(copy, rows, data, names)))
    has_site = (root / "out/site/ledger.html").is_file()
    write_files(root / FOLDER, _annotation_pages(annotated_copies, other_files, has_site))
    return annotated_copies, other_files


def _annotation_pages(
    annotated_copies: Sequence[AnnotatedCopy], other_files: Sequence[str], has_site: bool
) -> Iterator[tuple[str, bytes]]:
    yield from page_assets().items()
    common: dict[str, Any] = {"documents": annotated_copies, "site": SITE if has_site else "", "addresses": addresses}
    title = "Annotated sources"
    yield "index.html", page("annotated.html.j2", "index.html", title=title, other_files=other_files, **common)
    for document in annotated_copies:
        title = f"{document.copy.document}: {document.title}"
        blocks = list(copy_blocks(document.copy, document.coverage))
        values = {"title": title, "document": document, "blocks": blocks, "verdicts": VERDICTS, **common}
        yield document.page, page("document.html.j2", document.page, **values)
