"""The project that commands work on: its folder, its graph, an open session, and what options share."""

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


def _context() -> dict[str, Any]:
    """What the command line said before the command; nothing while a shell completes a word."""
    context = click.get_current_context(silent=True)
    return (context.obj if context else None) or {}


def root() -> Path:
    """The project's folder; outside of one, a DataError that says where to go."""
    settings = _context()
    return (settings["root"] or nearest_project()) if "root" in settings else opened_project()


def jobs_option(command: Any) -> Any:
    """`--jobs`: how many processes may run at a time."""
    return click.option(
        "-j", "--jobs", type=click.IntRange(1), help="Number of processes to run at once [number of cores]."
    )(command)


@contextmanager
def session(jobs: int | None = None) -> Iterator[Session]:
    """An open project: its graph, the build lock held, and progress on the terminal."""
    from boundpaper.build.session import Session

    with Session.opened(root(), jobs=jobs or 0, debug=bool(_context().get("debug"))) as opened:
        yield opened


@contextmanager
def waiting(words: str) -> Iterator[Callable[[str], None]]:
    """On a terminal, show what the block does and for how long; yields what prints a line of the answer above it."""
    import sys

    if not sys.stderr.isatty():
        yield click.echo
        return
    from rich.console import Console
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as shown:
        shown.add_task(words)
        above = partial(shown.console.print, soft_wrap=True, markup=False, highlight=False)
        yield above if sys.stdout.isatty() else click.echo


def fresh(keys: Iterable[str]) -> bool:
    """Whether the steps `keys` are known to be fresh, decided within milliseconds; if not, a session is needed."""
    from boundpaper.build.unchanged import unchanged

    return unchanged(root(), keys)


def show(text: str) -> None:
    """Print a text; one that is longer than the window goes through the pager (`PAGER`)."""
    import shutil
    import sys

    text = text if text.endswith("\n") else f"{text}\n"
    if sys.stdout.isatty() and text.count("\n") >= shutil.get_terminal_size().lines:
        click.echo_via_pager(text)
    else:
        click.echo(text, nl=False)


class Tolerance(click.FloatRange):
    """A number of at least 0; NaN is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the number."""
        number = super().convert(value, param, ctx)
        return number if math.isfinite(number) else self.fail(f"{value!r} is no number to compare with", param, ctx)


def complete(*kinds: str) -> Any:
    """Shell completion over the names of steps."""

    def names(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
        return sorted(
            step.name
            for step in read_graph().steps.values()
            if step.kind.name in kinds and step.name.startswith(incomplete)
        )

    return names


def read_graph() -> Graph:
    """The steps of the project, without a lock on it."""
    from boundpaper.build.facts import FactReader
    from boundpaper.build.graph import load

    return load(root(), FactReader(root(), root() / "out/state/facts.json"))


def steps_named(graph: Graph, names: Sequence[str], *kinds: str) -> list[Any]:
    """The steps of these names; an unknown one is a usage error (exit code 2)."""
    from boundpaper.errors import SpecError

    try:
        return [graph.find(name, kinds) for name in names]
    except SpecError as error:
        raise click.UsageError(str(error), click.get_current_context()) from None
