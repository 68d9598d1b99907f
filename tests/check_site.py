"""The documentation builds without warnings, loads nothing from other sites, and has no dead links: `make docs`."""

import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import boundpaper
import keyquery
from compared_paper import printed
from conftest import ROOT

SITE = ROOT / "out/docs"


class Page(HTMLParser):
    """The anchors, links and loaded files of an HTML page."""

    def __init__(self, path):
        super().__init__()
        self.names, self.links, self.loaded = set(), [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.names |= {attributes[name] for name in ("id", "name") if attributes.get(name)}
        if tag == "a" and "href" in attributes:
            self.links.append(attributes["href"])
        elif attributes.get("rel") not in ("canonical", "next", "prev"):
            self.loaded += [attributes[name] for name in ("src", "href") if attributes.get(name)]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Build the site with `--strict`; return its pages by name, and the folder of its notebooks' temporary files."""
    folder = tmp_path_factory.mktemp("docs")
    environment = {name: value for name, value in os.environ.items() if name != "BOUNDPAPER_ROOT"}
    shutil.rmtree(SITE, ignore_errors=True)
    result = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "-q", "-d", SITE],
        cwd=ROOT,
        env=environment | {"TMPDIR": str(folder), "XDG_CACHE_HOME": str(folder / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return {path.relative_to(SITE).as_posix(): Page(path) for path in SITE.rglob("*.html")}, folder


def test_every_link_leads_to_an_existing_page_and_anchor(pages):
    by_name, _ = pages
    wrong = []
    for name, page in by_name.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or name == "404.html":
                continue
            target = (SITE / name).parent / unquote(parts.path) if parts.path else SITE / name
            address = Path(target.resolve()).relative_to(SITE.resolve()).as_posix()
            linked = by_name.get(address if address != "." else "index.html")
            if not target.exists() or (parts.fragment and linked and unquote(parts.fragment) not in linked.names):
                wrong.append(f"{name}: {link}")
    assert wrong == []
    assert sum(len(page.links) for page in by_name.values()) > 1000


def test_pages_load_no_external_files(pages):
    by_name, _ = pages
    assert [link for page in by_name.values() for link in page.loaded if urlsplit(link).netloc] == []
    styles = "".join(path.read_text(encoding="utf-8") for path in SITE.rglob("*.css"))
    assert re.findall(r"(?:url\(|@import)\s*['\"]?(?:https?:)?//[^)]*", styles) == []


def test_reference_lists_every_public_name(pages):
    by_name, _ = pages
    for package, module in (("boundpaper", boundpaper), ("keyquery", keyquery)):
        names = {name.rpartition(".")[2] for name in by_name[f"reference/{package}.html"].names}
        assert set(module.__all__) - {"statistics"} <= names


@pytest.mark.latex
@pytest.mark.models
def test_study_page_has_a_table_and_three_figures(pages):
    _, folder = pages
    page = (SITE / "notebooks.html").read_text(encoding="utf-8")
    _, _, study = page.rpartition("A study: attention without rotation")
    [paper] = folder.glob("study-*")
    text, rows = printed(paper)
    assert len(text) == 2
    assert study.count("What the cell above draws") == 2 + len(text) + 1  # two figures, the pages, and figure 1
    joined = "\n".join(text)
    assert re.findall(r"(Table|Figure) 1\.(\d):", joined) == [("Table", "1"), *(("Figure", str(n)) for n in (1, 2, 3))]
    assert set(rows["n"]) == {8}
