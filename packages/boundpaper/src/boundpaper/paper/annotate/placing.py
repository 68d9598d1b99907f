"""Find the statement in a copy that each ledger row judges, and whether it has changed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from boundpaper.paper.annotate.copies import DocumentCopy
from boundpaper.store.sentences import DocumentSentence, anchor_of, shared_share

SAME, MOVED, ALTERED, GONE, HEADING, NOWHERE = "same", "moved", "altered", "gone", "heading", "no heading"
CHANGED = (ALTERED, GONE, NOWHERE, MOVED)
"""States that are reported as a change, worst first."""
NEAR = 0.5
"""Least fraction of a statement's words in a sentence that may have replaced it."""


@dataclass(frozen=True)
class PlacedRow:
    """A ledger row with its place in a copy.

    Attributes
    ----------
    row : mapping
        The ledger row, with its recorded `heading`, `line` and `anchor`.
    state : str
        `same` or `moved`: the judged sentence was found. `altered`: another sentence replaced it. `gone`: none replaced
        it. `heading`: only a heading is recorded. `no heading`: the copy lacks this heading.
    sentence : DocumentSentence or None
        The sentence found; if altered, the sentence nearest to the statement, or the table row in the recorded line of
        a check.
    """

    row: Mapping[str, Any]
    state: str
    sentence: DocumentSentence | None = None

    @property
    def words(self) -> str:
        """Return a sentence on what happened to the statement."""
        line, heading = self.row["line"], self.row["heading"]
        now = self.sentence.line if self.sentence else 0
        return {
            SAME: f"Is in line {now}.",
            MOVED: f"Moved from line {line} to line {now}.",
            ALTERED: f"The judged sentence, line {line}, is gone; line {now} is the most similar.",
            GONE: f"The judged sentence, line {line}, is gone, and none is similar.",
            HEADING: f"Is under “{heading}”.",
            NOWHERE: f"The recorded heading, “{heading}”, is gone."
            if heading
            else "No place in the document is recorded.",
        }[self.state]


def place_rows(rows: Iterable[Mapping[str, Any]], copy: DocumentCopy) -> list[PlacedRow]:
    """Return the rows of a document with their places in a copy of it.

    If no place in the document is recorded, statements are searched for by their words.
    """
    rows = list(rows)
    recorded = any(row["heading"] for row in rows)
    by_hash: dict[str, list[DocumentSentence]] = {}
    for sentence in copy.sentences:
        by_hash.setdefault(sentence.anchor, []).append(sentence)
    headings = {name for sentence in copy.sentences for name in sentence.headings}
    return [
        _recorded(row, copy.sentences, by_hash, headings) if recorded else _searched_place(row, copy.sentences, by_hash)
        for row in rows
    ]


def _recorded(
    row: Mapping[str, Any],
    document: Sequence[DocumentSentence],
    by_hash: Mapping[str, list[DocumentSentence]],
    headings: set[str],
) -> PlacedRow:
    if not row["anchor"]:
        return PlacedRow(row, HEADING if row["heading"] in headings else NOWHERE)
    matches = by_hash.get(row["anchor"], [])
    for sentence in matches:
        if sentence.line == row["line"]:
            return PlacedRow(row, SAME, sentence)
    if matches:
        return PlacedRow(row, MOVED, min(matches, key=lambda each: abs(each.line - int(row["line"]))))
    near = _nearby_sentence(row, document, by_hash)
    return PlacedRow(row, ALTERED if near else GONE, near)


def _searched_place(
    row: Mapping[str, Any], document: Sequence[DocumentSentence], by_hash: Mapping[str, list[DocumentSentence]]
) -> PlacedRow:
    anchor = anchor_of(_texts_of_row(row), document)
    placed = {**row, "heading": anchor["heading"], "anchor": anchor["anchor"], "line": int(anchor["line"] or 0) or None}
    if not anchor["anchor"]:
        return PlacedRow(placed, HEADING if anchor["heading"] else NOWHERE)
    return PlacedRow(placed, SAME, next(each for each in by_hash[anchor["anchor"]] if each.line == placed["line"]))


def _nearby_sentence(
    row: Mapping[str, Any], document: Sequence[DocumentSentence], by_hash: Mapping[str, list[DocumentSentence]]
) -> DocumentSentence | None:
    if row["kind"] == "cell check":  # the value was altered, so only the line identifies the table row
        rows = (each for each in document if each.line == row["line"] and row["heading"] in each.headings)
        return next((each for each in rows if each.text.startswith("|")), None)
    anchor = anchor_of({**_texts_of_row(row), "kind": "statement"}, document)
    near = by_hash[anchor["anchor"]][0] if anchor["anchor"] else None
    return near if near and shared_share(str(row["statement"]), near.text) >= NEAR else None


def _texts_of_row(row: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(row[name] or "") for name in ("claim", "kind", "source", "section", "statement", "reported")}
