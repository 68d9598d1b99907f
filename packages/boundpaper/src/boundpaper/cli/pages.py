"""Define commands that write pages for a browser: the site, and annotated copies of the judged documents."""

from pathlib import Path

import click

from boundpaper.cli.project import jobs_option, root, session, show_waiting


@click.command()
@jobs_option
def site(jobs: int | None) -> None:
    """Build the site in out/site: pages of the ledger, exhibits, artifacts, chapters and the graph."""
    from boundpaper.build.graph import outline_nodes
    from boundpaper.paper.site import EXHIBITS, SiteProject, write_site

    kinds = {"source", "measurement", "result", "picture", "chapter"}
    with session(jobs, reserved=1) as project:
        steps = project.graph.steps
        if any(step.kind.name == "claim" for step in steps.values()):
            kinds |= {"ledger", "places", "inventory"}  # these gather claims, and fail without claims
        project.build([key for key, step in steps.items() if step.kind.name in kinds])
        shown_steps = [step for step in steps.values() if step.kind.name in {*kinds, "claim", "figure", "table"}]
        exhibit_jobs = {step.key: project.job(step) for step in shown_steps if step.kind.name in EXHIBITS}
        pages = SiteProject(root(), tuple(outline_nodes(shown_steps)), exhibit_jobs)
        try:
            with show_waiting("writing pages"):
                count, changed = write_site(pages, project.engine.workers)
        except Exception:
            project.build([key for key, step in steps.items() if step.kind.name == "table"])  # names faulty tables
            raise
    click.echo(f"out/site/index.html ({count} files, {changed} changed)")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
def annotate(folder: Path) -> None:
    """Colour your copies of the judged documents by verdict, as pages in out/annotated.

    FOLDER has the copies as Markdown. A file is recognised by its sentences, or by a name that begins with the key of a
    document.
    """
    from boundpaper.paper.annotate import annotate as write_pages

    if not folder.is_dir():
        raise click.UsageError(f"{folder}: no such folder; give the folder with your copies of the documents")
    with session() as project:
        project.build(["ledger:claims", "places:claim_places"])
        sources = [step.name for step in project.graph.steps.values() if step.kind.name == "source"]
        with show_waiting(f"colouring the documents in {folder}"):
            documents, unknown_names = write_pages(root(), folder, sources)
    for document in documents:
        click.echo(document.words)
    for name in unknown_names:
        click.echo(f"{name}: not one of the judged documents", err=True)
    click.echo("out/annotated/index.html")


COMMANDS = (site, annotate)
