"""Findings of the critical review: each has a verdict, and the places in the project that answer it exist."""

import re

import pytest

from boundpaper.store.reader import read
from conftest import ROOT

TEXT = (ROOT / "docs/findings.md").read_text(encoding="utf-8")
ROWS = {cells[1]: cells[2:5] for line in TEXT.splitlines() if len(cells := re.split(r"\s*\|\s*", line)) == 6}
NUMBERS = [
    *(f"{part}{number}" for part, most in (("A", 6), ("B", 9), ("C", 17), ("E", 8)) for number in range(1, most + 1)),
    "D",
]


def places(finding):
    return re.findall(r"`([^`]+)`", ROWS[finding][2])


def exists(place):
    if place.startswith(("sec:", "ch:")):
        return any(rf"\label{{{place}}}" in path.read_text() for path in (ROOT / "paper/chapters").glob("*.j2"))
    if place.startswith(("thesis_", "c0")):
        return place in set(read(ROOT, "claims")["claim"].str.partition(".")[0])
    files = (f"artifacts/results/{place}.csv", f"artifacts/sources/{place}.csv", place)
    return any((ROOT / path).is_file() for path in files)


@pytest.mark.parametrize("finding", NUMBERS)
def test_finding_has_a_verdict_and_places_that_exist(finding):
    assert re.match("mended|answered|open", ROWS[finding][1])
    assert places(finding)
    assert [place for place in places(finding) if not exists(place)] == []


def test_unknown_places_are_noticed():
    assert not any(map(exists, ("sec:beans", "thesis_beans", "beans", "docs/beans.md")))
