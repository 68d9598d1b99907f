"""Write findings as JSON, SARIF, an HTML page that marks both places of each finding, or a declared claim."""

import csv
import html
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

from boundpaper import __version__
from boundpaper.audit.documents import FileLine
from boundpaper.audit.finding import Finding
from boundpaper.errors import SpecError

Reasoned = Sequence[tuple[Finding, str | None]]  # followed by the reason that suppresses it
_STYLE = (
    "body{font:14px/1.5 sans-serif;margin:2em}pre{margin:0;white-space:pre-wrap}.error{background:#f8d0d0}"
    ".warning{background:#fbe9c0}.note{background:#e4e4e4}.other{background:#dfe8fb}aside{margin:.2em 3em}"
)


def as_json(findings: Reasoned, coverage: dict[str, int]) -> str:
    """Return JSON with all fields of the findings, and counts of what was read."""
    rows = [
        {
            "id": item.id, "kind": item.kind, "level": item.level, "file": item.place.file, "line": item.place.line,
            "printed": item.what, "expected": item.expected, "why": item.why,
            "other": vars(item.other) if item.other else None, "suppressed": reason,
        }
        for item, reason in findings
    ]  # fmt: skip
    return json.dumps({"findings": rows, "read": coverage}, indent=2, ensure_ascii=False) + "\n"


def as_sarif(findings: Reasoned) -> str:
    """Return a SARIF 2.1.0 log; suppressed findings include the reason."""
    results = []
    for item, reason in findings:
        message, locations = {"text": f"{item.told}: {item.why}"}, [_location(item.place)]
        result: dict[str, Any] = {"ruleId": item.kind, "level": item.level, "message": message, "locations": locations}
        result["partialFingerprints"] = {"boundpaper/v1": item.id}
        if item.other:
            result["relatedLocations"] = [_location(item.other)]
        if reason is not None:
            result["suppressions"] = [{"kind": "external", "justification": reason}]
        results.append(result)
    rules = [{"id": kind} for kind in sorted({item.kind for item, _ in findings})]
    driver = {"name": "boundpaper audit", "version": __version__, "rules": rules}
    run = {"tool": {"driver": driver}, "results": results}
    log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _location(place: FileLine) -> dict[str, Any]:
    region = {"region": {"startLine": place.line}} if place.line else {}
    return {"physicalLocation": {"artifactLocation": {"uri": quote(place.file)}, **region}}


def as_page(findings: Sequence[Finding], files: Sequence[str]) -> str:
    """Return the documents as one HTML page; each finding is below its line and links to its second place."""
    parts = [f"<!doctype html><meta charset=utf-8><title>Audit</title><style>{_STYLE}</style>"]
    for file in files:
        parts.append(f"<h1>{html.escape(file)}</h1>")
        for line, text in enumerate(Path(file).read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            place = FileLine(file, line)
            findings_here = [item for item in findings if item.place == place]
            classes = [item.level for item in findings_here] + ["other" for item in findings if item.other == place]
            mark = f' class="{classes[0]}"' if classes else ""
            parts.append(f'<pre id="{html.escape(str(place))}"{mark}>{html.escape(text) or "&nbsp;"}</pre>')
            for item in findings_here:
                words = html.escape(f"[{item.kind}] {item.told}. {item.why} ({item.id})")
                target = html.escape(str(item.other))
                link = f' <a href="#{target}">{target}</a>' if item.other else ""
                parts.append(f"<aside><b>{item.level}</b> {words}{link}</aside>")
    return "\n".join(parts) + "\n"


def claim_source(finding: Finding, stem: str) -> tuple[str, str]:
    """Return a claim in Python and its table `stem` as CSV; raise SpecError for a bad name or no relation."""
    relation = finding.relation
    if relation is None:
        reason = "only a relation of cells becomes a declared check; write a function"
        raise SpecError(f"{finding.id} is [{finding.kind}] and cannot be promoted: {reason}")
    if not stem.isidentifier():
        raise SpecError(f"{stem}: not a valid table name; use letters, digits and underscores")
    target, *operands = relation.names
    variables = [f"x{place}" for place in range(1, len(operands) + 1)]
    words = f"{target} follows from {', '.join(operands)}"
    metric = re.sub(r"\W+", "_", target.lower()).strip("_") or "cells"
    claim = f'''"""Checks of the table at {finding.place}, as the audit found them."""

from boundpaper.claims import Artifact, Cells, Relation
from boundpaper.claims.terms import CombinedTerm

TABLE = Artifact("{stem}", "the table at {finding.place}")
PARTS = tuple(TABLE(row="{{row}}", metric=name) for name in {operands!r})


def follows({", ".join(variables)}):
    """What the cell follows from, of numbers as of their ranges."""
    return {relation.formula.of(variables)}


{stem}_{metric} = Cells(
    {f"{words}."!r},
    {f"{PurePath(finding.place.file).stem}, line {finding.place.line}"!r},
    Relation(
        each={{"row": {[row for row, _ in relation.rows]!r}}},
        cell=TABLE(row="{{row}}", metric={target!r}),
        follows=CombinedTerm(PARTS, follows, follows),
        because="From {", ".join(f"{{{place}}}" for place in range(len(operands)))}.",
        key="{{row}}",
        says={f"{words} at {{row}}."!r},
    ),
)
'''
    text, rows = io.StringIO(), [("row", "metric", "printed")]
    for row, cells in relation.rows:
        rows += [(row, name, number.text) for name, number in zip(relation.names, cells, strict=True)]
    csv.writer(text, lineterminator="\n").writerows(rows)
    return claim, text.getvalue()
