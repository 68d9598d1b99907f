"""Chapters quote the planned contrasts; a caption's finding rests on verdicts or on a number from a cell."""

import re
from pathlib import Path

import pandas as pd
import pytest
import yaml

from boundpaper.paper import metadata
from boundpaper.store.reader import read
from claims_memory import exhibit_job

ROOT = Path(__file__).parents[1]
CONTRAST = re.compile(r"'population_contrasts_every', item='(?P<item>[^']+)'")

CAPTIONS = yaml.safe_load((ROOT / "tests/captions.yaml").read_text())


@pytest.mark.parametrize("chapter", ["abstract", "introduction"])
def test_favourable_length_is_quoted_only_with_the_planned_one(chapter):
    contrasts = pd.read_csv(ROOT / "artifacts/results/population_contrasts_every.csv")
    primary = set(contrasts.loc[contrasts["role"] == "primary", "item"])
    quoted = set(CONTRAST.findall((ROOT / f"paper/chapters/{chapter}.tex.j2").read_text()))
    assert quoted, "no number on the population"
    assert primary <= quoted, f"{sorted(quoted)} without the primary contrast {sorted(primary)}"


def test_printed_ledger_consists_of_summary_and_standing_tables():
    text = (ROOT / "paper/chapters/ledger.tex.j2").read_text()
    supplement = {"claims_further", "claims_failures", "hypotheses", "worded_conflicts"}
    assert supplement <= set(metadata.read(ROOT).supplement)
    assert all(f"table('{name}')" in text for name in ("claims_summary", "standing"))


def test_bibliography_entries_name_at_least_five_authors():
    entries = re.findall(r"author\s*=\s*\{(.*)\},", (ROOT / "paper/references.bib").read_text())
    assert not [authors for authors in entries if authors.endswith(" and others") and authors.count(" and ") < 5]


def test_finding_of_each_printed_caption_rests_on_verdicts_or_cells(built_project):
    chapters = "".join(path.read_text() for path in sorted((ROOT / "paper/chapters").glob("*.tex.j2")))
    printed = ["/".join(match) for match in re.findall(r"<< (figure|table)\('(\w+)'\)", chapters)]
    assert sorted(printed) == sorted(CAPTIONS), "tests/captions.yaml must list the exhibits that chapters print"
    verdicts, outdated = read(built_project, "claims").set_index("claim")["verdict"], []
    for name, entry in CAPTIONS.items():
        job, basis = exhibit_job(built_project, *name.split("/")), entry["rests on"]
        finding = re.split(r"[.:](?=\s|$)| \[@", " ".join(job.call().caption.split()), maxsplit=1)[0]
        if re.sub(r"(?<![\w-])\d[\d,.]*(?<=\d)(?!\w)", "#", finding) != entry["says"]:
            outdated.append(f"{name} has another finding; check its basis and update tests/captions.yaml: {finding}")
        if isinstance(basis, dict):
            current = verdicts[list(basis)].to_dict()
            outdated += [f"{name} rests on {basis}, but now {current}"] * (current != basis)
        elif basis == "number":
            source = re.sub(r'"\s+f?"', "", (ROOT / job.file).read_text())
            outdated += [f"{name} has a typed finding, not a number from a cell: {finding}"] * (finding in source)
        else:
            assert basis == "describes", name
    assert not outdated, "\n".join(outdated)
