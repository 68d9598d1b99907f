"""Reported of tables: text that looks like a number."""

import pandas as pd
import pytest

from artifacts.typeset.text import prose
from figures._press.text import cell
from paper.chapter import escaped
from tables import Column, Table, integer, printed, scientific, sentences
from tables._press.render import render


def shown(words: list[str], format: str) -> str:
    rows = pd.DataFrame({"k": words, "v": range(len(words))})
    columns = [Column("k", "Key"), Column("v", "V", integer())]
    return render(Table(rows=rows, columns=columns, caption="C."), "t", format)


@pytest.mark.reported("git-school/visualizing-git#102", "rcruzper/express-actuator#50", outcome="right")
@pytest.mark.parametrize("format", ["latex", "markdown", "html", "csv"])
def test_a_commit_hash_with_an_e_stays(format: str) -> None:
    """Hashes such as 48e1207 in a column of text, which a reader of numbers takes for powers of ten."""
    made = shown(["48e1207", "1e5", "a1b2c3d"], format)
    assert all(word in made for word in ("48e1207", "1e5", "a1b2c3d"))


WORDS = [
    "1e-4", "2E10", "00123", "12345678", "2026-01-31", "10-20", "1999-2005", "3.10", "v2.0.0-1", "555-1234", "0x1F",
    "-5", "1,5", "12:30", "4096", "8192 tokens", "ISO 8601", "978-3-16-148410-0", "10.1000/182", "1_000",
]  # fmt: skip


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize("word", WORDS)
def test_a_word_of_the_data_stays_as_it_is_written(word: str) -> None:
    """Ranges, versions, dates, telephone numbers, identifiers and long whole numbers in a column of text."""
    assert f"| {word}" in shown([word], "markdown").replace("\\", "")
    assert f">{word}<" in shown([word], "html")
    assert f"{word} &" in shown([word], "latex").replace("\\_", "_")
    assert cell(word).replace("\\_", "_") == word, "names and categories in a figure"
    assert escaped(word).replace("\\_", "_") == word, "a text of the data in a chapter"


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize("format", ["latex", "markdown", "html"])
def test_the_name_of_a_group_stays_as_it_is_written(format: str) -> None:
    """Years and identifiers that name a group of rows."""
    rows = pd.DataFrame({"g": ["2019-2020", "12e45"], "v": [1, 2]})
    made = render(Table(rows=rows, columns=[Column("v", "V", integer())], groups="g", caption="C."), "t", format)
    assert "2019-2020" in made
    assert "12e45" in made


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize("sentence", ["SHA 12e45", "RFC 2119, ISO 8601", "issue 12000", "48e1207 of 2026-01-31"])
def test_a_caption_keeps_what_is_no_number(sentence: str) -> None:
    """Hashes, standards and identifiers in a caption or a note."""
    assert prose(sentence, "markdown") == sentence


@pytest.mark.reported(outcome="right")
def test_what_is_declared_a_number_is_set_as_one() -> None:
    """The same text under a format for numbers, and sentences that ask for it."""
    rows = pd.DataFrame({"k": ["1e-4", "12345"], "s": ["p = 2.1e-48", "-3 to 20-30 %"], "v": [1e-4, 12345.0]})
    columns = [Column("k", "K", printed()), Column("s", "S", sentences), Column("v", "V", scientific(1))]
    made = render(Table(rows=rows, columns=columns, caption="C."), "t", "markdown")
    assert "1 × 10⁻⁴" in made
    assert "12,345" in made
    assert "2.1 × 10⁻⁴⁸" in made
    assert "−3 to 20–30%" in made
