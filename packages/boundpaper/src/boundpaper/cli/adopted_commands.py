"""Define commands for a project built from chapters; they have the names of the commands for adopted papers."""

from pathlib import Path

import click

from boundpaper.cli.adopt import echo_outcome
from boundpaper.cli.project import jobs_option, root, show_waiting
from boundpaper.cli.thesis import bundle, paper


@click.command()
@jobs_option
@click.pass_context
def build(ctx: click.Context, jobs: int | None) -> None:
    """Build the whole thesis, as `paper` does."""
    ctx.invoke(paper, jobs=jobs, site="", keep_going=False)


@click.command()
def lint() -> None:
    """Find typed numbers, undefined citations and undefined references in the chapters, without building."""
    from boundpaper.paper import bibliography, metadata
    from boundpaper.paper.lint import check_chapters

    works, paper_metadata = bibliography.read(root()), metadata.read(root())
    findings = check_chapters(metadata.chapters(root()), works.lines, paper_metadata.names, paper_metadata.terms)
    for finding in findings:
        click.echo(str(finding))
    if findings:
        raise SystemExit(1)


@click.command()
@click.option(
    "-o", "--output", type=click.Path(file_okay=False, path_type=Path), required=True, help="New folder to write to."
)
@jobs_option
@click.pass_context
def flatten(ctx: click.Context, output: Path, jobs: int | None) -> None:
    """Write the thesis as one LaTeX file, with its pictures and bibliography, into a new folder."""
    from boundpaper.store.files import new_folder

    with new_folder(output) as draft:
        _write_flattened(ctx, draft, jobs)
    click.echo(str(output / "thesis.tex"))


@click.command("zip")
@click.option("--arxiv", is_flag=True, help="Pack for arXiv, as `bundle` does.")
@click.option(
    "--overleaf-upload",
    "upload",
    is_flag=True,
    help="Pack for Overleaf or another online editor, as `bundle --overleaf` does.",
)
@jobs_option
@click.pass_context
def zip_up(ctx: click.Context, arxiv: bool, upload: bool, jobs: int | None) -> None:
    """Pack the thesis for arXiv or for an online editor, after compiling the package."""
    if arxiv is upload:
        raise click.UsageError("give --arxiv or --overleaf-upload")
    ctx.invoke(bundle, jobs=jobs, overleaf=upload, site="")


def _convert_command(format: str, help: str) -> click.Command:
    @click.command(format, help=help)
    @click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="File to write.")
    @jobs_option
    @click.pass_context
    def convert(ctx: click.Context, output: Path | None, jobs: int | None) -> None:
        from boundpaper.adopt import export
        from boundpaper.paper.bundle import converters_text
        from boundpaper.store import files

        with files.temporary() as scratch:
            _write_flattened(ctx, scratch / "plain", jobs)
            path = scratch / "plain/thesis.tex"
            path.write_text(converters_text(path.read_text(encoding="utf-8")), encoding="utf-8")
            with show_waiting(f"converting to {format}"):
                document, messages = export.convert(scratch / "plain", "thesis.tex", format)
        target = output or root() / f"out/thesis.{format}"
        files.write(target, document)
        echo_outcome(str(target), messages)

    return convert


def write_changes_pdf(ctx: click.Context, revision: str) -> None:
    """Write out/thesis-changes.pdf, in which differences from a git revision are marked."""
    from boundpaper.adopt import export
    from boundpaper.adopt.revision import require_revision
    from boundpaper.store import files

    require_revision(root(), revision)  # report an unknown revision before anything is built
    with files.temporary() as scratch:
        _write_flattened(ctx, scratch / "new", None)
        with show_waiting(f"marking changes since {revision}"):
            pdf = export.chapters_with_changes(root(), revision, scratch)
    files.write(root() / "out/thesis-changes.pdf", pdf)
    click.echo("out/thesis-changes.pdf")


def _write_flattened(ctx: click.Context, folder: Path, jobs: int | None) -> None:
    """Build the thesis, and write it as one LaTeX file with its pictures and bibliography into a folder."""
    from boundpaper.paper.bundle import make, unpack

    ctx.invoke(paper, jobs=jobs, site="", keep_going=False)
    folder.mkdir(parents=True, exist_ok=True)
    unpack(make(root() / "out"), folder)


docx = _convert_command(
    "docx", "Write the thesis for Word, through pandoc; exits with 1 when a number or drawing is lost."
)
html = _convert_command(
    "html", "Write the thesis as one HTML page, through LaTeXML or pandoc; `site` also writes exhibits and data."
)

COMMANDS = (build, lint, flatten, zip_up, docx, html)
