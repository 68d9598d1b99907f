"""Truncated, nested, empty and unusual documents are read without errors, with work linear in their length."""

import sys

import pytest

from boundpaper.audit import checks, html, latex, markdown

TRUNCATED = [
    "", "---\n", "\\begin{tabular}", "\\begin{tabular}{l}a & b \\\\", "\\section", "\\section{",
    "\\begin{document}\\multicolumn{2}{c}\\caption", "\\begin{tikzpicture}\\addplot coordinates {(1,2)",
    "\\begin{tikzpicture}\\addplot coordinates {(1,2)};\\legend{a,{b, c}", "|a|\n|-|\n",
    "| a | b |\n|--|--|\n| | |\n| 1 |\n", "<table><tr><td rowspan=100 colspan=100>1</td></tr></table>",
    "<table><tr><td rowspan=99999 colspan=-1>1<td>2<tr><td>3</table></p></table>", "<table>" * 200,
    "Figure 1: Figure 1: t(0) = 1, p = .5, F(0, 0) = 0, p < 0. r(1) = 9, p = 1e999.",
    "1 / 0 = 5, 0 of 0 (0%), 10⁻⁹⁹⁹ + 1 = 2, from 0 to 0 (0%), 95% of 0 items.",
]  # fmt: skip


@pytest.mark.parametrize("reader", [markdown, latex, html], ids=lambda module: module.__name__.rpartition(".")[2])
@pytest.mark.parametrize("text", TRUNCATED, ids=range(len(TRUNCATED)))
def test_truncated_document_is_read_without_error(reader, text):
    document = reader.read(text, "x")
    checks.audit([document])
    assert "silence" in checks.counts_in_words(checks.coverage([document]))


FRAGMENTS = [
    "The height falls from 20.0 to 15.0 cm, a 25% reduction, in 12 of 20 fields (60%). ", "| a | 1.5 | 2.5 | 4.0 |\n",
    "\\section{A}\\begin{tabular}{l}a & 1.5 \\\\ b & 2.5 \\\\ \\end{tabular}\n\n",
    "<table><tr><td>a</td><td>1.5</td></tr><tr><td>b</td><td>2.5</td></tr></table>\n",
    "{", "&", "\\", "$1$", "# 1. A\n", "\\begin{tabular}", "1 + ", "<p>", "(", "| ",
]  # fmt: skip
LINES_RUN = [0]


def trace(*_):
    LINES_RUN[0] += 1  # unlike time, the number of executed lines is the same on a busy machine
    return trace


@pytest.mark.parametrize("reader", [markdown, latex, html], ids=lambda module: module.__name__.rpartition(".")[2])
@pytest.mark.parametrize("fragment", FRAGMENTS, ids=range(len(FRAGMENTS)))
def test_work_is_at_most_linear_in_length(reader, fragment):
    counts = []
    for length in (4_000, 16_000):
        text = "| r | b | c | total |\n|--|--|--|--|\n" * fragment.startswith("|") + fragment * (
            length // len(fragment)
        )
        LINES_RUN[0] = 0
        sys.settrace(trace)
        checks.audit([reader.read(text, "x")])
        sys.settrace(None)
        counts += LINES_RUN
    assert counts[1] < 6 * counts[0]
