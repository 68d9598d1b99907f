"""The command that compares measured models; its libraries are imported when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from keyquery.measure.choices import BY


@click.command()
@click.argument("models", nargs=-1, required=True, metavar="REFERENCE MODEL...")
@click.option(
    "--experiment", "experiments", multiple=True, metavar="NAME", help="Only this one; may be repeated [all]."
)
@click.option("--by", type=click.Choice(BY), help="What is paired [texts or items, else seeds, else heads].")
@click.option("--metric", "metrics", multiple=True, help="In place of what the summary shows; may be repeated.")
@click.option(
    "--in",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Where they were measured [the project, or this folder].",
)
@click.option(
    "--report", type=click.Path(file_okay=False, path_type=Path), help="Write table, figure and numbers here."
)
@click.option("--json", "machine", is_flag=True, help="Print the tests for a program.")
@click.pass_obj
def compare(
    obj: dict[str, Any],
    /,
    models: tuple[str, ...],
    experiments: tuple[str, ...],
    by: str | None,
    metrics: tuple[str, ...],
    folder: Path | None,
    report: Path | None,
    machine: bool,
) -> None:
    """Hold measured models against the first: paired, tested exactly, corrected as one family."""
    from keyquery.comparisons.comparison import compared
    from keyquery.comparisons.measured import read

    if len(models) < 2:
        raise click.UsageError("name two models or more: compare REFERENCE MODEL...")
    root = folder or obj["root"] or Path.cwd()
    found = compared([read(root, name, experiments) for name in models], experiments, by=by, metrics=metrics)
    click.echo(found.to_json() if machine else str(found))
    for path in found.report(report) if report else ():
        click.echo(str(path), err=machine)
