r"""Lines of chapters: each sentence is on its own line, so that changing it changes one line.

Prose is what stands outside of environments, headings and statements. TeX takes the end of a line for a space, so that
breaking or joining lines within a paragraph changes nothing in print.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from boundpaper.paper.lint import Finding

_SHORT = "al ca cf ed eds e.g i.e etc vs resp Dr Prof No Nos Eq Eqs Fig Figs Tab Tabs Sec Secs Ch App Ref Refs Vol pp"
_ABBREVIATIONS = frozenset(_SHORT.split())
_EXPRESSION = re.compile(r"<<(?:(?!<<).)*?>>")
_MARK = re.compile(r"<<\s*mark\(")
# A heading, an exhibit, a statement or a row is no prose; an inline heading begins a line of it.
_APART = re.compile(r"\s*(?:\\(?:part|chapter|(?:sub)*section|label|item)\b|<%|<#|%|<<\s*(?:table|figure)\()")
_PARAGRAPH = re.compile(r"\s*\\paragraph\b")
_BEGIN, _END = re.compile(r"\\begin\{"), re.compile(r"\\end\{")
_STOP = re.compile(r"(?<![\w.])(?P<word>[\w.]*)[.?!][)\]}']*+\0*(?P<gap> ++)(?=[A-Z`(\\<$\1\u201c])")


@dataclass(frozen=True)
class Passage:
    """Consecutive lines of prose: the number of the first, from 1, and the lines without indentation."""

    first: int
    lines: tuple[str, ...]

    def sentences(self) -> tuple[str, ...]:
        """Its sentences, each as one line."""
        return split(" ".join(self.lines))


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


def split(line: str) -> tuple[str, ...]:
    """Sentences of a line: each ends at a stop that a capital, a formula or an expression follows after a space.

    A mark belongs to the sentence before it. Stops of abbreviations end nothing, nor do those of inline headings and of
    the notes of a citation.
    """
    shown = _EXPRESSION.sub(lambda match: ("\0" if _MARK.match(match[0]) else "\1") * len(match[0]), line)
    if heading := re.match(r"\\paragraph\*?\{[^}]*\}", shown):
        shown = "\1" * heading.end() + shown[heading.end() :]
    shown = re.sub(r"\\cite\w*\*?(?:\[[^\]]*\])+", lambda match: "\1" * len(match[0]), shown)
    ends = [match for match in _STOP.finditer(shown) if match["word"] not in _ABBREVIATIONS]
    starts = [0, *(match.end("gap") for match in ends)]
    stops = [*(match.start("gap") for match in ends), len(line)]
    return tuple(line[start:stop] for start, stop in zip(starts, stops, strict=True))


def broken(text: str, file: str) -> list[Finding]:
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
            sentences = split(line)
            if len(sentences) > 1:
                what = f"a second sentence in the line: give '{sentences[1][:40]}' a line of its own"
                findings.append(Finding(file, number, what))
        for number, line in enumerate(passage.lines[:-1], passage.first):
            following = passage.lines[number - passage.first + 1]
            if len(split(f"{split(line)[-1]} {following}")) == len(split(following)):
                findings.append(Finding(file, number, "the sentence goes on in the next line: join the two"))
    return sorted(findings, key=lambda finding: finding.line)


def reflowed(text: str) -> str:
    """Put each sentence of a template's prose on its own line, and leave everything else unchanged."""
    lines = text.splitlines()
    for passage in reversed(list(passages(text))):
        start = passage.first - 1
        lines[start : start + len(passage.lines)] = passage.sentences()
    return "\n".join(lines) + "\n" * text.endswith("\n")
