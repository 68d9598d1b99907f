"""Read the inputs of an annotation from the artifacts: the rows of the ledger, and the values in the sources."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from boundpaper.errors import DataError
from boundpaper.paper.annotate.tokens import magnitudes
from boundpaper.paper.site.project import artifact_rows
from boundpaper.store.documents import THESIS
from boundpaper.store.sentences import DocumentSentence, heading_of

PLACES = "places"


def rows_by_source(root: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of the ledger with their recorded places, by document; rows on the thesis itself are left out.

    Raises DataError when no row is on another document.
    """
    places = {row["claim"]: row for row in artifact_rows(root, "claim_places")}
    rows_by_document: dict[str, list[dict[str, Any]]] = {}
    for row in artifact_rows(root, "claims"):
        if row["source"] != THESIS:
            rows_by_document.setdefault(row["source"], []).append({**places[row["claim"]], **row})
    if not rows_by_document:
        raise DataError("the ledger has no row on a document other than the thesis, so there is nothing to annotate")
    return rows_by_document


def printed_numbers(
    root: Path, sources: Iterable[str], document: str, sentences: Sequence[DocumentSentence]
) -> Mapping[str, frozenset[Decimal]]:
    """Return the absolute values that the sources take from a document, by the heading under which they are printed.

    A row of a source names its place, and the table of places maps the place to a section of the document.
    """
    sections = {row["source"]: row["section"] for row in artifact_rows(root, PLACES) if row["document"] == document}
    headings = {place: heading_of(section, sentences) for place, section in sections.items()}
    numbers: dict[str, set[Decimal]] = {}
    for name in sources:
        for row in artifact_rows(root, name):
            heading = headings.get(str(row.get("source", "")))
            if heading:
                cells = (cell for name, cell in row.items() if cell is not None and name not in ("source", "model"))
                numbers.setdefault(heading, set()).update(magnitudes(map(str, cells)))
    return {heading: frozenset(values) for heading, values in numbers.items()}
