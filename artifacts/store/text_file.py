"""A text file: its words, or its YAML or JSON; every fault names the file, and the line where there is one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from artifacts.errors import DataError, ThesisError

MOST_NODES = 300_000  # of a YAML file with its aliases written out; the data package has some 20,000


def text_of(root: Path, file: str, error: type[ThesisError] = DataError) -> str:
    """The text of `file`, which is relative to `root`.

    Raises
    ------
    ThesisError
        Of the kind given: the file cannot be read or is not UTF-8.
    FileNotFoundError
        There is no such file; only the caller knows what that means.
    """
    try:
        content = (root / file).read_bytes()
    except FileNotFoundError:
        raise
    except OSError as caught:
        raise error(f"{file}: cannot be read ({caught.strerror})") from None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as caught:
        line = content.count(b"\n", 0, caught.start) + 1
        raise error(f"{file}:{line}: not UTF-8 (byte {caught.start}); save the file in that encoding") from None


def json_of(root: Path, file: str) -> dict[str, Any]:
    """The object that a JSON file holds; DataError when it holds none."""
    text = text_of(root, file)
    try:
        content = json.loads(text)
    except json.JSONDecodeError as caught:
        raise DataError(f"{file}:{caught.lineno}: no JSON ({caught.msg}); restore the file") from None
    except (ValueError, RecursionError):
        raise DataError(f"{file}: no JSON that can be read; restore the file") from None
    if not isinstance(content, dict):
        raise DataError(f"{file}: holds no JSON object; restore the file")
    return content


def yaml_of(root: Path, file: str, error: type[ThesisError] = DataError) -> Any:
    """What a YAML file holds, by the safe loader.

    Raises
    ------
    ThesisError
        Of the kind given: no YAML, with the line, or aliases of aliases that would fill the memory when written out.
    """
    import yaml

    text = text_of(root, file, error)
    try:
        content = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError) as caught:
        mark = getattr(caught, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        raise error(f"{file}{line}: {getattr(caught, 'problem', None) or caught}") from None
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
