"""Define the command that audits documents."""

from pathlib import Path

import click


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
        opened = [read(Path(each), each) for each in documents]
        entries = suppressions(baseline) if baseline else {}
    except DataError as error:
        raise click.UsageError(str(error)) from None
    every = checks.audit(opened, joint=joint, only=only)
    if promote:
        chosen = next((each for each in every if each.id == promote), None)
        if chosen is None or output is None:
            words = (
                "; give -o FILE.py"
                if chosen
                else or_known(promote, [each.id for each in every]) or "; no contradiction found"
            )
            raise click.UsageError(f"--promote {promote}{words}")
        claim, table = report.claim_source(chosen, output.stem)
        for path, content in ((output, claim), (output.with_suffix(".csv"), table)):
            files.write(path, content.encode())
            click.echo(str(path))
        return
    entries = {key: entry for key, entry in entries.items() if not only or entry["kind"] in only}
    reasoned = list(zip(every, reasons(every, entries, baseline or ""), strict=True))
    suppressed = [(each, reason) for each, reason in reasoned if reason]
    shown = [each for each, reason in reasoned if not reason and LEVELS.index(each.level) <= LEVELS.index(level)]
    covered = checks.coverage(opened)
    if form == "text":
        counts = [counted(sum(each.level == one for each in shown), one) for one in LEVELS]
        counts.append(f"{len(suppressed)} suppressed")
        if hidden := sum(not reason for _, reason in reasoned) - len(shown):
            counts.append(f"{hidden} less certain (--level note shows all)")
        text = "\n".join((*map(str, shown), ", ".join(counts), checks.counts_in_words(covered))) + "\n"
    elif form == "html":
        places = [place for each in shown for place in (each.place, each.other) if place]
        names = [*(each.file for each in opened), *(place.file for place in places)]
        text = report.as_page(shown, list(dict.fromkeys(names)))
    else:
        reasoned = [*((each, None) for each in shown), *suppressed]
        text = report.as_json(reasoned, covered) if form == "json" else report.as_sarif(reasoned)
    if output:
        files.write(output, text.encode())
    else:
        click.echo(text, nl=False)
    if shown:
        raise SystemExit(1)


COMMANDS = (audit,)
