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
    under: dict[tuple[tuple[str, ...], tuple[int, ...]], list[tuple[int, Sentence]]] = {}
    headings = [each for each in document.sentences if each.level]
    texts = [*document.hidden, *(each.text for each in headings)]
    begun = [number for text in texts if (match := _SEVERAL.match(text)) for number in match[0].split(",")]
    parts = [number.strip().split(".") for number in begun]
    known = {".".join(each[:end]) for each in parts for end in range(1, len(each) + 1)}
    for heading in headings:
        match = _NUMBERED.match(heading.text)
        if match and match["titled"] and not any(map(_VERSIONS.search, heading.path)):
            *outer, last = map(int, match["number"].split("."))
            under.setdefault((heading.path, tuple(outer)), []).append((last, heading))
    levels = Counter((path, len(outer)) for path, outer in under)
    for (path, parent), numbered in under.items():
        falls = [two for (one, _), (two, _) in pairwise(numbered) if one > two]
        told = {last for last, _ in numbered}
        slips = max(told) + len(numbered) - 2 * len(told) + len(falls)  # numbers left out, repeated, out of order
        if len(numbered) < max(3, 3 * slips) or levels[path, len(parent)] > 1:
            continue  # numbers with many slips are names of something else
        apart = len(falls) == 1 != falls[0] and len(told) == len(numbered)
        for (first, before), (second, heading) in pairwise(numbered):
            if second == first:
                why = f"follows a section of the same number, {before.text!r}"
            elif second < first and apart:
                why = f"it comes after {before.text!r}"
            elif first + 1 < second <= first + 3 and ".".join(map(str, (*parent, first + 1))) not in known:
                why = f"follows {before.text!r}: a number is skipped"
            else:
                continue
            level, what, values = LEVELS[second != first], f"heading {heading.text!r}", (heading.text, before.text)
            yield Finding("section-number", level, heading.place, what, why, values=values)


def _captions(document: ReadDocument, kind: str) -> Iterator[Finding]:
    """Find caption numbers that are repeated or skipped, and references to absent captions."""
    found, cited = [], []
    for sentence in document.sentences:
        caption = _CAPTION.match(sentence.text)
        if caption and caption["kind"][0] == kind[0] and not sentence.level and not sentence.aside:
            found.append((int(caption["number"]), sentence))
        for match in _CITED.finditer(sentence.text, caption.end() if caption else 0):
            others = _ELSEWHERE.match(match["after"]) or _OF_OTHERS.search(sentence.text)
            cited += [(int(match["number"]), sentence)] if match["kind"][0] == kind[0] and not others else []
    if len(found) < 2:
        return
    by_number: dict[int, list[Sentence]] = {}
    for number, sentence in found:
        by_number.setdefault(number, []).append(sentence)
    for number, (first, *more) in by_number.items():
        if more and first.text != more[-1].text:
            why, values = f"{len(more) + 1} captions have this number", (kind, str(number), more[-1].text[:60])
            yield Finding("caption-number", "error", more[-1].place, f"{kind} {number}", why, "", values, first.place)
    missing = sorted(set(range(1, max(by_number))).difference(by_number))
    if len(missing) == 1 != missing[0] and len(found) > 2:
        after = next(sentence for number, sentence in found if number > missing[0])
        what, why = f"{kind} {missing[0]}", f"no caption has this number, but {len(by_number)} others have one"
        yield Finding("caption-number", "error", after.place, what, why, values=(kind, str(missing[0])))
    for number, sentence in cited:
        if number not in by_number:
            what, values = f"{kind} {number}", (kind, str(number), sentence.text[:60])
            why = f"no caption has this number; {len(found)} captions are numbered up to {max(by_number)}"
            yield Finding("reference", "error", sentence.place, what, why, values=values)


def _labels(document: ReadDocument) -> Iterator[Finding]:
    r"""Find each `\ref` without a `\label`."""
    labels = dict(document.labels)
    for name, place in document.references:
        if name not in labels:
            yield Finding("reference", "error", place, f"\\ref{{{name}}}", "no \\label has this name", values=(name,))
