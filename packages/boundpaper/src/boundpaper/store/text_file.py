"""A text file: its words, or its YAML or JSON; every fault names the file, and the line where there is one.

A byte order mark at its beginning, as programs for Windows write it, is no part of the text, in no file of any sort.
What is no text at all is told by how it begins, whatever its name ends with.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from boundpaper.errors import DataError, ThesisError
from boundpaper.store.file_kind import foreign, is_page
from boundpaper.store.json_text import DoubledKeyError, parsed
from boundpaper.store.rules import shown

MARK = "\ufeff"  # the byte order mark
PAGES = (".html", ".j2")  # endings of files that may be HTML
MOST_NODES = 300_000  # of a YAML file with its aliases written out; the data package has some 20,000


def text_of(root: Path, file: str, error: type[ThesisError] = DataError) -> str:
    """The text of `file`, which is relative to `root`, without a byte order mark.

    Raises
    ------
    ThesisError
        Of the kind given: the file cannot be read, is not UTF-8, or is no text (gzip, XLSX, Parquet, an HTML page...).
    FileNotFoundError
        There is no such file; only the caller knows what that means.
    """
    try:
        content = (root / file).read_bytes()
    except FileNotFoundError:
        raise
    except OSError as caught:
        raise error(f"{file}: cannot be read ({caught.strerror})") from None
    if fault := foreign(content):
        raise error(f"{file}: {fault}")
    try:
        text = content.decode("utf-8").removeprefix(MARK)
    except UnicodeDecodeError as caught:
        line = content.count(b"\n", 0, caught.start) + 1
        raise error(f"{file}:{line}: not UTF-8 (byte {caught.start}); save the file in that encoding") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise error(f"{file}:{line}: a NUL byte, which no text has; restore the file")
    if is_page(text) and not file.endswith(PAGES):
        raise error(f"{file}: is an HTML page; a download gives one where a login is asked for, or a file is not there")
    return text


def json_of(root: Path, file: str) -> dict[str, Any]:
    """The object that a JSON file holds; DataError when it holds none."""
    text = text_of(root, file)
    try:
        content = parsed(text)
    except DoubledKeyError as caught:
        raise DataError(f"{file}: {caught}; keep one of them") from None
    except json.JSONDecodeError as caught:
        raise DataError(f"{file}:{caught.lineno}: no JSON ({caught.msg}); restore the file") from None
    except (ValueError, RecursionError):
        raise DataError(f"{file}: no JSON that can be read; restore the file") from None
    if not isinstance(content, dict):
        raise DataError(f"{file}: holds no JSON object; restore the file")
    return content


def yaml_of(root: Path, file: str, error: type[ThesisError] = DataError) -> Any:
    """What a YAML file holds: `yaml_in` of its text.

    Raises
    ------
    ThesisError
        Of the kind given.
    FileNotFoundError
        There is no such file.
    """
    return yaml_in(text_of(root, file, error), file, error)


def yaml_in(text: str, file: str, error: type[ThesisError] = DataError) -> Any:
    """What the text of a YAML file holds, by the safe loader.

    Raises
    ------
    ThesisError
        Of the kind given: no YAML, or a key that is there twice, with the line; aliases of aliases that would fill the
        memory when written out.
    """
    import yaml

    try:
        content = yaml.load(text, Loader=_loader())
    except (yaml.YAMLError, ValueError, RecursionError) as caught:
        raise error(f"{file}{_broken_yaml(caught, text)}") from None
    left, stack = MOST_NODES, [content]
    while stack:
        node = stack.pop()
        left -= 1
        if isinstance(node, dict):
            stack += [*node.keys(), *node.values()]
        elif isinstance(node, (list, set, tuple)):
            stack += node
        if left < len(stack):
            raise error(f"{file}: more than {MOST_NODES} values once its aliases are written out; write fewer of them")
    return content


@cache
def _loader() -> Any:
    """The safe loader, to which a key that a mapping has twice is an error: YAML's own keeps the last in silence."""
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        def flatten_mapping(self, node: Any) -> None:
            """Check the keys as they are written, before those of merged mappings come among them."""
            if not hasattr(node, "checked"):
                node.checked = True
                firsts: dict[tuple[str, str], Any] = {}
                for key, _ in node.value:
                    if isinstance(key, yaml.ScalarNode) and firsts.setdefault((key.tag, key.value), key) is not key:
                        line = firsts[key.tag, key.value].start_mark.line + 1
                        told = f"the key {shown(key.value)} stands at line {line} already; keep one of them"
                        raise yaml.constructor.ConstructorError(None, None, told, key.start_mark)
            super().flatten_mapping(node)

    return Loader


def _broken_yaml(caught: Exception, text: str) -> str:
    """The line of what is no YAML, what is wrong there, and where what it breaks begins: its end may be lines below."""
    mark, began = getattr(caught, "problem_mark", None), getattr(caught, "context_mark", None)
    line = f":{mark.line + 1}" if mark else ""
    words = f"{line}: {getattr(caught, 'problem', None) or caught}"
    lines = text.splitlines()
    if began is not None and mark is not None and began.line < min(mark.line, len(lines)):
        words += f"; a bracket, quote or indentation is wrong in what begins at line {began.line + 1}"
        return f"{words}: {shown(lines[began.line].strip())}"
    return f"{words}: {shown(lines[mark.line].strip())}" if mark is not None and mark.line < len(lines) else words
