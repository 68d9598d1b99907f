"""Read the paper's metadata (`paper/metadata.yaml`): title page, order of chapters, names that look like numbers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boundpaper.errors import SpecError
from boundpaper.store.pattern import fault
from boundpaper.store.rules import Rule, either, listed, mapping, matching, require, text
from boundpaper.store.text_file import text_of, yaml_of
from boundpaper.suggestions import or_known

FILE = "paper/metadata.yaml"
ORCID = r"(?:https?://orcid\.org/)?(\d{4}-\d{4}-\d{4}-\d{3}[\dX])"
ROR = r"https://ror\.org/0[a-z0-9]{8}"
AUTHOR = mapping(
    {
        "name": text,
        "orcid": matching(ORCID, "is no ORCID, such as 0000-0002-1825-0097"),
        "affiliation": text,
        "ror": matching(ROR, "is not an address of an organisation, such as https://ror.org/02mhbdp94"),
        "email": text,
        "url": text,
    },
    ("name",),
)


FIELDS: Rule = mapping(
    {
        **dict.fromkeys(("title", "subtitle", "institution", "date", "version", "licence", "publisher"), text),
        "author": either(text, listed(either(text, AUTHOR))),
        "identifier": matching(r"https?://\S+|doi:10\.\S+|10\.\d{4,9}/\S+", "is no DOI and no address"),
        **dict.fromkeys(("keywords", "chapters", "appendices", "supplement", "names", "terms"), listed(text)),
        "site": text,
    }
)
"""What the file may hold."""

CLASSES = ("class", "documentclass", "document_class", "journal", "venue", "style")
OWN_CLASS = (
    "a paper of chapters is set in the engine's own class. A journal's class keeps its LaTeX: run `boundpaper init` in "
    "the folder of that paper, which binds its numbers to its data (docs/adopt.md)"
)


@dataclass(frozen=True)
class Author:
    """An author of the paper; all fields but the name may be empty.

    Attributes
    ----------
    name : str
        As it is printed.
    orcid : str
        The address below `https://orcid.org/`.
    affiliation, ror : str
        The organisation, and its address in the registry of organisations.
    email, url : str
    is_person : bool
        Whether it is one; an entity of `CITATION.cff` is an organisation.
    """

    name: str
    orcid: str = ""
    affiliation: str = ""
    ror: str = ""
    email: str = ""
    url: str = ""
    is_person: bool = True


@dataclass(frozen=True, kw_only=True)
class Metadata:
    """The content of `paper/metadata.yaml`.

    Attributes
    ----------
    title, subtitle, author, institution, date, version, licence : str
        The title page, as plain text plus `$math$` and `*emphasis*`; all but title and date may be left out, and
        leave their line out. Several authors are joined.
    authors : tuple of Author
        The same authors one by one, for what is published: `author` in the file is a text, or a list of texts and of
        mappings with the attributes of `Author`.
    publisher, identifier : str
        For what is published: who publishes it (the first author where it is left out), and its DOI or other address.
    keywords : tuple of str
        For the PDF's description.
    chapters, appendices : tuple of str
        Names of templates in `paper/chapters`, in order; `abstract` is set before them where it exists.
    supplement : tuple of str
        Tables and figures that no chapter shows: they are built when asked for, and stand in the supplement only.
    names : tuple of str
        Regular expressions of names that hold digits.
    terms : tuple of str
        Fixed terms that hold digits.
    site : str
        Address of the site that numbers, verdicts and exhibits of the PDF lead to; left out, they lead to their rows
        in the PDF.
    """

    title: str
    date: str
    author: str = ""
    authors: tuple[Author, ...] = ()
    publisher: str = ""
    identifier: str = ""
    subtitle: str = ""
    institution: str = ""
    version: str = ""
    licence: str = ""
    keywords: tuple[str, ...] = ()
    chapters: tuple[str, ...] = ()
    appendices: tuple[str, ...] = ()
    supplement: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    site: str = ""


def read(root: Path) -> Metadata:
    """Read the metadata of a project.

    Raises SpecError when the file is missing or no YAML mapping, a field is unknown, missing or of the wrong type, a
    chapter is listed twice or has no template.
    """
    try:
        loaded = yaml_of(root, FILE, SpecError)
    except FileNotFoundError:
        raise SpecError(f"{FILE}: not there; it holds title, date and the order of the chapters") from None
    if not isinstance(loaded, dict):
        raise SpecError(f"{FILE}: must hold fields, as in `title: ...`")
    if asked := next((word for word in CLASSES if word in loaded), None):
        raise SpecError(f"{FILE}: {asked}: {OWN_CLASS}")
    require(loaded, FIELDS, FILE, SpecError)
    for name in ("title", "date"):
        if not loaded.get(name):
            raise SpecError(f"{FILE}: {name} is missing")
    made: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in loaded.items()}
    made["authors"] = _read_authors(loaded.get("author", ""))
    made["author"] = _joined_names([each.name for each in made["authors"]])
    metadata = Metadata(**made)
    for pattern in metadata.names:
        if wrong := fault(pattern):
            raise SpecError(f"{FILE}: {pattern!r} in names {wrong}")
    _check_chapters(root, metadata)
    return metadata


def _read_authors(given: str | Sequence[str | dict[str, Any]]) -> tuple[Author, ...]:
    listed_authors = [given] if isinstance(given, str) else given
    made = [Author(each) if isinstance(each, str) else Author(**each) for each in listed_authors if each]
    return tuple(Author(**{**vars(each), "orcid": re.sub(ORCID, r"https://orcid.org/\1", each.orcid)}) for each in made)


def _joined_names(names: Sequence[str]) -> str:
    """Return names as they are printed in a row: `A`, `A and B`, `A, B and C`."""
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def templates(root: Path) -> list[str]:
    """Return the names of all chapter templates, sorted."""
    return sorted(path.name.removesuffix(".tex.j2") for path in (root / "paper" / "chapters").glob("*.tex.j2"))


def chapters(root: Path) -> dict[str, str]:
    """Return the texts of all chapter templates, by file."""
    files = (f"paper/chapters/{name}.tex.j2" for name in templates(root))
    return {file: text_of(root, file, SpecError) for file in files}


def _check_chapters(root: Path, metadata: Metadata) -> None:
    present = templates(root)
    listed = [*metadata.chapters, *metadata.appendices]
    for name in listed:
        if name not in present:
            raise SpecError(f"{FILE}: no chapter {name!r} in paper/chapters{or_known(name, present)}")
        if listed.count(name) > 1 or name == "abstract":
            raise SpecError(f"{FILE}: the chapter {name!r} is listed twice (the abstract is set by itself)")
