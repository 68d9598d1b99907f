"""The lint distinguishes numbers from names, and knows every citation and label."""

import re

import pytest

from boundpaper.paper import lint

NAMES = (r"Llama[- ]3\.[12](?:-\d+B)?", r"Qwen3(?:-\d+(?:\.\d+)?B)?", r"H[1-8]")
TERMS = ("2-D", "$\\alpha = 0.05$")


def typed_digits(text: str) -> list[tuple[int, str]]:
    """Return line and word of each finding."""
    return [(item.line, re.split("'", item.message)[1]) for item in lint.find_typed_digits(text, "c", NAMES, TERMS)]


@pytest.mark.parametrize(
    "text",
    [
        "In 1999 and 2026, (2024).",
        "\\section{Experiment 2}\\label{sec:exp2}",
        "\\chapter[Part 1]{The \\emph{first 3} runs}",
        "\\subsection*{Layer 1}",
        "The sum $\\sum_{i=1}^{10} x_i^2$ and \\(2x\\) and \\[ 12 \\] and $$3 + 4$$.",
        "\\begin{equation}\n r = 0.5 x \n\\end{equation}",
        "\\begin{align*} a &= 12 \\end{align*}",
        "See \\cref{tab:exp1,fig:a2} and \\citep[Table 2]{hsieh2024}, \\ref{sec:3}.",
        "<< n('a', k=3) | fixed(2) >> and <% if x > 3 %>a<% endif %><# 17 #>",
        "% 12 percent\nfine % 13",
        "\\vspace{2em}\\hspace*{3pt}\\setlength{\\x}{4pt} 0.5\\textwidth",
        "Llama-3.1-8B, Qwen3-0.6B, Qwen3's, Llama 3.2; H1--H8, a 2-D plane",
        "At $\\alpha=0.05$ we test.",
        "\\href{https://a.b/12}{here} \\url{http://x/1}",
        "\\verb|x=12|",
    ],
)
def test_lint_allows_digits_in_names_and_references(text: str) -> None:
    assert typed_digits(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a 12 b", [(1, "12")]), ("\n\nrises by 3.5\\%, then", [(3, "3.5\\%")]),
        ("a 12-D space, a 2-D one", [(1, "12-D")]), ("Qwen37", [(1, "Qwen37")]), ("Qwen3.5", [(1, "Qwen3.5")]),
        ("2026.5 and 1850", [(1, "2026.5"), (1, "1850")]), ("100\\% % 5", [(1, "100\\%")]),
        ("\\emph{47 heads}", [(1, "47")]), ("\\footnote{of 3} \\textbf{4x}", [(1, "3"), (1, "4x")]),
        ("$0.87$, $-3$, $\\approx 12\\%$", [(1, "$0.87$"), (1, "$-3$"), (1, "$\\approx 12\\%$")]),
        ("a\n$r = -0.87$ at $n = 7$", [(2, "$r = -0.87$"), (2, "$n = 7$")]), ("$p < 0.001$", [(1, "$p < 0.001$")]),
        ("\\verb|x=12| 10", [(1, "10")]), ("escaped \\$5 and \\$6", [(1, "\\$5"), (1, "\\$6")]),
    ],
)  # fmt: skip
def test_typed_digits_are_found(text: str, expected: list[tuple[int, str]]) -> None:
    assert typed_digits(text) == expected


def test_lint_finds_a_literal_number_in_an_expression() -> None:
    (finding,) = lint.find_typed_digits("x\n<< 0.87 | fixed(2) >>", "c")
    assert str(finding) == "c:2: a number typed into << >>: read it with n('artifact', ...)"


BIBLIOGRAPHY = {"holm1979": 1, "cohen1988": 4}


def test_unknown_citations_are_found() -> None:
    text = "\\citep{holm1979}\n\\citet[p.~3][]{cohen1988, homl1979}\n% \\cite{gone}\n\\nocite{*}"
    (finding,) = lint.find_unknown_citations({"c": text}, BIBLIOGRAPHY)
    assert (finding.file, finding.line) == ("c", 2)
    assert finding.message.endswith("which is not in paper/references.bib; did you mean 'holm1979'?")


def test_lint_reports_an_uncited_bibliography_entry() -> None:
    text = "\\citep[see][]{holm1979} % \\cite{cohen1988}"
    (finding,) = lint.uncited_entries({"c": text}, BIBLIOGRAPHY)
    assert str(finding).endswith("no chapter cites 'cohen1988': cite it where it is used, or remove it")
    assert finding in lint.check_chapters({"c": text}, BIBLIOGRAPHY)
    assert not lint.uncited_entries({"c": text, "d": "\\citet{cohen1988}"}, BIBLIOGRAPHY)
    assert not lint.uncited_entries({"c": "\\nocite{*}"}, BIBLIOGRAPHY)


def test_unknown_references_are_found() -> None:
    chapters = {
        "a": "\\section{A}\\label{sec:a} << table('x') >> \\cref{sec:b}",
        "b": "\\label{sec:b} \\ref{tab:x}\n\\cref{sec:a,fig:y} \\eqref{sec:bb}",
    }
    findings = lint.find_unknown_references(chapters)
    assert [str(finding) for finding in findings] == [
        "b:2: \\ref to 'fig:y', but no chapter includes << figure('y') >>",
        "b:2: \\ref to 'sec:bb', a label that is not defined; did you mean 'sec:b'?",
    ]


def test_check_finds_every_kind_of_fault_at_once() -> None:
    findings = lint.check_chapters({"c": "5 \\cite{x,holm1979,cohen1988} \\ref{y}"}, BIBLIOGRAPHY)
    assert [finding.line for finding in findings] == [1, 1, 1]


@pytest.mark.parametrize("split_number", [r"<< n('a') | fixed(1) >>~\%", r"<< n('a') | fixed(1) >> \%", r"$5$\,\%"])
def test_lint_reports_a_percent_sign_apart_from_its_number(split_number: str) -> None:
    findings = lint.find_spaced_percents(f"Text.\nIn {split_number} of heads.", "c")
    assert [(finding.file, finding.line) for finding in findings] == [("c", 2)]
    assert "percent sign directly after its number" in str(findings[0])
    assert not lint.find_spaced_percents(r"<< n('a') | fixed(1) >>\% and << n('b') | percent(1) >> of heads", "c")


def test_lint_reports_an_exhibit_that_is_never_referenced() -> None:
    chapters = {"a": "<< table('one') >> << figure('two') >>", "b": r"\Cref{tab:one,fig:three}"}
    assert [str(finding) for finding in lint.find_uncalled_exhibits(chapters)] == [
        r"a:1: the figure 'two' has no reference: write \cref{fig:two}"
    ]


def test_lint_reports_a_duplicate_label_with_both_places() -> None:
    chapters = {"a": "\\label{eq:one}\n<< table('t') >>", "b": "x\n\\label{eq:one}\n\\label{eq:two}\n<< table('t') >>"}
    assert [str(finding) for finding in lint.find_label_faults(chapters)] == [
        "b:2: the label 'eq:one' is already defined in a:1: rename one of them",
        "b:4: 'tab:t' is already shown or defined in a:2: show an exhibit once and refer to it",
    ]
