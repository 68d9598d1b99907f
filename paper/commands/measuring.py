"""What measures models and scores predictions; the commands lie beside what they run."""

from __future__ import annotations

import functools
from typing import Any

import click

from analysis.distil.commands import distil
from analysis.measure.commands import capture, heads, lab, run
from analysis.population.commands import population
from analysis.scores.commands import bench
from paper.commands.project import root


def _swept(command: click.Command) -> click.Command:
    """Let a command begin by removing what killed ones were writing, as a build does."""
    begin = command.callback
    assert begin is not None

    @functools.wraps(begin)
    def callback(*arguments: Any, **options: Any) -> Any:
        from artifacts.store.files import sweep

        for folder in ("out", "artifacts/measurements"):
            sweep(root() / folder)
        return begin(*arguments, **options)

    command.callback = callback
    return command


lab.add_command(population)
lab.add_command(distil)

COMMANDS = tuple(_swept(command) for command in (capture, heads, run, lab, bench))
