r"""Lint of a chapter's language: British spelling, words instead of code names, and verdicts printed as marks."""

import re
from collections.abc import Mapping

from boundpaper.paper import calls
from boundpaper.paper.lint import ChapterFault, line_of, words_of

# British spelling by American form. `_IZE` finds the ending -ize, which `_IZE_ALLOWED` allows in words such as "size".
SPELLINGS = {
    "analyz": "analys", "behavior": "behaviour", "center": "centre", "color": "colour", "defense": "defence",
    "favor": "favour", "fiber": "fibre", "fulfill": "fulfil", "gray": "grey", "honor": "honour", "labeled": "labelled",
    "labeling": "labelling", "labor": "labour", "modeled": "modelled", "modeling": "modelling", "neighbor": "neighbour",
    "paralyz": "paralys", "signaled": "signalled", "skeptic": "sceptic", "totaled": "totalled",
}  # fmt: skip
_AMERICAN = re.compile(rf"\b({'|'.join(SPELLINGS)})\w*", re.IGNORECASE)
_IZE = re.compile(r"\b\w+i(?:z(?:e[sd]?|ing|er|ers|ation|ations)|zable)\b", re.IGNORECASE)
_IZE_ALLOWED = re.compile(r"(?:(?:re|over|under|down|out|sub)?siz|priz|seiz|capsiz)", re.IGNORECASE)
# Identifiers, options and file names, which only a reader of the code knows.
_CODE = re.compile(
    r"(?<![\w@/.])(?:[A-Za-z](?=[^\W_]*\\?_\w)(?:\w|\\_(?=\w))*+|--[a-z][\w-]*"
    r"|(?<!-)[\w/-]++\.(?:csv|py|json|jsonl|yaml|tex|ipynb)\b)"
)
_SET_AS_CODE = re.compile(r"\\(?:texttt|verb)\b")
_PREDICATE = re.compile(
    r"\b(?:is|are|was|were)\s+(?:contradicted|not\s+supported|not\s+significant)\b|\bholds?(?=\s*[.,;:)]|\s+after\s+rounding)"
    r"|\bcannot\s+be\s+tested\b"
)
_PHRASE = re.compile(r"\.phrase\b")


def spelling(text: str, file: str) -> list[ChapterFault]:
    """Return a fault for each American form in a chapter's prose."""
    prose = words_of(text)
    findings = []
    for match in _AMERICAN.finditer(prose):
        stem = match[1]
        british = match[0].replace(stem, SPELLINGS[stem.lower()], 1)
        findings.append((match.start(), f"{match[0]!r} is American: write {british!r}"))
    for match in _IZE.finditer(prose):
        if not _IZE_ALLOWED.match(match[0]):
            british = re.sub("z(?=[^z]*$)", "s", match[0])
            findings.append((match.start(), f"{match[0]!r} is American: write {british!r}"))
    return [ChapterFault(file, line_of(text, offset), fault) for offset, fault in sorted(findings)]


def code_names(text: str, file: str) -> list[ChapterFault]:
    """Return a fault for each identifier, option and file name in a chapter's prose."""
    prose = words_of(text)
    return [
        ChapterFault(file, line_of(text, match.start()), f"{match[0]!r} is a name of code: say what it is in words")
        for match in (*_CODE.finditer(prose), *_SET_AS_CODE.finditer(text))
    ]


def predicates(chapters: Mapping[str, str], limit: int) -> list[ChapterFault]:
    """Return a fault for each chapter with predicates such as "is contradicted", if the book has more than `limit`."""
    offsets_by_file: dict[str, list[int]] = {}
    for file, text in chapters.items():
        prose = words_of(text)
        offsets = [match.start() for match in _PREDICATE.finditer(prose)]
        offsets += [start + m.start() for start, code in calls.expressions(text, file) for m in _PHRASE.finditer(code)]
        if offsets:
            offsets_by_file[file] = sorted(offsets)
    total = sum(map(len, offsets_by_file.values()))
    if total <= limit:
        return []
    return [
        ChapterFault(
            file,
            line_of(chapters[file], offsets[0]),
            f"{len(offsets)} verdicts as predicates, {total} in the book, where {limit} are allowed: "
            "let the sentence say the finding, and end it with << mark('...') >>",
        )
        for file, offsets in offsets_by_file.items()
    ]
