"""Define commands that run studies, check the project, list steps, and explain what would be built."""

from __future__ import annotations

import click

from boundpaper.cli.project import completion_of, read_graph, root, session, show_waiting, steps_named
from boundpaper.places import shown_file

MOST_FAULTS = 20  # most faults of one table that `check` prints


@click.command()
@click.argument("names", nargs=-1, shell_complete=completion_of("result", "ledger", "places", "inventory"))
def analyze(names: tuple[str, ...]) -> None:
    """Run the studies NAMES, by default all studies, and print the paths of their results."""
    from boundpaper.build.build_copy import steps_of_results

    kinds = ("result", "ledger", "places", "inventory")
    with session() as project:
        if names:
            steps = steps_named(project.graph, names, *kinds)
        else:
            steps = [project.graph.steps[key] for key in steps_of_results(project.graph)]
        project.build([step.key for step in steps])
        for step in steps:
            click.echo(step.targets[0])


@click.command()
def check() -> None:
    """Check every artifact, the names that steps use, the bibliography and the settings."""
    from boundpaper.checks import check_paper
    from boundpaper.typeset.plural import counted

    graph = read_graph()
    with show_waiting("checking tables, names and bibliography"):
        outcome = check_paper(root(), graph)
    for gap in outcome.gaps:
        click.echo(f"note: {gap}; the bibliography is printed without it", err=True)
    for name, faults in outcome.table_faults.items():  # one removed row may cause a fault in many rows
        for fault in faults[:MOST_FAULTS]:
            click.echo(str(fault), err=True)
        if len(faults) > MOST_FAULTS:
            click.echo(f"{name}: ... and {len(faults) - MOST_FAULTS} more", err=True)
    for fault in outcome.other_faults:
        click.echo(str(fault), err=True)
    if outcome.faults:
        raise SystemExit(1)
    click.echo(f"{counted(outcome.n_artifacts, 'artifact')} and {counted(len(graph.steps), 'step')}: nothing wrong")


@click.command("list")
@click.argument("kind", required=False)
def list_steps(kind: str | None) -> None:
    """List all steps, or the steps of a KIND.

    A KIND is source, measurement, result, claim, ledger, places, inventory, table, figure, picture, chapter or thesis.
    """
    graph = read_graph()
    kinds = list(dict.fromkeys(step.kind.name for step in graph.steps.values()))
    if kind and kind not in kinds:
        from boundpaper.suggestions import suggest

        raise click.UsageError(f"unknown kind {kind!r}; {suggest(kind, kinds)}kinds: {', '.join(kinds)}")
    for step in sorted(graph.steps.values(), key=lambda step: (kinds.index(step.kind.name), step.name)):
        if kind in (None, step.kind.name):
            file = shown_file(root(), step.file)
            line = f"{step.name:<32} {step.about(root()) or file}" if kind else f"{step.key:<40} {file}:{step.line}"
            click.echo(line)


@click.command()
@click.argument("target", shell_complete=completion_of("table", "figure", "result", "chapter"))
def why(target: str) -> None:
    """Say which steps a build of TARGET would run, and why."""
    from boundpaper.build.session import Session

    project = Session(root())
    kinds = list(dict.fromkeys(step.kind.name for step in project.graph.steps.values()))
    [step] = steps_named(project.graph, [target], *kinds)
    lines = project.why(step.key)
    click.echo("\n".join(lines) if lines else f"{step.key} is up to date")


COMMANDS = (analyze, check, list_steps, why)
