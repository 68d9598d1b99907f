"""Read the paper's metadata (`paper/metadata.yaml`): its title page, order of chapters, and names with digits."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from boundpaper.errors import SpecError
from boundpaper.store.pattern import pattern_fault
from boundpaper.store.rules import Rule, either, listed, mapping, matching, require, text
from boundpaper.store.text_file import text_of, yaml_of
from boundpaper.suggestions import or_known

FILE = "paper/metadata.yaml"
ORCID = r"(?:https?://orcid\.org/)?(\d{4}-\d{4}-\d{4}-\d{3}[\dX])"
ROR = r"https://ror\.org/0[a-z0-9]{8}"
AUTHOR = mapping(
    {
        "name": text,
        "orcid": matching(ORCID, "is not an ORCID, such as 0000-0002-1825-0097"),
        "affiliation": text,
        "ror": matching(ROR, "is not an address of an organisation, such as https://ror.org/02mhbdp94"),
        "email": text,
        "url": text,
    },
    ("name",),
)


FIELDS: Rule = mapping(  # rule for the content of the file
    {
        **dict.fromkeys(("title", "subtitle", "institution", "date", "version", "licence", "publisher"), text),
        "author": either(text, listed(either(text, AUTHOR))),
        "identifier": matching(r"https?://\S+|doi:10\.\S+|10\.\d{4,9}/\S+", "is neither a DOI nor an address"),
        **dict.fromkeys(("keywords", "chapters", "appendices", "supplement", "names", "terms"), listed(text)),
        "site": text,
    }
)

CLASS_KEYS = ("class", "documentclass", "document_class", "journal", "venue", "style")
CLASS_ADVICE = (
    "a paper built from chapters uses the engine's class. To use a journal's class, run `boundpaper init` in the "
    "folder of a LaTeX paper, which binds its numbers to its data (docs/adopt.md)"
)


@dataclass(frozen=True)
class Author:
    """An author of the paper; all fields but the name may be empty.

    Attributes
    ----------
    name : str
        The printed name.
    orcid : str
        The address below `https://orcid.org/`.
    affiliation, ror : str
        The organisation, and its address in the Research Organization Registry.
    email, url : str
    is_person : bool
        False for an entity of `CITATION.cff`, such as an organisation.
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
        Lines of the title page, as plain text with `$math$` and `*emphasis*`; all but title and date are optional.
        `author` joins the names of several authors.
    authors : tuple of Author
        Each author, for publishing. In the file, `author` is a name, or a list of names and of mappings with the
        attributes of `Author`.
    publisher, identifier : str
        For publishing: the publisher (by default the first author), and the DOI or other address.
    keywords : tuple of str
        Keywords in the PDF's metadata.
    chapters, appendices : tuple of str
        Names of templates in `paper/chapters`, in order. A template `abstract` is printed before them.
    supplement : tuple of str
        Tables and figures that no chapter shows. They are built on request, and printed only in the supplement.
    names : tuple of str
        Regular expressions of names that contain digits.
    terms : tuple of str
        Fixed terms that contain digits.
    site : str
        Address of the site to which numbers, verdicts and exhibits of the PDF link; by default they link to rows in the
        PDF.
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
    """Return the metadata of a project.

    Raises SpecError when the file is missing or not a YAML mapping, a field is unknown, missing or of the wrong type,
    or a chapter is listed twice or has no template.
    """
    try:
        content = yaml_of(root, FILE, SpecError)
    except FileNotFoundError:
        raise SpecError(f"{FILE}: no such file; write it with title, date and the order of the chapters") from None
    if not isinstance(content, dict):
        raise SpecError(f"{FILE}: must contain fields, as in `title: ...`")
    if class_key := next((key for key in CLASS_KEYS if key in content), None):
        raise SpecError(f"{FILE}: {class_key}: {CLASS_ADVICE}")
    require(content, FIELDS, FILE, SpecError)
    for name in ("title", "date"):
        if not content.get(name):
            raise SpecError(f"{FILE}: {name} is missing; add it")
    authors = _authors_of(content.pop("author", ""))
    fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in content.items()}
    metadata = Metadata(**fields, authors=authors, author=_join_names([author.name for author in authors]))
    for pattern in metadata.names:
        if fault := pattern_fault(pattern):
            raise SpecError(f"{FILE}: {pattern!r} in names {fault}")
    _check_chapters(root, metadata)
    return metadata


def _authors_of(value: str | Sequence[str | dict[str, Any]]) -> tuple[Author, ...]:
    entries = [value] if isinstance(value, str) else value
    authors = [Author(entry) if isinstance(entry, str) else Author(**entry) for entry in entries if entry]
    return tuple(replace(author, orcid=re.sub(ORCID, r"https://orcid.org/\1", author.orcid)) for author in authors)


def _join_names(names: Sequence[str]) -> str:
    """Return names joined for print: `A`, `A and B`, `A, B and C`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def templates(root: Path) -> list[str]:
    """Return the names of all chapter templates, sorted."""
    return sorted(path.name.removesuffix(".tex.j2") for path in (root / "paper" / "chapters").glob("*.tex.j2"))


def chapters(root: Path) -> dict[str, str]:
    """Return the texts of all chapter templates by file."""
    files = (f"paper/chapters/{name}.tex.j2" for name in templates(root))
    return {file: text_of(root, file, SpecError) for file in files}


def _check_chapters(root: Path, metadata: Metadata) -> None:
    template_names = templates(root)
    chapter_names = [*metadata.chapters, *metadata.appendices]
    for name in chapter_names:
        if name not in template_names:
            raise SpecError(f"{FILE}: no chapter {name!r} in paper/chapters{or_known(name, template_names)}")
        if name == "abstract":
            raise SpecError(f"{FILE}: 'abstract' is listed; remove it from the list, since it is always printed")
        if chapter_names.count(name) > 1:
            raise SpecError(f"{FILE}: the chapter {name!r} is listed twice; remove one")
