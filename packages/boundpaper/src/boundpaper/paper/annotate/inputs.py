"""Read the inputs of an annotation from the artifacts: the rows of the ledger, and the values in the sources."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from boundpaper.errors import DataError
from boundpaper.paper.annotate.tokens import sizes
from boundpaper.paper.site.project import artifact_rows
from boundpaper.store.documents import THESIS
from boundpaper.store.sentences import DocumentSentence, heading_of

PLACES = "places"


def rows_by_source(root: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of the ledger with their recorded places, by document; rows on the thesis itself are left out.

    Raises DataError when no row is on another document.
    """
    places = {row["claim"]: row for row in artifact_rows(root, "claim_places")}
    by_source: dict[str, list[dict[str, Any]]] = {}
    for row in artifact_rows(root, "claims"):
        if row["source"] != THESIS:
            by_source.setdefault(row["source"], []).append({**places[row["claim"]], **row})
    if not by_source:
        raise DataError("the ledger has no row on a document other than the thesis, so there is nothing to annotate")
    return by_source


def printed_numbers(
    root: Path, sources: Iterable[str], document: str, copy: Sequence[DocumentSentence]
) -> Mapping[str, frozenset[Decimal]]:
    """Return the absolute values in the sources that a document prints, by the heading under which it prints them.

    A row of a source names its place, and the table of places maps this to a section of the document.
    """
    sections = {row["source"]: row["section"] for row in artifact_rows(root, PLACES) if row["document"] == document}
    headings = {place: heading_of(section, copy) for place, section in sections.items()}
    numbers: dict[str, set[Decimal]] = {}
    for name in sources:
        for row in artifact_rows(root, name):
            heading = headings.get(str(row.get("source", "")))
            if heading:
                cells = (
                    value for field, value in row.items() if value is not None and field not in ("source", "model")
                )
                numbers.setdefault(heading, set()).update(sizes(map(str, cells)))
    return {heading: frozenset(values) for heading, values in numbers.items()}
