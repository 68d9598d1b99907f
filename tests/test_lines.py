"""The house is told room by room: none is forgotten, and none that has left is still praised."""

from __future__ import annotations

import re

from benchmarks.lines import rooms
from conftest import ROOT


def test_every_room_says_what_its_lines_buy():
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8").partition("## What the lines buy")[2]
    told = re.findall(r"(?m)^\| ([\w/ ]+) \| [\d,]+ \|", text)
    assert sorted(told) == sorted(set(rooms(ROOT)) - {"tests"})
