"""Define commands for an existing LaTeX paper, which adopt it, bind its numbers to data, and restore plain LaTeX."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from boundpaper.adopt.folder import Folder
    from boundpaper.adopt.lint import Candidate, NumberFinding


def adopted_folder() -> Folder:
    """Return the adopted paper in the working directory or above it; raise DataError if there is none."""
    from boundpaper.adopt.folder import read
    from boundpaper.errors import DataError
    from boundpaper.places import ADOPTED, nearest_adopted

    root = nearest_adopted()
    if root is None:
        raise DataError(
            f"{Path.cwd()}: no {ADOPTED} here or above; go to the folder of a LaTeX paper and run `boundpaper init`"
        )
    return read(root)


@click.command()
@click.option("--main", "mains", multiple=True, metavar="FILE", help="Main LaTeX file; repeatable, for a supplement.")
@click.option(
    "--data", multiple=True, metavar="PATTERN", help="Pattern of data files, such as results/*.csv; repeatable."
)
@click.option("--dry-run", is_flag=True, help="Print what would be written, without writing it.")
def init(mains: tuple[str, ...], data: tuple[str, ...], dry_run: bool) -> None:
    """Adopt the LaTeX paper in this folder: write boundpaper.toml and bound/, and add a line to each main file."""
    from boundpaper.adopt import begin

    plan = begin.plan_init(Path.cwd(), mains, data)
    for message in plan.messages:
        click.echo(message, err=True)
    if dry_run:
        click.echo(plan.toml, nl=False)
        for path in plan.files:
            click.echo(f"{plan.folder.shown(path)}: one line added after \\documentclass")
        return
    for file in begin.write_plan(plan):
        click.echo(file)


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if something is out of date.")
@click.option("--force", is_flag=True, help="Overwrite generated files that were edited by hand.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing on success.")
def build(check: bool, force: bool, quiet: bool) -> None:
    """Write bound/ from the data; unchanged files are not written."""
    from boundpaper.adopt import generate
    from boundpaper.typeset.plural import counted

    result = generate.build(adopted_folder(), check=check, force=force)
    for file in result.changed if not quiet or check else ():
        click.echo(f"{file}: differs from the data; run `boundpaper build`" if check else file, err=check)
    if check and result.changed:
        raise SystemExit(1)
    if not quiet:
        click.echo(f"{counted(result.uses, 'bound place')}, {counted(len(result.changed), 'file')} written", err=True)


@click.command()
@click.option(
    "-o", "--output", type=click.Path(file_okay=False, path_type=Path), help="New folder to write the paper to."
)
@click.option("--in-place", is_flag=True, help="Write the numbers into the paper's own files, and undo the adoption.")
def flatten(output: Path | None, in_place: bool) -> None:
    """Write the paper as plain LaTeX without bound/, into a new folder or in place."""
    from boundpaper.adopt.flatten import write_flattened

    if (output is None) is not in_place:
        raise click.UsageError("give -o FOLDER for a copy, or --in-place")
    for file in write_flattened(adopted_folder(), output):
        click.echo(file)


@click.command()
@click.option("--fix", is_flag=True, help="Bind each number of three or more digits that matches exactly one cell.")
@click.option("-i", "--interactive", is_flag=True, help="Ask about each number that matches several cells.")
@click.option(
    "--against", metavar="REV", help="Git revision; a number that matches only the data of REV is stale [HEAD]."
)
@click.option("--all", "every", is_flag=True, help="Also list numbers that match no cell.")
def lint(fix: bool, interactive: bool, against: str | None, every: bool) -> None:
    """List typed numbers with the cells that match them; only --fix and -i change files.

    Exits with 1 when a number is stale or matches exactly one cell.
    """
    from boundpaper.adopt import begin, generate, revision
    from boundpaper.adopt.lint import bind_numbers, number_findings
    from boundpaper.places import nearest_adopted
    from boundpaper.store import files
    from boundpaper.typeset.plural import counted

    is_adopted = nearest_adopted() is not None
    folder = adopted_folder() if is_adopted or fix or interactive else begin.plan_init(Path.cwd(), probe=False).folder
    if against:
        revision.require_revision(folder.root, against)
    revision_name = against or "HEAD"
    old_cells = revision.cells_at(folder, revision_name) if revision.is_known(folder.root, revision_name) else {}
    paper = generate.AdoptedPaper.read(folder)
    findings = number_findings(paper, old_cells, revision_name)
    bindings = []
    for finding in findings:
        if fix and finding.is_certain:
            bindings.append((finding.numeral, finding.candidates[0]))
        elif interactive:
            if (candidate := _ask_for_cell(finding)) is not None:
                bindings.append((finding.numeral, candidate))
        elif finding.candidates or finding.stale_cell or every:
            click.echo(str(finding))
    for file, text in bind_numbers(paper, bindings).items():
        files.write(file.path, file.encoded(text))
        click.echo(f"{file.shown}: written", err=True)
    if bindings:
        generate.build(folder)
    n_unmatched = sum(not (finding.candidates or finding.stale_cell) for finding in findings)
    n_certain = sum(finding.is_certain for finding in findings)
    outcome = f"{len(bindings)} bound" if fix or interactive else f"{n_certain} that --fix binds"
    click.echo(f"{counted(len(findings), 'typed number')}, {n_unmatched} of them match no cell, {outcome}", err=True)
    bound_ids = {id(numeral) for numeral, _ in bindings}
    if any((finding.is_certain or finding.stale_cell) and id(finding.numeral) not in bound_ids for finding in findings):
        raise SystemExit(1)


def _ask_for_cell(finding: NumberFinding) -> Candidate | None:
    """Ask the author for the cell of a number, and return it; None to leave the number as typed."""
    if not finding.candidates:
        return None
    numeral = finding.numeral
    line = numeral.source.text.splitlines()[numeral.source.line(numeral.start) - numeral.source.first_line].strip()
    click.echo(f"\n{numeral.place}: {numeral.text}\n    {line[:200]}")
    for number, candidate in enumerate(finding.candidates[:9], 1):
        cell = candidate.cell
        click.echo(f"  {number}  \\{finding.macro}{{{candidate.key}}}  {cell.text}  ({cell.file}: {cell.position})")
    click.echo("  number of the cell (Enter: leave as typed, q: quit): ", nl=False)
    answer = sys.stdin.readline().strip()
    if answer == "q":
        raise click.Abort
    if not answer.isdigit() or not 1 <= int(answer) <= min(9, len(finding.candidates)):
        return None
    return finding.candidates[int(answer) - 1]


@click.command("zip")
@click.option("--arxiv", is_flag=True, help="Pack the sources and the .bbl for arXiv.")
@click.option(
    "--overleaf-upload", "upload", is_flag=True, help="Pack only bound/ and the files that changed since --since."
)
@click.option("--since", metavar="REV", default="HEAD", show_default=True, help="Git revision for --overleaf-upload.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="File to write.")
def zip_up(arxiv: bool, upload: bool, since: str, output: Path | None) -> None:
    """Pack the paper for arXiv or for an online editor."""
    from boundpaper.adopt import export, generate
    from boundpaper.store import files

    if arxiv is upload:
        raise click.UsageError("give --arxiv or --overleaf-upload")
    folder = adopted_folder()
    generate.build(folder)
    archive = export.zip_for_arxiv(folder) if arxiv else export.zip_for_editor(folder, since)
    target = output or folder.paper / f"{Path(folder.mains[0]).stem}-{'arxiv' if arxiv else 'upload'}.zip"
    files.write(target, archive)
    click.echo(folder.shown(target.absolute()))


def _convert_command(format: str, help: str) -> click.Command:
    """Return the command that converts the paper to a format."""

    @click.command(format, help=help)
    @click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="File to write.")
    def convert(output: Path | None) -> None:
        from boundpaper.adopt import export
        from boundpaper.store import files

        folder = adopted_folder()
        with files.temporary() as scratch:
            document, messages = export.convert_adopted(folder, format, scratch)
        target = output or folder.paper / f"{Path(folder.mains[0]).stem}.{format}"
        files.write(target, document)
        echo_outcome(folder.shown(target.absolute()), messages)

    return convert


def echo_outcome(file: str, messages: Sequence[str]) -> None:
    """Print the name of a written file, and messages on what was lost; exit with 1 if something was lost."""
    click.echo(file)
    for message in messages:
        click.echo(message, err=True)
    if messages:
        raise SystemExit(1)


docx = _convert_command(
    "docx", "Write the paper for Word, through pandoc; exits with 1 when a number or drawing is lost."
)
html = _convert_command(
    "html", "Write the paper as HTML by LaTeXML or pandoc; exits with 1 if a number or drawing is lost."
)


@click.command("diff")
@click.argument("revision")
@click.option("--pdf", is_flag=True, help="Write only NAME-changes.pdf, with changed numbers marked.")
def diff(revision: str, pdf: bool) -> None:
    """List the bound numbers that were printed differently at a git REVISION, with their places."""
    from boundpaper.adopt import export, generate
    from boundpaper.adopt import revision as git
    from boundpaper.store import files

    folder = adopted_folder()
    if pdf:
        with files.temporary() as scratch:
            document = export.pdf_with_changes(folder, revision, scratch)
        target = folder.paper / f"{Path(folder.mains[0]).stem}-changes.pdf"
        files.write(target, document)
        click.echo(folder.shown(target))
        return
    git.require_revision(folder.root, revision)
    for line in generate.changed_numbers(generate.AdoptedPaper.read(folder), git.cells_at(folder, revision)):
        click.echo(line)


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("what")
def trace(what: str) -> None:
    """Show the data behind WHAT: FILE.tex:LINE, an address, or a printed number."""
    from boundpaper.adopt import generate

    for line in generate.trace_value(generate.AdoptedPaper.read(adopted_folder()), what):
        click.echo(line)


@click.command("claims")
@click.option("--check", is_flag=True, help="Exit with 1 when a claim is contradicted or not supported.")
def claims(check: bool) -> None:
    """Judge the claims in claims.py by the current data."""
    from boundpaper.adopt import cells, judged

    folder = adopted_folder()
    rows = judged.judge_claims(folder, cells.load_data(folder))
    for row in rows.values():
        click.echo(str(row))
    if check and any(row.verdict in judged.UNSUPPORTED for row in rows.values()):
        raise SystemExit(1)


@click.command("watch")
def watch() -> None:
    """Build again after each change of data or text; run `latexmk -pvc` in another terminal to see the PDF."""
    from boundpaper.adopt.cells import SUFFIXES
    from boundpaper.paper.watch import watch as run_after_changes

    folder = adopted_folder()
    suffixes = {*SUFFIXES, ".tex", ".toml", ".py"}

    def is_input(path: str) -> bool:
        return Path(path).suffix in suffixes and not Path(path).is_relative_to(folder.generated)

    command = [sys.executable, "-m", "boundpaper", "build"]
    run_after_changes(folder.root, command, lambda text: click.echo(text, err=True), lambda: None, needs_build=is_input)


OUTSIDE_COMMANDS = (init, build, lint, flatten, zip_up, docx, html)
"""Commands that exist outside a project that is built from chapters."""
ADOPTED_COMMANDS = (diff, trace, claims, watch)
"""Commands that exist only in the folder of an adopted paper."""
