"""The project itself: another one begun, this one cleaned, what is installed."""

from __future__ import annotations

from pathlib import Path

import click

from boundpaper.cli.project import root


@click.group()
def new() -> None:
    """Begin something new."""


@new.command("paper")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--title", default="A New Thesis", show_default=True, help="Of the title page.")
def new_paper(folder: Path, title: str) -> None:
    """Write the empty frame of another thesis on this engine into FOLDER, in which `paper` and `check` run at once."""
    import datetime

    from boundpaper.build.new_paper import new_paper as write_frame
    from boundpaper.errors import SpecError

    try:
        files = write_frame(root(), folder, title, f"{datetime.date.today():%B %Y}")
    except SpecError as error:
        raise click.UsageError(str(error)) from None
    click.echo(f"{folder}: {len(files)} files; go there and run: make paper")


@click.command()
def clean() -> None:
    """Remove out/; all of it can be built again. A build that runs is waited for."""
    from boundpaper.build.session import clean_out

    if not clean_out(root()):
        click.echo("nothing to remove")


@click.command()
@click.option("--install", is_flag=True, help="Install missing TeX packages from the system's, where permitted.")
def doctor(install: bool) -> None:
    """Say what is installed, and how to install the rest."""
    from boundpaper.build.doctor import install_tex, report

    if install and not install_tex():
        raise SystemExit(1)
    lines, sound = report(root())
    click.echo("\n".join(lines))
    if not sound:
        raise SystemExit(1)


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a shell's completion script.

    Use it as: eval "$(python build.py completion bash)".
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(click.get_current_context().find_root().command, {}, "build.py", "_BUILD_PY_COMPLETE").source())


COMMANDS = (
    new,
    clean,
    doctor,
    completion,
)
