"""Read the bibliography, convert its entries to BibTeX's kinds and fields, and write the file that BibTeX reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from boundpaper.errors import SpecError
from boundpaper.paper.bibliography import markup, setting, vocabulary
from boundpaper.paper.bibliography.grammar import RawEntry, parse_file
from boundpaper.paper.bibliography.names import NamesFault, split_names
from boundpaper.paper.bibliography.signs import MarkupFault
from boundpaper.store.text_file import text_of
from boundpaper.suggestions import or_known
from boundpaper.typeset.addresses import doi, fault_of_address

FILE = "paper/references.bib"
NAME_FIELDS = ("author", "editor")
# Kinds for which BibTeX prints editors. In other kinds, the editor of a work without author becomes its author.
KINDS_WITH_EDITOR = frozenset({"book", "inbook", "incollection", "inproceedings", "proceedings"})
REQUIRED = {  # fields that BibTeX requires for each kind; alternatives are joined by |
    "article": ("author", "title", "journal", "year"),
    "book": ("author|editor", "title", "publisher", "year"),
    "booklet": ("title",),
    "inbook": ("author|editor", "title", "chapter|pages", "publisher", "year"),
    "incollection": ("author", "title", "booktitle", "publisher", "year"),
    "inproceedings": ("author", "title", "booktitle", "year"),
    "manual": ("title",),
    "mastersthesis": ("author", "title", "school", "year"),
    "misc": (),
    "phdthesis": ("author", "title", "school", "year"),
    "proceedings": ("title", "year"),
    "techreport": ("author", "title", "institution", "year"),
    "unpublished": ("author", "title", "note", "year"),
}
UNDATED = "n.d."
LETTERS = 26  # letters that tell apart works of the same authors and year
LONGEST_NAME = 48  # most characters of a title that replaces a missing author
_KEY = re.compile(r"[^\s,#%~\\{}\"$^]+")
_DEFINITION = re.compile(
    r"\\(?:re)?(?:new|provide)command\*?\s*\{?\s*\\(?P<name>[A-Za-z]+)\s*\}?\s*(?:\[(?P<count>\d)\])?"
    r"|\\def\s*\\(?P<defined>[A-Za-z]+)\s*(?P<arguments>(?:#\d)*)"
)


@dataclass(frozen=True, order=True)
class BibliographyFault:
    """A fault in the bibliography; the message says what is wrong, and how to correct it."""

    line: int
    message: str
    file: str = FILE

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


@dataclass(frozen=True)
class BibliographyEntry:
    """An entry of the bibliography, with BibTeX's kind and fields.

    The key is as written; the kind is in lower case. `fields` has only fields that BibTeX's styles print, as LaTeX
    in ASCII.
    """

    key: str
    kind: str
    line: int
    fields: Mapping[str, str]

    @property
    def bibtex(self) -> str:
        """Return the entry in BibTeX's syntax."""
        lines = [f"@{self.kind}{{{self.key}", *(f"  {name} = {{{value}}}" for name, value in self.fields.items())]
        return ",\n".join(lines) + "\n}\n"


@dataclass(frozen=True)
class Bibliography:
    """The content of a project's bibliography.

    `entries` are in the order of the file. `faults` stop a build. `gaps` do not; they are fields that an entry lacks
    although its kind requires them.
    """

    entries: tuple[BibliographyEntry, ...] = ()
    faults: tuple[BibliographyFault, ...] = ()
    gaps: tuple[BibliographyFault, ...] = ()

    @cached_property
    def lines(self) -> dict[str, int]:
        """Return the line of each entry by its key."""
        return {entry.key: entry.line for entry in self.entries}

    @property
    def text(self) -> str:
        """Return the text of the file that BibTeX reads."""
        return "\n".join([f"% Made from {FILE}.\n", *(entry.bibtex for entry in self.entries)])

    def checked(self) -> Bibliography:
        """Return this bibliography if it has no faults; raise SpecError with all faults if it has."""
        if self.faults:
            raise SpecError("\n".join(map(str, self.faults)))
        return self


def read(root: Path) -> Bibliography:
    """Return a project's bibliography, empty if there is no file; raise SpecError if the file is not UTF-8."""
    try:
        return parse(text_of(root, FILE, SpecError))
    except FileNotFoundError:
        return Bibliography()


def parse(text: str) -> Bibliography:
    """Return the bibliography in the text of a `.bib` file."""
    parsed = parse_file(text)
    faults = [BibliographyFault(line, message) for line, message in parsed.faults]
    faults += _key_faults(parsed.entries)
    macros: dict[str, tuple[int, str]] = {}
    for line, latex in parsed.preamble:
        try:
            macros |= _command_definitions(latex)
        except MarkupFault as error:
            faults.append(BibliographyFault(line, f"@preamble {error}"))
    by_key = {raw.key.lower(): raw for raw in reversed(parsed.entries)}
    converter = _EntryConverter(by_key, macros, faults)
    entries = tuple(converter.entry(raw) for raw in parsed.entries if raw.kind not in ("xdata", "set"))
    faults += [
        BibliographyFault(raw.line, f"{raw.key}: @set joins entries, which BibTeX cannot; cite each of them")
        for raw in parsed.entries
        if raw.kind == "set"
    ]
    faults += _name_faults(entries)
    return Bibliography(entries, tuple(sorted(set(faults))), tuple(converter.gaps))


def _key_faults(entries: list[RawEntry]) -> list[BibliographyFault]:
    """Find invalid keys, and keys that occur twice or differ only by capitals, which BibTeX treats as equal."""
    first_entries: dict[str, RawEntry] = {}
    faults = []
    for raw in entries:
        first = first_entries.setdefault(raw.key.lower(), raw)
        if first is not raw:
            message = f"the keys {first.key} (line {first.line}) and {raw.key} differ only in case"
            if first.key == raw.key:
                message = f"the key {raw.key} occurs twice, first on line {first.line}"
            faults.append(BibliographyFault(raw.line, f"{message}; rename or remove one"))
        if not _KEY.fullmatch(raw.key):
            message = f"{raw.key}: a key must not contain # % ~ \\ {{ }} $ ^ or quotes"
            faults.append(BibliographyFault(raw.line, message))
    return faults


def _name_faults(entries: tuple[BibliographyEntry, ...]) -> list[BibliographyFault]:
    """Find authors with more works in one year than there are letters to tell the works apart."""
    works_by_citation: dict[tuple[str, str], list[BibliographyEntry]] = {}
    for entry in entries:
        people = entry.fields.get("author", entry.fields.get("editor", entry.fields.get("key", ""))).split(" and ")
        family_names = [name.partition(",")[0] for name in people]
        authors = " and ".join(family_names) if len(family_names) < 3 else f"{family_names[0]} et al."
        works_by_citation.setdefault((authors, entry.fields.get("year", "")), []).append(entry)
    return [
        BibliographyFault(
            works[LETTERS].line,
            f"{works[LETTERS].key}: the {LETTERS + 1}th work of {authors}, {year}, more than there are letters "
            "for the year; give years, or cite parts of one work by place, as in \\citep[Table 2]{key}",
        )
        for (authors, year), works in works_by_citation.items()
        if len(works) > LETTERS
    ]


def _command_definitions(latex: str) -> dict[str, tuple[int, str]]:
    r"""Return the commands that an `@preamble` defines with `\newcommand`, `\def` or similar commands."""
    macros: dict[str, tuple[int, str]] = {}
    position = 0
    while latex[position:].strip():
        position = _after_blanks(latex, position)
        match = _DEFINITION.match(latex, position)
        body, end = _brace_group(latex, match.end()) if match else ("", 0)
        if not match or not end:
            raise MarkupFault("may only define commands with \\newcommand; put anything else into paper/preamble.tex")
        count = int(match["count"] or 0) if match["name"] else (match["arguments"] or "").count("#")
        macros[match["name"] or match["defined"]] = (count, body)
        position = end
    return macros


def _brace_group(latex: str, position: int) -> tuple[str, int]:
    """Return content and end of the braces that follow a position, directly or after blanks; ("", 0) if none follow."""
    begin = _after_blanks(latex, position)
    depth = 0
    for end in range(begin, len(latex)):
        depth += {"{": 1, "}": -1}.get(latex[end], 0)
        if not depth:
            return (latex[begin + 1 : end], end + 1) if end > begin else ("", 0)
    return "", 0


def _after_blanks(latex: str, position: int) -> int:
    return len(latex) - len(latex[position:].lstrip())


@dataclass
class _EntryConverter:
    """A converter of parsed entries that collects faults and gaps."""

    by_key: Mapping[str, RawEntry]
    macros: Mapping[str, tuple[int, str]]
    faults: list[BibliographyFault]
    gaps: list[BibliographyFault] = field(default_factory=list)

    def entry(self, raw: RawEntry) -> BibliographyEntry:
        """Return an entry with BibTeX's kind and fields, or without fields if BibTeX lacks the kind or a field."""
        fields_with_inherited = self._with_inherited(raw, ())
        try:
            kind, fields = vocabulary.to_bibtex(raw.kind, fields_with_inherited)
        except vocabulary.WordFault as error:
            self.faults.append(BibliographyFault(raw.lines.get(error.field, raw.line), f"{raw.key}: {error}"))
            return BibliographyEntry(raw.key, "misc", raw.line, {})
        latex_fields = {name: self._latex_field(raw, name, value) for name, value in fields.items()}
        latex_fields = {name: value for name, value in latex_fields.items() if value}
        self._complete(raw, kind, latex_fields)
        return BibliographyEntry(raw.key, kind, raw.line, latex_fields)

    def _with_inherited(self, raw: RawEntry, heirs: tuple[str, ...]) -> dict[str, str]:
        """Return an entry's own and inherited fields; `heirs` are the keys of entries that inherit from `raw`."""
        fields = {name: value for name, value in raw.fields.items() if value or name in NAME_FIELDS}
        for link in ("crossref", "xdata"):
            for key in filter(None, map(str.strip, fields.pop(link, "").split(","))):
                parent = self.by_key.get(key.lower())
                if parent is None:
                    suggestion = or_known(key, [entry.key for entry in self.by_key.values()])
                    self._note_fault(raw, link, f"names {key!r}, but no entry has this key{suggestion}")
                elif key.lower() in heirs or key.lower() == raw.key.lower():
                    self._note_fault(raw, link, f"leads back to {key!r}; an entry cannot inherit from itself")
                else:
                    parent_fields = self._with_inherited(parent, (*heirs, raw.key.lower()))
                    if link == "crossref":
                        parent_fields = _inherited_fields(raw.kind, parent_fields)
                    fields = parent_fields | fields
        return fields

    def _latex_field(self, raw: RawEntry, name: str, value: str) -> str:
        """Return a field as LaTeX that can be typeset; empty after a fault."""
        try:
            if name in ("url", "doi"):
                return self._latex_address(raw, name, value)
            if name in NAME_FIELDS:
                return " and ".join(map(self._latex_name, split_names(value))) if value.strip() else ""
            return setting.latex(markup.read(value, self.macros))
        except (MarkupFault, NamesFault) as error:
            self._note_fault(raw, name, str(error))
            return ""

    def _latex_name(self, name: str) -> str:
        return name if name == "others" else setting.latex(markup.read(name, self.macros))

    def _latex_address(self, raw: RawEntry, name: str, value: str) -> str:
        address = markup.plain_address(value)
        if name == "doi":
            address = re.sub(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", "", address, flags=re.IGNORECASE)
            fault = "" if re.fullmatch(r"10(?:\.\d+)*/\S+", address) else "is not a DOI; write it as in 10.1000/182"
            fault = fault or fault_of_address(doi(address))
        else:
            address = f"http://{address}" if re.match(r"(?:www\.|[\w-]+(?:\.[\w-]+)+/)", address) else address
            fault = fault_of_address(address)
        if fault:
            self._note_fault(raw, name, f"{address!r} {fault}")
            return ""
        return re.sub(r"[^\x00-\x7f]", lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), address)

    def _complete(self, raw: RawEntry, kind: str, fields: dict[str, str]) -> None:
        """Record missing fields, and move or add fields so that BibTeX can print and cite the entry."""
        if not fields.keys() & {"title", "booktitle", "journal", "url", "doi", "howpublished", "note"}:
            self._note_fault(raw, "", "has nothing to print; give at least a title")
        if kind not in KINDS_WITH_EDITOR and "author" not in fields and "editor" in fields:
            fields["author"] = fields.pop("editor")
        required = (names.split("|") for names in REQUIRED[kind])
        if missing := [" or ".join(names) for names in required if fields.keys().isdisjoint(names)]:
            self.gaps.append(BibliographyFault(raw.line, f"{raw.key}: @{kind} without {', '.join(missing)}"))
        if "year" not in fields:
            fields["year"] = UNDATED
        elif not re.sub(r"\\[A-Za-z]+|\W", "", fields["year"]):
            self._note_fault(raw, "year", f"{fields['year']!r} is not a year; write the year to be printed")
        fields["year"] = re.sub(r"[()\[\]]", "", fields["year"])
        if "volume" in fields and "number" in fields and kind in ("book", "inbook", "incollection", "inproceedings"):
            fields["volume"] = f"{fields['volume']}({fields.pop('number')})"
        if "number" in fields and "series" not in fields and "volume" not in fields and kind in KINDS_WITH_EDITOR:
            fields["series"] = f"number {fields.pop('number')}"
        if kind in ("book", "inbook") and "author" in fields and "editor" in fields:
            role = "editors" if " and " in fields["editor"] else "editor"
            editors = f"{_first_names_first(fields.pop('editor'))}, {role}"
            fields["note"] = f"{fields['note']}; {editors}" if fields.get("note") else editors
        if fields.keys().isdisjoint(NAME_FIELDS if kind in KINDS_WITH_EDITOR else ("author",)) and "key" not in fields:
            fields["key"] = self._name_without_author(raw, fields)

    def _name_without_author(self, raw: RawEntry, fields: Mapping[str, str]) -> str:
        """Return the name by which a work without author is cited: its issuer, else its title, else its key."""
        names = ("organization", "institution", "title", "booktitle", "howpublished", "journal")
        latex = next((fields[name] for name in names if name in fields), raw.key)
        text = re.sub(r"[()\[\]{}\\$]", "", markup.plain_words(markup.read(latex)))
        if len(text) > LONGEST_NAME:
            text = text[:LONGEST_NAME].rpartition(" ")[0].rstrip(",;:.- ") + " …"
        return "{" + setting.latex((text,)) + "}"

    def _note_fault(self, raw: RawEntry, name: str, message: str) -> None:
        line = raw.lines.get(name, raw.line)
        self.faults.append(BibliographyFault(line, f"{raw.key}: {name} {message}" if name else f"{raw.key}: {message}"))


def _inherited_fields(kind: str, parent: dict[str, str]) -> dict[str, str]:
    """Return the fields that an entry inherits by crossref; a part of a book has the book's title as `booktitle`."""
    is_part = kind in ("inproceedings", "incollection", "conference", "inbook", "bookinbook", "inreference")
    fields = {name: value for name, value in parent.items() if name not in ("key", "shorttitle", "label")}
    if is_part and kind != "inbook":
        fields.pop("author", None)
    for name in ("title", "subtitle", "titleaddon") if is_part else ():
        if name in fields:
            fields.setdefault(f"book{name}", fields.pop(name))
    return fields


def _first_names_first(names: str) -> str:
    """Return a list of names with first names before family names."""
    return ", ".join(" ".join(map(str.strip, reversed(name.split(",")))) for name in names.split(" and "))
