"""Numbering: sections, captions and references that are missing, repeated or lead nowhere."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from boundpaper.audit.documents import Document, Place, Sentence
from boundpaper.audit.finding import Finding, Level

_NUMBERED = re.compile(r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,3})\.?\s+(?P<title>[^\W\d_].*)")
_LEADING = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,3}")
_CAPTION = re.compile(r"(?P<kind>Figure|Fig\.|Table)\s(?P<number>\d{1,3})\s?[.:|–—](?!\d)\s?(?=\S|$)")
_CITED = re.compile(r"\b(?P<kind>Figures?|Figs?\.|Tables?)\s(?P<number>\d{1,3})(?![\d.]*\d|\w|-)(?P<after>.{0,40})")
_ELSEWHERE = re.compile(
    r"\s?(?:\([^)]{0,20}\)\s?)?(?:of|in|from)\b(?! (?:this|our|the (?:main|present)))|.{0,20}(?:et al|\[)"
)
_OF_OTHERS = re.compile(r"\bet al\b|\[\d|\b(?:original|their|supplement\w*|appendix)\b", re.IGNORECASE)
_VERSIONS = re.compile(r"\b(?:change ?log|releases?|versions?|history|news|updates?)\b", re.IGNORECASE)


def check(document: Document) -> Iterator[Finding]:
    """Findings of headings, captions and references of one document."""
    yield from _sections(document)
    yield from _captions(document)
    yield from _labels(document)


def _finding(
    level: Level, kind: str, place: Place, what: str, why: str, values: Sequence[str], other: Place | None = None
) -> Finding:
    return Finding(kind, level, place, what, "", why, tuple(values), other)


def _sections(document: Document) -> Iterator[Finding]:
    """Two sections of one number, and a number left out, under one parent."""
    path: list[Sentence] = []
    under: dict[tuple[tuple[str, ...], tuple[int, ...]], list[tuple[int, Sentence]]] = {}
    for heading in document.headings:
        path = [each for each in path if each.level < heading.level]
        match = _NUMBERED.match(heading.text)
        if match and not any(_VERSIONS.search(each.text) for each in path):
            *outer, last = [int(part) for part in match["number"].split(".")]
            under.setdefault((tuple(each.text for each in path), tuple(outer)), []).append((last, heading))
        path.append(heading)
    known = {match[0] for heading in document.headings if (match := _LEADING.match(heading.text))}
    parents = Counter((above, len(outer)) for above, outer in under)
    for (above, parent), numbered in under.items():
        if len(numbered) < 3 or parents[above, len(parent)] > 1:
            continue
        for (first, before), (second, heading) in pairwise(numbered):
            place, what = heading.place, f"heading {heading.text!r}"
            values = (heading.text, before.text)
            if second == first:
                why = f"follows a section of the same number, {before.text!r}"
                yield _finding("error", "section-number", place, what, why, values)
            elif first + 1 < second <= first + 3 and ".".join(map(str, (*parent, first + 1))) not in known:
                why = f"follows {before.text!r}: a number is left out"
                yield _finding("warning", "section-number", place, what, why, values)


def _captions(document: Document) -> Iterator[Finding]:
    """Captions of one number, numbers left out or out of order, and references to none."""
    captions: dict[str, list[tuple[int, Sentence]]] = {"Figure": [], "Table": []}
    cited: list[tuple[str, int, Sentence]] = []
    for sentence in document.sentences:
        caption = _CAPTION.match(sentence.text)
        if caption and not sentence.level:
            captions[_kind(caption["kind"])].append((int(caption["number"]), sentence))
        for match in _CITED.finditer(sentence.text, caption.end() if caption else 0):
            if not _ELSEWHERE.match(match["after"]) and not _OF_OTHERS.search(sentence.text):
                cited.append((_kind(match["kind"]), int(match["number"]), sentence))
    for kind, found in captions.items():
        numbers = Counter(number for number, _ in found)
        if len(found) < 2:
            continue
        for number in numbers:
            first, *_, last = [sentence for each, sentence in found if each == number] * 2
            if first.text != last.text:
                why = f"{numbers[number]} captions have this number"
                values: tuple[str, ...] = (kind, str(number), last.text[:60])
                yield _finding("error", "caption-number", last.place, f"{kind} {number}", why, values, first.place)
        late = [
            (one, two) for one, two in pairwise(found) if one[0] > two[0] and one[1].place.file == two[1].place.file
        ]
        for (number, sentence), (smaller, other) in late if 4 * len(late) < len(found) else ():
            why, values = f"it stands before {kind} {smaller}", (kind, str(number), str(smaller))
            yield _finding("warning", "caption-number", sentence.place, f"{kind} {number}", why, values, other.place)
        missing = sorted(set(range(1, max(numbers))) - set(numbers))
        if len(missing) == 1 != missing[0] and len(found) > 2:
            after = next(sentence for number, sentence in found if number > missing[0])
            why, values = f"no caption has this number, and {len(numbers)} others have theirs", (kind, str(missing[0]))
            yield _finding("error", "caption-number", after.place, f"{kind} {missing[0]}", why, values)
        for what, number, sentence in cited:
            if what == kind and number not in numbers:
                why = f"no caption has this number; {len(found)} captions are numbered up to {max(numbers)}"
                values = (kind, str(number), sentence.text[:60])
                yield _finding("error", "reference", sentence.place, f"{kind} {number}", why, values)


def _kind(word: str) -> str:
    return "Table" if word.startswith("Tab") else "Figure"


def _labels(document: Document) -> Iterator[Finding]:
    r"""`\ref` without `\label`, and a label twice, where the document is one file."""
    labels: dict[str, list[Place]] = {}
    for name, place in document.labels if document.whole else ():
        labels.setdefault(name, []).append(place)
    for name, place in document.references if document.whole else ():
        if name not in labels:
            why = "no \\label of the document has this name"
            yield _finding("error", "reference", place, f"\\ref{{{name}}}", why, (name,))
    for name, (first, *more) in labels.items():
        if more:
            why = f"it is set {len(more) + 1} times"
            yield _finding("error", "reference", more[-1], f"\\label{{{name}}}", why, (name,), first)
