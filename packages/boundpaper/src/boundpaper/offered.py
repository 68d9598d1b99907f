"""Find the top-level names of a package: `__init__.pyi` says from which module each name is imported on first use."""

import ast
import importlib
import sys
from functools import cache
from pathlib import Path


def origins_in(stub: str) -> dict[str, tuple[str, str]]:
    """Return, for each name that a stub imports, its module and its original name in this module.

    A function that a stub declares is a callable subpackage; its module is empty.
    """
    origins: dict[str, tuple[str, str]] = {}
    for node in ast.parse(stub).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            origins |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}
        elif isinstance(node, ast.FunctionDef):
            origins[node.name] = ("", node.name)
    return origins


@cache
def _origins_of(package: str) -> dict[str, tuple[str, str]]:
    stub = Path(str(sys.modules[package].__file__)).with_suffix(".pyi")
    return origins_in(stub.read_text(encoding="utf-8"))


def names(package: str) -> list[str]:
    """Return every top-level name of a package."""
    return list(_origins_of(package))


def find(package: str, name: str) -> object:
    """Import and return the object that a package offers as `name`; for `__all__`, return the offered names.

    The package must be imported and have an `__init__.pyi`. Raises AttributeError for an unknown name, with a
    suggestion.
    """
    if name == "__all__":
        return names(package)
    if name.startswith("__") or name not in _origins_of(package):
        from boundpaper.suggestions import suggest

        suggestion = "" if name.startswith("_") else suggest(name, names(package)).rstrip()
        raise AttributeError(f"module {package!r} has no attribute {name!r}" + (suggestion and f"; {suggestion}"))
    module, original_name = _origins_of(package)[name]
    if module in (package, ""):
        value: object = importlib.import_module(f"{package}.{original_name}")
    else:
        value = getattr(importlib.import_module(module), original_name)
    setattr(sys.modules[package], name, value)
    return value
