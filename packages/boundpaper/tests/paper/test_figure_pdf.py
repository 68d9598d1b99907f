"""Figures compile with a shared format or alone, repeatably, and report faults."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from boundpaper.build import tex
from boundpaper.build.job import Job
from boundpaper.errors import LatexError, MissingDependency, SpecError
from boundpaper.paper.tex import figure_pdf, formats, latex, pdf

FIGURE = r"""% source: figures/NAME.py
\pdftrailerid{}\pdfsuppressptexinfo=-1\pdfinfoomitdate=1
\documentclass[border=1pt]{standalone}
\usepackage[T1]{fontenc}
\usepackage{lmodern}
\usepackage{tikz}
\csname endofdump\endcsname
\pdftrailerid{}\pdfsuppressptexinfo=-1\pdfinfoomitdate=1
\begin{document}
\begin{tikzpicture}
BODY
\end{tikzpicture}
\end{document}
"""


def write(root: Path, name: str, body: str = r"\draw (0,0) -- (1,1) node {NAME};", text: str = FIGURE) -> Job:
    path = root / "out" / "figures" / f"{name}.tex"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.replace("BODY", body).replace("NAME", name))
    return Job(root=root, kind="picture", name=name, file=f"figures/{name}.py")


@pytest.mark.latex
def test_figures_share_one_format_and_are_repeatable(tmp_path: Path) -> None:
    outputs = []
    for folder in ("one", "two"):
        jobs = [write(tmp_path / folder, name) for name in ("first", "second", "third")]
        with ThreadPoolExecutor(3) as pool:
            outputs.append(list(pool.map(figure_pdf.build, jobs)))
        out = tmp_path / folder / "out"
        (form,) = (out / "state/formats").iterdir()
        assert not form.read_bytes().startswith(b"\x1f\x8b"), "compressed: every run would decompress it"
        assert {path.stem for path in (out / "logs/figures").iterdir()} == {"first", "preamble", "second", "third"}
        assert sorted(path.name for path in out.iterdir()) == ["figures", "logs", "state"]
    assert outputs[0] == outputs[1]
    content = outputs[0][1]["out/figures/second.pdf"]
    assert isinstance(content, bytes)
    assert pdf.page_count(content) == 1
    assert pdf.whole_text(content) == "second"
    assert pdf.fonts(content)
    assert not pdf.faulty_fonts(content)


@pytest.mark.latex
def test_most_recently_used_formats_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "MOST_FORMATS", 2)
    other = FIGURE.replace("\\csname", "\\newcommand\\OTHER{}\n\\csname", 1)
    (first,) = forms(tmp_path, "one", FIGURE)
    two = forms(tmp_path, "two", other.replace("OTHER", "another"))
    assert forms(tmp_path, "three", FIGURE) == two
    three = forms(tmp_path, "four", other.replace("OTHER", "third"))
    assert len(two) == len(three) == 2
    assert first in two & three


def forms(root: Path, name: str, text: str) -> set[Path]:
    """Return the formats that exist after compiling a figure."""
    figure_pdf.build(write(root, name, text=text))
    return set((root / "out" / formats.FOLDER).iterdir())


@pytest.mark.latex
def test_an_error_names_the_exhibit_and_the_line(tmp_path: Path) -> None:
    job = write(tmp_path, "bad", "\\draw (0,0) -- (1,1);\n\\drow (0,0);")
    with pytest.raises(LatexError) as caught:
        figure_pdf.build(job)
    assert str(caught.value) == (
        "out/figures/bad.tex:12 (from figures/bad.py): Undefined control sequence. near: \\drow; "
        "a command is misspelt, or its package is missing in paper/preamble.tex"
    )
    assert (tmp_path / "out/logs/figures/bad.log").is_file()


@pytest.mark.latex
def test_error_in_the_preamble_is_reported(tmp_path: Path) -> None:
    job = write(tmp_path, "bad", text=FIGURE.replace("{tikz}", "{tikz}\n% a comment\n\\undefinde"))
    with pytest.raises(LatexError) as caught:
        figure_pdf.build(job)
    assert str(caught.value).startswith(
        "out/figures/bad.tex:8 (from figures/bad.py): in the preamble: Undefined control sequence."
    )
    with pytest.raises(LatexError, match="in the preamble"):
        figure_pdf.build(job)


@pytest.mark.latex
def test_figure_with_a_missing_character_fails(tmp_path: Path) -> None:
    job = write(tmp_path, "lost", r"\node {\fontencoding{OT1}\fontfamily{cmr}\selectfont\char200};")
    with pytest.raises(LatexError, match="missing character: There is no"):
        figure_pdf.build(job)


@pytest.mark.latex
def test_an_endless_figure_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figure_pdf.build(write(tmp_path, "fine"))
    monkeypatch.setattr(latex, "FIGURE_TIMEOUT", 1.0)
    job = write(tmp_path, "endless", r"\def\x{\x}\x")
    with pytest.raises(LatexError, match="took longer than 1 s and was stopped"):
        figure_pdf.build(job)


@pytest.mark.latex
def test_labels_inside_a_figure_get_their_second_pass(tmp_path: Path) -> None:
    body = r"\node {\label{a}\pageref{a}};"
    content = figure_pdf.build(write(tmp_path, "label", body))["out/figures/label.pdf"]
    assert isinstance(content, bytes)
    assert pdf.whole_text(content) == "1"


def test_figure_without_end_of_preamble_mark_is_refused(tmp_path: Path) -> None:
    text = FIGURE.replace("\\csname endofdump\\endcsname\n", "")
    with pytest.raises(SpecError, match=r"^out/figures/x.tex: no line"):
        formats.preamble(text, "figures/x.tex")


def test_comments_do_not_change_the_preamble_key() -> None:
    one, lines = formats.preamble(FIGURE.replace("NAME", "one"), "one")
    two, _ = formats.preamble(FIGURE.replace("NAME", "two"), "two")
    assert one == two
    assert lines == [2, 3, 4, 5, 6]


def test_missing_figure_is_refused_with_the_build_command(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="build the figure gone first"):
        figure_pdf.compile_figure(tmp_path, "gone")


def test_without_latex_the_install_line_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = write(tmp_path, "x")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingDependency) as caught:
        figure_pdf.build(job)
    assert str(caught.value).endswith(tex.TEX_INSTALL)
