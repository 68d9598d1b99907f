"""The LaTeX log reader, on hand-written logs and on documents that fail to compile."""

from pathlib import Path

import pytest

from boundpaper.paper.tex import bibtex, latex, log
from boundpaper.paper.tex.log import LogMessage

HEAD = "This is pdfTeX, Version 3.141592653-2.6-1.40.24 (TeX Live 2022/Debian)\n**thesis.tex\n(./thesis.tex\n"


def test_log_error_is_read_with_its_context() -> None:
    text = HEAD + (
        "(./chapters/one.tex\nChapter 1.\n./chapters/one.tex:12: Undefined control sequence.\n"
        "l.12 some text \\undefinde\n                          {here}\nThe control sequence at the end\n"
        "./chapters/one.tex:12:  ==> Fatal error occurred, no output PDF file produced!\n"
    )
    record = log.parse(text)
    assert record.errors == (
        LogMessage("error", "Undefined control sequence.", "chapters/one.tex", 12, context="some text \\undefinde"),
    )
    assert not record.warnings
    assert not record.needs_rerun


def test_a_message_over_several_lines() -> None:
    text = (
        "./figures/x.tex:9: Package pgfplots Error: Sorry, there is no such axis\n(pgfplots)       called foo.\n\n"
        "See the pgfplots package documentation for explanation.\nType  H <return>  for immediate help.\n ...\n\n"
        "l.9 \\addplot\n             {x};\n"
    )
    (error,) = log.parse(text).errors
    assert error.message == "Package pgfplots Error: Sorry, there is no such axis called foo."
    assert (error.file, error.line, error.context) == ("figures/x.tex", 9, "\\addplot")


def test_missing_file_error_replaces_the_emergency_stop_after_it() -> None:
    text = (
        "! LaTeX Error: File `tables/gone.tex' not found.\n\nType X to quit or <RETURN> to proceed,\nor enter new name."
        " (Default extension: tex)\n\nEnter file name: \n./chapters/one.tex:4: Emergency stop.\n<read *> \n\n"
        "l.4 \\input{tables/gone}\n"
    )
    (error,) = log.parse(text).errors
    assert error.message.startswith("LaTeX Error: File `tables/gone.tex' not found.")
    assert (error.file, error.line) == ("chapters/one.tex", 4)


def test_emergency_stop_alone_is_an_error() -> None:
    (error,) = log.parse("! Emergency stop.\n<*> gone.tex\n\n*** (job aborted, file error in nonstop mode)\n").errors
    assert error.message.startswith("Emergency stop.")


def test_log_warnings_are_read_with_their_files() -> None:
    text = HEAD + (
        "(/usr/share/texlive/texmf-dist/tex/latex/koma-script/scrreprt.cls\nDocument Class: scrreprt "
        "(KOMA-Script)\n)\n(./chapters/one.tex\nLaTeX Warning: Reference `tab:x' on page 3 undefined on input line "
        "7.\n\nPackage natbib Warning: Citation `holm' on page 3 undefined on input line "
        "8.\n\n(./tables/wide.tex\nOverfull \\hbox (23.5pt too wide) in paragraph at lines 10--14\n\\T1/qpl/m/n/10.95 "
        "a smiley :( and \\T1/qpl/m/it/10.95 text\n []\n\n)\nOverfull \\hbox (4.9pt too wide) in paragraph at lines "
        "20--21\n[]\\T1/qpl/m/n/10.95 fine\n []\n\nOverfull \\vbox (9.0pt too high) has occurred while \\output is "
        "active []\n\nLaTeX Warning: Float too large for page by 859.18425pt on input line 137.\n\nLaTeX Warning: "
        "Float too large for page by 4.9pt on input line 138.\n\nMissing character: There is no \u03b1 (U+03B1) in "
        "font ec-qplr!\n)\nLaTeX Warning: Label `fig:a' multiply defined.\n\nLaTeX Warning: Label(s) may have changed. "
        "Rerun to get cross-references right.\n)\n"
    )
    record = log.parse(text)
    assert [(item.kind, item.message, item.file, item.line) for item in record.warnings] == [
        ("undefined reference", "tab:x", "chapters/one.tex", 7),
        ("undefined citation", "holm", "chapters/one.tex", 8),
        ("overfull box", "\\hbox 23.5 pt too wide, lines 10-14, sheet 1 of the PDF", "tables/wide.tex", 10),
        ("overfull box", "\\vbox 9.0 pt too high, sheet 1 of the PDF", "chapters/one.tex", 0),
        ("float too high", "859.18425 pt of it are below the end of the page", "chapters/one.tex", 137),
        ("missing character", "There is no \u03b1 (U+03B1) in font ec-qplr", "chapters/one.tex", 0),
        ("multiply defined label", "fig:a", "thesis.tex", 0),
    ]
    assert record.warnings[2].context == "a smiley :( and text"
    assert record.needs_rerun
    assert not record.errors


def test_the_same_warning_counts_once() -> None:
    line = "LaTeX Warning: Reference `a' on page 3 undefined on input line 7.\n"
    assert len(log.parse(line * 3).warnings) == 1


@pytest.mark.parametrize(
    ("line", "source"),
    [
        (0, "paper/thesis.tex.j2"), (1, "paper/thesis.tex.j2"), (3, "paper/thesis.tex.j2"),
        (5, "paper/preamble.tex"), (6, "figures/x.py through boundpaper/figures/templates/standalone.tex.j2"),
        (7, "tables/x.py by boundpaper/tables/templates/table.tex.j2"),
    ],
)  # fmt: skip
def test_line_of_the_document_leads_to_its_source(line: int, source: str) -> None:
    text = (
        "\\pdftrailerid{}\n% source: paper/thesis.tex.j2\n\\documentclass{x}\n% source: paper/preamble.tex\nx\n"
        "% Generated from figures/x.py through boundpaper/figures/templates/standalone.tex.j2; edits are lost.\n"
        "% Table x: made from tables/x.py by boundpaper/tables/templates/table.tex.j2; do not edit.\n"
    )
    assert log.origin(text, line) == source


def test_tex_file_without_a_source_mark_has_no_origin() -> None:
    assert log.origin("\\relax\n% a comment\n", 2) == ""


DOCUMENT = r"""% source: tests/sample.py
\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage{lmodern}
\begin{document}
%s
\end{document}
"""


@pytest.mark.latex
@pytest.mark.parametrize(
    ("body", "kind", "message", "line"),
    [
        ("a\n\nb \\undefinde c", "error", "Undefined control sequence.", 8),
        ("\\begin{nope}\\end{nope}", "error", "LaTeX Error: Environment nope undefined.", 6),
        ("$a", "error", "Missing $ inserted.", 7),
        ("a\n\\input{gone}\n", "error", "LaTeX Error: File `gone.tex' not found.", 7),
        ("\\input{../secret}", "error", "LaTeX Error: File `../secret.tex' not found.", 6),
        ("see \\ref{gone}", "undefined reference", "gone", 6),
        ("see \\cite{gone}", "undefined citation", "gone", 6),
        ("x\n\n\\noindent\\rule{9in}{1pt}", "overfull box", "\\hbox", 8),
        ("\\char200\\fontencoding{OT1}\\fontfamily{cmr}\\selectfont\\char200", "missing character", "There is no ", 0),
    ],
)
def test_failing_documents_give_message_and_line(tmp_path: Path, body: str, kind: str, message: str, line: int) -> None:
    (tmp_path / "secret.tex").write_text("secret")
    out = tmp_path / "out"
    out.mkdir()
    (out / "sample.tex").write_text(DOCUMENT.replace("%s", body))
    result = latex.pdflatex("sample.tex", cwd=out, output=".", job="sample", timeout=60)
    record = log.parse((out / "sample.log").read_text(errors="replace"), out)
    assert bool(record.errors) == bool(result.returncode) == (kind == "error")
    first = (record.errors or record.warnings)[0]
    assert first.kind == kind
    assert first.message.startswith(message)
    assert (first.file, first.source) == ("sample.tex", "tests/sample.py")
    assert first.line in (line, line + 1) if kind == "error" else first.line == line


def test_overfull_box_message_names_its_page_and_remedies() -> None:
    text = (
        HEAD
        + "[1] [2{/x/pdftex.map}]\n(./a.tex [3]\nOverfull \\hbox (9.5pt too wide) in paragraph at lines 3--3\n[]\n\n)\n"
    )
    [record] = log.parse(text).warnings
    assert record.message == "\\hbox 9.5 pt too wide, sheet 4 of the PDF"
    assert str(record).endswith("; reword the line, let a long name break, or make the table narrower")


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("Undefined control sequence.", "misspelt"), ("LaTeX Error: File `x.sty' not found.", "doctor"),
        ("Missing $ inserted.", "outside $...$"), ("Extra alignment tab has been changed to \\cr.", "\\&"),
        ("Package pgfplots Error: Sorry.", "plot"), ("Something that nobody knows.", ""),
    ],
)  # fmt: skip
def test_known_latex_errors_have_a_hint(message: str, words: str) -> None:
    hint = log.LogMessage("error", message).hint
    assert words in hint
    assert bool(hint) == bool(words)


def test_origin_line_is_that_of_the_template_even_after_statements(tmp_path: Path) -> None:
    (tmp_path / "paper/chapters").mkdir(parents=True)
    (tmp_path / "out/chapters").mkdir(parents=True)
    template = "<% set a = 1 %>\n<% if a %>\nFirst.\n<% endif %>\n\nSecond << a >>.\nThird.\n"
    (tmp_path / "paper/chapters/one.tex.j2").write_text(template)
    (tmp_path / "out/chapters/one.tex").write_text("First.\n\nSecond 1.\nThird.\n% source: paper/chapters/one.tex.j2\n")
    text = HEAD + "./chapters/one.tex:{}: Undefined control sequence.\nl.{} x\n"
    places = [log.parse(text.format(line, line), tmp_path / "out").errors[0].source for line in (1, 3, 4)]
    assert places == [f"paper/chapters/one.tex.j2:{line}" for line in (3, 6, 7)]


def test_missing_picture_warning_is_read_as_a_missing_file():
    text = 'Package pgf Warning: File "heat-000.png" not found when defining image "pgflastimage".\n'
    [warning] = log.parse(text).warnings
    assert (warning.kind, warning.message) == ("missing file", "heat-000.png")


def test_bibtex_complaints_are_read_from_its_report(tmp_path: Path) -> None:
    report = tmp_path / "thesis.blg"
    assert bibtex.bibtex_complaints(report) == []
    report.write_text(
        "This is BibTeX, Version 0.99d (TeX Live 2022/Debian)\nCapacity: max_strings=200000\n"
        "The top-level auxiliary file: thesis.aux\nThe style file: plainnat.bst\nDatabase file #1: references.bib\n"
        'Warning--empty journal in a\nToo many commas in name 1 of "A, B, C, D" for entry b\n'
        "while executing---line 1160 of file plainnat.bst\nWarning--to sort, need author or key in c\n"
        "(There was 1 error message)\nYou've used 3 entries,\n            2773 wiz_defined-function locations\n"
    )
    assert bibtex.bibtex_complaints(report) == [
        'Too many commas in name 1 of "A, B, C, D" for entry b',
        "to sort, need author or key in c",
    ]
    report.write_text("The style file: plainnat.bst\nI found no \\citation commands---while reading file thesis.aux\n")
    assert bibtex.bibtex_complaints(report) == []
