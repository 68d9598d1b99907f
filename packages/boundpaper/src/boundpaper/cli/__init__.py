"""Collect the commands from the modules of this folder; each command calls the code of another folder."""

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import click

from boundpaper.errors import MissingDependency, SpecError
from boundpaper.places import command_modules, nearest_adopted

OF_THE_PAPER = "analysis/commands.py"
"""The file with a paper's commands."""


def commands(root: Path | None = None) -> Iterator[click.Command]:
    """Yield the commands that modules list in `COMMANDS`.

    Modules are those of this folder, of installed packages, and for a paper `root` its packages and its
    `analysis/commands.py`. Raises ThesisError that names a module which is not installed or cannot be read.
    """
    modules = [f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__)]
    modules += command_modules(root)
    if root and (root / OF_THE_PAPER).is_file():
        modules.append(OF_THE_PAPER.removesuffix(".py").replace("/", "."))
    for name in modules:
        yield from getattr(_import_module(name), "COMMANDS", ())
    if root is None:
        room = importlib.import_module(f"{__name__}.adopt")
        yield from room.OUTSIDE
        yield from room.ADOPTED_COMMANDS if nearest_adopted() else ()


def _import_module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise MissingDependency.package(error.name) from error
    except Exception as error:  # a paper's commands may fail with any error
        raise SpecError(f"the commands of {name} cannot be loaded: {type(error).__name__}: {error}") from error
