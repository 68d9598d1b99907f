r"""Lines of chapters: each sentence is on its own line, so that changing it changes one line.

Prose is what stands outside of environments, headings and statements. TeX takes the end of a line for a space, so that
breaking or joining lines within a paragraph changes nothing in print.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from boundpaper.paper.lint import ChapterFault
from boundpaper.paper.sentences import split_sentences

# A heading, an exhibit, a statement or a row is no prose; an inline heading begins a line of it.
_APART = re.compile(r"\s*(?:\\(?:part|chapter|(?:sub)*section|label|item)\b|<%|<#|%|<<\s*(?:table|figure)\()")
_PARAGRAPH = re.compile(r"\s*\\paragraph\b")
_BEGIN, _END = re.compile(r"\\begin\{"), re.compile(r"\\end\{")


@dataclass(frozen=True)
class Passage:
    """Consecutive lines of prose: the number of the first, from 1, and the lines without indentation."""

    first: int
    lines: tuple[str, ...]


def passages(text: str) -> Iterator[Passage]:
    """Passages of a chapter's template, in order."""
    held: list[str] = []
    depth, first = 0, 1
    for number, line in enumerate([*text.splitlines(), ""], 1):
        inside = depth > 0
        depth += len(_BEGIN.findall(line)) - len(_END.findall(line))
        prose = bool(line.strip()) and not (inside or depth or _END.search(line) or _APART.match(line))
        if held and (not prose or _PARAGRAPH.match(line)):
            yield Passage(first, tuple(held))
            held = []
        if prose:
            first = first if held else number
            held.append(line.strip())
            if line.rstrip().endswith("%>"):  # the line break after a statement is none in print
                yield Passage(first, tuple(held))
                held = []


def broken(text: str, file: str) -> list[ChapterFault]:
    """Find lines that hold more than one sentence, and sentences that continue on the next line.

    Parameters
    ----------
    text : str
        A chapter's template.
    file : str
        Its path, for the findings.
    """
    findings = []
    for passage in passages(text):
        for number, line in enumerate(passage.lines, passage.first):
            sentences = split_sentences(line)
            if len(sentences) > 1:
                what = f"a second sentence in the line: give '{sentences[1][:40]}' a line of its own"
                findings.append(ChapterFault(file, number, what))
        for number, line in enumerate(passage.lines[:-1], passage.first):
            following = passage.lines[number - passage.first + 1]
            if len(split_sentences(f"{split_sentences(line)[-1]} {following}")) == len(split_sentences(following)):
                findings.append(ChapterFault(file, number, "the sentence goes on in the next line: join the two"))
    return sorted(findings, key=lambda finding: finding.line)
