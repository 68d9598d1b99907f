"""The generated parts of the documentation: reference, commands, messages, notebooks, and the code of walks.

A line `<!-- generated: NAME ARGUMENTS -->` of a page becomes what the function of that name returns. A stop of a walk
becomes the source of its function.
"""

import ast
import html
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import nbclient
import nbformat

ROOT = Path(__file__).resolve().parent.parent
SOURCES = {name: ROOT / f"packages/{name}/src/{name}" for name in ("boundpaper", "keyquery")}
MARKER = re.compile(r"^<!-- generated: (\w+)((?: \S+)*) -->$", re.MULTILINE)
STOP = re.compile(r"^\d+\. \[`([\w.]+)`\]\(\.\./\.\./([\w./-]+)\): ", re.MULTILINE)
"""A stop of a walk: a numbered line with the dotted name of a function, a link to its file, and what it does."""


def on_page_markdown(markdown: str, **_: object) -> str:
    """Fill a page's markers, and show the source of each stop of a walk above the text about it."""
    markdown = MARKER.sub(lambda marker: globals()[marker[1]](*marker[2].split()), markdown)
    return STOP.sub(
        lambda stop: (
            f"## {stop[1].rpartition('.')[2]}\n\n`{stop[2]}`\n\n::: {stop[1]}\n"
            "    options: {show_source: true, show_root_heading: false, show_root_toc_entry: false, members: false}\n\n"
        ),
        markdown,
    )


def readme(package: str) -> str:
    """The README of a package as a section."""
    text = (ROOT / f"packages/{package}/README.md").read_text(encoding="utf-8")
    return text.replace(f"# {package}", f"## Quick start: {package}", 1)


def page(name: str) -> str:
    """A page of the top folder; links between such pages lead to their headings here."""
    return re.sub(r"\((CODE_OF_CONDUCT)\.md\)", "(#code-of-conduct)", (ROOT / name).read_text(encoding="utf-8"))


def offered(package: str, room: str = "") -> str:
    """The reference of every name that a package, or a room of it, offers."""
    from boundpaper.offered import origins_in

    stub = (SOURCES[package] / room / "__init__.pyi").read_text(encoding="utf-8")
    homes = (f"{module or package}.{name}" for module, name in origins_in(stub).values())
    return "\n\n".join(f"::: {home}" for home in homes if home != "boundpaper.statistics")


def commands() -> str:
    """Every command of the thesis' command line, with its options."""
    sys.path.insert(0, str(ROOT))
    from build import main

    return "\n\n".join(_describe_command(main, ()))


def _describe_command(command: click.Command, path: tuple[str, ...]) -> Iterator[str]:
    context = click.Context(command, info_name=" ".join(path))
    if path:
        yield f"{'#' * (1 + len(path))} {' '.join(path)}"
        yield "    " + " ".join((*path, *command.collect_usage_pieces(context)))
        yield html.escape((command.help or "").replace("\b\n", ""))
        records = [record for each in command.get_params(context) if (record := each.get_help_record(context))]
        yield _table(("option", "meaning"), [(_code_span(names), html.escape(meaning)) for names, meaning in records])
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            if found := command.get_command(context, name):
                yield from _describe_command(found, (*path, name))


def messages() -> str:
    """Every message of an error that the packages raise, by room, with an ellipsis for what depends on the case."""
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    kinds = set(error_kinds())
    for package, folder in SOURCES.items():
        for path in folder.rglob("*.py"):
            room = f"{package}.{path.relative_to(folder).parts[0].removesuffix('.py')}"
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and node.args and getattr(node.func, "id", "") in kinds:
                    message = " ".join(_message_text(node.args[0]).split())
                    if sum(map(str.isalpha, message)) > 12:
                        found[room].add((_code_span(message), node.func.id))  # type: ignore[attr-defined]
    return "\n\n".join(
        f"### {room}\n\n{_table(('message', 'kind'), sorted(rows))}" for room, rows in sorted(found.items())
    )


def error_kinds() -> list[str]:
    """The classes of errors that a user may meet: `ThesisError` and what derives from it, in the order of the code."""
    kinds = ["ThesisError"]
    classes = [
        node
        for folder in SOURCES.values()
        for path in sorted(folder.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    ]
    for _ in range(3):  # a kind of a kind of a kind
        kinds += [
            node.name
            for node in classes
            if node.name not in kinds and any(getattr(base, "id", "") in kinds for base in node.bases)
        ]
    return kinds


def _message_text(node: ast.expr) -> str:
    """The text of a message, with an ellipsis for each part that is computed."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_message_text(part) for part in node.values)
    if isinstance(node, ast.BinOp):
        return _message_text(node.left) + _message_text(node.right)
    return "…"


def notebook(name: str) -> str:
    """Run a notebook outside any project and show what each cell prints; a failing cell stops the build."""
    read = nbformat.read(ROOT / "docs/notebooks" / name, as_version=4)
    run = nbclient.NotebookClient(read, resources={"metadata": {"path": tempfile.gettempdir()}}).execute()
    return "\n\n".join(part for cell in run.cells for part in _cell_lines(cell))


def _cell_lines(cell: Any) -> Iterator[str]:
    if cell.cell_type != "code":
        yield re.sub("^#", "##", cell.source)
        return
    yield f"```python\n{cell.source}\n```"
    for output in cell.outputs:
        data = output.get("data", {"text/plain": output.get("text", "")})
        if "image/png" in data:
            yield f'<img alt="What the cell above draws" src="data:image/png;base64,{data["image/png"].strip()}">'
        elif "text/html" in data:
            yield re.sub(r"\n\s*\n", "\n", data["text/html"])
        elif data["text/plain"].strip():
            yield f"```text\n{data['text/plain'].rstrip()}\n```"


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, (":--",) * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines) if rows else ""


def _code_span(text: str) -> str:
    return f"<code>{html.escape(text).replace('|', '&#124;')}</code>"
