"""Define commands that begin another paper, remove the outputs of this paper, and report what is installed."""

from pathlib import Path

import click

from boundpaper.cli.project import root
from boundpaper.typeset.plural import counted


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--title", default="A New Paper", show_default=True, help="Title of the paper.")
@click.option(
    "--vendor", "wheels", is_flag=True, help="Also write the engine's wheel into the paper's folder, as `vendor` does."
)
def new(folder: Path, title: str, wheels: bool) -> None:
    """Write the files of a new paper into FOLDER, where the commands `paper` and `check` then work."""
    import datetime

    from boundpaper.build.new_paper import new_paper
    from boundpaper.build.vendor import write_wheels
    from boundpaper.errors import SpecError

    try:
        files = new_paper(folder, title, f"{datetime.date.today():%B %Y}")
    except SpecError as error:
        raise click.UsageError(str(error)) from None
    if wheels:
        write_wheels(folder, ("boundpaper",))
    click.echo(f"{folder}: {counted(len(files), 'file')}; go there and run: make paper")


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path), default=".")
@click.option("--also", multiple=True, help="Another installed package to write as a wheel; repeatable.")
def vendor(folder: Path, also: tuple[str, ...]) -> None:
    """Write the wheel of this engine into FOLDER/vendor, from which `make paper` installs the engine."""
    from boundpaper.build.vendor import write_wheels

    for path in write_wheels(folder, ("boundpaper", *also)):
        click.echo(str(path))


@click.command()
def clean() -> None:
    """Wait for a running build to end, and remove out/, which can be built again."""
    from boundpaper.build.session import clean_out

    if not clean_out(root()):
        click.echo("nothing to remove")


@click.command()
@click.option("--install", is_flag=True, help="Install missing system packages of TeX, if permitted.")
def doctor(install: bool) -> None:
    """Say what is installed, and how to install what is missing."""
    from boundpaper.build.doctor import report
    from boundpaper.build.tex import install_tex

    if install and not install_tex():
        raise SystemExit(1)
    lines, is_complete = report(root())
    click.echo("\n".join(lines))
    if not is_complete:
        raise SystemExit(1)


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a shell's completion script.

    Use it as: eval "$(python build.py completion bash)".
    """
    from click.shell_completion import get_completion_class

    completion_class = get_completion_class(shell)
    assert completion_class is not None
    command = click.get_current_context().find_root().command
    click.echo(completion_class(command, {}, "build.py", "_BUILD_PY_COMPLETE").source())


COMMANDS = (new, vendor, clean, doctor, completion)
