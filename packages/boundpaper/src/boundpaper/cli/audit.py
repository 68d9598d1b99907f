"""Define the command that audits documents."""

from pathlib import Path

import click

from boundpaper.cli.project import show_waiting


@click.command()
@click.argument("documents", nargs=-1, required=True, metavar="DOCUMENT...")
@click.option("--joint", is_flag=True, help="Compare the sentences of each document with the tables of all documents.")
@click.option("--only", multiple=True, metavar="KIND", help="Kind of finding to search for; repeatable [all kinds].")
@click.option("--level", type=click.Choice(["error", "warning", "note"]), default="warning", show_default=True)
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "sarif", "html"]), default="text", show_default=True
)
@click.option("--baseline", metavar="FILE", help="YAML file of accepted findings, each with a reason.")
@click.option(
    "--promote",
    metavar="ID",
    help="Convert the finding with this ID to a claim: write FILE.py, given by -o, and FILE.csv beside it.",
)
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="File to write instead of printing."
)
def audit(
    documents: tuple[str, ...],
    joint: bool,
    only: tuple[str, ...],
    level: str,
    form: str,
    baseline: str | None,
    promote: str | None,
    output: Path | None,
) -> None:
    """Find where tables, figure code and sentences of a DOCUMENT contradict each other.

    Reads Markdown, LaTeX, HTML and DOCX (through pandoc); in a PDF, it reads only the statistics in sentences.
    Exits with 1 when something is found, 2 when a document cannot be read.
    """
    from boundpaper.audit import checks, report
    from boundpaper.audit.finding import LEVELS, reasons, suppressions
    from boundpaper.audit.reading import read
    from boundpaper.errors import DataError
    from boundpaper.store import files
    from boundpaper.suggestions import or_known
    from boundpaper.typeset.plural import counted

    for kind in only:
        if kind not in checks.KINDS:
            raise click.UsageError(f"unknown kind {kind!r}{or_known(kind, checks.KINDS)}")
    if form == "html" and any(each.lower().endswith((".docx", ".pdf")) for each in documents):
        raise click.UsageError("--format html marks lines of a text; give Markdown, LaTeX or HTML, or another form")
    try:
        with show_waiting("auditing"):
            sources = [read(Path(each), each) for each in documents]
            entries = suppressions(baseline) if baseline else {}
            findings = checks.audit(sources, joint=joint, only=only)
    except DataError as error:
        raise click.UsageError(str(error)) from None
    if promote:
        promoted = next((each for each in findings if each.id == promote), None)
        if promoted is None or output is None:
            words = (
                "; give -o FILE.py"
                if promoted
                else or_known(promote, [each.id for each in findings]) or "; no contradiction found"
            )
            raise click.UsageError(f"--promote {promote}{words}")
        claim, table = report.claim_source(promoted, output.stem)
        for path, content in ((output, claim), (output.with_suffix(".csv"), table)):
            files.write(path, content.encode())
            click.echo(str(path))
        return
    entries = {key: entry for key, entry in entries.items() if not only or entry["kind"] in only}
    with_reasons = list(zip(findings, reasons(findings, entries, baseline or ""), strict=True))
    set_aside = [(each, reason) for each, reason in with_reasons if reason]
    listed = [each for each, reason in with_reasons if not reason and LEVELS.index(each.level) <= LEVELS.index(level)]
    coverage = checks.coverage(sources)
    if form == "text":
        counts = [counted(sum(each.level == level_name for each in listed), level_name) for level_name in LEVELS]
        counts.append(f"{len(set_aside)} suppressed")
        if hidden := sum(not reason for _, reason in with_reasons) - len(listed):
            counts.append(f"{hidden} less certain (--level note shows all)")
        text = "\n".join((*map(str, listed), ", ".join(counts), checks.counts_in_words(coverage))) + "\n"
    elif form == "html":
        places = [place for each in listed for place in (each.place, each.other) if place]
        names = [*(each.file for each in sources), *(place.file for place in places)]
        text = report.as_page(listed, list(dict.fromkeys(names)))
    else:
        with_reasons = [*((each, None) for each in listed), *set_aside]
        text = report.as_json(with_reasons, coverage) if form == "json" else report.as_sarif(with_reasons)
    if output:
        files.write(output, text.encode())
    else:
        click.echo(text, nl=False)
    if listed:
        raise SystemExit(1)


COMMANDS = (audit,)
