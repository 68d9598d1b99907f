"""Tables with text that looks like a number, with column names that are not text, or higher than a page."""

from pathlib import Path

import pandas as pd
import pytest

from boundpaper.build import process
from boundpaper.errors import SpecError
from boundpaper.figures.text import data_latex
from boundpaper.paper.chapter import escape_latex
from boundpaper.paper.tex import latex, log
from boundpaper.paper.tex.hints import hint
from boundpaper.tables import Column, Table, integer, printed, scientific, sentences
from boundpaper.tables.render import render
from boundpaper.typeset.text import prose


def rendered(cells: list[str], format: str) -> str:
    rows = pd.DataFrame({"k": cells, "v": range(len(cells))})
    columns = [Column("k", "Key"), Column("v", "V", integer())]
    return render(Table(rows=rows, columns=columns, caption="C."), "t", format)


@pytest.mark.reported("git-school/visualizing-git#102", "rcruzper/express-actuator#50", outcome="right")
@pytest.mark.parametrize("format", ["latex", "markdown", "html", "csv"])
def test_commit_hash_that_looks_like_a_number_is_kept_as_text(format: str) -> None:
    """Show hashes such as 48e1207 in a text column, which a number parser reads as powers of ten."""
    text = rendered(["48e1207", "1e5", "a1b2c3d"], format)
    assert all(word in text for word in ("48e1207", "1e5", "a1b2c3d"))


NUMBER_LIKE_TEXTS = [
    "1e-4", "2E10", "00123", "12345678", "2026-01-31", "10-20", "1999-2005", "3.10", "v2.0.0-1", "555-1234", "0x1F",
    "-5", "1,5", "12:30", "4096", "8192 tokens", "ISO 8601", "978-3-16-148410-0", "10.1000/182", "1_000",
]  # fmt: skip


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize("text", NUMBER_LIKE_TEXTS)
def test_text_cell_that_looks_like_a_number_is_kept_as_written(text: str) -> None:
    """Show ranges, versions, dates, telephone numbers, identifiers and long integers in a text column."""
    assert f"| {text}" in rendered([text], "markdown").replace("\\", "")
    assert f">{text}<" in rendered([text], "html")
    assert f"{text} &" in rendered([text], "latex").replace("\\_", "_")
    assert data_latex(text).replace("\\_", "_") == text, "names and categories in a figure"
    assert escape_latex(text).replace("\\_", "_") == text, "a text of the data in a chapter"


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize("format", ["latex", "markdown", "html"])
def test_group_name_that_looks_like_a_number_is_kept_as_written(format: str) -> None:
    """Show years and identifiers as names of row groups."""
    rows = pd.DataFrame({"g": ["2019-2020", "12e45"], "v": [1, 2]})
    text = render(Table(rows=rows, columns=[Column("v", "V", integer())], groups="g", caption="C."), "t", format)
    assert "2019-2020" in text
    assert "12e45" in text


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize("sentence", ["SHA 12e45", "RFC 2119, ISO 8601", "issue 12000", "48e1207 of 2026-01-31"])
def test_caption_keeps_hashes_standards_and_identifiers(sentence: str) -> None:
    """Show hashes, standards and identifiers in a caption or a note."""
    assert prose(sentence, "markdown") == sentence


@pytest.mark.reported(outcome="right")
def test_declared_numbers_are_typeset_as_numbers() -> None:
    """Show texts such as 1e-4 in columns whose format declares numbers: `printed`, `sentences` and `scientific`."""
    rows = pd.DataFrame({"k": ["1e-4", "12345"], "s": ["p = 2.1e-48", "-3 to 20-30 %"], "v": [1e-4, 12345.0]})
    columns = [Column("k", "K", printed()), Column("s", "S", sentences), Column("v", "V", scientific(1))]
    text = render(Table(rows=rows, columns=columns, caption="C."), "t", "markdown")
    assert "1 × 10⁻⁴" in text
    assert "12,345" in text
    assert "2.1 × 10⁻⁴⁸" in text
    assert "−3 to 20–30%" in text


@pytest.mark.reported("great-tables#125", "pandas#19981", outcome="right")
def test_columns_named_by_whole_numbers_are_shown() -> None:
    """Show a frame from a file without a header, with columns 0 and 1."""
    rows = pd.DataFrame({0: ["a", "b"], 1: [1, 2]})
    table = Table(rows=rows, columns=[Column(0, "K"), Column(1, "V", integer())], caption="C.")
    assert render(table, "t", "csv").splitlines() == ["0,1", "a,1", "b,2"]


FRAMES = {
    "years of a pivot": (pd.DataFrame({"k": ["a"], 2019: [7], 2020: [8]}), "k", 2020),
    "pairs of names": (
        pd.DataFrame([["a", 8]], columns=pd.MultiIndex.from_tuples([("k", ""), ("v", "mean")])),
        "k",
        ("v", "mean"),
    ),
    "dates": (pd.DataFrame({"k": ["a"], pd.Timestamp("2020-01-31"): [8]}), "k", pd.Timestamp("2020-01-31")),
    "the text of a number": (pd.DataFrame({"k": ["a"], 2020: [8]}), "k", "2020"),
    "a truth": (pd.DataFrame({"k": ["a"], True: [8]}), "k", True),
}


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize("case", FRAMES)
def test_columns_whose_names_are_no_text_are_shown(case: str) -> None:
    """Show columns named by the years of a pivot, by pairs of names, by dates and by booleans."""
    rows, key, value = FRAMES[case]
    text = render(Table(rows=rows, columns=[Column(key, "K"), Column(value, "V", integer())], caption="C."), "t", "csv")
    assert text.splitlines()[1] == "a,8"


@pytest.mark.reported(outcome="refused")
def test_missing_numeric_column_name_suggests_the_nearest() -> None:
    """Ask for a year that is not a column of the frame."""
    table = Table(rows=pd.DataFrame({"k": ["a"], 2019: [7]}), columns=[Column(2029, "V", integer())], caption="C.")
    with pytest.raises(SpecError, match="reads '2029', but rows has no such column; did you mean '2019'"):
        render(table, "t")


@pytest.mark.reported(outcome="refused")
def test_column_names_that_are_equal_as_text_are_refused() -> None:
    """Name two columns by the number 1 and the text 1."""
    table = Table(rows=pd.DataFrame({1: [7], "1": [8]}), columns=[Column(1, "V", integer())], caption="C.")
    with pytest.raises(SpecError, match="two columns named '1'"):
        render(table, "t")


def log_warnings(log_text: str) -> list[tuple[str, str]]:
    return [(finding.kind, finding.file) for finding in log.parse(log_text).warnings if "undefined" not in finding.kind]


def warnings_of(folder: Path, table: Table) -> list[tuple[str, str]]:
    """Compile a document with only this table; return the kinds and files of LaTeX's warnings."""
    process.require("pdflatex")
    (folder / "t.tex").write_text(render(table, "t"), encoding="utf-8")
    packages = "booktabs,array,longtable,pdflscape,rotating"
    head = f"\\documentclass[11pt]{{scrreprt}}\\usepackage[T1]{{fontenc}}\\usepackage{{{packages}}}"
    text = f"{head}\n\\begin{{document}}\n\\input{{t}}\n\\end{{document}}\n"
    (folder / "d.tex").write_text(text, encoding="utf-8")
    latex.pdflatex("d.tex", cwd=folder, output=".", job="d", timeout=60)
    return log_warnings((folder / "d.log").read_text(encoding="utf-8", errors="replace"))


def table_of_rows(count: int, **options: object) -> Table:
    rows = pd.DataFrame({"k": [f"row {i}" for i in range(count)], "v": range(count)})
    return Table(rows=rows, columns=[Column("k", "K"), Column("v", "V", integer())], caption="C.", **options)


@pytest.mark.reported("quarto-cli#9207", "Documenter.jl#2966", "apaquarto#89", outcome="refused")
def test_table_higher_than_its_page_is_reported(tmp_path: Path) -> None:
    """Compile 120 rows without long=True, the last of which fall below the page."""
    assert warnings_of(tmp_path, table_of_rows(120)) == [("float too high", "t.tex")]
    assert "long=True" in hint("float too high", "")


@pytest.mark.reported(outcome="refused")
def test_rotated_table_higher_than_its_page_is_reported(tmp_path: Path) -> None:
    """Compile 60 rows on a page rotated by 90 degrees, about which LaTeX gives no warning."""
    assert warnings_of(tmp_path, table_of_rows(60, landscape=True)) == [("float too high", "t.tex")]


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize("options", [{"long": True}, {"long": True, "landscape": True}])
def test_a_long_table_breaks_over_pages(tmp_path: Path, options: dict[str, object]) -> None:
    """Compile 120 rows with long=True, upright and rotated."""
    assert warnings_of(tmp_path, table_of_rows(120, **options)) == []


@pytest.mark.reported(outcome="right")
def test_rotated_table_that_fits_has_no_complaint(tmp_path: Path) -> None:
    """Compile 20 rows on a rotated page."""
    assert warnings_of(tmp_path, table_of_rows(20, landscape=True)) == []


@pytest.mark.reported(outcome="refused")
def test_row_higher_than_its_page_is_reported(tmp_path: Path) -> None:
    """Compile a paragraph of 900 words in one row of a long table, which fits on no page."""
    rows = pd.DataFrame({"k": ["a"], "w": ["word " * 900]})
    table = Table(rows=rows, columns=[Column("k", "K"), Column("w", "W", width=0.1)], caption="C.", long=True)
    assert "overfull box" in [kind for kind, _ in warnings_of(tmp_path, table)]


@pytest.mark.reported(outcome="refused")
def test_a_figure_higher_than_its_page_is_found() -> None:
    """Read a LaTeX log that warns about a figure higher than its page."""
    text = "(./figures/high.float.tex\n\nLaTeX Warning: Float too large for page by 120.5pt on input line 9.\n\n)\n"
    assert log_warnings(text) == [("float too high", "figures/high.float.tex")]
