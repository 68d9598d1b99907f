"""The command line: each command is a few lines that call a room, and the files of this folder are found."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import click


def commands() -> Iterator[click.Command]:
    """Every command that a file of this folder names in `COMMANDS`; a file without that holds none."""
    for module in pkgutil.iter_modules(__path__):
        yield from getattr(importlib.import_module(f"{__name__}.{module.name}"), "COMMANDS", ())
