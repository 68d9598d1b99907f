"""Define the bibliography's entries, which all parts of the project use, and write the file for BibTeX."""

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
NAMED = ("author", "editor")
# Kinds for which BibTeX prints editors; in other kinds without author, the editor becomes the author.
EDITED = frozenset({"book", "inbook", "incollection", "inproceedings", "proceedings"})
NEEDED = {  # fields that BibTeX requires, by kind; alternatives are joined by |
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
LETTERS = 26
LONGEST_NAME = 48  # most characters of a title that replaces a missing author
_KEY = re.compile(r"[^\s,#%~\\{}\"$^]+")
_DEFINED = re.compile(
    r"\\(?:re)?(?:new|provide)command\*?\s*\{?\s*\\(?P<name>[A-Za-z]+)\s*\}?\s*(?:\[(?P<count>\d)\])?"
    r"|\\def\s*\\(?P<defined>[A-Za-z]+)\s*(?P<arguments>(?:#\d)*)"
)


@dataclass(frozen=True, order=True)
class BibliographyFault:
    """A fault in the bibliography: file, line, what is wrong and how to correct it."""

    line: int
    what: str
    file: str = FILE

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"


@dataclass(frozen=True)
class BibliographyEntry:
    """An entry in the terms of BibTeX.

    The key is as written, the kind in lower case; `fields` are the fields that BibTeX's styles print, as ASCII LaTeX
    for pdflatex.
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

    `entries` are in the order of the file. Any of `faults` stops the build; `gaps` are fields that an entry lacks
    although its kind requires them.
    """

    entries: tuple[BibliographyEntry, ...] = ()
    faults: tuple[BibliographyFault, ...] = ()
    gaps: tuple[BibliographyFault, ...] = ()

    @cached_property
    def lines(self) -> dict[str, int]:
        """Return the line in which each entry begins, by key."""
        return {entry.key: entry.line for entry in self.entries}

    @property
    def text(self) -> str:
        """Return the text of the file that BibTeX reads."""
        return "\n".join([f"% Made from {FILE}.\n", *(entry.bibtex for entry in self.entries)])

    def sound(self) -> Bibliography:
        """Return this bibliography; raise SpecError with all faults if there are any."""
        if self.faults:
            raise SpecError("\n".join(map(str, self.faults)))
        return self


def read(root: Path) -> Bibliography:
    """Read a project's bibliography, empty without a file; raise SpecError if the file is not UTF-8."""
    try:
        return parse(text_of(root, FILE, SpecError))
    except FileNotFoundError:
        return Bibliography()


def parse(text: str) -> Bibliography:
    """Parse the text of a `.bib` file."""
    reading = parse_file(text)
    faults = [BibliographyFault(line, what) for line, what in reading.faults]
    faults += _repeated_keys(reading.entries)
    macros: dict[str, tuple[int, str]] = {}
    for line, latex in reading.preamble:
        try:
            macros |= _command_definitions(latex)
        except MarkupFault as error:
            faults.append(BibliographyFault(line, f"@preamble {error}"))
    by_key = {raw.key.lower(): raw for raw in reversed(reading.entries)}
    converter = _Entries(by_key, macros, faults)
    entries = tuple(converter.entry(raw) for raw in reading.entries if raw.kind not in ("xdata", "set"))
    faults += [
        BibliographyFault(raw.line, f"{raw.key}: @set joins entries, which BibTeX cannot; cite each of them")
        for raw in reading.entries
        if raw.kind == "set"
    ]
    faults += _crowded_names(entries)
    return Bibliography(entries, tuple(sorted(set(faults))), tuple(converter.gaps))


def _repeated_keys(entries: list[RawEntry]) -> list[BibliographyFault]:
    """Find keys that occur twice or differ only by capitals, which BibTeX treats as equal."""
    first: dict[str, RawEntry] = {}
    faults = []
    for raw in entries:
        earlier = first.setdefault(raw.key.lower(), raw)
        if earlier is not raw:
            same = f"the key {raw.key} occurs twice, first on line {earlier.line}"
            other = f"the keys {earlier.key} (line {earlier.line}) and {raw.key} differ only in case"
            faults.append(
                BibliographyFault(raw.line, f"{same if earlier.key == raw.key else other}; rename or remove one")
            )
        if not _KEY.fullmatch(raw.key):
            faults.append(
                BibliographyFault(raw.line, f"{raw.key}: a key must not contain # % ~ \\ {{ }} $ ^ or quotes")
            )
    return faults


def _crowded_names(entries: tuple[BibliographyEntry, ...]) -> list[BibliographyFault]:
    """Find author names with more works in one year than there are letters to distinguish them."""
    cited: dict[tuple[str, str], list[BibliographyEntry]] = {}
    for entry in entries:
        people = entry.fields.get("author", entry.fields.get("editor", entry.fields.get("key", ""))).split(" and ")
        families = [name.partition(",")[0] for name in people]
        who = " and ".join(families) if len(families) < 3 else f"{families[0]} et al."
        cited.setdefault((who, entry.fields.get("year", "")), []).append(entry)
    return [
        BibliographyFault(
            works[LETTERS].line,
            f"{works[LETTERS].key}: the {LETTERS + 1}th work of {who}, {year}, more than there are letters "
            "for the year; give years, or cite parts of one work by place, as in \\citep[Table 2]{key}",
        )
        for (who, year), works in cited.items()
        if len(works) > LETTERS
    ]


def _command_definitions(latex: str) -> dict[str, tuple[int, str]]:
    r"""Return the commands that an `@preamble` defines with `\newcommand`, `\\def` or similar commands."""
    macros: dict[str, tuple[int, str]] = {}
    at = 0
    while latex[at:].strip():
        at += len(latex[at:]) - len(latex[at:].lstrip())
        match = _DEFINED.match(latex, at)
        body, end = _brace_group(latex, match.end()) if match else ("", 0)
        if not match or not end:
            raise MarkupFault("may only define commands with \\newcommand; put anything else into paper/preamble.tex")
        count = int(match["count"] or 0) if match["name"] else (match["arguments"] or "").count("#")
        macros[match["name"] or match["defined"]] = (count, body)
        at = end
    return macros


def _brace_group(latex: str, at: int) -> tuple[str, int]:
    """Return the brace group at an offset, after blanks, and its end; the end is 0 if there is none."""
    begin = at + len(latex[at:]) - len(latex[at:].lstrip())
    depth = 0
    for place in range(begin, len(latex)):
        depth += {"{": 1, "}": -1}.get(latex[place], 0)
        if not depth:
            return (latex[begin + 1 : place], place + 1) if place > begin else ("", 0)
    return "", 0


@dataclass
class _Entries:
    """A converter of parsed entries that collects faults and gaps."""

    by_key: Mapping[str, RawEntry]
    macros: Mapping[str, tuple[int, str]]
    faults: list[BibliographyFault]
    gaps: list[BibliographyFault] = field(default_factory=list)

    def entry(self, raw: RawEntry) -> BibliographyEntry:
        """Return an entry in BibTeX's kinds and fields; without fields if one has no counterpart."""
        inherited = self._with_inherited(raw, ())
        try:
            kind, fields = vocabulary.in_bibtex(raw.kind, inherited)
        except vocabulary.WordFault as error:
            self.faults.append(BibliographyFault(raw.lines.get(error.field, raw.line), f"{raw.key}: {error}"))
            return BibliographyEntry(raw.key, "misc", raw.line, {})
        latex_fields = {name: self._latex_field(raw, name, value) for name, value in fields.items()}
        latex_fields = {name: value for name, value in latex_fields.items() if value}
        self._note_gaps(raw, kind, latex_fields)
        return BibliographyEntry(raw.key, kind, raw.line, latex_fields)

    def _with_inherited(self, raw: RawEntry, below: tuple[str, ...]) -> dict[str, str]:
        """Return the entry's fields and the fields inherited through its crossref and xdata."""
        fields = {name: value for name, value in raw.fields.items() if value or name in NAMED}
        for link in ("crossref", "xdata"):
            for key in filter(None, (each.strip() for each in fields.pop(link, "").split(","))):
                parent = self.by_key.get(key.lower())
                if parent is None:
                    known = or_known(key, [each.key for each in self.by_key.values()])
                    self._note_fault(raw, link, f"names {key!r}, but no entry has this key{known}")
                elif key.lower() in below or key.lower() == raw.key.lower():
                    self._note_fault(raw, link, f"leads back to {key!r}; an entry cannot inherit from itself")
                else:
                    above = self._with_inherited(parent, (*below, raw.key.lower()))
                    if link == "crossref":
                        above = _inherited_fields(raw.kind, above)
                    fields = above | fields
        return fields

    def _latex_field(self, raw: RawEntry, name: str, value: str) -> str:
        """Return a field as LaTeX that can be typeset; empty after a fault."""
        try:
            if name in ("url", "doi"):
                return self._latex_address(raw, name, value)
            if name in NAMED:
                return " and ".join(self._latex_name(each) for each in split_names(value)) if value.strip() else ""
            return setting.latex(markup.read(value, self.macros))
        except (MarkupFault, NamesFault) as error:
            self._note_fault(raw, name, str(error))
            return ""

    def _latex_name(self, name: str) -> str:
        return name if name == "others" else setting.latex(markup.read(name, self.macros))

    def _latex_address(self, raw: RawEntry, name: str, value: str) -> str:
        plain = markup.plain_address(value)
        if name == "doi":
            plain = re.sub(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", "", plain, flags=re.IGNORECASE)
            fault = "" if re.fullmatch(r"10(?:\.\d+)*/\S+", plain) else "is not a DOI; write it as in 10.1000/182"
            fault = fault or fault_of_address(doi(plain))
        else:
            plain = f"http://{plain}" if re.match(r"(?:www\.|[\w-]+(?:\.[\w-]+)+/)", plain) else plain
            fault = fault_of_address(plain)
        if fault:
            self._note_fault(raw, name, f"{plain!r} {fault}")
            return ""
        return "".join(char if char.isascii() else "".join(f"%{byte:02X}" for byte in char.encode()) for char in plain)

    def _note_gaps(self, raw: RawEntry, kind: str, fields: dict[str, str]) -> None:
        """Record missing fields; add a citable name or date to an entry without author or year."""
        if not fields.keys() & {"title", "booktitle", "journal", "url", "doi", "howpublished", "note"}:
            self._note_fault(raw, "", "has nothing to print; give at least a title")
        if kind not in EDITED and "author" not in fields and "editor" in fields:
            fields["author"] = fields.pop("editor")
        missing = [need.replace("|", " or ") for need in NEEDED[kind] if not fields.keys() & set(need.split("|"))]
        if missing:
            self.gaps.append(BibliographyFault(raw.line, f"{raw.key}: @{kind} without {', '.join(missing)}"))
        if "year" not in fields:
            fields["year"] = UNDATED
        elif not re.sub(r"\\[A-Za-z]+|\W", "", fields["year"]):
            self._note_fault(raw, "year", f"{fields['year']!r} is not a year; write the year to be printed")
        fields["year"] = re.sub(r"[()\[\]]", "", fields["year"])
        if "volume" in fields and "number" in fields and kind in ("book", "inbook", "incollection", "inproceedings"):
            fields["volume"] = f"{fields['volume']}({fields.pop('number')})"
        if "number" in fields and "series" not in fields and "volume" not in fields and kind in EDITED:
            fields["series"] = f"number {fields.pop('number')}"
        if kind in ("book", "inbook") and "author" in fields and "editor" in fields:
            several = "editors" if " and " in fields["editor"] else "editor"
            fields["note"] = "; ".join(
                filter(None, (fields.get("note"), _written(fields.pop("editor")) + f", {several}"))
            )
        named = fields.keys() & ({"author", "editor"} if kind in EDITED else {"author"})
        if not named and "key" not in fields:
            fields["key"] = self._name_without_author(raw, fields)

    def _name_without_author(self, raw: RawEntry, fields: Mapping[str, str]) -> str:
        """Return a name for a work without author: its issuer, else the first words of its title, else its key."""
        names = ("organization", "institution", "title", "booktitle", "howpublished", "journal")
        shown = next((fields[name] for name in names if name in fields), raw.key)
        text = re.sub(r"[()\[\]{}\\$]", "", markup.plain_words(markup.read(shown)))
        if len(text) > LONGEST_NAME:
            text = text[:LONGEST_NAME].rpartition(" ")[0].rstrip(",;:.- ") + " …"
        return "{" + setting.latex((text,)) + "}"

    def _note_fault(self, raw: RawEntry, name: str, what: str) -> None:
        line = raw.lines.get(name, raw.line)
        self.faults.append(BibliographyFault(line, f"{raw.key}: {name} {what}" if name else f"{raw.key}: {what}"))


def _inherited_fields(kind: str, parent: dict[str, str]) -> dict[str, str]:
    """Return the fields that a part inherits from the whole, with the title as `booktitle`, but no key or label."""
    whole = {name: value for name, value in parent.items() if name not in ("key", "shorttitle", "label", "author")}
    if kind in ("inproceedings", "incollection", "conference", "inbook", "bookinbook", "inreference"):
        for name, of_book in (("title", "booktitle"), ("subtitle", "booksubtitle"), ("titleaddon", "booktitleaddon")):
            if name in whole and of_book not in parent:
                whole[of_book] = whole[name]
            whole.pop(name, None)
        if "author" in parent and kind in ("inbook",):
            whole["author"] = parent["author"]
    elif "author" in parent:
        whole["author"] = parent["author"]
    return whole


def _written(names: str) -> str:
    """Return a list of names with first names before family names."""
    return ", ".join(" ".join(reversed([part.strip() for part in each.split(",")])) for each in names.split(" and "))
