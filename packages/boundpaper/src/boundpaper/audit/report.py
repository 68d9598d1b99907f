"""Reports of findings: JSON, SARIF for code scanning, and an HTML page with both places marked."""

import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from boundpaper import __version__
from boundpaper.audit.checks import Coverage
from boundpaper.audit.documents import Place
from boundpaper.audit.finding import Finding

Suppressed = Sequence[tuple[Finding, str]]
_STYLE = (
    "body{font:14px/1.5 sans-serif;margin:2em}pre{margin:0;white-space:pre-wrap}.error{background:#f8d0d0}"
    ".warning{background:#fbe9c0}.note{background:#e4e4e4}.other{background:#dfe8fb}aside{margin:.2em 3em}"
)


def as_json(findings: Sequence[Finding], suppressed: Suppressed, coverage: Coverage) -> str:
    """All that is known of the findings, and what was read."""
    rows = [
        {
            "id": each.id, "kind": each.kind, "level": each.level, "file": each.place.file, "line": each.place.line,
            "printed": each.what, "expected": each.expected, "why": each.why,
            "other": vars(each.other) if each.other else None, "suppressed": reason,
        }
        for each, reason in [*((each, None) for each in findings), *suppressed]
    ]  # fmt: skip
    return _written({"findings": rows, "read": vars(coverage)})


def as_sarif(findings: Sequence[Finding], suppressed: Suppressed) -> str:
    """A SARIF 2.1.0 log; suppressed findings carry their reason."""
    results = []
    for each, reason in [*((each, None) for each in findings), *suppressed]:
        result: dict[str, Any] = {
            "ruleId": each.kind,
            "level": each.level,
            "message": {"text": f"{each.told}: {each.why}"},
            "locations": [_location(each.place)],
            "partialFingerprints": {"boundpaper/v1": each.id},
        }
        if each.other:
            result["relatedLocations"] = [_location(each.other)]
        if reason is not None:
            result["suppressions"] = [{"kind": "external", "justification": reason}]
        results.append(result)
    rules = [{"id": kind} for kind in sorted({result["ruleId"] for result in results})]
    driver = {"name": "boundpaper audit", "version": __version__, "rules": rules}
    runs = [{"tool": {"driver": driver}, "results": results}]
    return _written({"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": runs})


def _written(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _location(place: Place) -> dict[str, Any]:
    region = {"region": {"startLine": place.line}} if place.line else {}
    return {"physicalLocation": {"artifactLocation": {"uri": quote(place.file)}, **region}}


def as_page(findings: Sequence[Finding], files: Sequence[str]) -> str:
    """The text of the documents as one page, with each finding under its line and a link to its second place."""
    numbers = {file: index for index, file in enumerate(files)}
    parts = [f"<!doctype html><meta charset=utf-8><title>Audit</title><style>{_STYLE}</style>"]
    for file, index in numbers.items():
        parts.append(f"<h1>{html.escape(file)}</h1>")
        looks = {each.other.line: "other" for each in findings if each.other and each.other.file == file}
        here = [each for each in findings if each.place.file == file]
        looks |= {each.place.line: each.level for each in reversed(here)}
        for line, text in enumerate(Path(file).read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            mark = f' class="{looks[line]}"' if line in looks else ""
            parts.append(f'<pre id="f{index}l{line}"{mark}>{html.escape(text) or "&nbsp;"}</pre>')
            parts += [_aside(each, numbers) for each in here if each.place.line == line]
    return "\n".join(parts) + "\n"


def _aside(finding: Finding, numbers: dict[str, int]) -> str:
    link, other = "", finding.other
    if other and other.file in numbers:
        link = f' <a href="#f{numbers[other.file]}l{other.line}">{html.escape(str(other))}</a>'
    words = f"<b>{finding.level} [{finding.kind}]</b> {html.escape(finding.told)}. {html.escape(finding.why)}"
    return f"<aside>{words} ({finding.id}){link}</aside>"
