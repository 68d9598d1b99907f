"""Split a document into sentences, and find the sentence, table row or heading in which the document makes a claim.

A sentence is identified by a hash of its letters and digits, so that records of a document contain none of its words.
"""

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

SHARED = 0.34  # least fraction of a statement's weight that a sentence under the claim's heading must share
ELSEWHERE = 0.7  # the same fraction for a sentence under another heading
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
    found: list[DocumentSentence] = []
    headings: list[tuple[int, str]] = []
    in_code = False
    for number, line in enumerate(text.splitlines(), start=1):
        is_fence = line.lstrip().startswith("```")
        in_code ^= is_fence
        if in_code or is_fence or not line.strip():
            continue
        if match := _HEADING.match(line):
            level = len(match[1])
            headings = [heading for heading in headings if heading[0] < level]
            headings.append((level, match[2].rstrip("#").rstrip()))
        names = tuple(name for _, name in headings)
        found += [DocumentSentence(number, words, names) for words in _END.split(line.strip()) if normalised(words)]
    return found


def printed(reported: str, document: str) -> str:
    """Return the `digest` of a reported value if the document prints the value, whole or in pieces; else an empty text.

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

    If the section begins with a number (`4.4 Key Findings`), the heading with this number is returned. If it names a
    figure, the heading under which the document first names the figure is returned. Otherwise, the heading that shares
    most words with the section is returned; words of parent headings also count.
    """
    number = re.match(r"\d+(?:\.\d+)*", section)
    figure = re.match(r"Figures? (\w+)", section)
    chains = list(
        dict.fromkeys(sentence.headings for sentence in document if sentence.headings)
    )  # each heading after its parents
    if number:
        return next((chain[-1] for chain in chains if chain[-1].partition(" ")[0].rstrip(".") == number[0]), "")
    if figure:
        name = re.compile(rf"\bFig(?:ure|\.) {figure[1]}\b")
        naming = (sentence for sentence in document if sentence.headings and name.search(sentence.text))
        return next((sentence.headings[-1] for sentence in naming), "")
    exhibits = re.findall(r"(?:Table|Finding) \d+", section)
    headings = [chain[-1] for chain in chains for name in exhibits if chain[-1].startswith(f"{name}:")]
    if headings and "Tables" not in section:
        subheadings = [chain[-1] for chain in chains if len(chain) > 1 and chain[-2] == headings[0]]
        stems = _word_stems(section.partition(headings[0].partition(":")[0])[2])
        return next((name for name in subheadings if stems and stems <= _word_stems(name)), headings[0])
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
    """Return the place where a document makes the claim of a ledger row, as a row of the table of anchors.

    `row` has `claim`, `kind`, `source`, `section`, `statement` and `reported`. The reported value is searched for in
    `text`, the unchanged document.
    """
    reported = printed(row["reported"], text)
    heading = heading_of(row["section"], document)
    section = [sentence for sentence in document if heading in sentence.headings] or list(document)
    words = f"{row['statement']} {row['reported']}"
    is_cell_check = row["kind"] == "cell check"
    if is_cell_check:
        sentence = table_row_of(row, section) or only_sentence(row, section) if heading else None
    else:
        sentence = best_sentence(words, section, document, SHARED)
        sentence = sentence or best_sentence(words, document, document, ELSEWHERE)
    return {
        "claim": row["claim"],
        "document": row["source"],
        "heading": sentence.headings[-1] if sentence and sentence.headings else heading,
        "line": str(sentence.line) if sentence else "",
        "anchor": sentence.anchor if sentence else "",
        "match": "heading" if sentence is None else "value" if is_cell_check else "sentence",
        "reported": reported,
    }


def table_row_of(row: Mapping[str, str], section: Iterable[DocumentSentence]) -> DocumentSentence | None:
    """Return the table row that prints the reported value of a cell check; None if no row or several rows fit best.

    A row fits if it has the value, and if its first cell shares words with the check. A row fits better if its first
    cell and its column heading share more words with the check.
    """
    reported = _normalised(row["reported"])
    if not reported:
        return None
    named_words = _words_and_numbers(f"{row['claim'].partition('.')[2]} {row['statement']}")
    scores: list[tuple[float, DocumentSentence]] = []
    head: list[str] = []
    line = 0
    for sentence in section:
        if not sentence.text.startswith("|"):
            continue
        cells = [_normalised(cell) for cell in re.split(r"(?<!\\)\|", sentence.text.strip().strip("|"))]
        if sentence.line > line + 2:  # a new table; the line below a header has no letters, so it is not a sentence
            head = cells
        line = sentence.line
        columns = [column for column, cell in enumerate(cells) if column and _cell_prints(cell, reported)]
        if cells is head or not columns:
            continue
        row_share = _share_named(cells[0], named_words)
        column_share = max(_share_named(head[column], named_words) if column < len(head) else 0.0 for column in columns)
        if row_share:
            scores.append((row_share + column_share, sentence))
    top_score = max((score for score, _ in scores), default=0.0)
    best_rows = [sentence for score, sentence in scores if score == top_score]
    return best_rows[0] if len(best_rows) == 1 else None


def only_sentence(row: Mapping[str, str], section: Iterable[DocumentSentence]) -> DocumentSentence | None:
    """Return the only sentence that prints the reported value of a check; None if there is not exactly one."""
    reported = _normalised(row["reported"])
    matches = [sentence for sentence in section if reported and _cell_prints(_normalised(sentence.text), reported)]
    return matches[0] if len(matches) == 1 else None


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
    statement: str, candidates: Iterable[DocumentSentence], document: Sequence[DocumentSentence], minimum: float
) -> DocumentSentence | None:
    """Return the candidate that shares most words with a statement; None if every shared fraction is below `minimum`.

    Words are weighted: a word that is rare in `document` has more weight.
    """
    counts = Counter(term for sentence in document for term in _weighted_words(sentence.text))
    weights = {term: math.log(1 + len(document) / (1 + counts[term])) for term in _weighted_words(statement)}
    total = sum(weight for term, weight in weights.items() if counts[term]) or 1.0
    best, score = None, 0.0
    for sentence in candidates:
        terms = _weighted_words(sentence.text)
        share = sum(weight for term, weight in weights.items() if term in terms) / total
        value = share / (1 + 0.01 * len(terms))  # if two sentences share as much, the shorter is better
        if share >= minimum and value > score:
            best, score = sentence, value
    return best


def share_of_words(statement: str, sentence: str) -> float:
    """Return the fraction of a statement's words and numbers that a sentence contains."""
    terms = _weighted_words(statement)
    return len(terms & _weighted_words(sentence)) / len(terms) if terms else 0.0


def _weighted_words(text: str) -> set[str]:
    words = _WORD.findall(text.lower())
    return {word if word[0].isdigit() else word[:5] for word in words if word not in _COMMON}
