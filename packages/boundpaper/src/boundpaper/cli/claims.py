"""Define the command `claims`, which prints the ledger or compares it with a revision."""

from collections.abc import Sequence
from typing import Any

import click

from boundpaper.cli.project import completion_of, print_paged, root, session, steps_named


@click.command()
@click.argument("names", nargs=-1, shell_complete=completion_of("claim"))
@click.option("--source", help="Only claims of this document (a key of artifacts/sources/documents.csv).")
@click.option("--verdict", help="Only claims with this verdict.")
@click.option("--severity", help="Only claims of this severity (headline, supporting, detail).")
@click.option("--check", is_flag=True, help="Exit with 1 when the ledger differs from the committed one.")
@click.option("--against", metavar="REV", help="Git revision that --check compares with [HEAD].")
def claims(
    names: tuple[str, ...],
    source: str | None,
    verdict: str | None,
    severity: str | None,
    check: bool,
    against: str | None,
) -> None:
    """Print the ledger, or all details of the claims NAMES.

    With --check, compare the present ledger with that of a git revision, and list the verdicts that changed.
    """
    from boundpaper.claims.show import short_report

    if against and not check:
        raise click.UsageError("--against REV sets the revision for --check; give both")
    if check and (names or source or verdict or severity):
        raise click.UsageError("--check compares the whole ledger; give no names and no other options")
    if check:
        _check_ledger(against or "HEAD")
    elif names:
        _show_claims(names)
    else:
        rows = _ledger_rows({"source": source, "verdict": verdict, "severity": severity})
        print_paged("\n".join(short_report(rows)))


def _check_ledger(revision: str) -> None:
    """Compare the ledger with that of a revision; exit with status 1 if they differ."""
    from boundpaper.build.build_copy import build_in_copy
    from boundpaper.build.changes import at_revision
    from boundpaper.claims.changes import changes
    from boundpaper.errors import DataError

    path = "artifacts/results/claims.csv"
    old_text = at_revision(root(), revision, path)
    if old_text is None:
        raise DataError(f"{path} does not exist at {revision}; choose another revision with --against REV")
    with session() as project:
        results_folder = build_in_copy(project, "ledger:claims")
        lines = changes(old_text, (results_folder / "claims.csv").read_text(encoding="utf-8"))
    for line in lines:
        click.echo(line)
    if lines:
        click.echo(f"{path} differs from {revision}; look at the verdicts above, and commit it", err=True)
        raise SystemExit(1)
    click.echo(f"no verdict differs from {revision}", err=True)


def _show_claims(names: Sequence[str]) -> None:
    """Run claims and print all details; a name is that of a claim, or `CLAIM.KEY` for one of its verdicts."""
    import json

    from boundpaper.claims.places import places_of_rows
    from boundpaper.claims.repeats import with_origins
    from boundpaper.claims.show import full_text

    rows: dict[str, dict[str, Any]] = {}
    with session() as project:
        pending = dict.fromkeys(name.partition(".")[0] for name in names)
        built_claims: set[str] = set()
        while pending:
            steps = steps_named(project.graph, list(pending), "claim")
            project.build([step.key for step in steps])
            built_claims |= pending.keys()
            pending = {}
            for step in steps:
                for row in json.loads((root() / step.targets[0]).read_text(encoding="utf-8")):
                    rows[row["claim"]] = row
                    origins = (name.partition(".")[0] for name in row.get("repeats", "").split())
                    pending |= {origin: None for origin in origins if origin not in built_claims}
    all_rows = with_origins(list(rows.values()))
    for name in names:
        matches = [row for row in all_rows if name in (row["claim"], row["claim"].partition(".")[0])]
        if not matches:
            from boundpaper.suggestions import suggest

            raise click.UsageError(f"no verdict called {name!r}; {suggest(name, list(rows))}")
        for row, place in zip(matches, places_of_rows(root(), matches), strict=True):
            click.echo("\n".join(full_text(row, place)))


def _ledger_rows(criteria: dict[str, str | None]) -> list[dict[str, str]]:
    """Return the ledger rows whose columns have the values in `criteria`; an unknown value is a usage error."""
    import csv

    from boundpaper.suggestions import suggest

    with session() as project:
        project.build(["ledger:claims"])
    with (root() / "artifacts/results/claims.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for column, value in criteria.items():
        known = sorted({row[column] for row in rows})
        if value and value not in known:
            suggestion = suggest(value, known)
            raise click.UsageError(f"--{column}: no {value!r}; {suggestion}the ledger has {', '.join(known)}")
        rows = [row for row in rows if value in (None, row[column])]
    return rows


COMMANDS = (claims,)
