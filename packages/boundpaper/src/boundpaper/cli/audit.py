"""Define the command `audit`, which searches documents for contradictions."""

from pathlib import Path

import click

from boundpaper.cli.project import show_waiting


@click.command()
@click.argument("documents", nargs=-1, required=True, metavar="DOCUMENT...")
@click.option("--joint", is_flag=True, help="Compare the sentences of each document with the tables of all documents.")
@click.option("--only", multiple=True, metavar="KIND", help="Kind of finding to search for; repeatable [all kinds].")
@click.option("--level", type=click.Choice(["error", "warning", "note"]), default="warning", show_default=True)
@click.option("--format", type=click.Choice(["text", "json", "sarif", "html"]), default="text", show_default=True)
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
    format: str,
    baseline: str | None,
    promote: str | None,
    output: Path | None,
) -> None:
    """Find where tables, figure code and sentences of a DOCUMENT contradict each other.

    Reads Markdown, LaTeX, HTML and DOCX (through pandoc); of a PDF, it reads only the statistics in sentences. Exits
    with 1 when there are findings, and with 2 when a document cannot be read.
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
    if format == "html" and any(name.lower().endswith((".docx", ".pdf")) for name in documents):
        raise click.UsageError("--format html marks lines; give Markdown, LaTeX or HTML files, or another --format")
    try:
        with show_waiting("auditing"):
            sources = [read(Path(name), name) for name in documents]
            entries = suppressions(baseline) if baseline else {}
            findings = checks.audit(sources, joint=joint, only=only)
    except DataError as error:
        raise click.UsageError(str(error)) from None
    if promote:
        finding = next((finding for finding in findings if finding.id == promote), None)
        if finding is None:
            known = or_known(promote, [finding.id for finding in findings])
            raise click.UsageError(f"--promote {promote}{known or '; no contradiction found'}")
        if output is None:
            raise click.UsageError(f"--promote {promote} needs a file to write; give -o FILE.py")
        claim, table = report.claim_source(finding, output.stem)
        for path, text in ((output, claim), (output.with_suffix(".csv"), table)):
            files.write(path, text.encode())
            click.echo(str(path))
        return
    entries = {key: entry for key, entry in entries.items() if not only or entry["kind"] in only}
    with_reasons = list(zip(findings, reasons(findings, entries, baseline or ""), strict=True))
    suppressed_findings = [(finding, reason) for finding, reason in with_reasons if reason]
    open_findings = [finding for finding, reason in with_reasons if not reason]
    shown_findings = [finding for finding in open_findings if LEVELS.index(finding.level) <= LEVELS.index(level)]
    coverage = checks.coverage(sources)
    if format == "text":
        levels = [finding.level for finding in shown_findings]
        counts = [counted(levels.count(level_name), level_name) for level_name in LEVELS]
        counts.append(f"{len(suppressed_findings)} suppressed")
        if n_hidden := len(open_findings) - len(shown_findings):
            counts.append(f"{n_hidden} less certain (--level note shows all)")
        text = "\n".join((*map(str, shown_findings), ", ".join(counts), checks.counts_in_words(coverage))) + "\n"
    elif format == "html":
        places = [place for finding in shown_findings for place in (finding.place, finding.other_place) if place]
        names = [*(source.file for source in sources), *(place.file for place in places)]
        text = report.as_page(shown_findings, list(dict.fromkeys(names)))
    else:
        with_reasons = [*((finding, None) for finding in shown_findings), *suppressed_findings]
        text = report.as_json(with_reasons, coverage) if format == "json" else report.as_sarif(with_reasons)
    if output:
        files.write(output, text.encode())
    else:
        click.echo(text, nl=False)
    if shown_findings:
        raise SystemExit(1)


COMMANDS = (audit,)
