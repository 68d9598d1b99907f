"""Find the calls in a chapter's template, which name what the chapter depends on."""

import re
from collections.abc import Iterator

from boundpaper.errors import SpecError

FUNCTIONS = ("n", "r", "use", "table", "figure", "supplement", "claim", "mark")

# A string that is never closed extends to the end, so that no character is read twice.
_STRING = r"""'(?:[^'\\]|\\.?)*+(?:'|\Z)|"(?:[^"\\]|\\.?)*+(?:"|\Z)"""
_OPENING = re.compile("<#|<<|<%")
_CLOSING = {"<#": "#>", "<<": ">>", "<%": "%>"}
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_CODE_TOKEN = re.compile(
    r"""'(?:[^'\\]|\\.?)*+(?:'|(?P<single>\Z))|"(?:[^"\\]|\\.?)*+(?:"|(?P<double>\Z))
        |(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<tag><[<%\#])|>>|%>""",
    re.VERBOSE | re.DOTALL,
)
_RAW = re.compile(r"[-+]?\s*raw\s*[-+]?")
_END_OF_RAW = re.compile(r"<%[-+]?\s*endraw\s*[-+]?%>")
_CALL = re.compile(
    rf"""(?<![\w.])(?P<function>{"|".join(FUNCTIONS)})\b
         (?: \s*\(\s*(?P<name>{_STRING})\s*(?=[,)])   # a call with a literal first argument
           | (?!\s*=(?!=)) )                            # any other use, except as a keyword argument
         | {_STRING}""",
    re.VERBOSE | re.DOTALL,
)


def dependencies(text: str, file: str = "") -> list[tuple[str, str, int]]:
    """Return the calls in a chapter template that name artifacts, exhibits or claims.

    Calls are (function, name, line) in order of appearance; `name` is the literal first argument, and `line` counts
    from 1. Raises SpecError when a tag is not closed (see `tags`), when a first argument is not a string literal, or
    when a function is used without being called, since the build could then not know the dependency. Messages begin
    with `file`, if given, and the line.
    """
    calls = []
    for offset, code in expressions(text, file):
        for match in _CALL.finditer(code):
            function = match["function"]
            if function is None:
                continue
            line = line_of(text, offset + match.start())
            if match["name"] is None:
                raise SpecError(
                    f"{_file_prefix(file)}{line}: {function}(...) needs a string literal as its first argument, as in "
                    f"{function}('name'), since the build reads dependencies from the chapter's text"
                )
            calls.append((function, match["name"][1:-1], line))
    return calls


def expressions(text: str, file: str = "") -> Iterator[tuple[int, str]]:
    """Yield the offset and the code of each `<< >>` and `<% %>` in a template, except in comments and raw parts.

    Raises SpecError with file and line when a tag, a comment, a string or a bracket is not closed.
    """
    for opening, start, end in tags(text, file):
        if opening != "<#":
            yield start, text[start:end]


def tags(text: str, file: str = "") -> Iterator[tuple[str, int, int]]:
    """Yield the opening sign of each tag in a template, and the offsets of the start and the end of its content.

    The time is linear in the length of the text. Raises SpecError as `expressions` does.
    """
    try:
        yield from _template_tags(text)
    except _UnclosedError as error:
        raise SpecError(f"{_file_prefix(file)}{error}") from None


def _template_tags(text: str) -> Iterator[tuple[str, int, int]]:
    position = 0
    while match := _OPENING.search(text, position):
        opening, start = match[0], match.end()
        closing = _CLOSING[opening]
        end = text.find(closing, start) if opening == "<#" else _end_of_code(text, start, closing)
        if end < 0:
            raise _unclosed_error(text, match.start(), "the tag ", f" is not closed: close it with {closing}")
        yield opening, start, end
        position = end + len(closing)
        if opening == "<%" and _RAW.fullmatch(text, start, end):
            end_of_raw = _END_OF_RAW.search(text, position)
            if end_of_raw is None:
                raise _unclosed_error(text, match.start(), "what follows ", " is not closed: write <% endraw %>")
            position = end_of_raw.end()


def _end_of_code(text: str, start: int, closing: str) -> int:
    """Return the offset of the `closing` of a tag whose code starts at `start`; -1 if the tag is not closed."""
    brackets: list[int] = []
    for token in _CODE_TOKEN.finditer(text, start):
        if token["tag"]:
            break
        if token["single"] is not None or token["double"] is not None:
            quote = token[0][0]
            if "\n" in text[start : token.start()]:  # an apostrophe in prose after an unclosed tag on an earlier line
                break
            raise _unclosed_error(text, token.start(), "the text in quotes ", f" is not closed: close it with {quote}")
        if token["open"]:
            brackets.append(token.start())
        elif token["close"]:
            if brackets and _BRACKETS[text[brackets[-1]]] == token[0]:
                brackets.pop()
        elif token[0] == closing:
            if brackets:
                bracket = text[brackets[-1]]
                mend = f" does not close its {bracket}: write {_BRACKETS[bracket]} before {closing}"
                raise _unclosed_error(text, start - 2, "", mend, token.end())
            return token.start()
    return -1


class _UnclosedError(ValueError):
    """A tag, string or bracket that is not closed; the message begins with its line."""


def _unclosed_error(text: str, start: int, before: str, after: str, end: int | None = None) -> _UnclosedError:
    """Return an error on the text at `start`; its message is `before`, then the text's first words, then `after`."""
    quotation = text[start : min(start + 60, len(text) if end is None else end)].split("\n")[0].strip()
    return _UnclosedError(f"{line_of(text, start)}: {before}{quotation}{after}")


def line_of(text: str, offset: int) -> int:
    """Return the line number of an offset, counted from 1."""
    return text.count("\n", 0, offset) + 1


def _file_prefix(file: str) -> str:
    return f"{file}:" if file else ""
