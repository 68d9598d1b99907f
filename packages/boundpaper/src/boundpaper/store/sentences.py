"""Split a document into sentences, identify each by a hash, and find it again.

A sentence is identified by a hash of its letters and digits, so that records of a document contain none of its words.
"""

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

SHARED = 0.34  # least fraction of a statement's weight that a sentence must share
ELSEWHERE = 0.7  # least fraction that a sentence outside the heading must share
_HEADING = re.compile(r"^(#{1,6})\s+(.*)$")
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z(*\[])")
_PIECES = re.compile(r", | and | against | to |; ")
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[a-z]{3,}")
_COMMON = frozenset("the and for with are its than that this from not each has have all both".split())


@dataclass(frozen=True)
class DocumentSentence:
    """A sentence, item or table row of a document, with its line (from 1) and the headings above it."""

    line: int
    text: str
    headings: tuple[str, ...]

    @property
    def anchor(self) -> str:
        """Return the first twelve digits of the SHA-256 of the normalised words."""
        return hashlib.sha256(normalised(self.text).encode()).hexdigest()[:12]


def normalised(text: str) -> str:
    """Return the letters and digits of a sentence in lower case, with single spaces between words."""
    return " ".join(re.findall(r"[^\W_]+", text.lower()))


def sentences(text: str) -> list[DocumentSentence]:
    """Return the sentences of a Markdown document outside code."""
    parts: list[DocumentSentence] = []
    headings: list[tuple[int, str]] = []
    code = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            code = not code
        if code or not line.strip() or line.lstrip().startswith("```"):
            continue
        match = _HEADING.match(line)
        if match:
            level = len(match[1])
            headings = [item for item in headings if item[0] < level] + [(level, match[2].rstrip("#").rstrip())]
        names = tuple(name for _, name in headings)
        parts += [DocumentSentence(number, part, names) for part in _END.split(line.strip()) if normalised(part)]
    return parts


def printed(reported: str, document: str) -> str:
    """Return the hash of a claim's reported value if the document prints it, whole or in pieces; else an empty text.

    Pieces are the parts of a reported value separated by a comma, `and`, `against` or `to`.
    """
    text = _normalised(document)
    pieces = [reported] if _stands_alone(_normalised(reported), text) else _PIECES.split(reported)
    return digest(reported) if reported and all(_stands_alone(_normalised(piece), text) for piece in pieces) else ""


def digest(reported: str) -> str:
    """Return the first twelve digits of the SHA-256 of a claim's reported value."""
    return hashlib.sha256(_normalised(reported).encode()).hexdigest()[:12]


def _normalised(text: str) -> str:
    """Return a text in lower case without Markdown marks, with uniform minus and comparison signs."""
    for mark, ascii_sign in (("−", "-"), ("–", "-"), ("≥", ">="), ("≤", "<=")):
        text = text.replace(mark, ascii_sign)
    return " ".join(re.sub(r"[*`\\_$|]", " ", text.lower()).split())


def _stands_alone(piece: str, text: str) -> bool:
    """Return whether a piece occurs in a text, but not within a word, a longer number or a negative number."""
    thousands = r"(?<!\d,)" if re.match(r"\d{3}(?!\d)", piece) else ""
    return re.search(rf"(?<!\w)(?<!\d\.)(?<!\s-){thousands}{re.escape(piece)}(?!\w)(?![.,]\d)", text) is not None


def heading_of(section: str, document: Sequence[DocumentSentence]) -> str:
    """Return the heading that best matches a section named in the ledger; empty if they share no word.

    A number at the start of the section's name decides (`4.4 Key Findings`). Without a number, the heading wins that
    shares most words with the name, counting the words of its parent headings. A figure without a section belongs to
    the heading under which the document first names the figure.
    """
    number = re.match(r"\d+(?:\.\d+)*", section)
    figure = re.match(r"Figures? (\w+)", section)
    chains = list(dict.fromkeys(sentence.headings for sentence in document if sentence.headings))
    if number:
        return next((chain[-1] for chain in chains if chain[-1].partition(" ")[0].rstrip(".") == number[0]), "")
    if figure:
        words = re.compile(rf"\bFig(?:ure|\.) {figure[1]}\b")
        return next((item.headings[-1] for item in document if item.headings and words.search(item.text)), "")
    pieces = re.findall(r"(?:Table|Finding) \d+", section)
    named = [chain[-1] for chain in chains for piece in pieces if chain[-1].startswith(f"{piece}:")]
    if named and "Tables" not in section:
        deeper = [chain[-1] for chain in chains if len(chain) > 1 and chain[-2] == named[0]]
        section = section.partition(named[0].partition(":")[0])[2].strip(", ")
        return next((name for name in deeper if section and _word_stems(section) <= _word_stems(name)), named[0])
    section_stems = _word_stems(section)
    best, score = "", 0.0
    for chain in chains:
        stems, parents = _word_stems(chain[-1]), {stem for name in chain[:-1] for stem in _word_stems(name)}
        begins = chain[-1].lower().startswith(section.lower().rpartition(": ")[2])
        value = len(section_stems & (stems | parents)) - 0.01 * len(stems - section_stems) + begins
        if section_stems & stems and value > score:
            best, score = chain[-1], value
    return best


def _word_stems(text: str) -> set[str]:
    words = re.findall(r"(?<!\d)\d++(?:\.\d+|b)|[a-z]+", text.lower())
    return {word[:5] for word in words} - {"and", "of", "the", "to", "table", "in", "is", "not"}


def anchor_of(row: Mapping[str, str], document: Sequence[DocumentSentence], text: str = "") -> dict[str, str]:
    """Return the anchor of one row of the ledger.

    `row` has `claim`, `kind`, `source`, `section`, `statement` and `reported`, which is searched for in `text`, the
    unchanged document.
    """
    reported = printed(row["reported"], text)
    heading = heading_of(row["section"], document)
    inside = [sentence for sentence in document if heading in sentence.headings] or list(document)
    words = f"{row['statement']} {row['reported']}"
    if row["kind"] == "cell check":
        place = table_row_of(row, inside) or only_sentence(row, inside) if heading else None
    else:
        place = best_sentence(words, inside, document, SHARED) or best_sentence(words, document, document, ELSEWHERE)
    if place is None:
        return {
            "claim": row["claim"],
            "document": row["source"],
            "heading": heading,
            "line": "",
            "anchor": "",
            "match": "heading",
            "reported": reported,
        }
    return {
        "claim": row["claim"],
        "document": row["source"],
        "heading": place.headings[-1] if place.headings else heading,
        "line": str(place.line),
        "anchor": place.anchor,
        "match": "value" if row["kind"] == "cell check" else "sentence",
        "reported": reported,
    }


def table_row_of(row: Mapping[str, str], inside: Iterable[DocumentSentence]) -> DocumentSentence | None:
    """Return the table row that prints the reported value of a cell check; None if no row or several rows match.

    Among the rows with this value, the row matches whose first cell and column headings share most words with the
    check; none matches if two rows tie or no row shares a word.
    """
    reported = _normalised(row["reported"])
    if not reported:
        return None
    named_words = _words_and_numbers(f"{row['claim'].partition('.')[2]} {row['statement']}")
    scores: list[tuple[float, DocumentSentence]] = []
    head: list[str] = []
    line = 0
    for sentence in inside:
        if not sentence.text.startswith("|"):
            continue
        cells = [_normalised(cell) for cell in re.split(r"(?<!\\)\|", sentence.text.strip().strip("|"))]
        if sentence.line > line + 2:  # the rule below the header has no letters, so it is not a sentence
            head = cells
        line = sentence.line
        printing = [place for place, cell in enumerate(cells) if place and _cell_prints(cell, reported)]
        if cells is head or not printing:
            continue
        label = _share_named(cells[0], named_words)
        column = max(_share_named(head[place], named_words) if place < len(head) else 0.0 for place in printing)
        if label:
            scores.append((label + column, sentence))
    top = max((score for score, _ in scores), default=0.0)
    highest = [sentence for score, sentence in scores if score == top]
    return highest[0] if len(highest) == 1 else None


def only_sentence(row: Mapping[str, str], inside: Iterable[DocumentSentence]) -> DocumentSentence | None:
    """Return the only sentence that prints the reported value of a check; None if there is not exactly one."""
    reported = _normalised(row["reported"])
    printing = [sentence for sentence in inside if reported and _cell_prints(_normalised(sentence.text), reported)]
    return printing[0] if len(printing) == 1 else None


def _cell_prints(cell: str, reported: str) -> bool:
    pieces = [reported] if _stands_alone(reported, cell) else _PIECES.split(reported)
    return all(_stands_alone(piece, cell) for piece in pieces)


def _share_named(label: str, named_words: set[str]) -> float:
    """Return the fraction of a label's words and numbers that are in `named_words`."""
    label_words = _words_and_numbers(label)
    return len(label_words & named_words) / len(label_words) if label_words else 0.0


def _words_and_numbers(text: str) -> set[str]:
    return {word[:5] for word in re.findall(r"\d+(?:\.\d+)*|[a-z]+", text.lower())}


def best_sentence(
    statement: str, inside: Iterable[DocumentSentence], document: Sequence[DocumentSentence], minimum: float
) -> DocumentSentence | None:
    """Return the sentence that shares most of a statement's weight; rare words and numbers weigh most."""
    counts = Counter(term for sentence in document for term in _weighted_words(sentence.text))
    weights = {term: math.log(1 + len(document) / (1 + counts[term])) for term in _weighted_words(statement)}
    total = sum(weight for term, weight in weights.items() if counts[term]) or 1.0
    best, score = None, 0.0
    for sentence in inside:
        terms = _weighted_words(sentence.text)
        share = sum(weight for term, weight in weights.items() if term in terms) / total
        value = share / (1 + 0.01 * len(terms))  # if two sentences share as much, the shorter one
        if share >= minimum and value > score:
            best, score = sentence, value
    return best


def shared_share(statement: str, sentence: str) -> float:
    """Return the fraction of a statement's words and numbers that a sentence contains."""
    terms = _weighted_words(statement)
    return len(terms & _weighted_words(sentence)) / len(terms) if terms else 0.0


def _weighted_words(text: str) -> set[str]:
    words = _WORD.findall(text.lower())
    return {word if word[0].isdigit() else word[:5] for word in words if word not in _COMMON}
