"""Each layout fault of hand-made pages is reported with its page, and pages without fault are accepted."""

from dataclasses import replace

import pytest

from boundpaper.errors import SpecError
from boundpaper.paper.tex.pages import Limits, PageLine, PdfPage, layout_faults, read_limits
from conftest import ROOT

LIMITS = Limits(text_lines=10, fill=0.6, last_fill=0.1, float_pages=1, distance=2, rows=3, beyond=5)
TEXT = "A line of text that is as wide as the page."


def lines(*texts, size=17.8, top=70.0, right=514.0):
    return [
        PageLine(text, 81.0, top + 13.6 * number, right, top + 13.6 * number + 13, size)
        for number, text in enumerate(texts)
    ]


def page(number, page_lines, headings=()):
    return PdfPage(number, 595.0, 842.0, tuple(sorted(page_lines, key=lambda line: line.top)), tuple(headings))


def full(number, *last_lines, headings=()):
    """Return a page full of text whose last lines are `last_lines`."""
    return page(number, lines(*[TEXT] * (46 - len(last_lines)), *last_lines), headings)


def book(*middle):
    """Return a first chapter with the pages `middle` between its first and last page, and a second chapter."""
    first = full(1, headings=[(0, "1 One")])
    last, second = full(len(middle) + 2), full(len(middle) + 3, headings=[(0, "2 Two")])
    return [first, *middle, last, second]


def faults(*middle):
    return layout_faults(book(*middle), LIMITS)


def float_lines(text, caption, top=300.0):
    """Return lines of text above a caption and a float that fills the page to its foot."""
    above_float = lines(*text) + lines(caption, *["cells"] * 20, size=16.2, top=top)
    return [*above_float, *lines("cells", size=16.2, top=660.0)]


def test_full_pages_have_no_fault():
    assert faults(full(2)) == []


def test_few_lines_beside_a_float_are_reported():
    referring = [*[TEXT] * 8, "See Table 1.1 here."]
    assert faults(page(2, float_lines(referring, "Table 1.1: Caption"))) == [
        "page 2: 9 lines of text beside floats, at least 10"
    ]
    assert faults(page(2, float_lines([TEXT, *referring], "Table 1.1: Caption"))) == []


def test_long_table_is_not_counted_as_a_float():
    table_lines = float_lines(["See Table 1.1 here."], "Table 1.1: Caption", 100.0)
    assert faults(page(2, table_lines)) == ["page 2: 1 lines of text beside floats, at least 10"]
    assert faults(page(2, [*table_lines, *lines("continued on the next page", size=16.2, top=680.0)])) == []


def test_half_empty_page_is_reported():
    assert faults(page(2, lines(*[TEXT] * 20))) == ["page 2: 43% of its height is used, at least 60%"]
    pages = [*book()[:1], page(2, lines(*[TEXT] * 20)), full(3, headings=[(0, "2 Two")])]
    assert layout_faults(pages, LIMITS) == [], "a chapter may end at any height"
    pages[1] = page(2, lines(TEXT, TEXT))
    assert layout_faults(pages, LIMITS) == ["page 2: 4% of its height is used, at least 10%"]


def test_heading_alone_at_the_foot_is_reported():
    heading = replace(lines("1.1 Questions", top=682.0)[0], size=13.6, right=200.0)
    with_heading = page(2, [*lines(*[TEXT] * 45), heading], [(1, "1.1 Questions")])
    assert faults(with_heading) == ["page 2: the heading '1.1 Questions' is alone at the foot of the page"]
    assert faults(full(2, "1.1 Questions, said in the text")) == []


def test_successive_float_pages_while_text_waits_are_reported():
    referring = full(2, "Tables 1.1 and 1.2 say so.")
    first, second = page(3, float_lines([], "Table 1.1: One", 70.0)), page(4, float_lines([], "Table 1.2: Two", 70.0))
    assert faults(referring, first) == []
    assert faults(referring, first, second) == ["page 3: 2 pages of floats in a row before text, allowed 1"]


def test_exhibits_far_from_their_call_or_uncalled_are_reported():
    referring = full(2, "In Figures 1.1 and 1.2 and Table 1.1 it falls.")
    far = page(6, float_lines([TEXT] * 12, "Figure 1.2: Two"))
    assert faults(referring, full(3), full(4), full(5), far) == [
        "page 6: Figure 1.2 is 4 pages from its reference, allowed 2"
    ]
    alone = page(3, float_lines([TEXT] * 12, "Table 1.3: Never"))
    assert faults(referring, alone) == ["page 3: Table 1.3 is not referred to in the text"]


def test_continued_table_without_rows_is_reported():
    head = lines("Table 1.1, continued", "Name Value", size=16.2)
    rows = lines(*["row 1.0"] * 2, size=16.2, top=110.0)
    text = lines(*[TEXT] * 30, top=300.0)
    assert faults(page(2, [*head, *text]))[0] == "page 2: Table 1.1 is continued with 0 lines, at least 3"
    assert "continued" not in " ".join(faults(page(2, [*head, *rows, *lines("row 2.0", size=16.2, top=150.0), *text])))


def test_line_beyond_the_margin_is_reported():
    wide = full(2, headings=[])
    wide = replace(wide, lines=(*wide.lines[:-1], replace(wide.lines[-1], right=520.5)))
    assert faults(wide) == [f"page 2: {TEXT[:40]!r} extends beyond the text by 6.5 pt"]


def test_layout_limits_are_read_from_a_file_and_validated(tmp_path):
    assert read_limits(ROOT) == read_limits(ROOT)
    (tmp_path / "paper").mkdir()
    valid = (ROOT / "paper/layout.yaml").read_text()
    for text, message in (
        ("text_lines: 10\n", "the required key `fill` is missing"),
        (valid.replace("rows: 3", "rwos: 3"), "unknown key 'rwos'; did you mean 'rows'?"),
        (valid.replace("rows: 3", "rows: three"), "rows: 'three' is not a whole number of at least 0"),
        ("- 1\n", r"\[1\] is not a mapping"),
    ):
        (tmp_path / "paper/layout.yaml").write_text(text)
        with pytest.raises(SpecError, match=rf"paper/layout\.yaml: {message}"):
            read_limits(tmp_path)
