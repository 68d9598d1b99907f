"""Check the numbers of sections and captions, and references to captions and labels."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate, pairwise

from boundpaper.audit.documents import ReadDocument, Sentence
from boundpaper.audit.finding import LEVELS, Finding

_NUMBERED = re.compile(r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,3})(?P<titled>\.?\s+[^\W\d_])?")
_SEVERAL = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,3}(?:,\s?\d{1,2})*+")  # as in `2, 5. Queues`
_CAPTION = re.compile(r"(?P<kind>Figure|Fig\.|Table)\s(?P<number>\d{1,3})\s?[.:|–—](?!\d)\s?(?=\S|$)")
_CITED = re.compile(r"\b(?P<kind>Figures?|Figs?\.|Tables?)\s(?P<number>\d{1,3})(?![\d.]*\d|\w|-)(?P<after>.{0,40})")
_ELSEWHERE = re.compile(
    r"\s?(?:\([^)]{0,20}\)\s?)?(?:of|in|from)\b(?! (?:this|our|the (?:main|present)))|.{0,20}(?:et al|\[)"
)
_OF_OTHERS = re.compile(r"\bet al\b|\[\d|\b(?:original|their|supplement\w*|appendix)\b", re.IGNORECASE)
_VERSIONS = re.compile(r"\b(?:change ?log|releases?|versions?|history|news|updates?)\b", re.IGNORECASE)


def check(document: ReadDocument) -> Iterator[Finding]:
    """Yield findings on the headings, captions and references of one document."""
    labels = _labels(document) if document.is_complete else ()
    yield from (*_sections(document), *_captions(document, "Figure"), *_captions(document, "Table"), *labels)


def _sections(document: ReadDocument) -> Iterator[Finding]:
    """Yield findings on section numbers that are repeated, skipped or out of order below their parent section."""
    sections_by_parent: dict[tuple[tuple[str, ...], tuple[int, ...]], list[tuple[int, Sentence]]] = {}
    headings = [sentence for sentence in document.sentences if sentence.level]
    texts = [*document.code_headings, *(heading.text for heading in headings)]
    numbers = [number.strip() for text in texts if (match := _SEVERAL.match(text)) for number in match[0].split(",")]
    used_numbers = {prefix for number in numbers for prefix in accumulate(number.split("."), "{}.{}".format)}
    for heading in headings:
        match = _NUMBERED.match(heading.text)
        if match and match["titled"] and not any(map(_VERSIONS.search, heading.headings_above)):
            *outer_numbers, number = map(int, match["number"].split("."))
            sections_by_parent.setdefault((heading.headings_above, tuple(outer_numbers)), []).append((number, heading))
    parent_counts = Counter((path, len(parent)) for path, parent in sections_by_parent)
    for (path, parent), sections in sections_by_parent.items():
        falls = [number for (previous_number, _), (number, _) in pairwise(sections) if previous_number > number]
        distinct_numbers = {number for number, _ in sections}
        n_omitted, n_repeated = max(distinct_numbers) - len(distinct_numbers), len(sections) - len(distinct_numbers)
        if len(sections) < max(3, 3 * (n_omitted + n_repeated + len(falls))) or parent_counts[path, len(parent)] > 1:
            continue  # numbers with so many faults are not section numbers
        has_one_fall = len(falls) == 1 != falls[0] and not n_repeated
        for (previous_number, previous), (number, heading) in pairwise(sections):
            if number == previous_number:
                reason = f"follows a section of the same number, {previous.text!r}"
            elif number < previous_number and has_one_fall:
                reason = f"it comes after {previous.text!r}"
            elif (
                previous_number + 1 < number <= previous_number + 3
                and ".".join(map(str, (*parent, previous_number + 1))) not in used_numbers
            ):
                reason = f"follows {previous.text!r}: a number is skipped"
            else:
                continue
            level = LEVELS[number != previous_number]
            statement, values = f"heading {heading.text!r}", (heading.text, previous.text)
            yield Finding("section-number", level, heading.place, statement, reason, values=values)


def _captions(document: ReadDocument, kind: str) -> Iterator[Finding]:
    """Yield findings on caption numbers that are repeated or skipped, and on references to absent captions."""
    captions, references = [], []
    for sentence in document.sentences:
        caption = _CAPTION.match(sentence.text)
        if caption and caption["kind"][0] == kind[0] and not sentence.level and not sentence.is_aside:
            captions.append((int(caption["number"]), sentence))
        for match in _CITED.finditer(sentence.text, caption.end() if caption else 0):
            is_elsewhere = _ELSEWHERE.match(match["after"]) or _OF_OTHERS.search(sentence.text)
            references += [(int(match["number"]), sentence)] if match["kind"][0] == kind[0] and not is_elsewhere else []
    if len(captions) < 2:
        return
    captions_by_number: dict[int, list[Sentence]] = {}
    for number, sentence in captions:
        captions_by_number.setdefault(number, []).append(sentence)
    for number, (first, *repeats) in captions_by_number.items():
        if repeats and first.text != (last := repeats[-1]).text:
            reason, values = f"{len(repeats) + 1} captions have this number", (kind, str(number), last.text[:60])
            yield Finding("caption-number", "error", last.place, f"{kind} {number}", reason, "", values, first.place)
    gaps = sorted(set(range(1, max(captions_by_number))).difference(captions_by_number))
    if len(gaps) == 1 != gaps[0] and len(captions) > 2:
        next_caption = next(sentence for number, sentence in captions if number > gaps[0])
        name, reason = f"{kind} {gaps[0]}", f"no caption has this number, but {len(captions_by_number)} others have one"
        yield Finding("caption-number", "error", next_caption.place, name, reason, values=(kind, str(gaps[0])))
    for number, sentence in references:
        if number not in captions_by_number:
            name, values = f"{kind} {number}", (kind, str(number), sentence.text[:60])
            last_number = max(captions_by_number)
            reason = f"no caption has this number; {len(captions)} captions are numbered up to {last_number}"
            yield Finding("reference", "error", sentence.place, name, reason, values=values)


def _labels(document: ReadDocument) -> Iterator[Finding]:
    r"""Yield a finding on each `\ref` without a `\label`."""
    labels = dict(document.labels)
    for name, place in document.references:
        if name not in labels:
            yield Finding("reference", "error", place, f"\\ref{{{name}}}", "no \\label has this name", values=(name,))
