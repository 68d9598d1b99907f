"""Find regular expressions that could backtrack catastrophically on a long text, before they are used."""

import importlib
import re
from collections.abc import Iterator
from typing import Any

# The parsed form of a pattern has no public API, but has not changed since Python 1.6.
_parser = importlib.import_module("re._parser")
REPEATS = 12  # most repeats of variable length: each may double the number of ways to match a word
UNBOUNDED = 4  # most unbounded repeats: each may multiply the time by the length of the word


def pattern_fault(pattern: str) -> str:
    """Return the reason why a pattern must not be used; empty if it may be used.

    The time of matching may double with every letter if the content of an unbounded repeat can match several lengths,
    as in `(a+)+`, or has two alternatives with the same beginning, as in `(a|ab)*`.
    """
    try:
        tree = _parser.parse(pattern)
    except re.error as error:
        return f"is not a regular expression: {error}"
    repeats = list(_long_repeats(tree))
    unbounded_contents = [content for _, high, content in repeats if high == _parser.MAXREPEAT]
    if any(True for content in unbounded_contents for low, high, _ in _long_repeats(content) if low != high):
        return "repeats an unbounded repeat; give a limit, as in {1,3}, or remove one of them"
    if any(_may_begin_alike(content) for content in unbounded_contents):
        return "has an unbounded repeat that can match in two ways; let its alternatives begin with different letters"
    if len(repeats) > REPEATS or len(unbounded_contents) > UNBOUNDED:
        return f"has more than {REPEATS} repeats, or {UNBOUNDED} unbounded ones; split it into several patterns"
    if any(str(kind) in ("GROUPREF", "GROUPREF_EXISTS") for kind, _ in _pattern_parts(tree)):
        return "has a backreference to a group; write its content instead"
    return ""


def _pattern_parts(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the kind and the value of every part of a parsed pattern, outer parts before inner ones."""
    for kind, value in tree:
        yield kind, value
        for subpattern in _inner_patterns(value):
            yield from _pattern_parts(subpattern)


def _inner_patterns(value: Any) -> Iterator[Any]:
    if isinstance(value, _parser.SubPattern):
        yield value
    elif isinstance(value, tuple | list):
        for member in value:
            yield from _inner_patterns(member)


def _long_repeats(tree: Any) -> Iterator[tuple[int, int, Any]]:
    """Yield the least count, greatest count and content of every repeat of variable length."""
    for kind, value in _pattern_parts(tree):
        if str(kind) in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and value[0] != value[1]:
            yield value


def _may_begin_alike(content: Any) -> bool:
    """Return whether two alternatives in `content` may begin with the same character; true if unknown."""
    for kind, value in _pattern_parts(content):
        if str(kind) == "BRANCH":
            starts = [str(branch[0]) if len(branch) and str(branch[0][0]) == "LITERAL" else "" for branch in value[1]]
            if "" in starts or len(set(starts)) < len(starts):
                return True
    return False
