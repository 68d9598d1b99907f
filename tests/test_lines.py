"""Each code folder stays within its budget of lines, and the docs say what its lines are for."""

import re

from benchmarks.lines import BUDGET, count_lines
from conftest import ROOT


def test_no_folder_exceeds_its_line_budget():
    lines = {room: sum(files.values()) for room, files in count_lines(ROOT).items()}
    assert set(lines) == set(BUDGET)
    assert {room: count for room, count in lines.items() if count > BUDGET[room]} == {}


def test_every_folder_is_described_in_the_architecture_page():
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8").partition("## What the lines are for")[2]
    assert set(re.findall(r"(?m)^\| ((?!room|:)[\w/ ]+) \|", text)) == set(BUDGET) - {"tests"}
