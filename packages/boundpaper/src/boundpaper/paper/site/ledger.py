"""Write the ledger as a page: a row for each verdict with all details, and controls that select rows."""

from collections.abc import Iterator, Mapping
from typing import Any

from boundpaper.paper.site.overview import VERDICTS
from boundpaper.paper.site.page import page
from boundpaper.paper.site.project import SiteProject
from boundpaper.paper.site.works import work_link
from boundpaper.typeset import addresses

SEVERITIES = ("headline", "supporting", "detail")


def ledger_pages(project: SiteProject) -> Iterator[tuple[str, bytes]]:
    """Yield `ledger.html`; without claims, a sentence replaces the rows."""
    columns = ("source", "verdict", "severity", "kind", "failure")
    values = {name: {row[name] for row in project.claims} for name in columns}
    titles = {chapter.name: chapter.title for chapter in project.chapters}
    citing_chapters = {name for row in project.claims for name in row["chapters"]}
    cited = [document for document in project.documents if document.citation in project.works]
    document_titles = {document.key: f"{document.key}: {document.title}" for document in project.documents}
    options = {
        ("document", "Document"): [key for key in document_titles if key in values["source"]],
        ("verdict", "Verdict"): [verdict for verdict in VERDICTS if verdict in values["verdict"]],
        ("severity", "Severity"): [severity for severity in SEVERITIES if severity in values["severity"]],
        ("failure", "Kind of failure"): sorted(filter(None, values["failure"])),
        ("kind", "Kind of row"): sorted(values["kind"], reverse=True),
        ("chapter", "Cited in chapter"): [name for name in titles if name in citing_chapters],
    }
    words = {"document": document_titles, "chapter": titles}
    content = page(
        "ledger.html.j2",
        "ledger.html",
        title="The ledger",
        works={document.key: work_link(project.works[document.citation]) for document in cited},
        rows=sorted(_rows_with_steps(project), key=lambda row_and_step: _sort_key(row_and_step[0])),
        choices=[
            (name, label, [(value, words.get(name, {}).get(value, value)) for value in names])
            for (name, label), names in options.items()
        ],
        titles=titles,
        project=project,
        addresses=addresses,
    )
    yield "ledger.html", content


def _sort_key(row: Mapping[str, Any]) -> tuple[bool, int]:
    """Return a key that puts statements before cell checks, then headlines before supporting rows before details."""
    severity = row["severity"]
    return row["kind"] != "statement", SEVERITIES.index(severity) if severity in SEVERITIES else len(SEVERITIES)


def _rows_with_steps(project: SiteProject) -> Iterator[tuple[Mapping[str, Any], str, tuple[str, int]]]:
    """Yield each row, the id of its step, and the file and the line of its function.

    The id is on the first row of a step with several rows, and empty for all other rows.
    """
    seen = set()
    for row in project.claims:
        file, _, line = row["function"].rpartition(":")
        has_id = row["step"] not in seen and row["step"] != row["claim"]
        seen.add(row["step"])
        yield row, row["step"] if has_id else "", (file, int(line))
