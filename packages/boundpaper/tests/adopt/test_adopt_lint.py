"""The linter finds values typed by hand in LaTeX, and ignores numbers in layout, names, years and references."""

from pathlib import Path

import pytest

from boundpaper.adopt.cells import cells_in_texts
from boundpaper.adopt.lint import NumberFinding, NumberIndex, bindable_cells, candidates
from boundpaper.adopt.numerals import typed_numbers
from boundpaper.adopt.source import LatexFile


def _source(text):
    return LatexFile(Path("main.tex"), "main.tex", text, "utf-8")


def _typed(text):
    return [numeral.text for numeral in typed_numbers(_source(text), "val")]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("gains 0.831, then $0.52$ and .25", ["0.831", "0.52", ".25"]),
        (r"110{,}000 or 110,000 or 110\,000 of 2295", ["110{,}000", "110,000", r"110\,000", "2295"]),
        (r"\textbf{0.831} \num{0.52} \SI{1.5}{\metre} \footnote{0.25}", ["0.831", "0.52", "1.5", "0.25"]),
        (r"\caption[of 0.25]{of 0.831}\item[0.52] x", ["0.25", "0.831", "0.52"]),
        (r"a & 0.831 & $0.52 \pm 0.01$ \\[2.5pt] \hline", ["0.831", "0.52", "0.01"]),
        (r"in $[-0.106,0.658]$ or (0.25,0.75)", ["-0.106", "0.658", "0.25", "0.75"]),
        (r"$0.717^{**}$, 0.52$^\dagger$, $0.25^{\ast}$ and $x = -0.3$", ["0.717", "0.52", "0.25", "-0.3"]),
        (r"$0.83_{\pm 0.02}$", ["0.83", "0.02"]),
        (r"\newcommand{\acc}{0.831}\begin{document}\acc\end{document} 0.52", ["0.831"]),
        (r"\title{Of 0.831}\setlength{\parskip}{0.52em}\begin{document}x\end{document}", ["0.831"]),
        ("a rise of +0.103 (from 0.436--0.539)", ["+0.103", "0.436", "0.539"]),
    ],
)
def test_typed_values_are_found(text, values):
    assert _typed(text) == values


@pytest.mark.parametrize(
    "text",
    [
        r"\includegraphics[width=0.831\linewidth]{a0.831} \hspace{0.831em} {.49\columnwidth}",
        r"\cmidrule(lr){2-3} \begin{tabular}{p{0.831cm}l} \multicolumn{2}{p{0.831in}}{x}",
        r"\resizebox{0.831\textwidth}{!}{x} \scalebox{0.831}{x}",
        r"Table 245, Figure~3.21, Sections 3.14 and Eq.~(3.21), \S 3.14, line 245, Python 3.11",
        "in 2019, on 2026-01-31 at 12:30, version 2.10.3, GPT-3.5 and Qwen2.5-3B, a 0.05-level, 720p, 14.97M",
        r"$x_{0.831}$, $10^{-3.21}$, $2.5 \times 10^{-4}$, $2.5^{2}$",
        r"\begin{tikzpicture}\draw (0.831,2) -- (3,0.52);\end{tikzpicture}",
        "% 0.831\n\\verb|0.831| \\begin{verbatim}0.831\\end{verbatim}",
        r"\cite[p.~245]{x} \ref{t245} \url{http://a.b/0.831} 10.1234/abc.0.831 arXiv:2405.12983",
        r"\definecolor{x}{rgb}{0.831,0.52,0.25} \renewcommand{\arraystretch}{1.25} \vspace*{-0.831cm}",
        r"\author{A 0.831} \thanks{Grant 123456} 0.831 % bound: ok",
        r"\begin{thebibliography}{9} \bibitem{a} 0.831 \end{thebibliography}",
        r"\renewcommand{\topfraction}{0.77}\renewcommand*{\baselinestretch}{1.25}\begin{document}x\end{document}",
        r"\val{a/0.831/b:.3f} \boundrows{r0.831}",
    ],
)
def test_lint_ignores_layout_names_years_and_references(text):
    assert _typed(text) == []


def _finding(text, data="k,v,n\na,0.8314,512\nb,0.52,48936\nc,-0.7251,17\n", file="t.csv"):
    [numeral] = typed_numbers(_source(text), "val")
    index = NumberIndex.of(bindable_cells(cells_in_texts({"t": (file, data.encode())}, {})))
    return NumberFinding(numeral, tuple(candidates(numeral, index)))


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("0.831", "t/a/v:.3f"), (r"83.1\%", "t/a/v:.1p"), (r"83.14 \% and", "t/a/v:.2p"), (".831", "t/a/v:.3n"),
        ("48{,}936", "t/b/n:;d"), ("$-0.725$", "t/c/v:.3f"), ("$-$0.725", "t/c/v:!.3f"), ("--0.725", "t/c/v:!.3f"),
    ],
)  # fmt: skip
def test_number_that_fits_exactly_one_cell_is_safe_to_bind(text, key):
    finding = _finding(text)
    assert finding.is_certain
    assert finding.candidates[0].key == key


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("0.83", "two digits"),
        ("512", "a whole number of three digits is the size of anything"),
        ("83.1", "a percentage is only supposed"),
        ("0.725", "the sign is only supposed"),
    ],
)
def test_number_with_an_uncertain_match_is_not_safe_to_bind(text, why):
    finding = _finding(text)
    assert len(finding.candidates) == 1, why
    assert not finding.is_certain, why


def test_number_that_fits_two_cells_or_a_list_is_not_safe_to_bind():
    finding = _finding("0.831", "k,v\na,0.8314\nb,0.8309\n")
    assert len(finding.candidates) == 2
    assert not finding.is_certain
    assert not _finding("4.516", '{"costs": [4.516, 3.2]}', "t.json").is_certain


def test_row_key_is_no_candidate_for_a_number():
    assert not _finding("48936", "size,v\n48936,0.1\n100,0.2\n").candidates
