"""Split a line of LaTeX or of a chapter template into sentences."""

import re

_ABBREVIATIONS = frozenset(
    "al ca cf ed eds e.g i.e etc vs resp Dr Prof No Nos Eq Eqs Fig Figs Tab Tabs Sec Secs Ch App Ref Refs Vol "
    "pp".split()
)
_EXPRESSION = re.compile(r"<<(?:(?!<<).)*?>>")
_MARK = re.compile(r"<<\s*mark\(")
_STOP = re.compile(r"(?<![\w.])(?P<word>[\w.]*)[.?!][)\]}']*+\0*(?P<gap> ++)(?=[A-Z`(\\<$\1\u201c])")


def split_sentences(line: str) -> tuple[str, ...]:
    """Return a line's sentences, each ending at `.`, `?` or `!` before a space and a capital, formula or expression.

    A verdict's mark belongs to the sentence before it. A full stop in an abbreviation, an inline heading or the note of
    a citation ends no sentence.
    """
    masked_line = _EXPRESSION.sub(lambda match: ("\0" if _MARK.match(match[0]) else "\1") * len(match[0]), line)
    if heading := re.match(r"\\paragraph\*?\{[^}]*\}", masked_line):
        masked_line = "\1" * heading.end() + masked_line[heading.end() :]
    masked_line = re.sub(r"\\cite\w*\*?(?:\[[^\]]*\])+", lambda match: "\1" * len(match[0]), masked_line)
    ends = [match for match in _STOP.finditer(masked_line) if match["word"] not in _ABBREVIATIONS]
    starts = [0, *(match.end("gap") for match in ends)]
    stops = [*(match.start("gap") for match in ends), len(line)]
    return tuple(line[start:stop] for start, stop in zip(starts, stops, strict=True))
