"""The paper's metadata: title page, order of chapters, and the names that are no numbers (`paper/metadata.yaml`)."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from artifacts.errors import SpecError
from artifacts.near import or_known
from artifacts.store.text_file import yaml_of
from paper.pattern import fault

FILE = "paper/metadata.yaml"
TYPES: dict[Any, type] = {str: str, int: int}
SAID = {str: "text; quote it", int: "a whole number", list: "a list of texts; quote it"}


@dataclass(frozen=True, kw_only=True)
class Metadata:
    """What `paper/metadata.yaml` says.

    Attributes
    ----------
    title, subtitle, author, institution, date, version, licence : str
        The title page, as plain text plus `$math$` and `*emphasis*`; all but title and date may be left out, and
        leave their line out.
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
    predicates : int
        How many verdicts the book may have as clauses of sentences; all others are marks.
    site : str
        Address of the site that numbers, verdicts and exhibits of the PDF lead to; left out, they lead to their rows
        in the PDF.
    """

    title: str
    date: str
    author: str = ""
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
    predicates: int = 12
    site: str = ""


def read(root: Path) -> Metadata:
    """Read the metadata of a project.

    Raises
    ------
    SpecError
        The file is missing or no YAML mapping, a field is unknown, missing or of the wrong type, a chapter is listed
        twice or has no template.
    """
    try:
        loaded = yaml_of(root, FILE, SpecError)
    except FileNotFoundError:
        raise SpecError(f"{FILE}: not there; it holds title, date and the order of the chapters") from None
    if not isinstance(loaded, dict):
        raise SpecError(f"{FILE}: must hold fields, as in `title: ...`")
    known = {item.name: item.type for item in fields(Metadata)}
    for name, value in loaded.items():
        if name not in known:
            raise SpecError(f"{FILE}: unknown field {name!r}{or_known(str(name), known)}")
        wanted: Any = TYPES.get(known[name], list)
        items: list[Any] = value if isinstance(value, list) else []
        if not isinstance(value, wanted) or not all(isinstance(item, str) for item in items):
            raise SpecError(f"{FILE}: {name} must be {SAID[wanted]}")
    for name in ("title", "date"):
        if not loaded.get(name):
            raise SpecError(f"{FILE}: {name} is missing")
    made: dict[str, Any] = {
        name: value if isinstance(value, (str, int)) else tuple(value) for name, value in loaded.items()
    }
    metadata = Metadata(**made)
    for pattern in metadata.names:
        if wrong := fault(pattern):
            raise SpecError(f"{FILE}: {pattern!r} in names {wrong}")
    _check_chapters(root, metadata)
    return metadata


def templates(root: Path) -> list[str]:
    """Names of all chapter templates, sorted."""
    return sorted(path.name.removesuffix(".tex.j2") for path in (root / "paper" / "chapters").glob("*.tex.j2"))


def _check_chapters(root: Path, metadata: Metadata) -> None:
    present = templates(root)
    listed = [*metadata.chapters, *metadata.appendices]
    for name in listed:
        if name not in present:
            raise SpecError(f"{FILE}: no chapter {name!r} in paper/chapters{or_known(name, present)}")
        if listed.count(name) > 1 or name == "abstract":
            raise SpecError(f"{FILE}: the chapter {name!r} is listed twice (the abstract is set by itself)")
