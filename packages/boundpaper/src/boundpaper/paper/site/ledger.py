"""Write the ledger as a page: one row per verdict with all details, and controls to select rows."""

from collections.abc import Iterator, Mapping
from typing import Any

from boundpaper.paper.site.overview import VERDICTS
from boundpaper.paper.site.page import page
from boundpaper.paper.site.project import SiteProject
from boundpaper.paper.site.works import work_link
from boundpaper.typeset import addresses

SEVERITIES = ("headline", "supporting", "detail")


def ledger_pages(project: SiteProject) -> Iterator[tuple[str, bytes]]:
    """Yield `ledger.html`; without claims, the page says that there are none."""
    present = {
        name: {row[name] for row in project.claims} for name in ("source", "verdict", "severity", "kind", "failure")
    }
    titles = {chapter.name: chapter.title for chapter in project.chapters}
    cited = {name for row in project.claims for name in row["chapters"]}
    documents = [(each.key, f"{each.key}: {each.title}") for each in project.documents if each.key in present["source"]]
    choices = [
        ("document", "Document", documents),
        ("verdict", "Verdict", [(each, each) for each in VERDICTS if each in present["verdict"]]),
        ("severity", "Severity", [(each, each) for each in SEVERITIES if each in present["severity"]]),
        ("failure", "Kind of failure", [(each, each) for each in sorted(filter(None, present["failure"]))]),
        ("kind", "Kind of row", [(each, each) for each in sorted(present["kind"], reverse=True)]),
        ("chapter", "Cited in chapter", [(name, titles[name]) for name in titles if name in cited]),
    ]
    works = project.works
    yield (
        "ledger.html",
        page(
            "ledger.html.j2",
            "ledger.html",
            title="The ledger",
            works={each.key: work_link(works[each.citation]) for each in project.documents if each.citation in works},
            rows=sorted(_rows_with_steps(project), key=_sort_weight),
            choices=choices,
            titles=titles,
            project=project,
            addresses=addresses,
        ),
    )


def _sort_weight(shown: tuple[Mapping[str, Any], str, tuple[str, int]]) -> tuple[bool, int]:
    """Return a sort key: statements before cell checks, and headlines and supporting statements before details."""
    row = shown[0]
    return row["kind"] != "statement", SEVERITIES.index(row["severity"]) if row["severity"] in SEVERITIES else len(
        SEVERITIES
    )


def _rows_with_steps(project: SiteProject) -> Iterator[tuple[Mapping[str, Any], str, tuple[str, int]]]:
    """Yield each row, its function's name (empty after the first of several rows), and the function's file and line."""
    seen = set()
    for row in project.claims:
        file, _, line = row["function"].rpartition(":")
        first = row["step"] not in seen and row["step"] != row["claim"]
        seen.add(row["step"])
        yield row, row["step"] if first else "", (file, int(line))
