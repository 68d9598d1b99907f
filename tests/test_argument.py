"""The abstract and introduction quote the planned primary contrast of the population."""

import re
from pathlib import Path

import pandas as pd
import pytest

from boundpaper.paper import metadata

ROOT = Path(__file__).parents[1]
CONTRAST = re.compile(r"'population_contrasts_every', item='(?P<item>[^']+)'")


@pytest.mark.parametrize("part", ["abstract", "introduction"])
def test_favourable_length_is_quoted_only_with_the_planned_one(part):
    contrasts = pd.read_csv(ROOT / "artifacts/results/population_contrasts_every.csv")
    primary = set(contrasts.loc[contrasts["role"] == "primary", "item"])
    quoted = set(CONTRAST.findall((ROOT / f"paper/chapters/{part}.tex.j2").read_text()))
    assert quoted, "no number on the population"
    assert primary <= quoted, f"{sorted(quoted)} without the primary contrast {sorted(primary)}"


def test_printed_ledger_consists_of_summary_and_standing_tables():
    text = (ROOT / "paper/chapters/ledger.tex.j2").read_text()
    lists = {"claims_further", "claims_failures", "hypotheses", "worded_conflicts"}
    assert lists <= set(metadata.read(ROOT).supplement)
    assert all(f"table('{name}')" in text for name in ("claims_summary", "standing"))


def test_bibliography_entries_name_at_least_five_authors():
    """An entry cut after its first author hides the other authors: five are named before `others`."""
    entries = re.findall(r"author\s*=\s*\{(.*)\},", (ROOT / "paper/references.bib").read_text())
    short = [entry for entry in entries if entry.endswith(" and others") and entry.count(" and ") < 5]
    assert not short
