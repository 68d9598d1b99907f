"""Find, for each ledger row, the judged statement in a copy of its document; tell whether it has changed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from boundpaper.paper.annotate.copies import DocumentCopy
from boundpaper.store.sentences import DocumentSentence, anchor_of, share_of_words

SAME, MOVED, ALTERED, GONE, HEADING, NOWHERE = "same", "moved", "altered", "gone", "heading", "no heading"
CHANGED = (ALTERED, GONE, NOWHERE, MOVED)  # states that are reported as a change, the most serious first
NEAR = 0.5  # least fraction of a statement's words that a sentence must contain to count as its replacement


@dataclass(frozen=True)
class PlacedRow:
    """A row of the ledger with its place in a copy of the judged document.

    Attributes
    ----------
    row : mapping
        The ledger row, with its recorded `heading`, `line` and `anchor`.
    state : str
        `same` or `moved`: the judged sentence was found. `altered`: another sentence replaced it. `gone`: none replaced
        it. `heading`: only a heading is recorded. `no heading`: the copy lacks this heading.
    sentence : DocumentSentence or None
        The sentence found. In the state `altered`, it is the sentence most similar to the statement or, for a check,
        the table row in the recorded line.
    """

    row: Mapping[str, Any]
    state: str
    sentence: DocumentSentence | None = None

    @property
    def words(self) -> str:
        """Return a sentence that says where the statement is, or what replaced it."""
        line, heading = self.row["line"], self.row["heading"]
        new_line = self.sentence.line if self.sentence else 0
        return {
            SAME: f"Is in line {new_line}.",
            MOVED: f"Moved from line {line} to line {new_line}.",
            ALTERED: f"The judged sentence, line {line}, is gone; line {new_line} is the most similar.",
            GONE: f"The judged sentence, line {line}, is gone, and none is similar.",
            HEADING: f"Is under “{heading}”.",
            NOWHERE: f"The heading “{heading}” is gone." if heading else "No place in the document is recorded.",
        }[self.state]


def place_rows(rows: Iterable[Mapping[str, Any]], copy: DocumentCopy) -> list[PlacedRow]:
    """Return the ledger rows of a document with their places in a copy of it.

    If no row has a recorded place, statements are searched for by their words.
    """
    rows = list(rows)
    has_places = any(row["heading"] for row in rows)
    by_hash: dict[str, list[DocumentSentence]] = {}
    for sentence in copy.sentences:
        by_hash.setdefault(sentence.anchor, []).append(sentence)
    headings = {name for sentence in copy.sentences for name in sentence.headings}
    if has_places:
        return [_recorded_place(row, copy.sentences, by_hash, headings) for row in rows]
    return [_searched_place(row, copy.sentences, by_hash) for row in rows]


def _recorded_place(
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
        return PlacedRow(row, MOVED, min(matches, key=lambda sentence: abs(sentence.line - int(row["line"]))))
    replacement = _replacement(row, document, by_hash)
    return PlacedRow(row, ALTERED if replacement else GONE, replacement)


def _searched_place(
    row: Mapping[str, Any], document: Sequence[DocumentSentence], by_hash: Mapping[str, list[DocumentSentence]]
) -> PlacedRow:
    anchor = anchor_of(_texts_of_row(row), document)
    line = int(anchor["line"] or 0) or None
    row = {**row, "heading": anchor["heading"], "anchor": anchor["anchor"], "line": line}
    if line is None:
        return PlacedRow(row, HEADING if anchor["heading"] else NOWHERE)
    return PlacedRow(row, SAME, next(sentence for sentence in by_hash[anchor["anchor"]] if sentence.line == line))


def _replacement(
    row: Mapping[str, Any], document: Sequence[DocumentSentence], by_hash: Mapping[str, list[DocumentSentence]]
) -> DocumentSentence | None:
    if row["kind"] == "cell check":  # its value was altered, so only the line identifies the table row
        sentences = (
            sentence for sentence in document if sentence.line == row["line"] and row["heading"] in sentence.headings
        )
        return next((sentence for sentence in sentences if sentence.text.startswith("|")), None)
    anchor = anchor_of({**_texts_of_row(row), "kind": "statement"}, document)
    nearest = by_hash[anchor["anchor"]][0] if anchor["anchor"] else None
    return nearest if nearest and share_of_words(str(row["statement"]), nearest.text) >= NEAR else None


def _texts_of_row(row: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(row[name] or "") for name in ("claim", "kind", "source", "section", "statement", "reported")}
