"""The thesis compiles quietly, repeatably and without network access, and all its faults are listed."""

import io
import os
import re
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pypdf
import pytest

from boundpaper.build import process, tex
from boundpaper.build.job import Job
from boundpaper.errors import LatexError, MissingDependency, SpecError
from boundpaper.paper import bundle, chapter, document, metadata
from boundpaper.paper.tex import figure_pdf, formats, latex, log, pages, passes, pdf, preview

REFERENCES = """
@article{holm1979,
  author  = {Holm, Sture},
  title   = {A Simple Sequentially Rejective Multiple Test Procedure},
  journal = {Scandinavian Journal of Statistics},
  year    = {1979}
}
@inproceedings{vaswani2017,
  author    = {Vaswani, Ashish and Shazeer, Noam and Parmar, Niki},
  title     = {Attention Is All You Need},
  booktitle = {Advances in Neural Information Processing Systems},
  year      = {2017}
}
"""
TABLE = r"""% source: tables/x.py
\begin{table}[tbp]
\centering
\caption{Two models.}\label{tab:x}
\begin{tabular}{lr}
\toprule Model & Score \\ \midrule One & 12.3 \\ \bottomrule
\end{tabular}
\par A note \citep{holm1979}.
\end{table}
"""
FLOAT = r"""% source: figures/x.py
\begin{figure}[tbp]\centering\includegraphics{figures/x.pdf}\caption{A line.}\label{fig:x}\end{figure}
"""
FIGURE = r"""% source: figures/x.py
\documentclass[border=1pt]{standalone}
\usepackage[T1]{fontenc}
\usepackage{lmodern,tikz}
\csname endofdump\endcsname
\pdftrailerid{}\pdfsuppressptexinfo=-1\pdfinfoomitdate=1
\begin{document}
\begin{tikzpicture}\draw (0,0) -- (5,2) node {drawn};\end{tikzpicture}
\end{document}
"""
ONE = r"""\chapter{One}\label{cha:one}
\citet{vaswani2017} said it; $r = << n('r', value='estimate') | fixed(2) >>$ in \cref{tab:x,fig:x,cha:one}.
<< table('x') >>
<< figure('x') >>
"""
FRAMES = {"r": pd.DataFrame({"estimate": [0.876]})}


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def write_chapters(root: Path, one: str = ONE) -> Job:
    """Write chapters as the chapter step would; return the job of the thesis."""
    write(root, "paper/chapters/one.tex.j2", one)
    write(root, "paper/chapters/abstract.tex.j2", "What was found.\n")
    for name in ("one", "abstract"):
        file = f"paper/chapters/{name}.tex.j2"
        write(root, f"out/chapters/{name}.tex", chapter.render((root / file).read_text(), file, FRAMES))
    return Job(root=root, kind="thesis", name="thesis", file="packages/boundpaper/src/boundpaper/paper/document.py")


@pytest.fixture(scope="module")
def picture(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    root = tmp_path_factory.mktemp("picture")
    write(root, "out/figures/x.tex", FIGURE)
    return figure_pdf.compile_figure(root / "out", "x")


def write_steps(root: Path, picture: bytes) -> Path:
    """Write what the steps before the thesis leave in a project, except for its chapters; return the project."""
    write(root, "out/tables/x.tex", TABLE)
    write(root, "out/figures/x.float.tex", FLOAT)
    (root / "out/figures/x.pdf").write_bytes(picture)
    write(root, "paper/references.bib", REFERENCES)
    fields = "title: Heads & *tails*\nauthor: An Author\ndate: November 2026\nkeywords: [attention]\nchapters: [one]\n"
    write(root, "paper/metadata.yaml", fields)
    return root


@pytest.fixture(scope="module")
def built_once(tmp_path_factory: pytest.TempPathFactory, picture: bytes) -> Path:
    """Return a project with its thesis; tests do not change it."""
    root = write_steps(tmp_path_factory.mktemp("built"), picture)
    document.build(write_chapters(root))
    return root


@pytest.fixture
def built(tmp_path: Path, built_once: Path) -> Path:
    return shutil.copytree(built_once, tmp_path / "built")


@pytest.fixture
def project(tmp_path: Path, picture: bytes, request: pytest.FixtureRequest) -> Callable[..., Path]:
    """Return a function that writes a project, with the precompiled format of the usual preamble unless `cold`."""

    def make(name: str = "project", cold: bool = False) -> Path:
        root = write_steps(tmp_path / name, picture)
        if not cold and not process.missing("pdflatex"):
            known = request.getfixturevalue("built_once") / "out" / formats.FOLDER
            shutil.copytree(known, root / "out" / formats.FOLDER, copy_function=os.link)
        return root

    return make


def written_bytes(files: dict[str, str | bytes], path: str = "out/thesis.pdf") -> bytes:
    content = files[path]
    assert isinstance(content, bytes)
    return content


CUT = "\\relax\n\\newlabel{cha:one}{{1}{"  # an auxiliary file truncated by a kill


@pytest.mark.latex
def test_preview_compiles_one_chapter_alone(project: Callable[..., Path]) -> None:
    root = project("alone")
    write(root, "paper/metadata.yaml", "title: T\ndate: May\nchapters: [first, one]\n")
    write(root, "paper/chapters/first.tex.j2", "\\chapter{First}\n")
    write_chapters(root, ONE + r"A verdict\verdictmark{c_one}{holds} and \cref{cha:elsewhere}.")
    assert preview.exhibit_steps(root, "one") == ["table:x", "picture:x"]
    words = pdf.whole_text(preview.compile_chapter(root, "one"))
    assert ("Table 2.1" in words, "Table 1.1" in words, "\u2713 holds" in words) == (True, False, True)
    assert "Contents" not in words
    assert "What was found" not in words
    write(root, "out/chapters/one.tex", "\\chapter{One}\n\\undefinedthing\n")
    with pytest.raises(LatexError, match="Undefined control sequence"):
        preview.compile_chapter(root, "one")


@pytest.mark.latex
def test_verdicts_stand_beside_their_line_and_the_foot_explains_those_of_the_page(project: Callable[..., Path]) -> None:
    root = project()
    mark = r"\verdictof{c}{\verdictmark{c}{%s}}"
    judged = (
        f"{ONE}\nHolds,{mark % 'holds'} does not.{mark % 'contradicted'}\n\\newpage\nOnly{mark % 'untestable'} here.\n"
    )
    write_chapters(root, judged)
    lines = [line for page in pages.read(preview.compile_chapter(root, "one")) for line in page.lines]
    (text,) = [line for line in lines if line.text == "Holds, does not."]
    (marks,) = [line for line in lines if line.text == "\u2713 \u00d7"]
    assert (abs(marks.top - text.top) < 2, marks.left > 515) == (True, True)
    foot = [line.text for line in lines if line.top > 750]
    assert foot == ["\u2713 holds \u00d7 contradicted", "\u25a1 not testable"]


def test_verdicts_have_the_colours_of_the_site() -> None:
    folder = Path(document.__file__).parent
    paper_colours = re.findall(
        r"color\{verdict@(\w+)\}\{HTML\}\{(\w+)\}", (folder / "templates/preamble.tex").read_text()
    )
    site_colours = re.findall(r"--(\w+)-fg: #(\w+)", (folder / "site/templates/site.css").read_text())[:6]
    assert dict(paper_colours) == {
        {"rounding": "rounded"}.get(name, name): colour.upper() for name, colour in site_colours
    }


@pytest.mark.latex
@pytest.mark.parametrize("marked", [True, False])
def test_leftovers_of_a_killed_run_do_not_fail_the_next(
    marked: bool, project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project()
    write(root, "out/state/latex/thesis/thesis.aux", CUT)
    if marked:
        write(root, f"out/state/latex/thesis/{document.RUNNING}", "")
    leftovers: list[bool] = []
    compile_once = document._run_single_pass

    def recorded(out: Path, fmt: str) -> process.CompletedProgram | None:
        leftovers.append((out / document.STATE / "thesis.aux").read_text() == CUT)
        return compile_once(out, fmt)

    monkeypatch.setattr(document, "_run_single_pass", recorded)
    assert written_bytes(document.build(write_chapters(root))).startswith(b"%PDF")
    assert leftovers == ([False] if marked else [True, False])
    assert not (root / "out" / document.STATE / document.RUNNING).exists()


@pytest.mark.latex
def test_error_that_persists_in_a_clean_run_is_raised(
    project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, calls = project(), []
    write(root, "out/state/latex/thesis/thesis.aux", CUT)

    def fail(name: str, *, cwd: Path, output: str, **form: str) -> process.CompletedProgram:
        calls.append(name)
        return process.CompletedProgram(1, "! It is wrong.")

    monkeypatch.setattr(document, "_run_single_pass", lambda out, fmt: None)
    monkeypatch.setattr(latex, "latexmk", fail)
    with pytest.raises(LatexError):
        document.build(write_chapters(root))
    assert len(calls) == 2


def check_pdf_a(thesis: bytes) -> None:
    """Check the PDF/A-2b metadata of a document, and that its links are printed."""
    reader = pypdf.PdfReader(io.BytesIO(thesis))
    root: Any = reader.trailer["/Root"]
    packet = root["/Metadata"].get_data().decode()
    assert (reader.pdf_header, root["/Lang"]) == ("%PDF-1.7", "en")
    assert reader.trailer["/ID"]
    assert root["/OutputIntents"][0].get_object()["/S"] == "/GTS_PDFA1"
    assert "<pdfaid:part>2</pdfaid:part><pdfaid:conformance>B<" in packet
    assert "Heads &#38; tails<" in packet, "the title of the document information, without markup"
    pages: list[Any] = [page for page in reader.pages if "/Annots" in page]
    links = [link.get_object() for page in pages for link in page["/Annots"]]
    assert links
    assert all(link["/F"] == 4 for link in links)


@pytest.mark.latex
def test_the_whole_thesis_is_built_with_its_pdf(project: Callable[..., Path], built: Path, tmp_path: Path) -> None:
    cold = project("cold", cold=True)
    files = document.build(write_chapters(cold))
    assert set(files) == {"out/thesis.tex", "out/thesis.pdf"}
    assert (cold / "out/thesis.tex").read_text() == files["out/thesis.tex"]
    thesis = written_bytes(files)

    words = pdf.whole_text(thesis)
    for phrase in ("Heads & tails", "What was found.", "Vaswani et al. (2017) said it", "0.88", "drawn"):
        assert phrase in words
    assert "Table 1.1" in words
    assert "Figure 1.1" in words
    assert "??" not in words
    assert pdf.page_count(thesis) > 5
    assert pdf.metadata(thesis)["Title"] == "Heads & tails"
    assert "CreationDate" not in pdf.metadata(thesis)
    assert any("Pagella" in font.name for font in pdf.fonts(thesis))
    assert any("LMRoman" in font.name for font in pdf.fonts(thesis)), "fonts of included figures are checked, too"
    assert not pdf.faulty_fonts(thesis)
    check_pdf_a(thesis)

    # In another folder, where the thesis was built before: the same bytes, and one more pass updates nothing.
    assert written_bytes(document.build(write_chapters(built))) == thesis
    out = built / "out"
    fmt = formats.ensure(out, (out / "thesis.tex").read_text(), "thesis.tex", "logs/preamble.log", 60)
    assert (out / formats.FOLDER / f"{fmt}.fmt").is_file()
    options = {"output": document.STATE, "job": "thesis", "fmt": fmt, "formats": formats.FOLDER, "timeout": 60}
    assert latex.pdflatex("thesis.tex", cwd=out, **options).returncode == 0
    assert (out / document.STATE / "thesis.pdf").read_bytes() == thesis

    archive_bytes = bundle.make(out)
    assert archive_bytes == bundle.make(cold / "out")
    with tarfile.open(fileobj=io.BytesIO(archive_bytes)) as archive:
        names = archive.getnames()
    assert names == ["figures-x.pdf", "thesis.bbl", "thesis.tex"]
    with zipfile.ZipFile(io.BytesIO(bundle.make(out, flat=False))) as archive:
        names = archive.namelist()
    assert names == [
        "chapters/abstract.tex", "chapters/one.tex", "figures/x.float.tex", "figures/x.pdf", "references.bib",
        "tables/x.tex", "thesis.bbl", "thesis.tex",
    ]  # fmt: skip
    bundle.try_out(archive_bytes, thesis)  # without a format: other objects, equal pages
    with pytest.raises(SpecError, match="not empty"):
        bundle.dry_run(archive_bytes, tmp_path)


@pytest.mark.latex
def test_an_error_names_the_chapter_and_the_next_run_recovers(project: Callable[..., Path]) -> None:
    root = project()
    with pytest.raises(LatexError) as caught:
        document.build(write_chapters(root, ONE + "\nAnd \\undefinde.\n"))
    assert str(caught.value) == (
        "out/chapters/one.tex:6 (from paper/chapters/one.tex.j2:6): Undefined control sequence. near: And \\undefinde; "
        "a command is misspelt, or its package is missing in paper/preamble.tex"
    )
    assert (root / "out/logs/thesis.log").is_file()
    assert written_bytes(document.build(write_chapters(root)))


@pytest.mark.latex
def test_all_faults_of_a_compiled_thesis_are_listed(project: Callable[..., Path]) -> None:
    root = project()
    write(root, "out/tables/x.tex", TABLE.replace("A note \\citep{holm1979}", "A note \\ref{nowhere}"))
    wide = "\\noindent\\rule{8in}{1pt}\n\n\\fontencoding{OT1}\\fontfamily{cmr}\\selectfont\\char200\n"
    with pytest.raises(LatexError) as caught:
        document.build(write_chapters(root, f"{ONE}\n{wide}"))
    message = str(caught.value)
    for fault in (
        "out/tables/x.tex:8 (from tables/x.py): undefined reference: nowhere",
        "out/chapters/one.tex:6 (from paper/chapters/one.tex.j2:6): overfull box: \\hbox",
        "out/chapters/one.tex (from paper/chapters/one.tex.j2): missing character: There is no",
    ):
        assert fault in message
    assert (root / "out/thesis.tex").is_file()


def test_citations_and_references_are_checked_before_latex(
    project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project()
    job = write_chapters(root, ONE + "\\cite{homl1979} \\ref{tab:y}\n")
    monkeypatch.setenv("PATH", str(root))
    with pytest.raises(SpecError) as caught:
        document.build(job)
    assert [line[:35] for line in str(caught.value).splitlines()] == [
        "paper/chapters/one.tex.j2:5: \\cite ",
        "paper/chapters/one.tex.j2:5: \\ref t",
    ]


def test_the_bibliography_is_checked_before_latex(
    project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project()
    bad = "\n@article{bare,\n author = {A B}\n}\n@misc{pea, title = {P}, url = {javascript:x}}\n"
    write(root, "paper/references.bib", REFERENCES + bad)
    write(root, "tables/x.py", '"""A table."""\n\n\nCAPTION = "As in [@holm1997]."\n')
    write(root, "out/tables/x.tex", TABLE.replace("A note \\citep{holm1979}", "A note \\citep{holm1997}"))
    job = write_chapters(root, ONE)
    monkeypatch.setenv("PATH", str(root))
    with pytest.raises(SpecError) as caught:
        document.build(job)
    last = REFERENCES.count("\n")
    assert str(caught.value).splitlines() == [
        f"paper/references.bib:{last + 2}: bare: has nothing to print; give at least a title",
        f"paper/references.bib:{last + 5}: pea: url 'javascript:x' is not a web address; "
        "it must begin with http:// or https://",
        "tables/x.py:4: the table 'x' cites 'holm1997', which is not in paper/references.bib; did you mean 'holm1979'?",
    ]


def test_tex_is_written_when_latex_is_missing(project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    root = project()
    job = write_chapters(root)
    monkeypatch.setenv("PATH", str(root))
    with pytest.raises(MissingDependency) as caught:
        document.build(job)
    assert str(caught.value).endswith(tex.TEX_INSTALL)
    text = (root / "out/thesis.tex").read_text()
    assert text.startswith(latex.FIRST_LINE + "\n% source: boundpaper/paper/templates/thesis.tex.j2\n")
    assert "\\input{chapters/one}" in text
    assert log.origin(text, text[: text.index("booktabs")].count("\n") + 1) == "boundpaper/paper/templates/preamble.tex"


def test_the_bundle_needs_a_compiled_thesis(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="has not been compiled yet"):
        bundle.make(tmp_path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("title: T\nauthor: A\n", "paper/metadata.yaml: date is missing"),
        ("author: A\ndate: D\n", "paper/metadata.yaml: title is missing"),
        ("title: T\nauthor: A\ndate: 2026\n", "paper/metadata.yaml: date: 2026 is not a text; put it in quotes"),
        ("title: T\ndate: 2026-05-01\n", "paper/metadata.yaml: date: 2026-05-01 is not a text; put it in quotes"),
        ("titel: T\n", "paper/metadata.yaml: unknown key 'titel'; did you mean 'title'?"),
        ("title: T\ndate: D\nclass: acmart\n", "paper/metadata.yaml: class: a paper built from chapters uses the"),
        ("documentclass: [IEEEtran]\n", "paper/metadata.yaml: documentclass: a paper built from chapters"),
        ("journal: PLOS\ntitel: T\n", "paper/metadata.yaml: journal: a paper built from chapters"),
        ("title: [\n", "paper/metadata.yaml:2: "),
        (
            "title: T\nauthor: A\ndate: D\nnames: ['(']\n",
            "paper/metadata.yaml: '(' in names is not a regular expression",
        ),
        ("- a\n", "paper/metadata.yaml: must contain fields"),
        (
            "title: T\ndate: D\nauthor: [{nmae: A}]\n",
            "paper/metadata.yaml: author[0]: unknown key 'nmae'; did you mean 'name'?",
        ),
        (
            "title: T\ndate: D\nauthor: [{name: A, orcid: '7'}]\n",
            "paper/metadata.yaml: author[A].orcid: '7' is not an ORCID",
        ),
        ("title: T\ndate: D\nchapters: one\n", "paper/metadata.yaml: chapters: 'one' is not a list"),
        (
            "title: T\nauthor: A\ndate: D\nchapters: [oen]\n",
            "paper/metadata.yaml: no chapter 'oen' in paper/chapters; did you mean 'one'?",
        ),
        (
            "title: T\nauthor: A\ndate: D\nchapters: [one, one]\n",
            "paper/metadata.yaml: the chapter 'one' is listed twice",
        ),
    ],
)
def test_faulty_metadata_is_refused(tmp_path: Path, text: str, expected: str) -> None:
    write(tmp_path, "paper/metadata.yaml", text)
    write(tmp_path, "paper/chapters/one.tex.j2", "x")
    with pytest.raises(SpecError) as caught:
        metadata.read(tmp_path)
    assert str(caught.value).startswith(expected)


@pytest.mark.parametrize("text", ["\\label{a}\n\\label{a}\n", "<< table('a') >>\n<< table('a') >>\n"])
def test_preview_reports_a_label_or_exhibit_that_a_chapter_repeats(tmp_path: Path, text: str) -> None:
    write(tmp_path, "paper/chapters/one.tex.j2", text)
    with pytest.raises(SpecError, match=r"paper/chapters/one.tex.j2:2: .* already .* paper/chapters/one.tex.j2:1"):
        preview.compile_chapter(tmp_path, "one")


def test_several_authors_are_joined_in_the_title_and_kept_as_a_list(tmp_path: Path) -> None:
    authors = "author: [{name: Ada Alder, orcid: 0000-0002-1825-0097}, Bo Birch, {name: Cy Cedar, affiliation: Garden}]"
    write(tmp_path, "paper/metadata.yaml", f"title: T\ndate: D\n{authors}\n")
    paper = metadata.read(tmp_path)
    assert paper.author == "Ada Alder, Bo Birch and Cy Cedar"
    assert [author.orcid for author in paper.authors] == ["https://orcid.org/0000-0002-1825-0097", "", ""]
    assert paper.authors[2].affiliation == "Garden"


@pytest.mark.parametrize(
    ("authors", "expected"),
    [
        ("[{name: Ada, affiliation: Garden}, Bo]", ["Ada\\\\{\\small Garden} \\and", "Bo", "}"]),
        ("[Ada, {name: Bo, affiliation: Beans & Co}]", ["Ada \\and", "Bo\\\\{\\small Beans \\& Co}", "}"]),
        ("[{name: Ada, affiliation: Garden, orcid: 0000-0002-1825-0097}]", ["Ada\\\\{\\small Garden}", "}"]),
        ("[{name: Ada}, Bo]", []),
    ],
)
def test_affiliations_stand_below_the_names_on_the_title_page(
    tmp_path: Path, authors: str, expected: list[str]
) -> None:
    write(tmp_path, "paper/metadata.yaml", f"title: T\ndate: D\nauthor: {authors}\n")
    lines = document.render(tmp_path, metadata.read(tmp_path)).splitlines()
    if expected:
        begin = lines.index("\\author{%") + 1
        assert lines[begin : begin + len(expected)] == expected
    else:
        assert "\\author{Ada and Bo}" in lines


@pytest.mark.latex
def test_preamble_of_the_paper_is_added_to_the_document(project: Callable[..., Path]) -> None:
    root = project()
    write(root, "paper/preamble.tex", "\\newcommand*{\\lamp}{Sonnenlampe}\n")
    files = document.build(write_chapters(root, f"{ONE}\nUnder the \\lamp.\n"))
    assert "Under the Sonnenlampe" in pdf.whole_text(written_bytes(files))


@pytest.mark.latex
def test_error_in_the_preamble_is_reported_with_its_line(project: Callable[..., Path]) -> None:
    root = project()
    write(root, "paper/preamble.tex", "\\notacommand\n")
    with pytest.raises(LatexError, match="in the preamble") as caught:
        document.build(write_chapters(root))
    line = (root / "out/thesis.tex").read_text().split("\n").index("\\notacommand") + 1
    assert f"out/thesis.tex:{line}" in str(caught.value)
    assert "paper/preamble.tex" in str(caught.value)


def _calls_of_latexmk(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that collects the documents for which latexmk is run from now on."""
    calls: list[str] = []
    latexmk = latex.latexmk

    def recorded(name: str, **options: Any) -> process.CompletedProgram:
        calls.append(name)
        return latexmk(name, **options)

    monkeypatch.setattr(latex, "latexmk", recorded)
    return calls


@pytest.mark.latex
def test_change_that_moves_no_reference_takes_one_pass(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = (built / "out" / document.STATE / "thesis.pdf").read_bytes()
    calls = _calls_of_latexmk(monkeypatch)
    table = built / "out/tables/x.tex"
    words = table.read_text()
    table.write_text(words.replace("A note", "Some words"))
    assert "Some words" in pdf.whole_text(document.compile_thesis(built))
    assert calls == []
    table.write_text(words.replace("A note", "A note\\label{moved}"))  # the auxiliary file changes
    assert document.compile_thesis(built)
    assert calls == ["thesis.tex"]
    table.write_text(words)
    assert document.compile_thesis(built) == first


@pytest.mark.latex
def test_draft_first_build_gives_the_same_document_as_latexmk(
    project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project("one")
    calls = _calls_of_latexmk(monkeypatch)
    thesis = written_bytes(document.build(write_chapters(root)))
    assert calls == []
    shutil.rmtree(root / "out" / document.STATE)
    monkeypatch.setattr(passes, "first_passes", lambda *arguments, **options: None)
    assert document.compile_thesis(root) == thesis
    assert calls == ["thesis.tex"]


@pytest.mark.latex
def test_failed_draft_removes_its_auxiliary_files(built: Path) -> None:
    out, state = built / "out", built / "out" / document.STATE
    fmt = formats.ensure(out, (out / "thesis.tex").read_text(), "thesis.tex", "logs/preamble.log", 60)
    begin = partial(passes.first_passes, out, "thesis.tex", document.STATE, fmt=fmt, formats=formats.FOLDER)
    (state / "thesis.aux").unlink()
    begin()
    assert "newlabel" in (state / "thesis.aux").read_text()
    text = (out / "thesis.tex").read_text()
    (out / "thesis.tex").write_text(text.replace("\\end{document}", "\\undefined\n\\end{document}"))
    begin()
    assert not (state / "thesis.aux").exists()
    (out / "thesis.tex").write_text(text)
    for path in (*out.glob("chapters/*.tex"), *out.glob("tables/*.tex")):
        path.write_text(passes.CITE.sub("", path.read_text()))
    begin()  # without citations bibtex is not needed
    assert not (state / "thesis.aux").exists()
