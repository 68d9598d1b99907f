"""Define the commands, and collect them from modules; commands call the code of the other packages."""

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import click

from boundpaper.errors import MissingDependency, SpecError
from boundpaper.places import command_modules, nearest_adopted

PAPER_COMMANDS = "analysis/commands.py"
"""The file in which a paper defines its own commands."""


def commands(root: Path | None = None) -> Iterator[click.Command]:
    """Yield the commands that modules list in `COMMANDS`; outside a project, also those for an existing LaTeX paper.

    The modules are those of this folder, those that other packages register, and the `analysis/commands.py` of the
    paper in `root`. Raises ThesisError, which names the module, if a module is not installed or cannot be loaded.
    """
    modules = [f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__)]
    modules += command_modules(root)
    if root and (root / PAPER_COMMANDS).is_file():
        modules.append(PAPER_COMMANDS.removesuffix(".py").replace("/", "."))
    for name in modules:
        yield from getattr(_import_module(name), "COMMANDS", ())
    if root is None:
        adopt = importlib.import_module(f"{__name__}.adopt")
        yield from adopt.OUTSIDE_COMMANDS
        yield from adopt.ADOPTED_COMMANDS if nearest_adopted() else ()


def _import_module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise MissingDependency.package(error.name) from error
    except Exception as error:  # a paper's commands may fail with any error
        raise SpecError(f"the commands of {name} cannot be loaded: {type(error).__name__}: {error}") from error
