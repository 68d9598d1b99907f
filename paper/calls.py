"""Calls in chapter templates: what a chapter depends on, read from its text (standard library only)."""

import re
from collections.abc import Iterator

from artifacts.errors import SpecError

FUNCTIONS = ("n", "r", "use", "table", "figure", "claim", "mark")

_STRING = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_TAG = re.compile(rf"<#.*?#>|<<(?P<shown>(?:{_STRING}|.)*?)>>|<%(?P<block>(?:{_STRING}|.)*?)%>", re.DOTALL)
_CALL = re.compile(
    rf"""(?<![\w.])(?P<function>{"|".join(FUNCTIONS)})\b
         (?: \s*\(\s*(?P<name>{_STRING})\s*(?=[,)])   # a call with a literal first argument
           | (?!\s*=(?!=)) )                            # anything else but a keyword argument
         | {_STRING}""",
    re.VERBOSE | re.DOTALL,
)


def dependencies(text: str) -> list[tuple[str, str, int]]:
    """List the calls in a chapter template that name what it reads or shows.

    Parameters
    ----------
    text : str
        The template.

    Returns
    -------
    list of (function, name, line)
        In order of appearance; `name` is the literal first argument, `line` counts from 1.

    Raises
    ------
    SpecError
        A first argument is not a string literal, or a function is used without being called: the build
        could not know what the chapter reads. The text starts with the line, for the caller to put the file before.
    """
    calls = []
    for offset, code in expressions(text):
        for match in _CALL.finditer(code):
            function = match["function"]
            if function is None:
                continue
            line = text.count("\n", 0, offset + match.start()) + 1
            if match["name"] is None:
                raise SpecError(
                    f"{line}: {function}(...) needs a string literal as its first argument, as in "
                    f"{function}('name'): what a chapter reads is taken from its text"
                )
            calls.append((function, match["name"][1:-1], line))
    return calls


def expressions(text: str) -> Iterator[tuple[int, str]]:
    """Yield offset and code of each `<< >>` and `<% %>` of a template, comments left out."""
    for tag in _TAG.finditer(text):
        for group in ("shown", "block"):
            if tag[group] is not None:
                yield tag.start(group), tag[group]
