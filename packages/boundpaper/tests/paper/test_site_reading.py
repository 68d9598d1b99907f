"""Chapters as web pages: LaTeX is converted, numbers equal those in print, and omissions are noted."""

import re

import pytest

from boundpaper.paper.site.latex import ChapterReader, definitions
from boundpaper.paper.site.numbering import number_chapters
from boundpaper.typeset.words_of import words_of_html

CHAPTER = r"""\chapter{Recall}\label{ch:recall}

Read \numberof{drop}{0.4\%} of \emph{all} words,\verdictof{half}{\verdictmark{half}{holds}} \citep{su2024}.
See \cref{eq:one,ch:recall} and \cref{tab:one,tab:two,tab:three}.  % a remark
\begin{equation}\label{eq:one}
  p = \Phi(x)
\end{equation}
where $p$ is small\footnote{Near \& \emph{far}: $p < q$.}
and \own{near} (\supplement{table/four}{table in the supplement}).

\input{tables/one}
\input{tables/two}
\input{tables/three}

\section{Far}\label{sec:far}
\begin{itemize}
  \item one
  \item two \& three
\end{itemize}
\begin{tabular}{lr}
\toprule
Name & Count \\
\midrule
near & 3 \\
\bottomrule
\end{tabular}
% source: paper/chapters/recall.tex.j2
"""


def reader(text):
    numbers = number_chapters([("first", "1", "\\chapter{One}\n"), ("recall", "2", text)])
    macros = definitions(r"\newcommand*{\own}[1]{\textbf{#1}}")
    return ChapterReader(
        text,
        "recall",
        numbers.labels,
        numbers.places["recall"],
        macros,
        lambda kind, to, latex, html: f'<a href="{to}">{html}</a>',
        lambda command, keys, option: "(Su, 2024)" if keys == "su2024" else "",
        lambda kind, name, number: f"<div>{kind} {number} {name}</div>",
    )


def test_chapter_page_shows_the_numbers_of_the_pdf():
    page_reader = reader(CHAPTER)
    html = page_reader.html()
    assert page_reader.faults == []
    assert '(<a href="../table/four.html">table in the supplement</a>)' in html
    assert '<h1 id="ch:recall"><span class="no">2</span> Recall</h1>' in html
    assert '<a href="drop">0.4%</a> of <em>all</em> words' in html
    assert 'aria-label="holds">✓</span></a> (Su, 2024).' in html
    assert "Equation (2.1) and Chapter 2" in words_of_html(html).replace("\u00a0", " ")
    assert "Tables 2.1 to 2.3" in words_of_html(html).replace("\u00a0", " ")
    assert '<math display="block">' in html
    assert '<span class="tag">(2.1)</span>' in html
    assert "<strong>near</strong>" in html
    assert 'data-tip="Near &amp; far: p&lt;q."' in html
    assert "<div>table 2.2 two</div>" in html
    assert "<ul><li>one</li><li>two &amp; three</li></ul>" in html
    assert '<thead><tr><th scope="col" class="left">Name</th><th scope="col" class="right">Count</th></tr>' in html
    assert page_reader.heads == [(2, "sec:far", '<span class="no">2.1</span> Far')]
    assert "remark" not in html
    assert "source:" not in html


def test_run_in_headings_keep_levels_and_equations_are_focusable():
    added = "\n\\paragraph{Below a section.} One.\n\n\\subsection{Part}\n\n\\paragraph{Deeper.} Two."
    page = reader(CHAPTER + added).html()
    assert re.findall(r'<(h\d)( class="run-in")?', page) == [
        ("h1", ""), ("h2", ""), ("h3", ' class="run-in"'), ("h3", ""), ("h4", ' class="run-in"'),
    ]  # fmt: skip
    assert '<span class="equation" id="eq:one" tabindex="0" role="group" aria-label="Equation 2.1">' in page


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (r"\blink{words}", r"does not support \blink"),
        (r"\begin{verse}words\end{verse}", "does not support the environment 'verse'"),
        (r"$\blink{x}$", r"with \blink"),
        (r"\cref{sec:none}", "names 'sec:none', a label that no chapter defines"),
        (r"\citep{nobody}", "is not in the bibliography"),
        (r"\input{elsewhere/file}", "is neither a table nor a figure"),
        (r"\verdictsign{perhaps}", "has the unknown verdict 'perhaps'"),
        ("\\begin{itemize}\n\\item one", "is not closed"),
    ],
)
def test_unsupported_latex_is_reported_with_its_line(written, message):
    page_reader = reader(f"\\chapter{{Recall}}\n\nWords.\n{written}\n")
    page_reader.html()
    assert len(page_reader.faults) == 1
    assert re.match(r"out/chapters/recall\.tex:4: ", page_reader.faults[0])
    assert message in page_reader.faults[0]
