"""Works: the bibliography as pages show it, each work with the name under which it is cited."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from artifacts.errors import SpecError
from artifacts.store.text_file import text_of
from artifacts.typeset import addresses

if TYPE_CHECKING:
    from pybtex.database import Entry

BIBLIOGRAPHY = "paper/references.bib"
_CITATION = re.compile(r'<span class="citation">\[(?P<keys>[^],<]*)(?P<place>,.*?)?\]</span>', re.DOTALL)


@dataclass(frozen=True)
class Work:
    """A work: its key, how it is cited (`Su et al., 2024`), and its entry as HTML."""

    key: str
    label: str
    html: Markup


def works(root: Path) -> dict[str, Work]:
    """The works of a project's bibliography by key, in the order of authors and years; none where there is no file.

    Raises
    ------
    SpecError
        The file is no BibTeX, or an entry lacks what its kind needs.
    """
    from pybtex.exceptions import PybtexError
    from pybtex.plugin import find_plugin

    try:
        text = text_of(root, BIBLIOGRAPHY, SpecError)
    except FileNotFoundError:
        return {}
    style = find_plugin("pybtex.style.formatting", "plain")(name_style="plain")
    backend: Any = find_plugin("pybtex.backends", "html")()
    backend.format_protected = lambda inner: inner  # braces keep capitals, which leaves nothing to mark
    try:
        entries = _entries(text, style)
        shown = [(entry.key, Markup(entry.text.render(backend))) for entry in style.format_entries(entries)]
    except PybtexError as error:
        raise SpecError(f"{BIBLIOGRAPHY}: {' '.join(str(error).split())}") from None
    held = {entry.key: entry for entry in entries}
    names = {key: _authors_year(held[key]) for key, _ in shown}
    several, letters, by_key = Counter(names.values()), Counter[str](), {}
    for key, html in shown:
        name = names[key]
        letter = chr(ord("a") + letters[name]) if several[name] > 1 else ""
        letters[name] += 1
        by_key[key] = Work(key, name + letter, html)
    return by_key


def cited(html: str, held: Mapping[str, Work], root: str = "") -> tuple[Markup, tuple[str, ...]]:
    """Text in which citations lead to the bibliography, and the keys that it cites.

    Parameters
    ----------
    html : str
        The project's own HTML, its citations as `artifacts.typeset.text.prose` writes them.
    held : mapping of str to Work
        The bibliography; a key that it does not hold stays as it is.
    root : str
        The way from the page to the site's folder.
    """
    keys: dict[str, None] = {}

    def linked(match: re.Match[str]) -> str:
        shown = []
        for key in match["keys"].split("; "):
            if key in held:
                keys[key] = None
                shown.append(link(held[key], root))
            else:
                shown.append(escape(key))
        return f'<span class="citation">({"; ".join(shown)}{match["place"] or ""})</span>'

    return Markup(_CITATION.sub(linked, html)), tuple(keys)


def link(work: Work, root: str = "") -> Markup:
    """The name of a work, leading to its entry."""
    return Markup('<a href="{}{}">{}</a>').format(root, addresses.work(work.key), work.label)


def _entries(text: str, style: Any) -> list[Entry]:
    from pybtex.database import parse_string

    entries = list(parse_string(text, "bibtex").entries.values())
    for entry in entries:
        if not hasattr(style, f"get_{entry.type}_template"):
            entry.type = "misc"  # a kind that BibTeX does not know has no form of its own there either
    return entries


def _authors_year(entry: Entry) -> str:
    """Authors, or editors, or the key, and the year."""
    people = entry.persons.get("author") or entry.persons.get("editor") or []
    names = [" ".join(map(str, (*each.rich_prelast_names, *each.rich_last_names))) for each in people]
    several = len(names) > 2 or names[-1:] == ["others"]
    who = f"{names[0]} et al." if several else " and ".join(names) or entry.key
    return f"{who}, {entry.fields.get('year', 'without a year')}"
