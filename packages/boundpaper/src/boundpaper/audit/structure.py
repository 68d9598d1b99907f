"""Check the numbers of sections, captions and references: missing, repeated, or without a target."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from boundpaper.audit.documents import ReadDocument, Sentence
from boundpaper.audit.finding import LEVELS, Finding

_NUMBERED = re.compile(r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,3})(?P<titled>\.?\s+[^\W\d_])?")
_SEVERAL = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,3}(?:,\s?\d{1,2})*+")  # `2, 5. Queues`
_CAPTION = re.compile(r"(?P<kind>Figure|Fig\.|Table)\s(?P<number>\d{1,3})\s?[.:|–—](?!\d)\s?(?=\S|$)")
_CITED = re.compile(r"\b(?P<kind>Figures?|Figs?\.|Tables?)\s(?P<number>\d{1,3})(?![\d.]*\d|\w|-)(?P<after>.{0,40})")
_ELSEWHERE = re.compile(
    r"\s?(?:\([^)]{0,20}\)\s?)?(?:of|in|from)\b(?! (?:this|our|the (?:main|present)))|.{0,20}(?:et al|\[)"
)
_OF_OTHERS = re.compile(r"\bet al\b|\[\d|\b(?:original|their|supplement\w*|appendix)\b", re.IGNORECASE)
_VERSIONS = re.compile(r"\b(?:change ?log|releases?|versions?|history|news|updates?)\b", re.IGNORECASE)


def check(document: ReadDocument) -> Iterator[Finding]:
    """Yield findings on the headings, captions and references of one document."""
    labels = _labels(document) if document.whole else ()
    yield from (*_sections(document), *_captions(document, "Figure"), *_captions(document, "Table"), *labels)


def _sections(document: ReadDocument) -> Iterator[Finding]:
    """Find section numbers below one parent that are repeated, skipped or out of order."""
    by_parent: dict[tuple[tuple[str, ...], tuple[int, ...]], list[tuple[int, Sentence]]] = {}
    headings = [item for item in document.sentences if item.level]
    texts = [*document.hidden, *(item.text for item in headings)]
    numbers = [number for text in texts if (match := _SEVERAL.match(text)) for number in match[0].split(",")]
    parts = [number.strip().split(".") for number in numbers]
    used_numbers = {".".join(part[:end]) for part in parts for end in range(1, len(part) + 1)}
    for heading in headings:
        match = _NUMBERED.match(heading.text)
        if match and match["titled"] and not any(map(_VERSIONS.search, heading.path)):
            *outer, position = map(int, match["number"].split("."))
            by_parent.setdefault((heading.path, tuple(outer)), []).append((position, heading))
    levels = Counter((path, len(outer)) for path, outer in by_parent)
    for (path, parent), sections in by_parent.items():
        falls = [b for (a, _), (b, _) in pairwise(sections) if a > b]
        present = {position for position, _ in sections}
        slips = max(present) + len(sections) - 2 * len(present) + len(falls)  # numbers left out, repeated, out of order
        if len(sections) < max(3, 3 * slips) or levels[path, len(parent)] > 1:
            continue  # numbers with many slips are names of something else
        one_fall = len(falls) == 1 != falls[0] and len(present) == len(sections)
        for (n, previous), (m, heading) in pairwise(sections):
            if m == n:
                reason = f"follows a section of the same number, {previous.text!r}"
            elif m < n and one_fall:
                reason = f"it comes after {previous.text!r}"
            elif n + 1 < m <= n + 3 and ".".join(map(str, (*parent, n + 1))) not in used_numbers:
                reason = f"follows {previous.text!r}: a number is skipped"
            else:
                continue
            level, statement, values = LEVELS[m != n], f"heading {heading.text!r}", (heading.text, previous.text)
            yield Finding("section-number", level, heading.place, statement, reason, values=values)


def _captions(document: ReadDocument, kind: str) -> Iterator[Finding]:
    """Find caption numbers that are repeated or skipped, and references to absent captions."""
    captions, references = [], []
    for sentence in document.sentences:
        caption = _CAPTION.match(sentence.text)
        if caption and caption["kind"][0] == kind[0] and not sentence.level and not sentence.aside:
            captions.append((int(caption["number"]), sentence))
        for match in _CITED.finditer(sentence.text, caption.end() if caption else 0):
            elsewhere = _ELSEWHERE.match(match["after"]) or _OF_OTHERS.search(sentence.text)
            references += [(int(match["number"]), sentence)] if match["kind"][0] == kind[0] and not elsewhere else []
    if len(captions) < 2:
        return
    by_number: dict[int, list[Sentence]] = {}
    for number, sentence in captions:
        by_number.setdefault(number, []).append(sentence)
    for number, (top, *more) in by_number.items():
        if more and top.text != more[-1].text:
            reason, values = f"{len(more) + 1} captions have this number", (kind, str(number), more[-1].text[:60])
            yield Finding("caption-number", "error", more[-1].place, f"{kind} {number}", reason, "", values, top.place)
    gaps = sorted(set(range(1, max(by_number))).difference(by_number))
    if len(gaps) == 1 != gaps[0] and len(captions) > 2:
        next_caption = next(sentence for number, sentence in captions if number > gaps[0])
        name, reason = f"{kind} {gaps[0]}", f"no caption has this number, but {len(by_number)} others have one"
        yield Finding("caption-number", "error", next_caption.place, name, reason, values=(kind, str(gaps[0])))
    for number, sentence in references:
        if number not in by_number:
            name, values = f"{kind} {number}", (kind, str(number), sentence.text[:60])
            reason = f"no caption has this number; {len(captions)} captions are numbered up to {max(by_number)}"
            yield Finding("reference", "error", sentence.place, name, reason, values=values)


def _labels(document: ReadDocument) -> Iterator[Finding]:
    r"""Find each `\ref` without a `\label`."""
    labels = dict(document.labels)
    for name, place in document.references:
        if name not in labels:
            yield Finding("reference", "error", place, f"\\ref{{{name}}}", "no \\label has this name", values=(name,))
