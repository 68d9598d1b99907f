"""A sample paper with its site, and helpers that read pages."""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import html5lib

from specimens import begin, run

EVIL = "<script>alert(1)</script> & \"quoted\" 'too'"
TAG = "<img src=x onerror=alert(1)>"
SPACE = "{http://www.w3.org/1999/xhtml}"


def made(folder: Path) -> Path:
    """Write the sample paper with HTML in a document's name, two captions, the metadata and a reference."""
    root = begin(folder)
    cell = EVIL.replace('"', '""')
    for file, old, new in (
        ("artifacts/sources/documents.csv", "How Often Two Small Readers Recall a Planted Word", f'"{cell}"'),
        ("tables/recall/recall_near_far.py", 'caption="Words', f'caption="{TAG} Words'),
        ("figures/recall_curves.py", 'caption=f"Recall', f'caption=f"{TAG} Recall'),
    ):
        text = (root / file).read_text()
        assert text.count(old) == 1
        (root / file).write_text(text.replace(old, new))
    metadata = root / "paper/metadata.yaml"
    metadata.write_text(f"{metadata.read_text()}subtitle: {TAG}\nkeywords: [{TAG}]\n")
    with (root / "paper/references.bib").open("a") as stream:
        stream.write(
            f"@misc{{a&<b>, author = {{{{{TAG}}}}}, title = {{{TAG}}}, note = {{{TAG} % & #}}, year = 2026}}\n"
        )
    return root


def site(root: Path, **options) -> Path:
    """Build the site of a project; return its folder."""
    result = run(root, "site", **options)
    assert result.returncode == 0, result.stderr
    return root / "out/site"


def parsed(path: Path):
    """Return a page as a tree, read by a strict parser."""
    parser = html5lib.HTMLParser(tree=html5lib.getTreeBuilder("etree"), strict=True)
    return parser.parse(path.read_text(encoding="utf-8"))


def elements(tree, name: str) -> list:
    """Return all elements with the tag `name`."""
    return list(tree.iter(f"{SPACE}{name}"))


def ids(tree) -> list[str]:
    """Return all ids of a page."""
    return [element.get("id") for element in tree.iter() if isinstance(element.tag, str) and element.get("id")]


def words(element) -> str:
    """Return the text of an element; white space between words becomes one space."""
    return re.sub(r"\s+", " ", "".join(element.itertext())).strip()


def addresses(tree) -> list[tuple[str, str]]:
    """Return the name and value of each `href` and `src` attribute in a page."""
    return [
        (name, element.get(name))
        for element in tree.iter()
        if isinstance(element.tag, str)
        for name in ("href", "src")
        if element.get(name)
    ]


def target(page: Path, address: str) -> tuple[Path, str]:
    """Return the file and the fragment that an address in a page points to."""
    parts = urlsplit(address)
    file = (page.parent / unquote(parts.path)).resolve() if parts.path else page.resolve()
    return file, unquote(parts.fragment)
