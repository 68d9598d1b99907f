"""Find names that a package offers at its top level: `__init__.pyi` says where each is defined; imported on first use.

One list serves readers, type checkers, the package itself and the build, which must know what a step depends on.
"""

import ast
import importlib
import sys
from functools import cache
from pathlib import Path


def homes_in(stub: str) -> dict[str, tuple[str, str]]:
    """Return module and original name of every name that a stub imports.

    A function that a stub declares is a folder of the package, which can be called: it has no name in the module.
    """
    found: dict[str, tuple[str, str]] = {}
    for node in ast.parse(stub).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}
        elif isinstance(node, ast.FunctionDef):
            found[node.name] = ("", node.name)
    return found


@cache
def _homes_of(package: str) -> dict[str, tuple[str, str]]:
    stub = Path(str(sys.modules[package].__file__)).with_suffix(".pyi")
    return homes_in(stub.read_text(encoding="utf-8"))


def names(package: str) -> list[str]:
    """Return every name that a package offers."""
    return list(_homes_of(package))


def find(package: str, name: str) -> object:
    """Import and return the object that a package offers under a name.

    The package is imported, with an `__init__.pyi` beside its `__init__.py`; `name` may also be `__all__`. Raises
    AttributeError when it offers no such name; the nearest is named.
    """
    if name == "__all__":
        return names(package)
    if name.startswith("__") or name not in _homes_of(package):
        from boundpaper.suggestions import suggest

        hint = "" if name.startswith("_") else suggest(name, names(package))
        raise AttributeError(f"module {package!r} has no attribute {name!r}" + (f"; {hint}" if hint else "").rstrip())
    module, original = _homes_of(package)[name]
    if module in (package, ""):
        found: object = importlib.import_module(f"{package}.{original}")
    else:
        found = getattr(importlib.import_module(module), original)
    setattr(sys.modules[package], name, found)
    return found
