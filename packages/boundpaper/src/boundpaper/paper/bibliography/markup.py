r"""Parse the LaTeX of a field into parts, which `setting` writes as LaTeX or as HTML.

A percent sign, ampersand, hash or underscore without backslash is printed; an unknown command is a fault.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from boundpaper.paper.bibliography.formulas import convert_formula
from boundpaper.paper.bibliography.signs import (
    ACCENTS,
    LAYOUT_COMMANDS,
    LOGOS,
    LONE_ACCENTS,
    SPACES,
    STYLE_ALIASES,
    STYLES,
    SWITCHES,
    MarkupFault,
    sign_of,
)


@dataclass(frozen=True)
class Group:
    """Text in braces, whose capitals BibTeX leaves unchanged."""

    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Math:
    """A formula, as TeX."""

    tex: str


@dataclass(frozen=True)
class StyledText:
    """Text in another font, which is given by the name of a LaTeX command."""

    command: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Link:
    """A link to an address (`url`) or an identifier (`doi`); without `parts`, the text of the link is the target."""

    kind: str
    target: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Logo:
    """A logo that a command prints, such as `LaTeX`."""

    command: str


Part: TypeAlias = str | Group | Math | StyledText | Link | Logo
_PARTS = (str, Group, Math, StyledText, Link, Logo)


def read(text: str, macros: Mapping[str, tuple[int, str]] | None = None) -> tuple[Part, ...]:
    """Return the parts of a field.

    `text` is LaTeX with balanced braces. `macros` are the commands that the file defines, each with the number of its
    arguments and its definition. Raises MarkupFault for an unknown command, or a formula that cannot be typeset.
    """
    reader = _MarkupReader(_IF_FORMULA.sub(r"\1", text), macros or {})
    parts = reader.parts("")
    if reader.position < len(reader.text):
        raise MarkupFault("has an unmatched closing brace")
    return parts


_IF_FORMULA = re.compile(r"\\ifmmode(?:(?!\\ifmmode|\\else).)*+\\else((?:(?!\\ifmmode).)*?)\\fi(?![A-Za-z])")


class _MarkupReader:
    """A reader that parses LaTeX from left to right."""

    def __init__(self, text: str, macros: Mapping[str, tuple[int, str]]) -> None:
        self.text, self.macros, self.position, self.expansions = text, macros, 0, 0

    def parts(self, end: str) -> tuple[Part, ...]:
        """Return the parts up to `end`, or to the end of the text."""
        parts: list[Part] = []
        while (char := self._next_char()) and char != end and (end or char != "}"):
            self.position += 1
            if char == "{":
                parts.append(self._read_group())
            elif char == "$":
                parts.append(self._read_formula())
            elif char == "\\":
                command = self._read_command(end)
                parts += [command] if isinstance(command, _PARTS) else command
            else:
                parts.append("\u00a0" if char == "~" else char)
        return _join_texts(parts)

    def _read_group(self) -> Part:
        begin = self.position
        parts = self.parts("}")
        if self.position >= len(self.text):
            raise MarkupFault("has a brace that is not closed")
        self.position += 1
        if self.text[begin : begin + 1] == "\\" and len(parts) == 1:
            [part] = parts
            if isinstance(part, (StyledText, Logo)) or (isinstance(part, str) and len(part) == 1):
                return part  # `{\'e}` is a letter and `{\it ...}` is in a font; their braces protect no capitals
        return Group(parts)

    def _read_formula(self) -> Part:
        is_display = self.text.startswith("$", self.position)
        begin = end = self.position + is_display
        while end < len(self.text) and self.text[end] != "$":
            end += 2 if self.text[end] == "\\" else 1
        depth = 0
        for brace in self.text[begin:end]:
            depth += {"{": 1, "}": -1}.get(brace, 0)
            if depth < 0:
                end = len(self.text)
        if end >= len(self.text):
            if is_display:
                raise MarkupFault("has a $$ that is not closed")
            return "$"  # a single dollar is printed
        tex = self.text[begin:end]
        self.position = end + 1 + is_display
        return Math(convert_formula(tex))

    def _read_command(self, end: str) -> Part | list[Part]:
        name = self._read_command_name()
        if name in self.macros:
            return self._expand_macro(name)
        if name in ACCENTS and (len(name) > 1 or not name.isalpha() or self._argument_follows()):
            return self._read_accented(name)
        if name in "&%#_${}":
            return name
        if name in SPACES:
            return SPACES[name]
        if name in "([":
            closing = {"(": r"\)", "[": r"\]"}[name]
            tex, found, _ = self.text[self.position :].partition(closing)
            if not found:
                raise MarkupFault(f"has a \\{name} that is not closed by {closing}")
            self.position += len(tex) + len(closing)
            return Math(convert_formula(tex))
        name = STYLE_ALIASES.get(name, name)
        if name in STYLES:
            parts = self._read_argument()
            return StyledText(name, parts) if parts else ""
        if name in SWITCHES:
            parts = self.parts(end)
            return StyledText(SWITCHES[name], parts) if parts else ""
        if name in ("url", "path", "nolinkurl", "doi"):
            return Link("doi" if name == "doi" else "url", plain_address(self._read_verbatim()), ())
        if name == "href":
            target = plain_address(self._read_verbatim())
            return Link("url", target, self._read_argument())
        if name == "ensuremath":
            return Math(convert_formula(self._read_verbatim()))
        if name in ("natexlab", "bibinfo", "bibfield", "bibnamefont", "bibfnamefont", "textlatin", "foreignlanguage"):
            for _ in range(name in ("bibinfo", "bibfield", "foreignlanguage")):
                self._read_verbatim()
            return list(self._read_argument())
        if name in ("enquote", "mkbibquote"):
            return ["“", *self._read_argument(), "”"]
        if name in ("penalty", "hskip"):
            match = re.compile(r"\s*-?\d+(?:pt|em|ex)?\s?").match(self.text, self.position)
            self.position = match.end() if match else self.position
            return ""
        if name in ("phantom", "hphantom", "vphantom"):
            self._read_argument()
            return ""
        if name in LAYOUT_COMMANDS:
            return LAYOUT_COMMANDS[name]
        sign: Part = Logo(name) if name in LOGOS else sign_of(name)
        if not sign:
            raise MarkupFault(
                f"uses \\{name}, a command that the PDF or the site does not support; write its meaning, or define "
                "it in an @preamble"
            )
        if self.text.startswith("{}", self.position):
            self.position += 2
        return Group((sign,)) if isinstance(sign, str) and len(sign) > 1 else sign

    def _read_command_name(self) -> str:
        """Return the name of the command after a backslash; skip blanks after a name of letters."""
        match = re.compile(r"([A-Za-z]+)\*?\s*").match(self.text, self.position)
        if match:
            self.position = match.end()
            return match[1]
        name = self._next_char()
        self.position += len(name)
        return name or "\\"

    def _argument_follows(self) -> bool:
        char = self._next_char()
        return char.isalpha() or char in ("{", "\\")

    def _next_char(self) -> str:
        """Return the character at the position, or an empty text at the end."""
        return self.text[self.position : self.position + 1]

    def _skip_blanks(self) -> None:
        while self._next_char().isspace():
            self.position += 1

    def _read_argument(self) -> tuple[Part, ...]:
        """Return the parts of the next argument: a group, a command or a character."""
        self._skip_blanks()
        char = self._next_char()
        self.position += len(char)
        if char == "{":
            parts = self.parts("}")
            self.position += 1
            return parts
        if char == "\\":
            command = self._read_command("")
            return _join_texts([command] if isinstance(command, _PARTS) else command)
        if char in ("", "}"):
            self.position -= len(char)
            return ()
        return (char,)

    def _read_verbatim(self) -> str:
        """Return the next argument, which must be in braces, as written."""
        self._skip_blanks()
        if self._next_char() != "{":
            raise MarkupFault("has a command without {argument}; write the argument in braces")
        begin, depth = self.position + 1, 0
        for brace in re.compile(r"[{}]").finditer(self.text, self.position):
            depth += 1 if brace[0] == "{" else -1
            if not depth:
                self.position = brace.end()
                return self.text[begin : brace.start()]
        raise MarkupFault("has a brace that is not closed")

    def _read_accented(self, name: str) -> str:
        parts = self._read_argument()
        base = plain_words(parts)
        if not base.strip():
            if name in LONE_ACCENTS:
                return LONE_ACCENTS[name]
            raise MarkupFault(f"has the accent \\{name} without a letter")
        base = base.replace("ı", "i").replace("ȷ", "j")
        return unicodedata.normalize("NFC", base[0] + ACCENTS[name] + base[1:])

    def _expand_macro(self, name: str) -> str:
        """Insert the definition of a command, so that it is read next; return an empty text."""
        self.expansions += 1
        if self.expansions > 100:
            raise MarkupFault(f"uses \\{name}, whose expansion never ends; correct its definition")
        count, body = self.macros[name]
        arguments = []
        for _ in range(count):
            if self._next_char() == "{":
                arguments.append(self._read_verbatim())
            else:
                arguments.append(self._next_char())
                self.position += 1
        expansion = re.sub(r"#(\d)", lambda match: arguments[int(match[1]) - 1], body)
        self.text = self.text[: self.position] + expansion + self.text[self.position :]
        return ""


def _join_texts(parts: Sequence[Part]) -> tuple[Part, ...]:
    joined: list[Part] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        elif part != "":
            joined.append(part)
    return tuple(joined)


def plain_address(text: str) -> str:
    r"""Return an address without LaTeX's escapes: `\_`, `\%`, `\&`, `\#`, `\~{}`, `{\textasciitilde}`, `{\_}`."""
    text = re.sub(r"^\\(?:url|path|nolinkurl|href|doi)\s*\{(.*?)\}.*$", r"\1", text.strip())
    text = re.sub(r"\$\\sim\$|\{?\\(?:textasciitilde|~)\s*(?:\{\})?\s*\}?", "~", text)
    text = re.sub(r"\{?\\(?:textunderscore)\s*(?:\{\})?\}?", "_", text)
    text = re.sub(r"\\([_%&#$~/{}-])", r"\1", text)
    return re.sub(r"[{}]", "", text).strip()


def plain_words(parts: Sequence[Part]) -> str:
    """Return the text of parts without markup; a formula is shown as TeX."""
    words = []
    for part in parts:
        if isinstance(part, str):
            words.append(part)
        elif isinstance(part, Math):
            words.append(part.tex)
        elif isinstance(part, Logo):
            words.append(part.command)
        else:
            words.append(plain_words(part.parts) or getattr(part, "target", ""))
    return "".join(words)
