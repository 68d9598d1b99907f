"""Numbering: sections, captions and references that are missing, repeated or lead nowhere."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from boundpaper.audit.documents import Document, Place, Sentence
from boundpaper.audit.finding import Finding

_NUMBERED = re.compile(r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,3})\.?\s+(?P<title>[^\W\d_].*)")
_LEADING = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,3}")
_CAPTION = re.compile(r"(?P<kind>Figure|Fig\.|Table)\s(?P<number>\d{1,3})\s?[.:|–—]\s?(?=\S|$)")
_CITED = re.compile(r"\b(?P<kind>Figures?|Figs?\.|Tables?)\s(?P<number>\d{1,3})(?![\d.]*\d|\w|-)(?P<after>.{0,40})")
_ELSEWHERE = re.compile(
    r"\s?(?:\([^)]{0,20}\)\s?)?(?:of|in|from)\b(?! (?:this|our|the (?:main|present)))|.{0,20}(?:et al|\[)"
)
_OF_OTHERS = re.compile(r"\bet al\b|\[\d|\b(?:original|their|supplement\w*|appendix)\b", re.IGNORECASE)
_VERSIONS = re.compile(r"\b(?:change ?log|releases?|versions?|history|news|updates?)\b", re.IGNORECASE)


_Numbered = tuple[tuple[int, ...], str, str, int]
"""Parts of a number, the heading, its file, its line."""


def check(document: Document) -> Iterator[Finding]:
    """Findings of headings, captions and references of one document."""
    yield from _sections(document)
    yield from _captions(document)
    yield from _labels(document)


def _sections(document: Document) -> Iterator[Finding]:
    """Two sections of one number, and a number left out, under one parent."""
    path: list[str] = []
    under: dict[tuple[tuple[str, ...], int], list[_Numbered]] = {}
    levels: list[int] = []
    for heading in document.headings:
        while levels and levels[-1] >= heading.level:
            levels.pop()
            path.pop()
        match = _NUMBERED.match(heading.text)
        if match and not any(_VERSIONS.search(each) for each in path):
            parts = tuple(int(part) for part in match["number"].split("."))
            under.setdefault((tuple(path), len(parts)), []).append(
                (parts, heading.text, heading.file or document.file, heading.line)
            )
        levels.append(heading.level)
        path.append(heading.text)
    known = {match[0] for heading in document.headings if (match := _LEADING.match(heading.text))}
    for numbered in under.values():
        if len(numbered) < 3 or len({parts[:-1] for parts, *_ in numbered}) > 1:
            continue
        for (first, title, *_), (second, other, file, line) in pairwise(numbered):
            place = Place(file, line)
            if second == first:
                words = f"follows a section of the same number, {title!r}"
                yield Finding("section-number", "error", place, f"heading {other!r}", "", words, (other, title))
            elif second[-1] > first[-1] + 1 and second[-1] - first[-1] <= 3:
                if ".".join(map(str, (*first[:-1], first[-1] + 1))) in known:
                    continue  # it stands elsewhere, under another heading
                words = f"follows {title!r}: a number is left out"
                yield Finding("section-number", "warning", place, f"heading {other!r}", "", words, (other, title))


def _kind(word: str) -> str:
    return "Table" if word.startswith("Tab") else "Figure"


def _captions(document: Document) -> Iterator[Finding]:
    """Captions of one number, numbers left out, and references to none."""
    captions: dict[str, list[tuple[int, Sentence]]] = {"Figure": [], "Table": []}
    cited: list[tuple[str, int, Sentence]] = []
    for sentence in document.sentences:
        match = _CAPTION.match(sentence.text)
        if match and sentence.kind != "heading":
            captions[_kind(match["kind"])].append((int(match["number"]), sentence))
        for other in _CITED.finditer(sentence.text, match.end() if match else 0):
            if not _ELSEWHERE.match(other["after"]) and not _OF_OTHERS.search(sentence.text):
                cited.append((_kind(other["kind"]), int(other["number"]), sentence))
    for kind, found in captions.items():
        numbers = [number for number, _ in found]
        if len(numbers) < 2:
            continue
        for number, count in Counter(numbers).items():
            if count > 1:
                first, last = ([each for each in found if each[0] == number][place][1] for place in (0, -1))
                if first.text == last.text:
                    continue
                yield Finding(
                    "caption-number", "error", Place(last.file, last.line), f"{kind} {number}", "",
                    f"{count} captions have this number", (kind, str(number), last.text[:60]),
                    Place(first.file, first.line),
                )  # fmt: skip
        yield from _out_of_order(kind, found)
        if len(numbers) >= 3 and min(numbers) == 1:
            yield from _left_out(kind, numbers, found)
        for what, number, sentence in cited:
            if what == kind and number not in numbers:
                yield Finding(
                    "reference", "error", Place(sentence.file, sentence.line), f"{kind} {number}", "",
                    f"no caption has this number; {len(numbers)} captions are numbered up to {max(numbers)}",
                    (kind, str(number), sentence.text[:60]),
                )  # fmt: skip


def _out_of_order(kind: str, found: Sequence[tuple[int, Sentence]]) -> Iterator[Finding]:
    """The captions that stand before one of a smaller number, where most are in order."""
    late = [
        (first, second) for first, second in pairwise(found) if first[0] > second[0] and first[1].file == second[1].file
    ]
    for (number, sentence), (smaller, other) in late if 4 * len(late) < len(found) else ():
        yield Finding(
            "caption-number", "warning", Place(sentence.file, sentence.line), f"{kind} {number}", "",
            f"it stands before {kind} {smaller}", (kind, str(number), str(smaller)), Place(other.file, other.line),
        )  # fmt: skip


def _left_out(kind: str, numbers: Sequence[int], found: Sequence[tuple[int, Sentence]]) -> Iterator[Finding]:
    missing = sorted(set(range(1, max(numbers))) - set(numbers))
    if len(missing) == 1:
        after = next(sentence for number, sentence in found if number > missing[0])
        yield Finding(
            "caption-number", "error", Place(after.file, after.line), f"{kind} {missing[0]}", "",
            f"no caption has this number, and {len(set(numbers))} others have theirs", (kind, str(missing[0])),
        )  # fmt: skip


def _labels(document: Document) -> Iterator[Finding]:
    r"""`\ref` without `\label`, and a label twice, where the document is one file."""
    if not document.whole:
        return
    names = Counter(name for name, _ in document.labels)
    for name, place in document.references:
        if name not in names:
            words = "no \\label of the document has this name"
            yield Finding("reference", "error", place, f"\\ref{{{name}}}", "", words, (name,))
    for name, count in names.items():
        if count > 1:
            places = [place for each, place in document.labels if each == name]
            yield Finding(
                "reference", "error", places[-1], f"\\label{{{name}}}", "",
                f"it is set {count} times", (name,), places[0],
            )  # fmt: skip
