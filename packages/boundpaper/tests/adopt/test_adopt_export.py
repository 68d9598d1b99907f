"""An adopted paper is exported as an archive, Word, HTML or a PDF that marks changes, and its values are traced."""

import subprocess
import time
import zipfile

import pytest

from adopting import MAIN, adopted, commit_all, needs_program, pdf_text, run
from boundpaper.adopt.export import _without_boxes, document_words

CITED = MAIN.replace("The bean", r"As \cite{bean2020} says, the bean").replace(
    r"\end{document}", "\\bibliographystyle{plain}\\bibliography{refs}\n\\end{document}"
)
BIB = "@article{bean2020, title={On beans}, author={Bean, A.}, journal={J. Beans}, year={2020}}\n"
BBL = "\\begin{thebibliography}{1}\\bibitem{bean2020} On beans.\\end{thebibliography}\n"


def _names_in(path):
    return sorted(zipfile.ZipFile(path).namelist())


def test_zip_for_arxiv_holds_what_latex_reads_and_requires_the_bbl(tmp_path):
    root = adopted(tmp_path, main=CITED, refs_dot_bib=BIB, secret_dot_txt="x", figures__unused_dot_pdf="x")
    assert "main.bbl: absent, but arXiv requires it" in run(root, "zip", "--arxiv", code=1)
    (root / "main.bbl").write_text(BBL)
    run(root, "zip", "--arxiv")
    assert _names_in(root / "main-arxiv.zip") == [
        "bound/bound.tex",
        "bound/lock.json",
        "main.bbl",
        "main.tex",
        "refs.bib",
    ]
    first = (root / "main-arxiv.zip").read_bytes()
    run(root, "zip", "--arxiv")
    assert (root / "main-arxiv.zip").read_bytes() == first


@pytest.mark.latex
def test_zip_archive_compiles_in_an_empty_folder(tmp_path):
    root = adopted(tmp_path, main=CITED, refs_dot_bib=BIB, main_dot_bbl=BBL)
    run(root, "lint", "--fix")
    run(root, "zip", "--arxiv", "-o", "a.zip")
    zipfile.ZipFile(root / "a.zip").extractall(root / "there")
    assert "0.831" in pdf_text(root / "there")


def test_zip_for_overleaf_upload_holds_bound_and_changed_files(tmp_path):
    root = adopted(tmp_path, main=CITED, refs_dot_bib=BIB, sections__one_dot_tex="x")
    commit_all(root)
    (root / "sections/one.tex").write_text("y")
    run(root, "zip", "--overleaf-upload")
    assert _names_in(root / "main-upload.zip") == ["bound/bound.tex", "bound/lock.json", "sections/one.tex"]
    assert "give --arxiv or --overleaf-upload" in run(root, "zip", code=2)


def test_diff_and_trace_report_file_line_and_key(tmp_path):
    root = adopted(tmp_path)
    run(root, "lint", "--fix")
    commit_all(root)
    data = root / "results/heights.csv"
    data.write_text(data.read_text().replace("0.8314", "0.8451"))
    output = run(root, "diff", "HEAD")
    assert "main.tex:9: 0.831 -> 0.845 (heights/bean,1/gain)" in output
    assert "main.tex:9: 83.14 -> 84.51 (heights/bean,1/gain)" in output
    assert "0.7212" not in output
    for searched in ("main.tex:9", "0.845"):
        trace = run(root, "trace", searched)
        assert "0.845 <- heights/bean,1/gain = 0.8451 (results/heights.csv: row 2, gain)" in trace
    assert "no bound value found" in run(root, "trace", "main.tex:1", code=1)
    assert "did you mean 'main.tex'?" in run(root, "trace", "main2.tex:1", code=1)


@pytest.mark.latex
@needs_program("latexdiff")
def test_diff_pdf_marks_only_numbers_that_changed(tmp_path):
    root = adopted(tmp_path)
    commit_all(root)
    run(root, "lint", "--fix")  # binding moves nothing
    data = root / "results/heights.csv"
    data.write_text(data.read_text().replace("0.8314", "0.8451"))
    run(root, "diff", "HEAD", "--pdf")
    text = subprocess.run(["pdftotext", "main-changes.pdf", "-"], cwd=root, capture_output=True, text=True).stdout
    assert "0.8310.845" in text.replace(" ", "").replace("\n", "")
    assert text.count("91,270") == 1
    assert "not a git revision here" in run(root, "diff", "nowhere", "--pdf", code=1)


@pytest.mark.latex
@needs_program("latexdiff")
def test_diff_pdf_marks_a_new_table_whose_rules_span_columns(tmp_path):
    root = adopted(tmp_path)
    commit_all(root)
    path = root / "main.tex"
    path.write_text(path.read_text().replace("Pea & 0.7212", "\\cmidrule(lr){1-2} Pear & 0.9 \\\\ Pea & 0.7212"))
    run(root, "diff", "HEAD", "--pdf")
    assert (root / "main-changes.pdf").read_bytes().startswith(b"%PDF")


@needs_program("pandoc")
def test_captions_of_two_column_floats_are_exported(tmp_path):
    root = adopted(tmp_path, main=MAIN.replace("{table}", "{table*}"))
    run(root, "docx")
    assert "Height 0.7212." in document_words((root / "main.docx").read_bytes(), "docx")


@needs_program("pandoc")
def test_docx_holds_every_number_and_reports_an_omitted_drawing(tmp_path):
    root = adopted(tmp_path, main=CITED, refs_dot_bib=BIB)
    run(root, "lint", "--fix")
    run(root, "docx")
    assert document_words((root / "main.docx").read_bytes(), "docx").count("0.831") == 4  # title, heading, text, 0.8314
    first = (root / "main.docx").read_bytes()
    time.sleep(1.1)  # Word files store the time to the second
    run(root, "docx")
    assert (root / "main.docx").read_bytes() == first
    path = root / "main.tex"
    drawing = "\\begin{tikzpicture}\\draw (0,0) -- (1,1);\\end{tikzpicture}"
    path.write_text(path.read_text().replace("\\maketitle", "\\maketitle\n" + drawing))
    assert "main.tex:8: pandoc leaves out the drawing (tikzpicture)" in run(root, "docx", code=1)


@needs_program("latexmlc")
def test_html_by_latexml_holds_every_number(tmp_path):
    root = adopted(tmp_path)
    run(root, "lint", "--fix")
    run(root, "html", "-o", "page.html")
    assert (root / "page.html").read_text().count("0.7212") == 2


def test_boxes_of_the_author_are_kept_when_generated_boxes_are_resolved() -> None:
    own = "\\sbox8{Beans}\n\\usebox8 grow 9 cm.\n"
    generated = "\\sbox8{\\small\n\\begin{tabular*}{9pt}{l}9\\end{tabular*}}\nTable: \\usebox8\n"
    assert _without_boxes(own + generated + own) == (
        own + "Table: \\small\n\\begin{tabular*}{9pt}{l}9\\end{tabular*}\n" + own
    )
