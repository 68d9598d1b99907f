"""Commands that compare and show measured models. Large libraries are imported only when a command runs."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keyquery.measure.choices import BY

if TYPE_CHECKING:
    from keyquery.comparisons.comparison import Comparison


_OPTIONS = (
    click.option(
        "--experiment", "experiments", multiple=True, metavar="NAME", help="Experiment to test; may be repeated [all]."
    ),
    click.option("--by", type=click.Choice(BY), help="Unit to pair by [texts or items, else seeds, else heads]."),
    click.option(
        "--metric", "metrics", multiple=True, help="Metric to test instead of those in the summary; may be repeated."
    ),
    click.option(
        "--in",
        "folder",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        help="Folder with artifacts/measurements [default: the project, else the current folder].",
    ),
    click.option("--json", "json_output", is_flag=True, help="Print the tests as JSON."),
    click.pass_obj,
)
_FOLDER = click.Path(file_okay=False, path_type=Path)


def _comparison_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a comparison to a command."""
    return functools.reduce(lambda decorated, option: option(decorated), reversed(_OPTIONS), command)


@click.command()
@click.argument("models", nargs=-1, required=True, metavar="REFERENCE MODEL...")
@click.option("--report", type=_FOLDER, help="Folder to write a report to: table, figure and numbers.")
@click.option("--paper", type=_FOLDER, help="Folder for a new paper on the comparison, with its PDF.")
@_comparison_options
def compare(
    obj: dict[str, Any], /, models: tuple[str, ...], report: Path | None, paper: Path | None, **options: Any
) -> None:
    """Test each measured model against the first, paired if possible; p values are corrected as one family.

    A name may be shortened as long as it begins the names of only one model's measurements.
    """
    if len(models) < 2:
        raise click.UsageError("name two models or more: compare REFERENCE MODEL...")
    comparison = _print_comparison(obj, models, report, **options)
    if paper:
        click.echo(str(comparison.paper(paper)), err=options["json_output"])


@click.command()
@click.argument("report", type=_FOLDER, metavar="FOLDER")
@click.argument("models", nargs=-1, metavar="[REFERENCE MODEL...]")
@_comparison_options
def report(obj: dict[str, Any], /, report: Path, models: tuple[str, ...], **options: Any) -> None:
    """Write a comparison as a report to FOLDER: a page of Markdown, its numbers, and the figure.

    Without names, compare the project's two measured models.
    """
    from keyquery.comparisons.measured import measurement_names

    names = models or tuple(measurement_names(options["folder"] or obj["root"] or Path.cwd()))
    if len(names) < 2 or (not models and len(names) > 2):
        available = f"measured here: {', '.join(names[:9])}{' ...' * (len(names) > 9)}"
        raise click.UsageError(f"name two models or more: report FOLDER REFERENCE MODEL... ({available})")
    _print_comparison(obj, names, report, **options)


def _print_comparison(
    obj: dict[str, Any],
    models: tuple[str, ...],
    report: Path | None,
    *,
    experiments: tuple[str, ...],
    by: str | None,
    metrics: tuple[str, ...],
    folder: Path | None,
    json_output: bool,
) -> "Comparison":
    """Print a comparison, write it to the folder `report` if one is given, and return it."""
    from keyquery.comparisons.comparison import compare_models
    from keyquery.comparisons.measured import read

    root = folder or obj["root"] or Path.cwd()
    comparison = compare_models([read(root, name, experiments) for name in models], experiments, by=by, metrics=metrics)
    click.echo(comparison.to_json() if json_output else str(comparison))
    for path in comparison.report(report) if report else ():
        click.echo(str(path), err=json_output)
    return comparison


@click.command()
@click.argument("experiments", nargs=-1, required=True, metavar="EXPERIMENT...")
@click.pass_obj
def exhibits(obj: dict[str, Any], /, experiments: tuple[str, ...]) -> None:
    """Write files for a table and a figure of EXPERIMENT, covering all measured models, into the paper.

    EXPERIMENT is a name that `run` accepts, or `model_metrics`, which `heads` writes.
    """
    from boundpaper.suggestions import or_known
    from keyquery.exhibits import write_files
    from keyquery.measure.headlines import HEADLINES

    names = ("model_metrics", *(name for name in HEADLINES if name != "head_metrics"))
    for name in experiments:
        if name not in names:
            raise click.UsageError(f"{name!r} is not an experiment with exhibits{or_known(name, names)}")
    if not obj["root"]:
        raise click.UsageError("no paper in this folder or above it; go to a paper's folder, or start one: new FOLDER")
    for path in write_files(obj["root"], experiments):
        click.echo(path.relative_to(obj["root"]).as_posix())
