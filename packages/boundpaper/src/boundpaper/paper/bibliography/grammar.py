"""Parse a `.bib` file with pybtex's scanner: keep entries as written, expand macros, and record line numbers.

A comment is a line outside values that begins with a percent sign, or everything in the braces of `@comment{...}`. Most
authors expect this, although BibTeX reads comments otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pybtex.database.input.bibtex import LowLevelParser, SkipEntry, UndefinedMacro, month_names
from pybtex.scanner import PybtexSyntaxError
from pybtex.utils import CaseInsensitiveDict

from boundpaper.paper.bibliography.terms import PRINTED_FIELDS
from boundpaper.suggestions import or_known

# Macros that every standard style of BibTeX defines, besides the months.
JOURNALS = {
    "acmcs": "ACM Computing Surveys", "acta": "Acta Informatica", "cacm": "Communications of the ACM",
    "ibmjrd": "IBM Journal of Research and Development", "ibmsj": "IBM Systems Journal",
    "ieeese": "IEEE Transactions on Software Engineering", "ieeetc": "IEEE Transactions on Computers",
    "ieeetcad": "IEEE Transactions on Computer-Aided Design of Integrated Circuits",
    "ipl": "Information Processing Letters", "jacm": "Journal of the ACM",
    "jcss": "Journal of Computer and System Sciences", "scp": "Science of Computer Programming",
    "sicomp": "SIAM Journal on Computing", "tocs": "ACM Transactions on Computer Systems",
    "tods": "ACM Transactions on Database Systems", "tog": "ACM Transactions on Graphics",
    "toms": "ACM Transactions on Mathematical Software",
    "toois": "ACM Transactions on Office Information Systems",
    "toplas": "ACM Transactions on Programming Languages and Systems", "tcs": "Theoretical Computer Science",
}  # fmt: skip
_COMMENT_LINE = re.compile(r"\s*%[^\n]*(?:\n|$)")


@dataclass(frozen=True)
class RawEntry:
    """An entry as written, but with kind and field names in lower case; `lines` are the lines of its fields."""

    kind: str
    key: str
    line: int
    fields: Mapping[str, str]
    lines: Mapping[str, int]


@dataclass
class ParsedFile:
    """The parsed content of a `.bib` file.

    `preamble` has the line and the LaTeX of each `@preamble`, and `faults` the line and the message of each fault.
    """

    entries: list[RawEntry] = field(default_factory=list)
    preamble: list[tuple[int, str]] = field(default_factory=list)
    faults: list[tuple[int, str]] = field(default_factory=list)


def parse_file(text: str) -> ParsedFile:
    """Parse the text of a `.bib` file; text before and between entries is ignored, as in BibTeX."""
    parsed = ParsedFile()
    scanner = _Scanner(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"), parsed)
    for command, content in scanner:
        if command.lower() == "preamble":
            parsed.preamble.append((scanner.first_line, " ".join("".join(content[0]).split())))
        elif command.lower() != "string" and content[0]:
            parsed.entries.append(_raw_entry(command, content, scanner, parsed))
    return parsed


def _raw_entry(command: str, content: Any, scanner: _Scanner, parsed: ParsedFile) -> RawEntry:
    key, pairs = content
    values: dict[str, str] = {}
    lines: dict[str, int] = {}
    for (name, parts), line in zip(pairs, scanner.lines, strict=True):
        value = " ".join("".join(parts).split())
        name = name.lower()
        lines.setdefault(name, line)
        if values.setdefault(name, value) != value and name in PRINTED_FIELDS:
            parsed.faults.append((line, f"{key}: {name} is given twice, with different values; keep one"))
    return RawEntry(command.lower(), key, scanner.first_line, values, lines)


class _Scanner(LowLevelParser):  # type: ignore[misc]
    """A scanner of pybtex that also keeps line numbers, skips comments, and collects faults."""

    def __init__(self, text: str, parsed: ParsedFile) -> None:
        macros = CaseInsensitiveDict({**month_names, **JOURNALS})
        super().__init__(text, macros=macros, handle_error=self._note_fault)
        self.parsed = parsed
        self.first_line = 1
        self.lines: list[int] = []

    def parse_bibliography(self) -> Iterator[Any]:
        """Yield the commands; an at sign in a comment or within a word, as in an e-mail address, is ignored."""
        while self.skip_to([self.AT]):
            at_sign = self.pos - 1
            line_start = self.text.rfind("\n", 0, at_sign) + 1
            if self.text[line_start:at_sign].lstrip().startswith("%"):
                end = self.text.find("\n", self.pos)
                self._move_to(end if end >= 0 else self.end_pos)
                continue
            if at_sign and self.text[at_sign - 1].isalnum() and not re.match(r"\w+\s*[{(]", self.text[self.pos :]):
                continue
            self.command_start, self.first_line, self.lines = at_sign, self.lineno, []
            if self._skip_comment():
                continue
            fault_count = len(self.parsed.faults)
            try:
                command = tuple(self.parse_command())
            except PybtexSyntaxError as error:
                self._note_fault(error)
            except SkipEntry:
                pass
            else:
                if len(self.parsed.faults) == fault_count:
                    yield command

    def _skip_comment(self) -> bool:
        """Skip `@comment`, with the content of its braces if they are closed; return whether there was a comment."""
        match = re.compile(r"comment\b\s*", re.IGNORECASE).match(self.text, self.pos)
        if not match:
            return False
        end, depth = match.end(), 0
        if self.text[end : end + 1] == "{":
            for brace in re.compile(r"[{}]").finditer(self.text, end):
                depth += 1 if brace[0] == "{" else -1
                if not depth:
                    end = brace.end()
                    break
        self._move_to(end)
        return True

    def parse_field(self) -> None:
        """Read `name = value`; comment lines may precede it."""
        self._skip_comment_lines()
        self.eat_whitespace()
        line = self.lineno
        super().parse_field()
        if self.current_field_name and self.current_value:
            self.lines.append(line)

    def parse_entry_fields(self) -> None:
        """Read all fields; comment lines may precede the closing brace."""
        super().parse_entry_fields()
        self._skip_comment_lines()

    def parse_string_body(self, body_end: Any) -> None:
        """Read `name = value` of a macro definition."""
        super().parse_string_body(body_end)
        self.lines.clear()

    def substitute_macro(self, name: str) -> str:
        """Return the text of a macro; record a fault if it is undefined."""
        if name in self.macros:
            return str(self.macros[name])
        prefix = f"{self.current_entry_key}: " if self.current_entry_key else ""
        suggestion = or_known(name, list(map(str, self.macros)))
        self.parsed.faults.append(
            (self.lineno, f"{prefix}no @string defines {name!r}{suggestion}, or quote it as {{{name}}}")
        )
        return ""

    def _note_fault(self, error: PybtexSyntaxError) -> None:
        if isinstance(error, UndefinedMacro):
            return
        prefix = f"{self.current_entry_key}: " if self.current_entry_key else ""
        in_field = f" in the field {self.current_field_name}" if self.current_field_name else ""
        message = str(error.args[0])
        if "premature end" in message:
            message = f"the entry that begins here does not end{in_field}; close its braces or quotes"
            self.parsed.faults.append((self.first_line, prefix + message))
            self.pos = self.end_pos
            return
        if "'}' expected" in message or "')' expected" in message:
            message = "a comma between two fields is missing, or the braces of the field before it are not balanced"
        elif "'=' expected" in message:
            message = f"an equals sign is missing after {self.current_field_name!r}"
        elif "'('" in message:
            message = "an @ begins an entry, as in @article{key, ...}; write (at) in free text"
        else:
            message += in_field
        self.parsed.faults.append((self.lineno, prefix + message))
        next_entry = re.compile(r"\n[ \t]*(?=@\w+\s*[{(])").search(self.text, self.pos)
        self._move_to(next_entry.end() if next_entry else self.pos)

    def _move_to(self, position: int) -> None:
        self.update_lineno(self.text[self.pos : position])
        self.pos = position

    def _skip_comment_lines(self) -> None:
        while match := _COMMENT_LINE.match(self.text, self.pos):
            self._move_to(match.end())
