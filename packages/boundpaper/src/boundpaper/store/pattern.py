"""Refuse regular expressions that could take for ever on a long text, before they are used."""

import importlib
import re
from collections.abc import Iterator
from typing import Any

# What a pattern is parsed into has no public name; its shape has not changed since Python 1.6.
_parser = importlib.import_module("re._parser")
VARIABLE = 12  # repeats that can be of several lengths: each may double the ways in which a word is read
UNBOUNDED = 4  # of these without an end: each may add a factor of the word's length


def fault(pattern: str) -> str:
    """Return the reason why a pattern may not be used; empty if it may.

    A repeat without end whose inside can itself be read in several lengths, or in two ways that begin alike, takes a
    time that doubles with every letter: `(a+)+`, `(a|ab)*`.
    """
    try:
        parsed = _parser.parse(pattern)
    except re.error as error:
        return f"is not a regular expression: {error}"
    repeats = list(_long_repeats(parsed))
    endless = [inside for _, high, inside in repeats if high == _parser.MAXREPEAT]
    if any(True for inside in endless for low, high, _ in _long_repeats(inside) if low != high):
        return "repeats a repeat without end; say how often, as in {1,3}, or take one of them out"
    if any(_may_begin_alike(inside) for inside in endless):
        return "repeats without end what can be read in two ways; let its alternatives begin with different letters"
    if len(repeats) > VARIABLE or len(endless) > UNBOUNDED:
        return f"has more than {VARIABLE} repeats, or {UNBOUNDED} without end; make several names of it"
    if any(str(kind) in ("GROUPREF", "GROUPREF_EXISTS") for kind, _ in _pattern_parts(parsed)):
        return "refers back to a group; write out what it stands for"
    return ""


def _pattern_parts(parsed: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every part of a parsed pattern, from the outside in."""
    for kind, value in parsed:
        yield kind, value
        for inside in _inner_patterns(value):
            yield from _pattern_parts(inside)


def _inner_patterns(value: Any) -> Iterator[Any]:
    if isinstance(value, _parser.SubPattern):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _inner_patterns(each)


def _long_repeats(parsed: Any) -> Iterator[tuple[int, int, Any]]:
    """Yield the least count, greatest count and content of every repeat of variable length."""
    for kind, value in _pattern_parts(parsed):
        if str(kind) in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and value[0] != value[1]:
            yield value


def _may_begin_alike(inside: Any) -> bool:
    """Return whether two alternatives anywhere inside may begin with the same character, as far as can be told."""
    for kind, value in _pattern_parts(inside):
        if str(kind) == "BRANCH":
            firsts = [str(each[0]) if len(each) and str(each[0][0]) == "LITERAL" else "" for each in value[1]]
            if "" in firsts or len(set(firsts)) < len(firsts):
                return True
    return False
