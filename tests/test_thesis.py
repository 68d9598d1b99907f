"""The PDF of the thesis has no faults, and the golden tables and figures compile."""

import io
import re

import pypdf
import pytest
from pypdf.generic import DictionaryObject

import page_picture
import pdfa
from boundpaper.build.process import run as execute
from boundpaper.paper import looks, metadata
from boundpaper.paper.tex import pages, pdf
from boundpaper.paper.tex.latex import environment
from boundpaper.paper.tex.log import parse
from conftest import GOLDEN, ROOT, run
from frozen import frozen

pytestmark = pytest.mark.latex
NAMELESS = "encrypted, or without an identity"


@pytest.fixture(scope="module")
def thesis(built_project):
    result = run(built_project, "paper")
    assert result.returncode == 0, result.stderr
    return built_project / "out/thesis.pdf"


@pytest.fixture(scope="module")
def content(thesis):
    return thesis.read_bytes()


@pytest.fixture(scope="module")
def text(content):
    return re.sub(r"\s+", " ", pdf.whole_text(content))


def test_thesis_has_between_60_and_400_pages(content):
    assert 60 <= pdf.page_count(content) <= 400


def test_abstract_has_at_most_220_words(text):
    abstract = text.partition(" Abstract ")[2].partition(" Contents ")[0]
    assert "not what it says" in abstract
    assert len(abstract.split()) <= 220


def test_the_log_is_clean(thesis):
    log = parse((thesis.parent / "logs/thesis.log").read_text(errors="replace"), thesis.parent)
    assert not log.errors
    assert not [str(warning) for warning in log.warnings]
    assert not log.needs_rerun


def test_every_page_follows_the_layout_limits(content):
    faults = pages.layout_faults(pages.read(content), pages.read_limits(ROOT))
    assert not faults, "\n".join(faults)


def test_title_page_states_version_and_licence(content):
    first = " ".join(line.text for line in pages.read(content)[0].lines)
    assert "Version" in first
    assert "licence" in first


def test_fonts_are_embedded_outlines(content):
    assert pdf.faulty_fonts(content) == []


def test_no_object_breaks_a_rule_of_the_archive(content):
    assert pdfa.faults(content) == []


@pytest.mark.parametrize(
    ("rule", "fault"),
    [
        ("/Type /Action /S /Launch", "action /Launch"), ("/AA << >>", "an action of its own"),
        ("/Subtype /Link /F 2", "a link that is not printed or not seen"), ("/BM /Hue", "blending /Hue"),
        ("/Filter [/LZWDecode]", "filter ['/LZWDecode']"), ("/TR /Identity", "a transfer function"),
        ("/Interpolate true", "an image that is interpolated, or has alternates"),
        ("/Group << /CS /DeviceCMYK >>", "a group or image in CMYK"),
    ],
)  # fmt: skip
def test_a_broken_rule_of_the_archive_is_reported(rule, fault):
    writer = pypdf.PdfWriter()
    writer._add_object(DictionaryObject.read_from_stream(io.BytesIO(f"<< {rule} >>".encode()), writer))
    stream = io.BytesIO()
    writer.write(stream)
    assert [found.partition(": ")[2] for found in pdfa.faults(stream.getvalue())] == [NAMELESS, fault]


def test_the_page_shown_in_the_readme_has_these_words(thesis):
    assert page_picture.page(thesis)[1] == page_picture.RECORD.read_text().split()[1], page_picture.__doc__


def test_text_has_no_unresolved_references(text):
    assert "??" not in text
    assert "[?]" not in text


@pytest.mark.parametrize("number", ["40.14", "0.068", "13.8", "26.9", "15.71"])
def test_known_numbers_are_printed_in_the_text(text, number):
    assert number in text


def test_the_second_build_does_nothing_and_a_further_pass_changes_nothing(built_project, thesis, tmp_path):
    before = thesis.read_bytes()
    assert run(built_project, "paper").returncode == 0
    assert thesis.read_bytes() == before


def test_all_golden_tables_compile_in_one_document(tmp_path, built_project):
    tables = sorted((GOLDEN / "tables").glob("*.tex"))
    assert tables
    preamble = looks.preamble(ROOT)
    inputs = []
    for number, path in enumerate(tables):
        (tmp_path / f"t{number}.tex").write_text(re.sub(r"\\(cite[pt]?)\{[^}]*\}", "(source)", path.read_text()))
        inputs.append(f"\\input{{t{number}}}\\clearpage")
    lines = ["\\documentclass[11pt,a4paper,DIV=11,captions=tableheading]{scrreprt}", preamble, "\\begin{document}"]
    (tmp_path / "all.tex").write_text("\n".join([*lines, *inputs, "\\end{document}"]))
    for _ in range(2):
        command = ["pdflatex", "-no-shell-escape", "-interaction=batchmode", "-file-line-error", "all.tex"]
        result = execute(command, cwd=tmp_path, timeout=300, env=environment())
    log = parse((tmp_path / "all.log").read_text(errors="replace"), tmp_path)
    assert result.returncode == 0, [str(error) for error in log.errors]
    assert not [str(warning) for warning in log.warnings if warning.kind == "overfull box"]


def test_every_golden_figure_compiles_with_its_own_source(built_project, thesis):
    supplement = set(metadata.read(ROOT).supplement)
    golden = [path for path in (GOLDEN / "figures").glob("*.tex") if not path.name.endswith(".float.tex")]
    figures = [path for path in golden if path.stem not in supplement]
    assert len(figures) > len(golden) / 4
    for path in figures:
        assert frozen((built_project / "out/figures" / path.name).read_text()) == path.read_text(), path.name
        assert (built_project / "out/figures" / path.name).with_suffix(".pdf").stat().st_size > 1000
