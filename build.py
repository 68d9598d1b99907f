#!/usr/bin/env python
"""From artifacts to the thesis PDF: the door of the command line; the commands are files of `paper/commands`."""

from __future__ import annotations

import errno
import os
import signal
import sys
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # until the commands are imported, Ctrl-C ends this process without a word
    signal.signal(signal.SIGINT, signal.SIG_DFL)

import click

from artifacts.build import interrupt
from paper.commands import commands

ROOT = Path(__file__).resolve().parent


class Commands(click.Group):
    """A group that answers a mistyped command with the nearest one and keeps tracebacks for `--debug`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command, or say which one is near."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from artifacts.near import nearest

            hint = nearest(args[0], self.list_commands(ctx))
            raise click.UsageError(f"{error.message} {hint[:1].upper()}{hint[1:]}".strip(), ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; print the project's errors in their own words and exit with 1."""
        from artifacts.errors import ThesisError

        interrupt.begin()
        try:
            status = super().invoke(ctx)
            sys.stdout.flush()
            return status
        except (ThesisError, OSError, UnicodeEncodeError) as error:
            if ctx.params.get("debug") or getattr(error, "errno", None) == errno.EPIPE:
                raise
            click.echo(f"error: {_words(error)}", err=True)
            ctx.exit(1)
        except ModuleNotFoundError as error:
            from artifacts.errors import MissingDependency

            click.echo(f"error: {MissingDependency.package(error.name)}", err=True)
            ctx.exit(1)
        except MemoryError:
            click.echo("error: out of memory; close other programs or give `--jobs 1`, and run again", err=True)
            ctx.exit(1)
        except KeyboardInterrupt:
            interrupt.say()
            ctx.exit(interrupt.CODE)


def _words(error: Exception) -> str:
    """An error in the project's words: a file that cannot be used, an output that cannot be written."""
    if isinstance(error, UnicodeEncodeError):
        sign = error.object[error.start]
        return (
            f"the output's encoding {error.encoding} lacks {sign!a}; set PYTHONIOENCODING=utf-8, or give --output FILE"
        )
    if isinstance(error, OSError):
        from artifacts.store.files import FULL, without_room

        if error.filename is None:
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115 (what is left to print would fail again at the exit)
        if error.errno in FULL:
            return without_room(error)
        return f"{error.filename or 'the output'}: {error.strerror or error}"
    return str(error)


def _print_version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    """Print the version of the project, as `pyproject.toml` has it, and end."""
    if asked and not ctx.resilient_parsing:
        from paper.crate import version

        click.echo(f"{ctx.command_path}, version {version(ROOT)}")
        ctx.exit()


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Show it.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.pass_context
def main(ctx: click.Context, debug: bool) -> None:
    """Build the thesis, its tables, figures and results from artifacts."""
    sys.dont_write_bytecode = True  # nothing is written beside the sources
    os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / "out/state/numba"))
    ctx.obj = {"debug": debug, "root": ROOT}


for command in commands():
    main.add_command(command)

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    interrupt.end_promptly()
    main(prog_name="build.py")
