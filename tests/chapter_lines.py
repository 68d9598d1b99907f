r"""Lint of chapters: each sentence has its own line, so that changing a sentence changes one line.

Prose is all text outside environments, headings and template statements. TeX reads a line end as a space, so
breaking or joining lines within a paragraph does not change the print.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from boundpaper.paper.lint import ChapterFault
from boundpaper.paper.sentences import split_sentences

# Headings, list items, template statements, comments and exhibits are not prose; \paragraph starts a line of prose.
_APART = re.compile(r"\s*(?:\\(?:part|chapter|(?:sub)*section|label|item)\b|<%|<#|%|<<\s*(?:table|figure)\()")
_PARAGRAPH = re.compile(r"\s*\\paragraph\b")
_BEGIN, _END = re.compile(r"\\begin\{"), re.compile(r"\\end\{")


@dataclass(frozen=True)
class Passage:
    """Consecutive lines of prose: the number of the first line, from 1, and the lines without indentation."""

    first: int
    lines: tuple[str, ...]


def passages(text: str) -> Iterator[Passage]:
    """Yield the passages of a chapter's template, in order."""
    lines_of_passage: list[str] = []
    depth, first = 0, 1
    for number, line in enumerate([*text.splitlines(), ""], 1):
        inside = depth > 0
        depth += len(_BEGIN.findall(line)) - len(_END.findall(line))
        prose = bool(line.strip()) and not (inside or depth or _END.search(line) or _APART.match(line))
        if lines_of_passage and (not prose or _PARAGRAPH.match(line)):
            yield Passage(first, tuple(lines_of_passage))
            lines_of_passage = []
        if prose:
            first = first if lines_of_passage else number
            lines_of_passage.append(line.strip())
            if line.rstrip().endswith("%>"):  # a line break after a template statement is not printed
                yield Passage(first, tuple(lines_of_passage))
                lines_of_passage = []


def broken(text: str, file: str) -> list[ChapterFault]:
    """Return a fault for each line with more than one sentence, and for each sentence that goes on in the next line."""
    findings = []
    for passage in passages(text):
        for number, line in enumerate(passage.lines, passage.first):
            sentences = split_sentences(line)
            if len(sentences) > 1:
                fault = f"a second sentence in the line: give '{sentences[1][:40]}' a line of its own"
                findings.append(ChapterFault(file, number, fault))
        for number, line in enumerate(passage.lines[:-1], passage.first):
            following = passage.lines[number - passage.first + 1]
            if len(split_sentences(f"{split_sentences(line)[-1]} {following}")) == len(split_sentences(following)):
                findings.append(ChapterFault(file, number, "the sentence goes on in the next line: join the two"))
    return sorted(findings, key=lambda finding: finding.line)
