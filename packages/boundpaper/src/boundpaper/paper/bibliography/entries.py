"""Represent the bibliography's entries as all parts of the project use them, and write the file for BibTeX."""

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
# Kinds in which BibTeX sets an editor; elsewhere one who is named instead of an author stands in the author's place.
EDITED = frozenset({"book", "inbook", "incollection", "inproceedings", "proceedings"})
NEEDED = {  # what BibTeX calls empty, by kind; alternatives are joined by |
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
LONGEST_NAME = 48  # characters of a title that stands for the author who is not named
_KEY = re.compile(r"[^\s,#%~\\{}\"$^]+")
_DEFINED = re.compile(
    r"\\(?:re)?(?:new|provide)command\*?\s*\{?\s*\\(?P<name>[A-Za-z]+)\s*\}?\s*(?:\[(?P<count>\d)\])?"
    r"|\\def\s*\\(?P<defined>[A-Za-z]+)\s*(?P<arguments>(?:#\d)*)"
)


@dataclass(frozen=True, order=True)
class BibliographyFault:
    """A fault of the bibliography: its file, its line, what is wrong and how to mend it."""

    line: int
    what: str
    file: str = FILE

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"


@dataclass(frozen=True)
class BibliographyEntry:
    """An entry in the terms of BibTeX.

    The key is as written and the kind in small letters; `fields` are what BibTeX's styles set, as LaTeX in ASCII that
    pdflatex can set.
    """

    key: str
    kind: str
    line: int
    fields: Mapping[str, str]

    @property
    def bibtex(self) -> str:
        """Return the entry as BibTeX reads it."""
        lines = [f"@{self.kind}{{{self.key}", *(f"  {name} = {{{value}}}" for name, value in self.fields.items())]
        return ",\n".join(lines) + "\n}\n"


@dataclass(frozen=True)
class Bibliography:
    """Content of a project's bibliography.

    `entries` are in the order of the file. With any of `faults`, which keep the PDF from being right, nothing is built;
    `gaps` are fields that an entry of its kind has and this one lacks.
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
        """Return the bibliography; SpecError with all of its faults if it has any."""
        if self.faults:
            raise SpecError("\n".join(map(str, self.faults)))
        return self


def read(root: Path) -> Bibliography:
    """Read a project's bibliography; it is empty if there is no file; SpecError if the file is not UTF-8."""
    try:
        return parse(text_of(root, FILE, SpecError))
    except FileNotFoundError:
        return Bibliography()


def parse(text: str) -> Bibliography:
    """Read the text of a `.bib` file."""
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
    made = _Entries(by_key, macros, faults)
    entries = tuple(made.entry(raw) for raw in reading.entries if raw.kind not in ("xdata", "set"))
    faults += [
        BibliographyFault(raw.line, f"{raw.key}: @set joins entries, which BibTeX cannot; cite each of them")
        for raw in reading.entries
        if raw.kind == "set"
    ]
    faults += _crowded_names(entries)
    return Bibliography(entries, tuple(sorted(set(faults))), tuple(made.gaps))


def _repeated_keys(entries: list[RawEntry]) -> list[BibliographyFault]:
    """Find keys that occur twice or differ only by capitals, which BibTeX treats as equal."""
    first: dict[str, RawEntry] = {}
    faults = []
    for raw in entries:
        known = first.setdefault(raw.key.lower(), raw)
        if known is not raw:
            same = f"the key {raw.key} is there twice, first on line {known.line}"
            other = f"the keys {known.key} (line {known.line}) and {raw.key} differ by capitals alone"
            faults.append(
                BibliographyFault(raw.line, f"{same if known.key == raw.key else other}; rename one, or take it out")
            )
        if not _KEY.fullmatch(raw.key):
            faults.append(
                BibliographyFault(raw.line, f"{raw.key}: a key must do without the signs # % ~ \\ {{ }} $ ^ and quotes")
            )
    return faults


def _crowded_names(entries: tuple[BibliographyEntry, ...]) -> list[BibliographyFault]:
    """Find names under which more works of one year are cited than there are letters to tell them apart."""
    cited: dict[tuple[str, str], list[BibliographyEntry]] = {}
    for entry in entries:
        people = entry.fields.get("author", entry.fields.get("editor", entry.fields.get("key", ""))).split(" and ")
        families = [name.partition(",")[0] for name in people]
        who = " and ".join(families) if len(families) < 3 else f"{families[0]} et al."
        cited.setdefault((who, entry.fields.get("year", "")), []).append(entry)
    return [
        BibliographyFault(
            works[LETTERS].line,
            f"{works[LETTERS].key}: the {LETTERS + 1}th work of {who}, {year}, which no letter after the year can tell "
            "apart; give years, or cite another part of the same work by its place, as in \\citep[Table 2]{key}",
        )
        for (who, year), works in cited.items()
        if len(works) > LETTERS
    ]


def _command_definitions(latex: str) -> dict[str, tuple[int, str]]:
    r"""Return commands that an `@preamble` defines, by `\newcommand` and similar commands or by `\\def`."""
    macros: dict[str, tuple[int, str]] = {}
    at = 0
    while latex[at:].strip():
        at += len(latex[at:]) - len(latex[at:].lstrip())
        match = _DEFINED.match(latex, at)
        body, end = _brace_group(latex, match.end()) if match else ("", 0)
        if not match or not end:
            raise MarkupFault("may define commands by \\newcommand alone; put anything else into paper/preamble.tex")
        count = int(match["count"] or 0) if match["name"] else (match["arguments"] or "").count("#")
        macros[match["name"] or match["defined"]] = (count, body)
        at = end
    return macros


def _brace_group(latex: str, at: int) -> tuple[str, int]:
    """Return the brace group that begins at a place, skipping blanks, and where it ends; 0 if there is none."""
    begin = at + len(latex[at:]) - len(latex[at:].lstrip())
    depth = 0
    for place in range(begin, len(latex)):
        depth += {"{": 1, "}": -1}.get(latex[place], 0)
        if not depth:
            return (latex[begin + 1 : place], place + 1) if place > begin else ("", 0)
    return "", 0


@dataclass
class _Entries:
    """A converter of parsed entries, which collects their faults and gaps."""

    by_key: Mapping[str, RawEntry]
    macros: Mapping[str, tuple[int, str]]
    faults: list[BibliographyFault]
    gaps: list[BibliographyFault] = field(default_factory=list)

    def entry(self, raw: RawEntry) -> BibliographyEntry:
        """Convert an entry to BibTeX's terms; without fields if one of its terms has no counterpart."""
        given = self._with_inherited(raw, ())
        try:
            kind, fields = vocabulary.in_bibtex(raw.kind, given)
        except vocabulary.WordFault as error:
            self.faults.append(BibliographyFault(raw.lines.get(error.field, raw.line), f"{raw.key}: {error}"))
            return BibliographyEntry(raw.key, "misc", raw.line, {})
        made = {name: self._latex_field(raw, name, value) for name, value in fields.items()}
        made = {name: value for name, value in made.items() if value}
        self._note_gaps(raw, kind, made)
        return BibliographyEntry(raw.key, kind, raw.line, made)

    def _with_inherited(self, raw: RawEntry, below: tuple[str, ...]) -> dict[str, str]:
        """Return the entry's fields, with those inherited from the entries that its crossref and xdata name."""
        fields = {name: value for name, value in raw.fields.items() if value or name in NAMED}
        for link in ("crossref", "xdata"):
            for key in filter(None, (each.strip() for each in fields.pop(link, "").split(","))):
                parent = self.by_key.get(key.lower())
                if parent is None:
                    known = or_known(key, [each.key for each in self.by_key.values()])
                    self._note_fault(raw, link, f"names {key!r}, which is no entry{known}")
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
            wrong = "" if re.fullmatch(r"10(?:\.\d+)*/\S+", plain) else "is no DOI; write it as in 10.1000/182"
            wrong = wrong or fault_of_address(doi(plain))
        else:
            plain = f"http://{plain}" if re.match(r"(?:www\.|[\w-]+(?:\.[\w-]+)+/)", plain) else plain
            wrong = fault_of_address(plain)
        if wrong:
            self._note_fault(raw, name, f"{plain!r} {wrong}")
            return ""
        return "".join(char if char.isascii() else "".join(f"%{byte:02X}" for byte in char.encode()) for char in plain)

    def _note_gaps(self, raw: RawEntry, kind: str, made: dict[str, str]) -> None:
        """Note missing fields; give an entry without author or year the name and date by which it is cited."""
        if not made.keys() & {"title", "booktitle", "journal", "url", "doi", "howpublished", "note"}:
            self._note_fault(raw, "", "says nothing that could be printed; give at least a title")
        if kind not in EDITED and "author" not in made and "editor" in made:
            made["author"] = made.pop("editor")
        missing = [need.replace("|", " or ") for need in NEEDED[kind] if not made.keys() & set(need.split("|"))]
        if missing:
            self.gaps.append(BibliographyFault(raw.line, f"{raw.key}: @{kind} without {', '.join(missing)}"))
        if "year" not in made:
            made["year"] = UNDATED
        elif not re.sub(r"\\[A-Za-z]+|\W", "", made["year"]):
            self._note_fault(raw, "year", f"{made['year']!r} is not a year; write it as it is to be printed")
        made["year"] = re.sub(r"[()\[\]]", "", made["year"])
        if "volume" in made and "number" in made and kind in ("book", "inbook", "incollection", "inproceedings"):
            made["volume"] = f"{made['volume']}({made.pop('number')})"
        if "number" in made and "series" not in made and "volume" not in made and kind in EDITED:
            made["series"] = f"number {made.pop('number')}"
        if kind in ("book", "inbook") and "author" in made and "editor" in made:
            several = "editors" if " and " in made["editor"] else "editor"
            made["note"] = "; ".join(filter(None, (made.get("note"), _written(made.pop("editor")) + f", {several}")))
        named = made.keys() & ({"author", "editor"} if kind in EDITED else {"author"})
        if not named and "key" not in made:
            made["key"] = self._name_without_author(raw, made)

    def _name_without_author(self, raw: RawEntry, made: Mapping[str, str]) -> str:
        """Return a name for a work without author: its issuer, or the first words of its title, or its key."""
        names = ("organization", "institution", "title", "booktitle", "howpublished", "journal")
        shown = next((made[name] for name in names if name in made), raw.key)
        text = re.sub(r"[()\[\]{}\\$]", "", markup.plain_words(markup.read(shown)))
        if len(text) > LONGEST_NAME:
            text = text[:LONGEST_NAME].rpartition(" ")[0].rstrip(",;:.- ") + " …"
        return "{" + setting.latex((text,)) + "}"

    def _note_fault(self, raw: RawEntry, name: str, what: str) -> None:
        line = raw.lines.get(name, raw.line)
        self.faults.append(BibliographyFault(line, f"{raw.key}: {name} {what}" if name else f"{raw.key}: {what}"))


def _inherited_fields(kind: str, parent: dict[str, str]) -> dict[str, str]:
    """Fields that a part inherits from the whole: its title becomes `booktitle`, and its key and label are left out."""
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
    """Return a list of names as it is read: first name before family name."""
    return ", ".join(" ".join(reversed([part.strip() for part in each.split(",")])) for each in names.split(" and "))
