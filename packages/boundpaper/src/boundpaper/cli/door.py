"""Assemble the command line from the commands of this package, of other packages and of the paper, and run it."""

import errno
import gc
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from boundpaper import __version__
from boundpaper.build import interrupt
from boundpaper.cli import commands
from boundpaper.errors import DataError, ThesisError
from boundpaper.places import nearest_project, open_project


class Commands(click.Group):
    """A command group that suggests names for a mistyped command, and prints an error as one message."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return a command with its name and arguments; the error for an unknown command suggests names."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from boundpaper.suggestions import suggest

            suggestion = suggest(args[0], self.list_commands(ctx))
            raise click.UsageError(f"{error.message} {suggestion[:1].upper()}{suggestion[1:]}".strip(), ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; print only the message of an error that the user can correct, and exit with status 1."""
        interrupt.reset()
        try:
            status = super().invoke(ctx)
            sys.stdout.flush()
            return status
        except (click.exceptions.Exit, click.ClickException, click.Abort):
            raise
        except KeyboardInterrupt:
            interrupt.exit_now()
            ctx.exit(interrupt.CODE)
        except Exception as error:
            if interrupt.was_interrupted():  # an interrupted library may raise any error
                interrupt.exit_now()
            if ctx.params.get("debug") or getattr(error, "errno", None) == errno.EPIPE:
                raise
            message = _plain_message(error)
            if message is None:
                raise
            click.echo(f"error: {message}", err=True)
            ctx.exit(1)


def _plain_message(error: Exception) -> str | None:
    """Return the message of an error that the user can correct, such as a file without permission; None for a bug."""
    from boundpaper.errors import MissingDependency

    if isinstance(error, ThesisError):
        return str(error)
    if isinstance(error, ModuleNotFoundError):
        return str(MissingDependency.package(error.name))
    if isinstance(error, MemoryError):
        return "out of memory; close other programs or give `--jobs 1`, and run again"
    if isinstance(error, UnicodeEncodeError):
        char = error.object[error.start]
        return (
            f"the output's encoding {error.encoding} cannot encode {char!a}; set PYTHONIOENCODING=utf-8, or give "
            "--output FILE"
        )
    if isinstance(error, OSError):
        from boundpaper.store.files import FULL, no_room_message

        if error.filename is None:
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115 (flushing the output would fail again at exit)
        if error.errno in FULL:
            return no_room_message(error)
        return f"{error.filename or 'the output'}: {error.strerror or error}"
    return None


def command_line(root: Callable[[], Path] = nearest_project) -> click.Group:
    """Return the command line of the paper in the folder that `root` returns; each command calls `root` again."""

    def print_version(ctx: click.Context, _: click.Parameter, requested: bool) -> None:
        if requested and not ctx.resilient_parsing:
            click.echo(f"{ctx.command_path}, {_version_line(root)}")
            ctx.exit()

    @click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
    @click.option(
        "--version", is_flag=True, is_eager=True, expose_value=False, callback=print_version, help="Show the version."
    )
    @click.option("--debug", is_flag=True, help="Show the traceback of an error.")
    @click.pass_context
    def main(ctx: click.Context, debug: bool) -> None:
        """Build the paper, its tables, figures and results from artifacts."""
        sys.dont_write_bytecode = True  # write no .pyc files beside the sources
        ctx.obj = {"debug": debug, "root": _opened_project(root)}

    try:
        for command in commands(_opened_project(root)):
            main.add_command(command)
    except ThesisError as error:
        click.echo(f"error: {error}", err=True)
        raise SystemExit(1) from None
    return main


def run_line(line: click.Group, name: str) -> None:
    """Run a command line as the program `name`, which ends within a second after Ctrl-C."""
    interrupt.end_promptly()
    try:
        line(prog_name=name)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # else libraries ignore Ctrl-C while the interpreter exits
        gc.freeze()  # the interpreter need not look for garbage when it exits


def main() -> None:
    """Run the command line of the paper in the working directory or above it."""
    run_line(command_line(), "boundpaper")


def _opened_project(root: Callable[[], Path]) -> Path | None:
    """Open the project for this process and return its folder; return None outside a project."""
    try:
        folder = root()
    except DataError:
        return None
    os.environ.setdefault("NUMBA_CACHE_DIR", str(folder / "out/state/numba"))
    open_project(folder)
    return folder


def _version_line(root: Callable[[], Path]) -> str:
    """Return the version of this package and, if a paper is open, the paper's version from its `pyproject.toml`."""
    engine_version = f"boundpaper {__version__}"
    try:
        folder = root()
    except DataError:
        return engine_version
    from boundpaper.paper.crate import version

    return f"{engine_version}, paper version {version(folder)}"
