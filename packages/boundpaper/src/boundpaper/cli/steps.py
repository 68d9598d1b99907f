"""Define commands for steps: run studies, check artifacts, say what would be built and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from boundpaper.cli.project import complete, read_graph, root, session, steps_named, waiting
from boundpaper.places import shown

if TYPE_CHECKING:
    from boundpaper.build.graph import Step

MOST = 20  # faults of one table that `check` prints


@click.command()
@click.argument("names", nargs=-1, shell_complete=complete("result", "ledger", "places", "inventory"))
def analyze(names: tuple[str, ...]) -> None:
    """Run the studies NAMES, or all, and print the paths of their results."""
    from boundpaper.build.build_copy import steps_of_results

    kinds = ("result", "ledger", "places", "inventory")
    with session() as project:
        steps = (
            steps_named(project.graph, names, *kinds)
            if names
            else [project.graph.steps[key] for key in steps_of_results(project.graph)]
        )
        project.build([step.key for step in steps])
        for step in steps:
            click.echo(step.targets[0])


@click.command()
def check() -> None:
    """Check every artifact, the names that steps use, and the bibliography."""
    from boundpaper.checks import checked
    from boundpaper.typeset.plural import counted

    graph = read_graph()
    with waiting("checking tables, names and bibliography"):
        found = checked(root(), graph)
    for gap in found.gaps:
        click.echo(f"note: {gap}; it is set without", err=True)
    words = [line for name, faults in found.tables.items() for line in _shortened([*map(str, faults)], name)]
    for line in [*words, *map(str, found.others)]:
        click.echo(line, err=True)
    if words or found.others:
        raise SystemExit(1)
    click.echo(f"{counted(found.artifacts, 'artifact')} and {counted(len(graph.steps), 'step')}: nothing wrong")


def _shortened(lines: list[str], name: str) -> list[str]:
    """Return a table's first faults and count the rest: one removed row may be a fault in each row that names it."""
    return lines if len(lines) <= MOST else [*lines[:MOST], f"{name}: ... and {len(lines) - MOST} more"]


@click.command("list")
@click.argument("kind", required=False)
def list_steps(kind: str | None) -> None:
    """List the steps, or those of one KIND.

    Kinds are source, measurement, result, claim, ledger, places, inventory, table, figure, picture, chapter, thesis.
    """
    graph = read_graph()
    kinds = list(dict.fromkeys(step.kind.name for step in graph.steps.values()))
    if kind and kind not in kinds:
        from boundpaper.suggestions import nearest

        raise click.UsageError(f"no kind {kind!r}; {nearest(kind, kinds)}kinds: {', '.join(kinds)}")
    for step in sorted(graph.steps.values(), key=lambda step: (kinds.index(step.kind.name), step.name)):
        if kind in (None, step.kind.name):
            file = shown(root(), step.file)
            click.echo(f"{step.key:<40} {file}:{step.line}" if not kind else f"{step.name:<32} {_about(step) or file}")


def _about(step: Step) -> str:
    """Say in a line what a step is: an exhibit by the first words of its file, another by those of its function."""
    import ast

    if step.kind.name not in ("table", "figure"):
        return step.doc
    said = ast.get_docstring(ast.parse((root() / step.file).read_text(encoding="utf-8"))) or step.doc
    return said.partition("\n")[0]


@click.command()
@click.argument("target", shell_complete=complete("table", "figure", "result", "chapter"))
def why(target: str) -> None:
    """Say what would be built for TARGET, and why."""
    from boundpaper.build.session import Session

    project = Session(root())
    kinds = list(dict.fromkeys(step.kind.name for step in project.graph.steps.values()))
    [step] = steps_named(project.graph, [target], *kinds)
    lines = project.why(step.key)
    click.echo("\n".join(lines) if lines else f"{step.key} is up to date")


COMMANDS = (
    analyze,
    check,
    list_steps,
    why,
)
