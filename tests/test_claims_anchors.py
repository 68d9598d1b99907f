"""Anchors: heading, line and hash of each judged statement, found in the documents."""

import csv
import re

import pytest

from boundpaper.claims import anchor as _anchor
from boundpaper.errors import DataError
from boundpaper.store.sentences import DocumentSentence, anchor_of, digest, heading_of, normalised, printed, sentences
from conftest import ROOT

DOCUMENT = """# A study

## Finding 1: The dip is everywhere

Most layers dip. The dip of layer 7 is 0.123, the deepest.

```
## no heading, and 0.5 no number
```

## 2. Results

### 2.1 Table of scores

| Layer | Score |
| 7 | 55.5 |

*Figure 4.* Scores rise with size.

## Hypotheses

Larger models may score higher, since they hold more.
"""


def row(section, statement, reported="", kind="statement"):
    return {
        "claim": "c000_x",
        "kind": kind,
        "source": "000",
        "section": section,
        "statement": statement,
        "reported": reported,
    }


def test_sentences_get_lines_and_headings_and_code_is_skipped():
    actual = sentences(DOCUMENT)
    assert [each.text for each in actual if each.line == 5] == [
        "Most layers dip.",
        "The dip of layer 7 is 0.123, the deepest.",
    ]
    assert all("no heading" not in each.text for each in actual)
    (cell,) = [each for each in actual if "55.5" in each.text]
    assert cell.headings == ("A study", "2. Results", "2.1 Table of scores")


@pytest.mark.parametrize(
    ("section", "heading"),
    [
        ("Finding 1", "Finding 1: The dip is everywhere"), ("2.1 Table of scores, first row", "2.1 Table of scores"),
        ("2 Results", "2. Results"), ("Hypothesis H3", "Hypotheses"), ("Figure 4", "2.1 Table of scores"),
        ("Something else", ""),
    ],
)  # fmt: skip
def test_ledger_section_is_matched_to_a_heading(section, heading):
    assert heading_of(section, sentences(DOCUMENT)) == heading


def test_statement_is_matched_by_shared_numbers_and_words():
    document = sentences(DOCUMENT)
    actual = anchor_of(row("Finding 1", "The deepest dip, of layer 7, is 0.123.", "0.123"), document)
    assert (actual["heading"], actual["line"], actual["match"]) == ("Finding 1: The dip is everywhere", "5", "sentence")
    assert actual["anchor"] == DocumentSentence(1, "the DIP of layer 7: is 0.123 (the deepest)", ()).anchor
    assert "deepest" not in ",".join(actual.values())


def test_statement_without_a_matching_sentence_keeps_its_heading_only():
    document = sentences(DOCUMENT)
    actual = anchor_of(row("Hypotheses", "Attention sinks vanish beyond a thousand tokens."), document)
    assert (actual["heading"], actual["line"], actual["anchor"], actual["match"]) == ("Hypotheses", "", "", "heading")
    assert anchor_of(row("Finding 1", "Most layers dip.", kind="cell check"), document)["match"] == "heading"


def test_anchor_changes_with_words_but_not_with_markup():
    assert normalised("**Ten**  texts, (sampled).") == "ten texts sampled"
    assert DocumentSentence(1, "Ten texts.", ()).anchor != DocumentSentence(1, "Nine texts.", ()).anchor


@pytest.mark.parametrize(
    ("reported", "stands"),
    [
        ("0.123", True), ("55.5 and 0.123", True), ("7, Most layers dip", True), ("−0.02", True), ("0.02", False),
        ("1,249 against 0.123", True), ("249", False), ("23", False), ("0.1234", False), ("few layers", False),
        ("", False),
    ],
)  # fmt: skip
def test_reported_value_gets_a_hash_only_when_printed(reported, stands):
    text = f"{DOCUMENT}\nA slope of -0.02, 1,249 times."
    assert printed(reported, text) == (digest(reported) if stands else "")
    actual = anchor_of({**row("Finding 1", "Most layers dip."), "reported": reported}, sentences(text), text)
    assert bool(actual["reported"]) == stands


TABLES = """# Readers

## Results

In all, 17 words were lost by either.

| reader | 512 | 4096 |
|---|---|---|
| reader-s | 92.0 | 52.5 |
| reader-l | **92.0** | 52.5 |

| reader | words |
|---|---|
| reader-s | 12 ± 3 |
| other | 12 |
"""


@pytest.mark.parametrize(
    ("name", "reported", "line"),
    [
        ("reader-s-4096", "52.5", "9"),
        ("reader-l-512", "92.0", "10"),
        ("reader-m", "52.5", ""),  # two rows print the value, and both are named alike
        ("reader-s-words", "12", "14"),
        ("nobody", "12", ""),  # no row that prints the value is named
        ("nobody", "17", "5"),  # only one sentence prints it
        ("reader-s", "2.5", ""),  # part of a longer number
        ("reader-s", "", ""),
    ],
)
def test_cell_check_is_anchored_at_the_row_that_prints_it(name, reported, line):
    check = {**row("Results", "The cell is that of the series.", kind="cell check"), "reported": reported}
    actual = anchor_of({**check, "claim": f"c.{name}"}, sentences(TABLES), TABLES)
    assert (actual["line"], actual["match"]) == (line, "value" if line else "heading")
    assert bool(actual["anchor"]) == bool(line)


def test_anchor_command_requires_a_folder_with_one_file_per_document(tmp_path, capsys):
    assert _anchor.main([]) == 2
    assert "usage" in capsys.readouterr().err
    with pytest.raises(DataError, match=r"has 0 files 000\*\.md"):
        _anchor.main([str(tmp_path)])


def table(path):
    with (ROOT / path).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_committed_anchors_belong_to_claims_and_mostly_have_a_line():
    anchors = {each["claim"]: each for each in table("artifacts/sources/claim_anchors.csv")}
    statements = [
        each["claim"]
        for each in table("artifacts/results/claims.csv")
        if each["source"] != "thesis" and each["kind"] == "statement"
    ]
    lines = [name for name in statements if anchors.get(name, {}).get("line")]
    assert len(lines) > 0.8 * len(statements)
    assert all(re.fullmatch(r"[0-9a-f]{12}", anchors[name]["anchor"]) for name in lines)
    assert all((anchor["match"] != "heading") == bool(anchor["line"]) for anchor in anchors.values())
    checks = [anchor for anchor in anchors.values() if anchor["match"] == "value"]
    assert len(checks) > 500, "checks of cells have separate lines"


def test_reported_values_match_the_committed_hashes():
    """Each claim's reported value has the hash that was stored when the anchors were written."""
    anchors = {each["claim"]: each["reported"] for each in table("artifacts/sources/claim_anchors.csv")}
    rows = [each for each in table("artifacts/results/claims.csv") if each["source"] != "thesis" and each["reported"]]
    assert len(rows) > 1000
    other = {each["claim"]: each["reported"] for each in rows if anchors.get(each["claim"]) != digest(each["reported"])}
    assert other == {}


def test_headings_end_where_one_of_their_level_begins():
    actual = {each.text: each.headings for each in sentences("# A\n\n## B\n\n### C\n\nOne.\n\n## D\n\nTwo.\n")}
    assert actual["One."] == ("A", "B", "C")
    assert actual["Two."] == ("A", "D")
    assert [sentence.line for sentence in sentences("One.\n\nTwo. Three.\n")] == [1, 3, 3]
