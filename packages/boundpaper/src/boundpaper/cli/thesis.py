"""Define commands that build, preview, watch, pack and publish the thesis."""

import sys

import click

from boundpaper.cli.project import are_up_to_date, completion_of, jobs_option, root, session, show_waiting, steps_named
from boundpaper.typeset.plural import counted


@click.command()
@jobs_option
@click.option(
    "--site",
    metavar="URL",
    default="",
    help="Site to which the PDF links: an address, or `site` for the folder beside the PDF.",
)
@click.option(
    "--keep-going", is_flag=True, help="After a failure, write out/thesis-draft.pdf from the parts that could be built."
)
def paper(jobs: int | None, site: str, keep_going: bool) -> None:
    """Build the whole thesis, out/thesis.pdf; after a failure, the PDF of the last successful build stays."""
    from boundpaper.errors import SpecError, ThesisError
    from boundpaper.paper import edition

    try:
        edition_of_build = edition.ask_commit(root(), edition.site_address(site) if site else "")
    except SpecError as error:
        raise click.UsageError(f"--site: {error}") from None
    edition.ensure_edition(root())
    if are_up_to_date(["thesis:thesis"]) and edition.read(root()) == edition_of_build():
        click.echo("out/thesis.pdf")
        return
    with session(jobs) as project:
        edition.store_edition(root(), edition_of_build())
        try:
            project.build(["thesis:thesis"])
        except ThesisError:
            if keep_going:
                from boundpaper.paper.document import draft_thesis

                for line in draft_thesis(root()):
                    click.echo(line, err=True)
                if (root() / "out/thesis-draft.pdf").is_file():
                    click.echo("out/thesis-draft.pdf")
            raise
        click.echo("out/thesis.pdf")


@click.command()
@click.argument("name", shell_complete=completion_of("chapter"))
@jobs_option
def chapter(name: str, jobs: int | None) -> None:
    """Build the preview of one chapter, out/chapters/NAME.pdf."""
    from boundpaper.paper.tex.preview import compile_chapter, exhibit_steps
    from boundpaper.store.files import write

    with session(jobs) as project:
        [step] = steps_named(project.graph, [name], "chapter")
        project.build([step.key, *exhibit_steps(root(), step.name)])
        target = f"out/chapters/{step.name}.pdf"
        with show_waiting(f"compiling chapter {step.name}"):
            write(root() / target, compile_chapter(root(), step.name))
        click.echo(target)


@click.command()
@click.argument("targets", nargs=-1, metavar="[COMMAND...]")
@click.option(
    "--serve",
    is_flag=True,
    help="Serve the PDF and the site to a browser on this machine; pages reload after each build.",
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="Port of --serve; 0: any free port."
)
def watch(targets: tuple[str, ...], serve: bool, port: int) -> None:
    """Run COMMAND (by default `paper`; for example `table heights`) again after each change of a file."""
    from boundpaper.paper.serve import Server
    from boundpaper.paper.watch import watch as run_after_changes

    command = targets or ("paper",)
    if command[0] not in ("paper", "table", "figure", "analyze", "claims", "site", "check", "chapter"):
        raise click.UsageError(f"{command[0]!r} is not a command that builds; omit it to build the whole thesis")
    server = Server(root() / "out", port) if serve else None
    if server:
        server.begin()
        click.echo(server.address, err=True)
    run_after_changes(
        root(),
        [sys.executable, str(root() / "build.py"), *command],
        lambda text: click.echo(text, err=True),
        server.built if server else lambda: None,
    )


@click.command()
@jobs_option
@click.option("--overleaf", is_flag=True, help="Pack the sources and the bibliography for an online editor.")
@click.option("--site", metavar="URL", default="", help="Site that the PDF links to, as in `paper`.")
@click.pass_context
def bundle(ctx: click.Context, jobs: int | None, overleaf: bool, site: str) -> None:
    """Pack the thesis into out/bundle: for arXiv (.tar.gz), or with --overleaf for an online editor (.zip).

    Before the package is written, it is unpacked in an empty folder and compiled with pdflatex; the command fails if
    this does not give the same pages.
    """
    from boundpaper.paper.bundle import make, try_out
    from boundpaper.store.files import write

    ctx.invoke(paper, jobs=jobs, site=site, keep_going=False)
    with show_waiting("compiling the package in an empty folder"):
        archive = make(root() / "out", flat=not overleaf)
        try_out(archive, (root() / "out/thesis.pdf").read_bytes())
    path = "out/bundle/thesis-" + ("overleaf.zip" if overleaf else "arxiv.tar.gz")
    write(root() / path, archive)
    click.echo(path)


@click.command()
@jobs_option
@click.option("--site", metavar="URL", default="", help="Site that the PDF links to, as in `paper`.")
@click.pass_context
def publish(ctx: click.Context, jobs: int | None, site: str) -> None:
    """Write data, results, ledger, PDF and site as an RO-Crate into out/crate, for an archive such as Zenodo.

    The PDF links to the site of --site, or else to `site:` in the metadata, or else to the site beside the PDF.
    """
    from boundpaper.cli.pages import site as pages
    from boundpaper.paper import crate, metadata

    ctx.invoke(paper, jobs=jobs, site=site or metadata.read(root()).site or "site", keep_going=False)
    ctx.invoke(pages, jobs=jobs)
    with session(jobs), show_waiting("writing the crate"):
        count = crate.lay_out(root(), root() / "out/crate")
    for file in crate.files_left_out(root()):
        click.echo(f"note: {file}: left out; neither the data package nor a manifest lists it", err=True)
    click.echo(f"out/crate: {counted(count, 'file')}; `ro-crate-metadata.json` describes them; nothing was uploaded")


COMMANDS = (paper, chapter, watch, bundle, publish)
