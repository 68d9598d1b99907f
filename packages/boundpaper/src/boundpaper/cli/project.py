"""Give commands the project's folder, graph and session, and the options and outputs that several commands share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from boundpaper.places import nearest_project
from boundpaper.places import project as opened_project

if TYPE_CHECKING:
    from boundpaper.build.graph import Graph
    from boundpaper.build.session import Session


def _context_values() -> dict[str, Any]:
    """Return the values that the command line stores in click's context; empty during shell completion."""
    context = click.get_current_context(silent=True)
    return (context.obj if context else None) or {}


def root() -> Path:
    """Return the project's folder; raise DataError outside a project."""
    values = _context_values()
    return (values["root"] or nearest_project()) if "root" in values else opened_project()


def jobs_option(command: Any) -> Any:
    """Add the option `--jobs` to a command."""
    return click.option(
        "-j", "--jobs", type=click.IntRange(1), help="Number of processes to run at once [number of cores]."
    )(command)


@contextmanager
def session(jobs: int | None = None, reserved: int = 0) -> Iterator[Session]:
    """Yield a session of the project, which holds the build lock and shows progress on the terminal.

    `reserved` jobs are for the command itself, and not for worker processes.
    """
    from boundpaper.build.session import Session

    with Session.opened(root(), jobs or 0, bool(_context_values().get("debug")), reserved) as opened:
        yield opened


@contextmanager
def show_waiting(words: str) -> Iterator[Callable[[str], None]]:
    """On a terminal, show `words` and the elapsed time during the block; yield a function that prints a line.

    After a block of more than a second, print how long it took.
    """
    import sys
    import time

    if not sys.stderr.isatty():
        yield click.echo
        return
    from rich.console import Console
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as progress:
        progress.add_task(words)
        start = time.monotonic()
        print_above = partial(progress.console.print, soft_wrap=True, markup=False, highlight=False)
        yield print_above if sys.stdout.isatty() else click.echo
        if (seconds := time.monotonic() - start) > 1:
            print_above(f"{words} took {seconds:.1f} s")


def are_up_to_date(keys: Iterable[str]) -> bool:
    """Return, without a session, whether steps are known to be up to date; if not, a session must find out."""
    from boundpaper.build.unchanged import are_unchanged

    return are_unchanged(root(), keys)


def print_paged(text: str) -> None:
    """Print a text, through the pager (`PAGER`) if it is longer than the window."""
    import shutil
    import sys

    text = text if text.endswith("\n") else f"{text}\n"
    if sys.stdout.isatty() and text.count("\n") >= shutil.get_terminal_size().lines:
        click.echo_via_pager(text)
    else:
        click.echo(text, nl=False)


class Tolerance(click.FloatRange):
    """A parameter type: a finite number of at least 0."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number in an option's text."""
        number = super().convert(value, param, ctx)
        return number if math.isfinite(number) else self.fail(f"{value!r} is not a number of at least 0", param, ctx)


def completion_of(*kinds: str) -> Any:
    """Return a shell completion that offers the names of the steps of these kinds."""

    def names(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
        return sorted(
            step.name
            for step in read_graph().steps.values()
            if step.kind.name in kinds and step.name.startswith(incomplete)
        )

    return names


def read_graph() -> Graph:
    """Read the graph of the project's steps without locking the project."""
    from boundpaper.build.facts import FactReader
    from boundpaper.build.graph import load

    return load(root(), FactReader(root(), root() / "out/state/facts.json"))


def steps_named(graph: Graph, names: Sequence[str], *kinds: str) -> list[Any]:
    """Return the steps of these kinds with these names; an unknown name is a usage error (exit status 2)."""
    from boundpaper.errors import SpecError

    try:
        return [graph.find(name, kinds) for name in names]
    except SpecError as error:
        raise click.UsageError(str(error), click.get_current_context()) from None
