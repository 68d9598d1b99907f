"""Annotated copies of documents: numbers found, statements located, changes reported, pages written."""

import re
import shutil
from decimal import Decimal

import pytest

import site_made as made
from boundpaper.errors import DataError
from boundpaper.paper.annotate.copies import DocumentCopy, copies
from boundpaper.paper.annotate.coverage import coverage
from boundpaper.paper.annotate.lines import copy_blocks
from boundpaper.paper.annotate.placing import place_rows
from boundpaper.paper.annotate.tokens import magnitudes, tokens
from boundpaper.store.sentences import sentences
from specimens import run

TEXT = """# Readers

## 1. Results

The small reader loses 39.5 points. It recalls 92.0 % at 512 tokens, and Table 2 has the rest.

| model | 512 | 4096 |
|---|---|---|
| reader-s | 92.0 | 52.5 |

1. The loss is 17 times 3.

## 2. Conclusion

A larger reader would lose nothing <b>at all</b>.
"""


def copy_of(text=TEXT, document="recall"):
    return DocumentCopy(document, f"{document}.md", tuple(text.splitlines()), tuple(sentences(text)))


def row(claim, sentence=None, *, heading="1. Results", statement="", reported="", verdict="holds", kind="statement"):
    return {
        "claim": claim, "kind": kind, "source": "recall", "section": heading, "statement": statement,
        "reported": reported, "recomputed": "", "verdict": verdict, "reason": "So it is.", "heading": heading,
        "line": sentence.line if sentence else None, "anchor": sentence.anchor if sentence else "",
    }  # fmt: skip


def losing_sentence():
    return next(sentence for sentence in copy_of().sentences if "39.5" in sentence.text)


def states_of(covered):
    """Return the states of numbers by line and magnitude."""
    return {
        (text.sentence.line, str(mark.token.magnitude)): mark.state for text in covered.sentences for mark in text.marks
    }


LOSS = {"statement": "The small reader loses 39.5 points.", "reported": "39.5", "verdict": "contradicted"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from 0.06 to 0.16", ["0.06", "0.16"]), ("a drop of −39% over 1,475.5 ± 22.6", ["39", "1475.5", "22.6"]),
        ("Qwen3-14B and Llama-3.2-1B at v0.3", []), ("ranges 50–65K and 0.4-0.6", ["50", "65", "0.4", "0.6"]),
        ("Table 1, Figures 2 and 3, Finding 4.2: 5", ["5"]),
        ("(Gelberg et al., 2025) in 2025-01-02 found 2025 tokens", ["2025"]),
        ("[1](a_2.png) and https://x.invalid/3 but 4", ["4"]), ("3,8,13 and 1,000", ["3", "8", "13", "1000"]),
        ("a 1249× rise, 2nd, 1D, 4p(t)", ["1249"]), ("no number", []),
    ],
)  # fmt: skip
def test_numbers_that_state_a_quantity_are_found(text, expected):
    assert [token.magnitude for token in tokens(text)] == [Decimal(size).normalize() for size in expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("falls by -3.2 and −39%", ["-3.2", "−39%"]), ("(-0.5), ~7, ±2 and =-1", ["-0.5", "~7", "±2", "-1"]),
        ("20-30 and 0.4–0.6, 5% -6", ["20", "30", "0.4", "0.6", "5%", "-6"]), ("| -1 |-2|", ["-1", "-2"]),
    ],
)  # fmt: skip
def test_number_token_includes_its_sign_but_not_the_dash_of_a_range(text, expected):
    assert [text[token.start : token.end] for token in tokens(text)] == expected
    assert all(token.magnitude > 0 for token in tokens(text))


def test_numbers_of_headings_items_and_names_are_ignored():
    assert tokens("## 4.2 Key 7", at_line_start=True)[0].magnitude == 7
    assert [token.magnitude for token in tokens("3. Of 5", at_line_start=True)] == [5]
    assert [token.magnitude for token in tokens("3. Of 5")] == [3, 5]
    assert tokens("Layer 1 of 2", [re.compile(r"[Ll]ayers?[ ~][0-2]")])[0].magnitude == 2
    assert magnitudes(["-1,000.50 and .5"]) == {Decimal("1000.5"), Decimal("0.5")}


def test_unchanged_statement_is_found_and_its_number_judged():
    copy = copy_of()
    [place] = place_rows([row("loss", losing_sentence(), **LOSS)], copy)
    assert (place.state, place.sentence) == ("same", losing_sentence())
    covered = coverage(copy, [place], {})
    assert covered.counts == {"judged": 1, "open": covered.total - 1}
    judged = [mark for stated in covered.sentences for mark in stated.marks if mark.state == "judged"]
    assert [str(mark.token.magnitude) for mark in judged] == ["39.5"]


def test_check_marks_the_cell_it_reports_and_other_cells_stay_open():
    copy = copy_of()
    check = row("cell", reported="52.5", kind="cell check", verdict="not supported")
    elsewhere = row("other", reported="92.0", kind="cell check", heading="2. Conclusion")
    places = place_rows([check, elsewhere], copy)
    assert [place.state for place in places] == ["heading", "heading"]
    covered = coverage(copy, places, {"1. Results": frozenset({Decimal(92)})})
    states = states_of(covered)
    assert states[9, "52.5"] == "judged"
    assert states[9, "92"] == states[5, "92"] == "data"
    assert states[5, "39.5"] == states[11, "17"] == "open"
    results = next(section for section in covered.sections if section.heading == "1. Results")
    assert (results.total, results.counts["judged"], results.line) == (covered.total, 1, 3)
    html = "".join(line.html for line in copy_blocks(copy, covered))
    assert '<span class="judged v-not-supported" title="cell">52.5</span>' in html
    assert '<span class="open" title="no row of the ledger covers this number">39.5</span>' in html


def test_a_check_whose_row_is_known_judges_its_cell_there_and_nowhere_else():
    copy = copy_of()
    cells = next(sentence for sentence in copy.sentences if sentence.line == 9)
    check = row("cell", cells, statement="The cell reader-s, 512.", reported="92.0", kind="cell check")
    covered = coverage(copy, place_rows([check], copy), {})
    states = states_of(covered)
    assert states[9, "92"] == "judged"
    assert states[5, "92"] == states[9, "52.5"] == "open"  # equal value in a sentence, and another cell
    html = "".join(line.html for line in copy_blocks(copy, covered))
    assert html.count('title="cell"') == 1
    altered = copy_of(TEXT.replace("| reader-s | 92.0", "| reader-s | 91.0"))
    [place] = place_rows([check], altered)
    assert place.state == "altered"
    assert not any(mark.rows for stated in coverage(altered, [place], {}).sentences for mark in stated.marks)


def test_moved_altered_and_removed_statements_are_distinguished():
    claim = row("loss", losing_sentence(), **LOSS)
    moved = place_rows([claim], copy_of("A line before.\n\n" + TEXT))[0]
    assert (moved.state, moved.words) == ("moved", "Moved from line 5 to line 7.")
    altered = place_rows([claim], copy_of(TEXT.replace("39.5", "38.5")))[0]
    assert altered.state == "altered"
    assert "line 5, is gone; line 5 is the most similar" in altered.words
    gone = place_rows([claim], copy_of(TEXT.replace("The small reader loses 39.5 points.", "")))[0]
    assert (gone.state, gone.sentence) == ("gone", None)
    place = place_rows([row("cell", reported="1")], copy_of(TEXT.replace("## 1. Results", "## Findings")))[0]
    assert place.state == "no heading"
    assert "“1. Results” is gone" in place.words


def test_markup_and_line_breaks_do_not_count_as_changes():
    text = TEXT.replace("The small reader loses 39.5 points.", "The **small** reader loses `39.5` points!")
    assert place_rows([row("loss", losing_sentence(), **LOSS)], copy_of(text))[0].state == "same"


def test_an_altered_sentence_covers_no_number():
    copy = copy_of(TEXT.replace("39.5", "38.5"))
    covered = coverage(copy, place_rows([row("loss", losing_sentence(), **LOSS)], copy), {})
    assert covered.counts["judged"] == 0


def test_document_html_is_escaped_in_annotated_copies():
    copy = copy_of()
    covered = coverage(copy, place_rows([row("loss", losing_sentence(), **LOSS)], copy), {})
    blocks = list(copy_blocks(copy, covered))
    html = "".join(block.html for block in blocks)
    assert "<b>" not in html
    assert "&lt;b&gt;at all&lt;/b&gt;" in html
    assert '<span class="judged v-contradicted">The small reader loses 39.5 points.</span>' in html
    assert [block.kind for block in blocks] == ["heading", "heading", "text", "table", "item", "heading", "text"]
    assert [row["claim"] for block in blocks for row in block.rows] == ["loss"]


def test_copy_of_a_document_is_recognised_by_its_sentences_then_its_name(tmp_path):
    (tmp_path / "renamed.md").write_text(TEXT)
    (tmp_path / "b-1.md").write_text("Nothing of it.")
    (tmp_path / "b2.md").write_text("Another.")
    recognised, others = copies(tmp_path, {"a": [losing_sentence().anchor, "0" * 12], "b": ["1" * 12], "c": []})
    assert [(entry.document, entry.file) for entry in recognised] == [("a", "renamed.md"), ("b", "b-1.md")]
    assert others == ["b2.md"]
    (tmp_path / "a.md").write_text(TEXT)
    with pytest.raises(DataError, match=r"a\.md and renamed\.md are both document a; keep one"):
        copies(tmp_path, {"a": [losing_sentence().anchor]})


def test_unreadable_or_foreign_document_is_refused_in_one_line(tmp_path):
    with pytest.raises(DataError, match=r"nowhere: no such folder"):
        copies(tmp_path / "nowhere", {"a": []})
    (tmp_path / "notes.md").write_text("Nothing.")
    with pytest.raises(DataError, match=r"no file here is a judged document; give copies names like a\*\.md, b\*\.md"):
        copies(tmp_path, {"a": [], "b": []})
    (tmp_path / "a.md").write_bytes("größer".encode("latin-1"))
    with pytest.raises(DataError, match=r"a\.md:1: not UTF-8 \(byte 2\)"):
        copies(tmp_path, {"a": []})


def test_annotate_command_works_on_another_paper_without_recorded_places(tmp_path, analysed):
    """Without recorded places, statements are found by their words."""
    root = shutil.copytree(analysed, tmp_path / "paper")
    folder = tmp_path / "copies"
    folder.mkdir()
    (folder / "recall.md").write_text(
        "# Recall\n\n## Training seeds\n\nOver its trainings the large reader recalls 88.4 percent.\n\n"
        "## Conclusion\n\nThe small reader loses 39.5 points & <i>more</i>. In all, 12.25 words were lost.\n"
    )
    result = run(root, "annotate", str(folder))
    assert result.returncode == 0, result.stderr
    assert re.search(r"recall \(recall\.md\): 10 rows of the ledger, .*; 67% of 3 numbers judged", result.stdout)
    tree = made.parsed(root / "out/annotated/recall.html")
    marked = [(span.get("class"), made.words(span)) for span in made.elements(tree, "span")]
    assert ("judged v-contradicted", "Over its trainings the large reader recalls 88.4 percent.") in marked
    coloured = [text for kind, text in marked if (kind or "").startswith("judged v-")]
    assert "The small reader loses 39.5 points & <i>more</i>." in coloured
    assert ("open", "12.25") in marked
    beside = " ".join(made.words(element) for element in made.elements(tree, "div") if element.get("class") == "beside")
    assert "Mean over the seeds of Table 4." in beside
    assert made.parsed(root / "out/annotated/index.html") is not None
    missing = run(root, "annotate", str(tmp_path / "nowhere"))
    assert missing.returncode == 2
    assert missing.stderr.strip().endswith("nowhere: no such folder; give the folder with your copies of the documents")
    (folder / "recall.md").unlink()
    result = run(root, "annotate", str(folder))
    assert result.returncode == 1
    assert "no file here is a judged document; give copies names like recall*.md" in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
