"""Read the parts of a paper's `pyproject.toml` that the engine uses: its requirements and `[tool.boundpaper]`."""

from pathlib import Path
from typing import Any

from boundpaper.errors import SpecError
from boundpaper.store.rules import by_name, listed, mapping, require, text
from boundpaper.store.text_file import parse_text, text_of

FILE = "pyproject.toml"
_PROJECT = mapping(
    {
        "version": text,
        "requires-python": text,
        "dependencies": listed(text),
        "optional-dependencies": by_name(listed(text)),
    },
    ("version", "requires-python", "dependencies"),
    any_key=True,
)
_TOOL = mapping({"boundpaper": mapping({"purposes": by_name(text)})}, any_key=True)
_RULE = mapping({"project": _PROJECT, "tool": _TOOL}, ("project",), any_key=True)


def described_project(root: Path) -> dict[str, Any]:
    """Return the content of a paper's `pyproject.toml`; tables of other tools are not checked.

    Raises SpecError when the file is missing or not TOML, lacks a needed key, or has an unknown key below
    `[tool.boundpaper]`.
    """
    try:
        content: dict[str, Any] = parse_text(text_of(root, FILE, SpecError), FILE, SpecError)
    except FileNotFoundError:
        raise SpecError(f"{FILE}: no such file; `boundpaper new` writes one, with the requirements") from None
    require(content, _RULE, FILE, SpecError)
    return content
