r"""Escape plain text and light markup for LaTeX, Markdown and HTML; no other module escapes text.

`escape` converts data text, in which every character is literal. `prose` converts the text of captions, notes and
titles: plain text with `$math$`, `*emphasis*` and citations `[@key]`. In prose, a punctuation mark after a backslash is
literal, and so are data, which are armoured (`boundpaper.typeset.armour`). `numerals` typesets the numbers of both
kinds of text, with uniform minus signs, range dashes and percent signs.
"""

import html
import re
import string
import unicodedata
from dataclasses import dataclass
from typing import Literal

from boundpaper.errors import DataError, SpecError
from boundpaper.typeset.armour import is_armoured
from boundpaper.typeset.armour import plain as unarmoured
from boundpaper.typeset.characters import FORMULA, LATEX, MATH, SCRIPTS, T1_LETTERS
from boundpaper.typeset.grouping import group_digits

Markup = Literal["latex", "markdown", "html"]
MARKUPS: tuple[Markup, ...] = ("latex", "markdown", "html")

_PUNCTUATION = tuple(string.punctuation)
_SCRIPT_OR_CHARACTER = re.compile("([⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿⁱ]+)|([₀₁₂₃₄₅₆₇₈₉₊₋]+)|(.)", re.DOTALL)
_LIGATURES = ("-", "'", "`", ",")  # `--`, `''` and `,,` would become other characters
_PERCENT = re.compile("(?<=\\d)[ \u00a0\u2009\u202f]+(?=%)")  # the blank in `95 %`, which is written as `95%`
_AMOUNT = r"\d[\d.,]*[KM%×]?"
_RANGE = re.compile(rf"(?<![\w.,/:-])(~?{_AMOUNT})-(~?{_AMOUNT})(?![\w/:-]|[.,]\d)")
_LONG_NUMBER = re.compile(r"(?<![\w.,/#:^-])(\d{4,})(\.\d+)?(?![\w/-]|[.,:]\S)(\s(?:tokens|steps|heads|items)\b)?")
_POWER = re.compile(r"(?<![\w.])(\d(?:\.\d+)?)e([+-])0*(\d+)(?!\w)")
_YEARS = (*range(1900, 2000), *range(2001, 2040))
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_MINUS = re.compile(r"(?<![\w.%)\]}/:-])-(?=\.?\d)")
_MARKDOWN_SIGN = re.compile(r"[\\`*_{}\[\]<>#|~$&^@]")
_LIST_START = re.compile(r"^(\d{1,9})([.)])(?=\s|$)|^([-+])(?=\s|$)")
_CITATION = re.compile(r"\[@(?:[^\][]|\[(?!@))*+\]")
_BARE_KEY = re.compile(r"(?<![\w.-])@[A-Za-z][\w:+/-]*")  # no e-mail address, and no `recall@k`
_KEY = re.compile(r"@([A-Za-z0-9][\w:.+/-]*)(?:,\s*(.+))?")


def escape(text: str, format: Markup) -> str:
    r"""Return data text escaped, so that every character is literal: for LaTeX, `10⁻⁴ & a_b` as `10$^{-4}$ \& a\_b`.

    Line breaks and tabs become spaces. The LaTeX is for the text mode of pdflatex with T1 fonts and UTF-8 input. Raises
    DataError for a control character, and for a character that pdflatex cannot set.
    """
    text = unicodedata.normalize("NFC", unarmoured(text))
    for char in text:
        if unicodedata.category(char) in ("Cc", "Cs", "Co", "Cn") and char not in "\n\t":
            raise DataError(f"{_excerpt(text)} has the control character U+{ord(char):04X}: remove it from the data")
    if format == "html":
        return html.escape(re.sub(r"[\n\t]", " ", text), quote=True)
    if format == "markdown":
        text = _MARKDOWN_SIGN.sub(r"\\\g<0>", re.sub(r"[\n\t]", " ", text))
        return _LIST_START.sub(lambda m: f"{m[1]}\\{m[2]}" if m[1] else "\\" + m[0], text)
    if format == "latex":
        return _escape_latex(text)
    raise SpecError(f"unknown text format {format!r}: use one of {', '.join(MARKUPS)}")


def numerals(text: str, *, thousands: bool = False) -> str:
    """Return a sentence with its numbers typeset: `-3 to 20-30 %` becomes `−3 to 20–30%`.

    `2.1e-48` becomes `2.1 × 10⁻⁴⁸`, and counts of tokens, steps, heads or items get commas between thousands. Other
    whole numbers stay unchanged, since years and identifiers look like counts; for a count, write `{count:,}`. With
    `thousands`, whole numbers also get commas (`8192` becomes `8,192`), except years, and numbers of five or more
    digits that are not round (`2617558`), which may be the answer to a task. Names, dates and versions always stay
    unchanged: `Bean-3.2-11B`, `2026-01-31`, `3B-class`, `SHA 12e45`.
    """
    text = _POWER.sub(
        lambda match: f"{match[1]} × 10{'⁻' * (match[2] == '-')}{match[3].translate(_SUPERSCRIPTS)}",
        _PERCENT.sub("", text),
    )
    text = _RANGE.sub("\\1\N{EN DASH}\\2", text)
    text = _LONG_NUMBER.sub(lambda match: _long_number(match, thousands), text)
    return _MINUS.sub("\N{MINUS SIGN}", text)


def _long_number(match: re.Match[str], thousands: bool) -> str:
    whole, fraction, noun = match[1], match[2] or "", match[3] or ""
    is_identifier = int(whole) in _YEARS if len(whole) == 4 else len(whole) > 7 or int(whole) % 1000
    is_count = noun or (thousands and (fraction or not is_identifier))
    return f"{group_digits(whole) if is_count else whole}{fraction}{noun}"


def _escape_latex(text: str) -> str:
    commands: list[str] = []
    for superscript, subscript, char in _SCRIPT_OR_CHARACTER.findall(text):
        if superscript or subscript:
            script = "".join(map(SCRIPTS.__getitem__, superscript or subscript))
            commands.append(f"${'^' if superscript else '_'}{{{script}}}$")
            continue
        command = LATEX.get(char, char)
        if char == command and not char.isascii() and char not in T1_LETTERS:
            name = unicodedata.name(char, "without a name")
            raise DataError(
                f"{_excerpt(text)} holds {char!r} (U+{ord(char):04X}, {name}), which pdflatex cannot set: replace it, "
                "or add it to boundpaper/typeset/characters.py"
            )
        if commands and command[0] in _LIGATURES and commands[-1][-1] == command[0]:
            commands.append("{}")
        commands.append(command)
    return "".join(commands)


@dataclass(frozen=True, slots=True)
class _Span:
    kind: Literal["plain", "math", "emphasis", "citation"]
    text: str


def prose(text: str, format: Markup, *, numbers: bool = True) -> str:
    r"""Convert an author's text to a format: plain words with `$math$`, `*emphasis*` and `[@key]`.

    `[@a; @b]` cites two works, and `[@a, Table 2]` cites a place in a work. `\$`, `\*`, `\[` and `\\` are literal. In
    LaTeX, citations use natbib's `\citep`; in HTML, mathematics stays TeX, in `<span class="math">`. `numbers` says
    whether to typeset numbers by `numerals`, which could change data such as names. Raises SpecError for unbalanced
    `$`, `*` or braces, a malformed citation, or a character that LaTeX cannot set.
    """
    if format not in MARKUPS:
        raise SpecError(f"unknown text format {format!r}: use one of {', '.join(MARKUPS)}")
    return "".join(_render_span(span, format, text, numbers) for span in _split_spans(text))


def citations(text: str) -> tuple[str, ...]:
    """Return the distinct keys that an author's text cites, in order."""
    keys: dict[str, None] = {}
    for span in _split_spans(text):
        if span.kind == "emphasis":
            keys |= dict.fromkeys(citations(span.text))
        elif span.kind == "citation":
            keys |= {key: None for key, _ in _citation_keys(span.text, text)}
    return tuple(keys)


def without_citations(text: str) -> str:
    """Return an author's text without citations `[@key]` and the spaces before them."""
    return re.sub(r"(?<!\s)\s*+" + _CITATION.pattern, "", text)


def _split_spans(text: str) -> list[_Span]:
    spans: list[_Span] = []
    plain_text: list[str] = []

    def close() -> None:
        if plain_text:
            spans.append(_Span("plain", "".join(plain_text)))
            plain_text.clear()

    offset = 0
    while offset < len(text):
        char = text[offset]
        if char == "\\" and text[offset + 1 : offset + 2] in _PUNCTUATION:
            plain_text.append(text[offset + 1])
            offset += 2
        elif char in "$*":
            end = _closing_offset(text, offset)
            close()
            spans.append(_Span("math" if char == "$" else "emphasis", text[offset + 1 : end]))
            offset = end + 1
        elif char == "[" and text.startswith("[@", offset):
            match = _CITATION.match(text, offset)
            if match is None:
                raise SpecError(f"a citation is not closed in {_excerpt(text, offset)}: write [@key]")
            close()
            spans.append(_Span("citation", match[0][1:-1]))
            offset = match.end()
        elif char == "@" and (bare_key := _BARE_KEY.match(text, offset)):
            key, excerpt = bare_key[0], _excerpt(text, offset)
            raise SpecError(f"{key!r} in {excerpt} is not a citation: write [{key}], or \\@ for the sign")
        else:
            plain_text.append(char)
            offset += 1
    close()
    return spans


def _closing_offset(text: str, start: int) -> int:
    """Return the offset of the delimiter that closes the `$` or `*` at `start`; a `*` in mathematics closes nothing."""
    delimiter, offset, in_math = text[start], start + 1, False
    while offset < len(text):
        if text[offset] == "\\":
            offset += 2
            continue
        if text[offset] == delimiter and not in_math:
            if offset == start + 1:
                break
            return offset
        if delimiter == "*" and text[offset] == "$":
            in_math = not in_math
        offset += 1
    raise SpecError(
        f'unbalanced "{delimiter}" in {_excerpt(text, start)}: close it, or write \\{delimiter} for the character'
    )


def _render_span(span: _Span, format: Markup, full_text: str, numbers: bool) -> str:
    if span.kind == "math":
        return _render_math(span.text, format, full_text)
    if span.kind == "emphasis":
        inner = prose(span.text, format, numbers=numbers)
        return {"latex": f"\\emph{{{inner}}}", "markdown": f"*{inner}*", "html": f"<em>{inner}</em>"}[format]
    if span.kind == "citation":
        return _render_citation(_citation_keys(span.text, full_text), format, full_text)
    try:
        return escape(numerals(span.text) if numbers else span.text, format)
    except DataError as error:
        raise SpecError(str(error)) from None


def _render_math(formula: str, format: Markup, text: str) -> str:
    depth = 0
    for brace in re.findall(r"\\.|[{}]", formula):
        depth += {"{": 1, "}": -1}.get(brace, 0)
        if depth < 0:
            break
    if depth or not formula.strip() or re.search(r"(?<!\\)(?:\\\\)*\\$", formula):
        raise SpecError(f"the formula ${formula}$ in {_excerpt(text)} has unbalanced braces or is empty")
    if re.search(r"(?<!\\)[%#&]", formula):
        raise SpecError(f"the formula ${formula}$ in {_excerpt(text)} contains a bare %, # or &: write \\% and so on")
    if is_armoured(formula) or "^^" in formula:
        raise SpecError(f"the formula ${unarmoured(formula)}$ has text from the data: put it outside the dollars")
    if commands := [name for name in re.findall(r"\\([A-Za-z@]+)", formula) if name not in FORMULA]:
        raise SpecError(
            f"the formula ${formula}$ in {_excerpt(text)} uses \\{commands[0]}, which captions must not use (allowed "
            "commands: boundpaper/typeset/characters.py)"
        )
    if format == "html":
        return f'<span class="math">\\({html.escape(formula)}\\)</span>'
    if format == "markdown":
        # Markdown parsers process HTML first.
        return "$" + re.sub(r"<(?=[A-Za-z/!?])", r"\\lt ", formula) + "$"
    unknown = next((char for char in formula if not char.isascii() and char not in MATH), None)
    if unknown:
        raise SpecError(f"the formula ${formula}$ in {_excerpt(text)} contains {unknown!r}: write it as a TeX command")
    body = re.sub(r"[^\x00-\x7f]", lambda m: (MATH[m[0]] + " ") if MATH[m[0]][0] == "\\" else MATH[m[0]], formula)
    return f"${body.strip()}$"


def _citation_keys(citation: str, text: str) -> list[tuple[str, str]]:
    keys = []
    for cited_work in citation.split(";"):
        match = _KEY.fullmatch(cited_work.strip())
        if match is None:
            raise SpecError(f"the citation [{citation}] in {_excerpt(text)} is malformed: write [@key] or [@a; @b]")
        keys.append((match[1], match[2] or ""))
    if len(keys) > 1 and any(locator for _, locator in keys):
        raise SpecError(
            f"the citation [{citation}] in {_excerpt(text)} cites several works, and a place in one of them: cite that "
            "work in brackets of its own"
        )
    return keys


def _render_citation(keys: list[tuple[str, str]], format: Markup, full_text: str) -> str:
    locator = keys[0][1] if len(keys) == 1 else ""
    locator_text = prose(locator, format) if locator else ""
    if format == "latex":
        option = f"[{{{locator_text}}}]" if locator_text else ""
        return f"\\citep{option}{{{','.join(key for key, _ in keys)}}}"
    if format == "html":
        citation = "; ".join(html.escape(key) for key, _ in keys) + (f", {locator_text}" if locator_text else "")
        return f'<span class="citation">[{citation}]</span>'
    return "[" + "; ".join(f"@{key}" for key, _ in keys) + (f", {locator_text}" if locator_text else "") + "]"


def _excerpt(text: str, offset: int = 0) -> str:
    text = unarmoured(text)
    start = max(0, min(offset - 20, len(text) - 60))
    excerpt = text[start : start + 60]
    return repr(("…" if start else "") + excerpt + ("…" if start + 60 < len(text) else ""))
