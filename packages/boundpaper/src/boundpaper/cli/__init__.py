"""The command line: the commands are found in the files of this folder; each is a few lines that call a room."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import click

from boundpaper.places import command_modules, nearest_adopted

OF_THE_PAPER = "analysis/commands.py"
"""A paper's own commands."""


def commands(root: Path | None = None) -> Iterator[click.Command]:
    """All commands that modules list in `COMMANDS`; a file of this folder without the list has none.

    Parameters
    ----------
    root : Path or None
        The paper, whose packages and `analysis/commands.py` are asked as well; only what is installed when None.
    """
    modules = [f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__)]
    modules += command_modules(root)
    if root and (root / OF_THE_PAPER).is_file():
        modules.append(OF_THE_PAPER.removesuffix(".py").replace("/", "."))
    for name in modules:
        yield from getattr(importlib.import_module(name), "COMMANDS", ())
    if root is None:
        room = importlib.import_module(f"{__name__}.adopt")
        yield from room.OUTSIDE
        yield from room.ADOPTED_COMMANDS if nearest_adopted() else ()
