"""The documentation builds without warnings, loads nothing from other sites, has no dead links, and is current."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib import metadata
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

import boundpaper
import keyquery
from boundpaper.cli.exhibits import table
from compared_paper import printed
from conftest import ROOT, copy_project

sys.path.insert(0, str(ROOT / "docs"))
import hooks

WALKS = sorted((ROOT / "docs/walks").glob("*.md"))
RUN = re.compile(r"^    python build\.py (.+)$", re.MULTILINE)
TRACER = """
import sys, threading
first = {}
def seen(frame, event, argument):  # it returns nothing, so only calls are traced and no lines
    first.setdefault(frame.f_code)
threading.settrace(seen)
sys.settrace(seen)
from build import main
main.main(sys.argv[1:], prog_name="build.py", standalone_mode=False)
sys.settrace(None)
print(*(f"{code.co_filename}:{code.co_qualname}" for code in list(first)), sep="\\n", file=sys.stderr)
"""


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
    """Build the site with `--strict`; return its pages by name, and its folder."""
    folder = tmp_path_factory.mktemp("docs")
    site = folder / "site"
    environment = {name: value for name, value in os.environ.items() if name != "BOUNDPAPER_ROOT"}
    result = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "-q", "-d", site],
        cwd=ROOT,
        env=environment | {"TMPDIR": str(folder), "XDG_CACHE_HOME": str(folder / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return {path.relative_to(site).as_posix(): Page(path) for path in site.rglob("*.html")}, site


def test_every_link_leads_to_an_existing_page_and_anchor(pages):
    by_name, site = pages
    broken_links = []
    for name, page in by_name.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or name == "404.html":
                continue
            target = (site / name).parent / unquote(parts.path) if parts.path else site / name
            address = Path(target.resolve()).relative_to(site.resolve()).as_posix()
            linked = by_name.get(address if address != "." else "index.html")
            if not target.exists() or (parts.fragment and linked and unquote(parts.fragment) not in linked.names):
                broken_links.append(f"{name}: {link}")
    assert broken_links == []
    assert sum(len(page.links) for page in by_name.values()) > 1000


def test_pages_load_no_external_files(pages):
    by_name, site = pages
    assert [link for page in by_name.values() for link in page.loaded if urlsplit(link).netloc] == []
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"(?:url\(|@import)\s*['\"]?(?:https?:)?//[^)]*", styles) == []


def test_reference_lists_every_public_name(pages):
    by_name, _ = pages
    for package, module in (("boundpaper", boundpaper), ("keyquery", keyquery)):
        names = {name.rpartition(".")[2] for name in by_name[f"reference/{package}.html"].names}
        assert set(module.__all__) - {"statistics"} <= names


@pytest.mark.latex
@pytest.mark.models
def test_study_page_has_a_table_and_three_figures(pages):
    _, site = pages
    page = (site / "notebooks.html").read_text(encoding="utf-8")
    _, _, study = page.rpartition("A study: attention without rotation")
    [paper] = site.parent.glob("study-*")
    text, rows = printed(paper)
    assert len(text) == 2
    assert study.count("What the cell above draws") == 2 + len(text) + 1  # two figures, the pages, and figure 1
    joined = "\n".join(text)
    assert re.findall(r"(Table|Figure) 1\.(\d):", joined) == [("Table", "1"), *(("Figure", str(n)) for n in (1, 2, 3))]
    assert set(rows["n"]) == {8}


def test_every_error_kind_is_documented_with_cause_and_remedy():
    sections = re.split(r"^## ", (ROOT / "docs/errors.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:-1]
    assert {section.split("\n")[0] for section in sections} == set(hooks.error_kinds()) >= {"NotFinite", "JobDied"}
    assert all("**Cause**: " in section and "**Mend**: " in section for section in sections)


@pytest.mark.parametrize("walk", WALKS, ids=lambda path: path.stem)
def test_code_walk_lists_functions_in_call_order(walk, tmp_path):
    """Functions after `**The document**` are only looked up in their files, since running LaTeX takes minutes."""
    text, _, compiled = walk.read_text(encoding="utf-8").partition("**The document**")
    root = copy_project(tmp_path / "project")
    stops = [(match.start(), match[1], match[2]) for match in hooks.STOP.finditer(text)]
    for _, name, file in (*stops, *((0, match[1], match[2]) for match in hooks.STOP.finditer(compiled))):
        function = name.rpartition(".")[2]
        assert re.search(rf"^\s*def {function}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE), name
    commands = [(match.start(), match[1]) for match in RUN.finditer(text)]
    for command, stops_of_command in groupby(
        stops, key=lambda stop: max(command for command in commands if command[0] < stop[0])
    ):
        result = subprocess.run(
            [sys.executable, "-c", TRACER, *command[1].split()],
            cwd=root,
            env=os.environ | {"NUMBA_DISABLE_JIT": "1"},  # calls of compiled functions cannot be traced
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, result.stderr[-2000:]
        called = [line.replace(f"{ROOT}/", "").replace(f"{root}/", "") for line in result.stderr.splitlines()]
        expected = [f"{file}:{'.'.join(name.split('.')[len(module(file)) :])}" for _, name, file in stops_of_command]
        assert [line for line in called if line in expected] == expected


def module(file):
    """Return the components of a module's dotted name, given the path of its file."""
    return file.rpartition("/src/")[2].removesuffix(".py").removesuffix("/__init__").split("/")


def test_both_packages_and_the_changelog_have_one_version():
    """Metadata of the wheels take the version from `__version__`."""
    version = boundpaper.__version__
    assert keyquery.__version__ == version
    assert metadata.version("boundpaper") == metadata.version("keyquery") == version
    assert re.search(rf"^## {re.escape(version)} ", (ROOT / "docs/changelog.md").read_text("utf-8"), re.MULTILINE)


def test_changelog_lines_are_at_most_160_characters():
    lines = (ROOT / "docs/changelog.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > 160] == []


def test_pre_commit_hooks_equal_make_lint():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = "".join(re.findall(r"^(?:style|lint):.*\n((?:\t.*\n)+)", makefile, re.MULTILINE))
    hooked = re.findall(r"entry: \.venv/bin/(?:python -m )?([^,]+),", (ROOT / ".pre-commit-config.yaml").read_text())
    run = re.findall(r"\$\((?:PY\) -m |VENV\)/bin/)(.+)", recipe)
    assert sorted(line.removesuffix(" .") for line in run) == sorted(hooked)


def test_counts_in_the_readme_are_those_of_the_files():
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    format_type = next(dict(option.type.to_info_dict()) for option in table.params if option.name == "format")
    choices: Any = format_type["choices"]
    small_models = [*(ROOT / "packages/keyquery/src/keyquery/tiny").glob("tiny-*")]
    spelt = {3: "three", 4: "four", 5: "five", 6: "six", 7: "seven"}
    assert f"in one of {spelt[len(choices)]} formats" in readme
    assert f"{spelt[len(WALKS)]} walks through the code" in readme
    assert f"of the {spelt[len(small_models)]} small models that come with the thesis" in readme
