"""Define the commands that build individual tables and figures."""

import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from boundpaper.cli.project import are_up_to_date, completion_of, jobs_option, print_paged, root, session, steps_named


@click.command()
@click.argument("names", nargs=-1, required=True, shell_complete=completion_of("table"))
@click.option(
    "--format",
    type=click.Choice(["latex", "markdown", "html", "csv", "json", "text"]),
    help="Format to write [text on a terminal, latex into a file or a pipe].",
)
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="File to write instead of printing."
)
def table(names: tuple[str, ...], format: str | None, output: Path | None) -> None:
    """Build tables and print them."""
    format = format or ("text" if sys.stdout.isatty() and not output else "latex")
    if format == "latex" and are_up_to_date(f"table:{name}" for name in names):
        text = _tables_as_latex(names)
    else:
        with session() as project:
            steps = steps_named(project.graph, names, "table")
            project.build([step.key for step in steps])
            if format == "latex":
                text = _tables_as_latex(step.name for step in steps)
            else:
                text = "\n".join(_rendered_table(project.job(step).call(), step.name, format) for step in steps)
    if output:
        from boundpaper.store.files import write

        if not output.absolute().parent.is_dir():
            raise click.UsageError(f"--output: no folder {output.parent}; create it first")
        write(output, text.encode())
        click.echo(str(output))
    else:
        print_paged(text)


def _rendered_table(spec: Any, name: str, format: str) -> str:
    """Return a table in a format; the text for a terminal fits the window and has colours."""
    from boundpaper.tables.read import read
    from boundpaper.tables.render import render
    from boundpaper.tables.screen import terminal_table

    if format == "text" and sys.stdout.isatty():
        return terminal_table(read(spec, name), shutil.get_terminal_size().columns, colour=True)
    return render(spec, name, format)


def _tables_as_latex(names: Iterable[str]) -> str:
    return "\n".join((root() / f"out/tables/{name}.tex").read_text(encoding="utf-8") for name in names)


@click.command()
@click.argument("names", nargs=-1, required=True, shell_complete=completion_of("figure"))
@click.option("--format", type=click.Choice(["pdf", "png", "svg", "tex"]), default="pdf", show_default=True)
@jobs_option
def figure(names: tuple[str, ...], format: str, jobs: int | None) -> None:
    """Build figures and print their paths."""
    with session(jobs) as project:
        steps = steps_named(project.graph, names, "figure")
        kind = "figure" if format == "tex" else "picture"
        project.build([f"{kind}:{step.name}" for step in steps])
        for step in steps:
            path = f"out/figures/{step.name}.{format}"
            if format in ("png", "svg"):
                from boundpaper.paper.tex.pictures import convert

                convert(root() / f"out/figures/{step.name}.pdf", root() / path)
            click.echo(path)


COMMANDS = (table, figure)
