"""Commands that measure models and score predictions, for the command line of boundpaper."""

import functools
from typing import Any

import click

from keyquery.comparisons.commands import compare, exhibits, report
from keyquery.measure.commands import capture, heads, run
from keyquery.scores.commands import bench


def sweep_first(command: click.Command) -> click.Command:
    """Make a command first remove temporary files that killed commands left behind; return the command."""
    run_command = command.callback
    assert run_command is not None

    @functools.wraps(run_command)
    def callback(*arguments: Any, **options: Any) -> Any:
        from boundpaper.store.files import remove_drafts

        settings = click.get_current_context().find_root().obj or {}
        if root := settings.get("root"):
            for folder in ("out", "artifacts/measurements"):
                remove_drafts(root / folder)
        return run_command(*arguments, **options)

    command.callback = callback
    return command


COMMANDS = tuple(sweep_first(command) for command in (capture, heads, run, compare, report, exhibits, bench))
