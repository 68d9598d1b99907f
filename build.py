#!/usr/bin/env python
"""From artifacts to the thesis PDF: the command line, each command a few lines that call a room."""

from __future__ import annotations

import errno
import math
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __name__ == "__main__":  # until the commands are imported, Ctrl-C ends this process without a word
    signal.signal(signal.SIGINT, signal.SIG_DFL)

import click

from analysis.distil.commands import distil
from analysis.measure.commands import capture, heads, lab, run
from analysis.population.commands import population
from analysis.scores.commands import bench

if TYPE_CHECKING:
    from artifacts.build.graph import Graph
    from artifacts.build.session import Session

ROOT = Path(__file__).resolve().parent
EXHIBITS = ("table", "figure")


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
            raise click.UsageError(f"{error.message} {hint}".strip(), ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; print the project's errors in their own words and exit with 1."""
        from artifacts.errors import ThesisError

        try:
            found = super().invoke(ctx)
            sys.stdout.flush()
            return found
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
            click.echo("interrupted; what was finished is kept, and the same command goes on from there", err=True)
            ctx.exit(130)


def _words(error: Exception) -> str:
    """An error in the project's words: a file that cannot be used, an output that cannot be written."""
    if isinstance(error, UnicodeEncodeError):
        sign = error.object[error.start]
        return (
            f"the output's encoding {error.encoding} lacks {sign!a}; set PYTHONIOENCODING=utf-8, or give --output FILE"
        )
    if isinstance(error, OSError):
        if error.filename is None:
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115 (what is left to print would fail again at the exit)
        return f"{error.filename or 'the output'}: {error.strerror or error}"
    return str(error)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.pass_context
def main(ctx: click.Context, debug: bool) -> None:
    """Build the thesis, its tables, figures and results from artifacts."""
    sys.dont_write_bytecode = True  # nothing is written beside the sources
    os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / "out/state/numba"))
    ctx.obj = {"debug": debug, "root": ROOT}


def jobs_option(command: Any) -> Any:
    """`--jobs`: how many LaTeX processes may run at a time."""
    return click.option("-j", "--jobs", type=click.IntRange(1), help="LaTeX processes at a time [number of cores].")(
        command
    )


@contextmanager
def session(jobs: int | None = None) -> Iterator[Session]:
    """An open project: its graph, the build lock held, and progress on the terminal."""
    from artifacts.build.session import Session

    context = click.get_current_context()
    with Session.opened(ROOT, jobs=jobs or 0, debug=bool((context.obj or {}).get("debug"))) as opened:
        yield opened


class Tolerance(click.FloatRange):
    """A number from 0 on, which NaN is not."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the number."""
        found = super().convert(value, param, ctx)
        return found if math.isfinite(found) else self.fail(f"{value!r} is no number to compare with", param, ctx)


def complete(*kinds: str) -> Any:
    """Shell completion over the names of steps."""

    def names(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
        return sorted(
            step.name
            for step in _graph().steps.values()
            if step.kind.name in kinds and step.name.startswith(incomplete)
        )

    return names


def _graph() -> Graph:
    from artifacts.build.facts import Reader
    from artifacts.build.graph import load

    return load(ROOT, Reader(ROOT, ROOT / "out/state/facts.json"))


def found(graph: Graph, names: Sequence[str], *kinds: str) -> list[Any]:
    """The steps of these names; an unknown one is a usage error (exit code 2)."""
    from artifacts.errors import SpecError

    try:
        return [graph.find(name, kinds) for name in names]
    except SpecError as error:
        raise click.UsageError(str(error), click.get_current_context()) from None


@main.command()
@jobs_option
@click.option("--site", metavar="URL", default="", help="Numbers, verdicts and exhibits of the PDF lead to this site.")
@click.option("--keep-going", is_flag=True, help="After a failure, set what there is: out/thesis-draft.pdf.")
def paper(jobs: int | None, site: str, keep_going: bool) -> None:
    """Build the whole thesis: out/thesis.pdf. After a failure the last good one stays."""
    from artifacts.errors import SpecError, ThesisError
    from paper import edition

    try:
        asked = edition.asked(ROOT, edition.address(site) if site else "")
    except SpecError as error:
        raise click.UsageError(f"--site: {error}") from None
    edition.settled(ROOT)
    with session(jobs) as project:
        edition.settle(ROOT, asked())
        try:
            project.build(["thesis:thesis"])
        except ThesisError:
            if keep_going:
                from paper.document import draft

                for line in draft(ROOT):
                    click.echo(line, err=True)
                if (ROOT / "out/thesis-draft.pdf").is_file():
                    click.echo("out/thesis-draft.pdf")
            raise
        click.echo("out/thesis.pdf")


@main.command()
@click.argument("name", shell_complete=complete("chapter"))
@jobs_option
def chapter(name: str, jobs: int | None) -> None:
    """Preview one chapter alone: out/chapters/NAME.pdf."""
    from artifacts.store.files import write
    from paper.preview import compiled, exhibits

    with session(jobs) as project:
        [step] = found(project.graph, [name], "chapter")
        project.build([step.key, *exhibits(ROOT, step.name)])
        target = f"out/chapters/{step.name}.pdf"
        write(ROOT / target, compiled(ROOT, step.name))
        click.echo(target)


@main.command()
@click.argument("targets", nargs=-1, metavar="[COMMAND...]")
@click.option(
    "--serve", is_flag=True, help="Show the PDF and the site in a browser of this machine, anew after a build."
)
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="Of --serve; 0 for any.")
def watch(targets: tuple[str, ...], serve: bool, port: int) -> None:
    """Build again what a saved file touches: the thesis, or another COMMAND such as `table ap_drop`."""
    from paper.serve import Server
    from paper.watch import watch as watched

    command = targets or ("paper",)
    if command[0] not in ("paper", "table", "figure", "analyze", "claims", "site", "check", "chapter"):
        raise click.UsageError(f"{command[0]!r} is no command that builds; leave it out for the whole thesis")
    server = Server(ROOT / "out", port) if serve else None
    if server:
        server.begin()
        click.echo(server.address, err=True)
    watched(
        ROOT,
        [sys.executable, str(ROOT / "build.py"), *command],
        lambda text: click.echo(text, err=True),
        server.built if server else lambda: None,
    )


@main.command()
@jobs_option
@click.option("--overleaf", is_flag=True, help="Sources as they are, with the bibliography, for an editor.")
@click.option("--site", metavar="URL", default="", help="As of `paper`.")
@click.pass_context
def bundle(ctx: click.Context, jobs: int | None, overleaf: bool, site: str) -> None:
    """Pack the thesis for arXiv, or with --overleaf for an editor: out/bundle/NAME.tar.gz.

    It is unpacked in an empty folder and compiled by plain pdflatex first; what does not give the same pages is not
    offered.
    """
    from artifacts.store.files import write
    from paper.bundle import make, tried

    ctx.invoke(paper, jobs=jobs, site=site, keep_going=False)
    packed = make(ROOT / "out", flat=not overleaf)
    tried(packed, (ROOT / "out/thesis.pdf").read_bytes())
    path = f"out/bundle/thesis-{'overleaf' if overleaf else 'arxiv'}.tar.gz"
    write(ROOT / path, packed)
    click.echo(path)


@main.command()
@jobs_option
@click.option("--site", metavar="URL", default="", help="As of `paper`.")
@click.pass_context
def publish(ctx: click.Context, jobs: int | None, site: str) -> None:
    """Lay data, results, ledger, PDF and site out as an RO-Crate: out/crate, ready for an archive such as Zenodo."""
    from paper import crate

    ctx.invoke(paper, jobs=jobs, site=site, keep_going=False)
    with session(jobs):
        count = crate.lay_out(ROOT, ROOT / "out/crate")
    click.echo(f"out/crate: {count} files; `ro-crate-metadata.json` describes them, nothing was sent anywhere")


@main.command()
@click.argument("names", nargs=-1, required=True, shell_complete=complete("table"))
@click.option(
    "--format",
    "form",
    type=click.Choice(["latex", "markdown", "html", "csv", "json"]),
    default="latex",
    show_default=True,
)
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file instead.")
def table(names: tuple[str, ...], form: str, output: Path | None) -> None:
    """Build tables and print them."""
    with session() as project:
        steps = found(project.graph, names, "table")
        project.build([step.key for step in steps])
        if form == "latex":
            text = "\n".join((ROOT / step.targets[0]).read_text(encoding="utf-8") for step in steps)
        else:
            from tables._press.render import render

            text = "\n".join(render(project.job(step).call(), step.name, form) for step in steps)
    if output:
        from artifacts.store.files import write

        if not output.absolute().parent.is_dir():
            raise click.UsageError(f"--output: no folder {output.parent}; make it first")
        write(output, text.encode())
        click.echo(str(output))
    else:
        click.echo(text, nl=not text.endswith("\n"))


@main.command()
@click.argument("names", nargs=-1, required=True, shell_complete=complete("figure"))
@click.option("--format", "form", type=click.Choice(["pdf", "png", "svg", "tex"]), default="pdf", show_default=True)
@jobs_option
def figure(names: tuple[str, ...], form: str, jobs: int | None) -> None:
    """Build figures and print their paths."""
    with session(jobs) as project:
        steps = found(project.graph, names, "figure")
        kind = "figure" if form == "tex" else "picture"
        project.build([f"{kind}:{step.name}" for step in steps])
        for step in steps:
            path = f"out/figures/{step.name}.{form}"
            if form in ("png", "svg"):
                from paper.pictures import convert

                convert(ROOT / f"out/figures/{step.name}.pdf", ROOT / path)
            click.echo(path)


@main.command()
@jobs_option
def site(jobs: int | None) -> None:
    """Build the site: the ledger, exhibits, artifacts, chapters and the graph as pages in out/site."""
    from artifacts.build.outline import nodes
    from paper.site import Project, write_site

    kinds = {"source", "measurement", "result", "table", "picture"}
    with session(jobs) as project:
        steps = project.graph.steps
        if any(step.kind.name == "claim" for step in steps.values()):
            kinds |= {"ledger", "places", "inventory"}  # these gather claims, and fail where there is none
        project.build([key for key, step in steps.items() if step.kind.name in kinds])
        shown = [step for step in steps.values() if step.kind.name in {*kinds, "claim", "figure", "chapter"}]
        files, changed = write_site(Project(ROOT, tuple(nodes(shown)), lambda key: project.job(steps[key]).call()))
    click.echo(f"out/site/index.html ({files} files, {changed} changed)")


@main.command()
@click.argument("folder", type=click.Path(path_type=Path))
def annotate(folder: Path) -> None:
    """Colour your copies of the judged documents, in FOLDER, by verdict: out/annotated.

    FOLDER holds them as Markdown. A file is recognised by its sentences, or by a name that begins with its key.
    """
    from paper.annotate import annotate as write_pages

    if not folder.is_dir():
        raise click.UsageError(f"{folder}: no such folder; give the one that holds your copies of the documents")
    with session() as project:
        project.build(["ledger:claims", "places:claim_places"])
        sources = [step.name for step in project.graph.steps.values() if step.kind.name == "source"]
        done, others = write_pages(ROOT, folder, sources)
    for each in done:
        click.echo(each.words)
    for name in others:
        click.echo(f"{name}: not a document that is judged here", err=True)
    click.echo("out/annotated/index.html")


@main.command()
@click.argument("names", nargs=-1, shell_complete=complete("result", "ledger", "places", "inventory"))
def analyze(names: tuple[str, ...]) -> None:
    """Run studies (or all) and print their results' paths."""
    kinds = ("result", "ledger", "places", "inventory")
    with session() as project:
        steps = (
            found(project.graph, names, *kinds)
            if names
            else [step for step in project.graph.steps.values() if step.kind.name in kinds]
        )
        project.build([step.key for step in steps])
        for step in steps:
            click.echo(step.targets[0])


@main.command()
def check() -> None:
    """Check every artifact, and the names that steps use."""
    from artifacts.store.descriptor import package
    from artifacts.store.schema import check as faults_of

    graph = _graph()
    described = [entry["name"] for entry in package(ROOT)["resources"]]
    names = list(dict.fromkeys([*described, *graph.artifacts]))
    words = [f"{fault}" for name in names for fault in faults_of(ROOT, name)]
    words += [*graph.faults, *(line for step in graph.steps.values() for line in step.fault.splitlines())]
    for line in words:
        click.echo(line, err=True)
    if words:
        raise SystemExit(1)
    click.echo(f"{len(names)} artifacts and {len(graph.steps)} steps: nothing wrong")


@main.command("list")
@click.argument("kind", required=False)
def list_steps(kind: str | None) -> None:
    """List the steps, or those of one KIND.

    Kinds are source, measurement, result, claim, ledger, places, inventory, table, figure, picture, chapter, thesis.
    """
    graph = _graph()
    kinds = list(dict.fromkeys(step.kind.name for step in graph.steps.values()))
    if kind and kind not in kinds:
        from artifacts.near import nearest

        raise click.UsageError(f"no kind {kind!r}; {nearest(kind, kinds)}kinds: {', '.join(kinds)}")
    for step in sorted(graph.steps.values(), key=lambda step: (kinds.index(step.kind.name), step.name)):
        if kind in (None, step.kind.name):
            click.echo(
                f"{step.key:<40} {step.file}:{step.line}" if not kind else f"{step.name:<32} {step.doc or step.file}"
            )


@main.command()
@click.argument("target", shell_complete=complete("table", "figure", "result", "chapter"))
def why(target: str) -> None:
    """Say what would be built for TARGET, and why."""
    from artifacts.build.session import Session

    project = Session(ROOT)
    kinds = list(dict.fromkeys(step.kind.name for step in project.graph.steps.values()))
    [step] = found(project.graph, [target], *kinds)
    lines = project.why(step.key)
    click.echo("\n".join(lines) if lines else f"{step.key} is up to date")


@main.command(context_settings={"ignore_unknown_options": True})  # a negative number is no option
@click.argument("what")
@click.option("--all", "every", is_flag=True, help="Every place of a number, however many.")
def trace(what: str, every: bool) -> None:
    """Follow WHAT down to its source: a printed number, or an address.

    WHAT is 0.935, table:NAME/ROW/COLUMN, result:NAME/ROW/COLUMN, claim:NAME, or the name of any step. A number is
    looked for in chapters, tables, the ledger, results, measurements and sources, as printed and rounded.
    """
    from artifacts.build.session import Session
    from artifacts.errors import SpecError
    from paper.trace.descent import Project
    from paper.trace.find import trace as lines

    project = Session(ROOT)
    try:
        for line in lines(Project(ROOT, project.graph.steps, project.job), what, every):
            click.echo(line)
    except SpecError as error:
        raise click.UsageError(str(error)) from None


@main.command()
@click.argument("revision")
@click.option("--tolerance", type=Tolerance(0), default=1e-6, show_default=True, help="Relative, for numbers.")
@click.option("--results-only", is_flag=True, help="Leave the tables out.")
@click.option("--all", "every", is_flag=True, help="Name every cell, however many.")
@click.option("--check", "strict", is_flag=True, help="Exit with 1 when anything differs.")
def diff(revision: str, tolerance: float, results_only: bool, every: bool, strict: bool) -> None:
    """Compare results and tables with a git REVISION's: a page of what matters most, or every cell.

    Cell by cell; numbers count when they differ by more than the tolerance.
    """
    from artifacts.build.changes import results, summary, tables

    with session() as project:
        chosen = [step for step in project.graph.steps.values() if step.kind.name == "table" and not results_only]
        kinds = ("result", "ledger", "places", "inventory")
        project.build([step.key for step in project.graph.steps.values() if step.kind.name in kinds])
        changes = list(results(ROOT, revision, tolerance))
        if chosen:
            from tables._press.render import render

            rendered = {step.name: render(project.job(step).call(), step.name, "markdown") for step in chosen}
            changes += tables(ROOT, revision, rendered, tolerance)
    if changes:
        click.echo("\n".join(map(str, changes) if every else summary(changes)))
    click.echo(f"{len(changes)} differences from {revision}" if changes else f"no difference from {revision}", err=True)
    if changes and strict:
        raise SystemExit(1)


@main.command()
@click.argument("names", nargs=-1, shell_complete=complete("claim"))
@click.option("--source", help="Only claims of this document (a key of artifacts/sources/documents.csv).")
@click.option("--verdict", help="Only claims with this verdict.")
@click.option("--severity", help="Only claims of this severity (headline, supporting, detail).")
@click.option("--check", "strict", is_flag=True, help="Exit with 1 when the ledger differs from the committed one.")
@click.option("--against", metavar="REV", help="With --check, the git revision to compare with [HEAD].")
def claims(
    names: tuple[str, ...],
    source: str | None,
    verdict: str | None,
    severity: str | None,
    strict: bool,
    against: str | None,
) -> None:
    """Print the ledger, or all about the claims called NAMES.

    With --check, compare what the claims say now with the ledger of a revision, and name the verdicts that changed.
    """
    from analysis.claims._verdicts.show import listed

    if against and not strict:
        raise click.UsageError("--against REV says what --check compares with; give both")
    if strict and (names or source or verdict or severity):
        raise click.UsageError("--check compares the whole ledger; give no names and no other options")
    if strict:
        _check_ledger(against or "HEAD")
    elif names:
        _show_claims(names)
    else:
        rows = _ledger_rows({"source": source, "verdict": verdict, "severity": severity})
        click.echo("\n".join(listed(rows)))


def _check_ledger(revision: str) -> None:
    """Compare the ledger with a revision's; exit with 1 when it differs."""
    from analysis.claims._verdicts.changes import changes
    from artifacts.build.changes import at_revision
    from artifacts.errors import DataError

    path = "artifacts/results/claims.csv"
    before = at_revision(ROOT, revision, path)
    if before is None:
        raise DataError(f"{path} does not exist at {revision}; --against REV names another revision")
    with session() as project:
        project.build(["ledger:claims"])
    lines = changes(before, (ROOT / path).read_text(encoding="utf-8"))
    for line in lines:
        click.echo(line)
    if lines:
        click.echo(f"{path} differs from {revision}; look at the verdicts above, and commit it", err=True)
        raise SystemExit(1)
    click.echo(f"no verdict differs from {revision}", err=True)


def _show_claims(names: Sequence[str]) -> None:
    """Run the claims of these names (a claim, or after a dot one of its verdicts) and print all about them."""
    import json

    from analysis.claims._verdicts.places import places
    from analysis.claims._verdicts.repeats import inherited
    from analysis.claims._verdicts.show import full

    rows: dict[str, dict[str, Any]] = {}
    with session() as project:
        wanted = dict.fromkeys(name.partition(".")[0] for name in names)
        done: set[str] = set()
        while left := [name for name in wanted if name not in done]:  # a repeat needs the claim that it repeats
            steps = found(project.graph, left, "claim")
            project.build([step.key for step in steps])
            done.update(left)
            for step in steps:
                for row in json.loads((ROOT / step.targets[0]).read_text(encoding="utf-8")):
                    rows[row["claim"]] = row
                    wanted.update(dict.fromkeys(name.partition(".")[0] for name in row.get("repeats", "").split()))
    judged = inherited(list(rows.values()))
    for name in names:
        chosen = [row for row in judged if name in (row["claim"], row["claim"].partition(".")[0])]
        if not chosen:
            from artifacts.near import nearest

            raise click.UsageError(f"no verdict called {name!r}; {nearest(name, list(rows))}")
        for row, place in zip(chosen, places(ROOT, chosen), strict=True):
            click.echo("\n".join(full(row, place)))


def _ledger_rows(wanted: dict[str, str | None]) -> list[dict[str, str]]:
    """Rows of the ledger that have the wanted words; an unknown word is a usage error."""
    import csv

    from artifacts.near import nearest

    with session() as project:
        project.build(["ledger:claims"])
    with (ROOT / "artifacts/results/claims.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for field, word in wanted.items():
        known = sorted({row[field] for row in rows})
        if word and word not in known:
            raise click.UsageError(f"--{field}: no {word!r}; {nearest(word, known)}the ledger has {', '.join(known)}")
        rows = [row for row in rows if word in (None, row[field])]
    return rows


lab.add_command(population)
lab.add_command(distil)
for measuring in (capture, heads, run, lab, bench):
    main.add_command(measuring)


@main.group()
def new() -> None:
    """Begin something new."""


@new.command("paper")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--title", default="A New Thesis", show_default=True, help="Of the title page.")
def new_paper(folder: Path, title: str) -> None:
    """Write the empty frame of another thesis on this engine into FOLDER, in which `paper` and `check` run at once."""
    import datetime

    from artifacts.build.new_paper import new_paper as write_frame
    from artifacts.errors import SpecError

    try:
        files = write_frame(ROOT, folder, title, f"{datetime.date.today():%B %Y}")
    except SpecError as error:
        raise click.UsageError(str(error)) from None
    click.echo(f"{folder}: {len(files)} files; go there and run: make paper")


@main.command()
def clean() -> None:
    """Remove out/; all of it can be built again. A build that runs is waited for."""
    from artifacts.build.session import clean_out

    if not clean_out(ROOT):
        click.echo("nothing to remove")


@main.command()
@click.option("--install", is_flag=True, help="Install missing TeX packages from the system's, where permitted.")
def doctor(install: bool) -> None:
    """Say what is installed, and how to install the rest."""
    from artifacts.build.doctor import install_tex, report

    if install and not install_tex():
        raise SystemExit(1)
    lines, sound = report(ROOT)
    click.echo("\n".join(lines))
    if not sound:
        raise SystemExit(1)


@main.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a shell's completion script.

    Use it as: eval "$(python build.py completion bash)".
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(main, {}, "build.py", "_BUILD_PY_COMPLETE").source())


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    main(prog_name="build.py")
