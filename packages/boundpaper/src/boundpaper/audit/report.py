"""Write findings as JSON, as SARIF, or in an HTML page of the documents, and write a finding as a declared claim."""

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

FindingsWithReasons = Sequence[tuple[Finding, str | None]]  # None for a finding that is not suppressed
_STYLE = (
    "body{font:14px/1.5 sans-serif;margin:2em}pre{margin:0;white-space:pre-wrap}.error{background:#f8d0d0}"
    ".warning{background:#fbe9c0}.note{background:#e4e4e4}.other{background:#dfe8fb}aside{margin:.2em 3em}"
)


def as_json(findings: FindingsWithReasons, coverage: dict[str, int]) -> str:
    """Return, as JSON, the findings and the counts of what was read."""
    rows = [
        {
            "id": finding.id, "kind": finding.kind, "level": finding.level,
            "file": finding.place.file, "line": finding.place.line,
            "printed": finding.printed, "expected": finding.expected, "why": finding.explanation,
            "other": vars(finding.other_place) if finding.other_place else None, "suppressed": reason,
        }
        for finding, reason in findings
    ]  # fmt: skip
    return json.dumps({"findings": rows, "read": coverage}, indent=2, ensure_ascii=False) + "\n"


def as_sarif(findings: FindingsWithReasons) -> str:
    """Return findings as a SARIF 2.1.0 log; a suppressed finding has its reason as justification."""
    results = []
    for finding, reason in findings:
        result: dict[str, Any] = {
            "ruleId": finding.kind, "level": finding.level,
            "message": {"text": f"{finding.summary}: {finding.explanation}"},
            "locations": [_location(finding.place)], "partialFingerprints": {"boundpaper/v1": finding.id},
        }  # fmt: skip
        if finding.other_place:
            result["relatedLocations"] = [_location(finding.other_place)]
        if reason is not None:
            result["suppressions"] = [{"kind": "external", "justification": reason}]
        results.append(result)
    rules = [{"id": kind} for kind in sorted({finding.kind for finding, _ in findings})]
    driver = {"name": "boundpaper audit", "version": __version__, "rules": rules}
    run = {"tool": {"driver": driver}, "results": results}
    log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _location(place: FileLine) -> dict[str, Any]:
    region = {"region": {"startLine": place.line}} if place.line else {}
    return {"physicalLocation": {"artifactLocation": {"uri": quote(place.file)}, **region}}


def as_page(findings: Sequence[Finding], files: Sequence[str]) -> str:
    """Return documents as one HTML page; each finding is below its line and links to the line that contradicts it."""
    elements = [f"<!doctype html><meta charset=utf-8><title>Audit</title><style>{_STYLE}</style>"]
    for file in files:
        elements.append(f"<h1>{html.escape(file)}</h1>")
        for line, text in enumerate(Path(file).read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            place = FileLine(file, line)
            findings_here = [finding for finding in findings if finding.place == place]
            classes: list[str] = [finding.level for finding in findings_here]
            classes += ["other" for finding in findings if finding.other_place == place]
            class_attribute = f' class="{classes[0]}"' if classes else ""
            elements.append(
                f'<pre id="{html.escape(str(place))}"{class_attribute}>{html.escape(text) or "&nbsp;"}</pre>'
            )
            for finding in findings_here:
                message = html.escape(f"[{finding.kind}] {finding.summary}. {finding.explanation} ({finding.id})")
                target = html.escape(str(finding.other_place))
                link = f' <a href="#{target}">{target}</a>' if finding.other_place else ""
                elements.append(f"<aside><b>{finding.level}</b> {message}{link}</aside>")
    return "\n".join(elements) + "\n"


def claim_source(finding: Finding, stem: str) -> tuple[str, str]:
    """Return a claim in Python and its table `stem` as CSV; raise SpecError if relation or valid stem is missing."""
    relation = finding.relation
    if relation is None:
        reason = "only a relation of cells becomes a declared check; write a function"
        raise SpecError(f"{finding.id} is [{finding.kind}] and cannot be promoted: {reason}")
    if not stem.isidentifier():
        raise SpecError(f"{stem}: not a valid table name; use letters, digits and underscores")
    result, *operands = relation.names
    variables = [f"x{index}" for index in range(1, len(operands) + 1)]
    statement = f"{result} follows from {', '.join(operands)}"
    metric = re.sub(r"\W+", "_", result.lower()).strip("_") or "cells"
    claim = f'''"""Checks of the table at {finding.place}, as the audit found them."""

from boundpaper.claims import Artifact, Cells, Relation
from boundpaper.claims.terms import CombinedTerm

TABLE = Artifact("{stem}", "the table at {finding.place}")
PARTS = tuple(TABLE(row="{{row}}", metric=name) for name in {operands!r})


def follows({", ".join(variables)}):
    """Return the cell that follows from numbers, or the range that follows from ranges."""
    return {relation.formula.with_names(variables)}


{stem}_{metric} = Cells(
    {f"{statement}."!r},
    {f"{PurePath(finding.place.file).stem}, line {finding.place.line}"!r},
    Relation(
        each={{"row": {[row for row, _ in relation.rows]!r}}},
        cell=TABLE(row="{{row}}", metric={result!r}),
        follows=CombinedTerm(PARTS, follows, follows),
        because="From {", ".join(f"{{{index}}}" for index in range(len(operands)))}.",
        key="{{row}}",
        says={f"{statement} at {{row}}."!r},
    ),
)
'''
    output, rows = io.StringIO(), [("row", "metric", "printed")]
    for row, cells in relation.rows:
        rows += [(row, name, number.text) for name, number in zip(relation.names, cells, strict=True)]
    csv.writer(output, lineterminator="\n").writerows(rows)
    return claim, output.getvalue()
