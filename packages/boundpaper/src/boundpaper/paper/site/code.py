"""Write a page for each file that defines a step, with an anchor for each line."""

import itertools
from collections.abc import Iterator
from html import escape

from markupsafe import Markup

from boundpaper.paper.site.page import page
from boundpaper.paper.site.project import SiteProject
from boundpaper.places import shown_file
from boundpaper.typeset import addresses

SUFFIXES = (".py", ".j2")


def code_pages(project: SiteProject) -> Iterator[tuple[str, bytes]]:
    """Yield `code/FILE.html` for every file of the project that defines a step."""
    steps: dict[str, list[tuple[int, str]]] = {}
    for node in project.nodes:
        if node.file.endswith(SUFFIXES):
            steps.setdefault(node.file, []).append((node.line, node.key))
    for file in sorted(steps):
        lines = (project.root / file).read_text(encoding="utf-8-sig").split("\n")
        shown = shown_file(project.root, file)
        path = addresses.code(shown)
        keys = [key for _, key in sorted(steps[file])]
        code = Markup("\n".join(itertools.starmap(_line_html, enumerate(map(escape, lines[:-1]), 1))))
        yield path, page("code.html.j2", path, title=shown, file=shown, code=code, keys=keys, project=project)


def _line_html(number: int, line: str) -> str:
    link = f'<a href="#L{number}" aria-label="Line {number}">{number}</a>'
    return f'<div id="L{number}">{link}<code>{line}</code></div>'
