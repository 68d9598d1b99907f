"""Define the commands `trace`, which finds a number's source, and `diff`, which compares results with a revision."""

import click

from boundpaper.cli.project import Tolerance, root, session, show_waiting


@click.command(context_settings={"ignore_unknown_options": True})  # a negative number is not an option
@click.argument("what")
@click.option("--all", "every", is_flag=True, help="Show every place where the number is printed.")
def trace(what: str, every: bool) -> None:
    """Trace WHAT to its source: a printed number, or an address.

    WHAT is a number such as 0.935, table:NAME/ROW/COLUMN, result:NAME/ROW/COLUMN, claim:NAME, or the name of a step. A
    number is searched for in chapters, tables, the ledger, results, measurements and sources, exactly and rounded.
    """
    from boundpaper.build.session import Session
    from boundpaper.errors import SpecError
    from boundpaper.paper.trace.descent import TracedProject
    from boundpaper.paper.trace.find import trace as trace_lines
    from boundpaper.paper.trace.known import NUMBERS, StepCache

    session = Session(root())
    engine = session.engine
    project = TracedProject(
        root(),
        session.graph.steps,
        session.job,
        engine.stamp,
        lambda step: not engine.reasons(step),
        StepCache(root()),
        StepCache(root(), NUMBERS),
        engine.reader.digest,
    )
    try:
        with show_waiting(f"searching for {what}") as say:
            for line in trace_lines(project, what, every):
                say(line)
    except SpecError as error:
        raise click.UsageError(str(error)) from None


@click.command()
@click.argument("revision")
@click.option("--tolerance", type=Tolerance(0), default=1e-6, show_default=True, help="Relative tolerance for numbers.")
@click.option("--all", "every", is_flag=True, help="List every cell that differs.")
@click.option("--check", "strict", is_flag=True, help="Exit with 1 when anything differs.")
@click.option("--pdf", is_flag=True, help="Write only out/thesis-changes.pdf, with printed changes marked.")
@click.pass_context
def diff(ctx: click.Context, revision: str, tolerance: float, every: bool, strict: bool, pdf: bool) -> None:
    """Compare results with a git REVISION cell by cell, and list the most important changes.

    A number counts as changed if it differs by more than the tolerance. The results are computed again below `out/`;
    artifacts/results stays unchanged.
    """
    from boundpaper.build.build_copy import RESULTS, build_in_copy
    from boundpaper.build.changes import at_revision, results, summary
    from boundpaper.typeset.plural import counted

    if pdf:
        from boundpaper.cli.adopted_commands import write_changes_pdf

        write_changes_pdf(ctx, revision)
        return
    at_revision(root(), revision, RESULTS)  # report an unknown revision before anything is computed
    with session() as project:
        results_folder = build_in_copy(project)
        with show_waiting(f"comparing with {revision}"):
            changes = list(results(root(), revision, tolerance, results_folder))
    if changes:
        click.echo("\n".join(map(str, changes) if every else summary(changes)))
    click.echo(f"{counted(len(changes), 'difference')} from {revision}", err=True)
    if changes and strict:
        raise SystemExit(1)


COMMANDS = (trace, diff)
