"""Every kind of series compiles, with and without a precompiled format; nothing is clipped, no font is bitmap."""

import os
import re
import subprocess

import matplotlib
import pytest
from matplotlib.figure import Figure as Drawing
from pypdf import PdfReader

from boundpaper.figures import Figure, Heatmap, Panel, from_matplotlib
from boundpaper.figures.render import picture_files, tex
from figure_samples import SAMPLES

pytestmark = pytest.mark.latex

ENVIRONMENT = {
    **os.environ,
    "SOURCE_DATE_EPOCH": "0",
    "FORCE_SOURCE_DATE": "1",
    "TZ": "UTC",
    "LC_ALL": "C",
    "max_print_line": "1000",
    "MKTEXPK": "0",
}
DENSE = Figure(panels=[Panel(series=[Heatmap(values=[[r * c for c in range(40)] for r in range(40)])])], caption="c")


def write(figure, name, folder):
    (folder / f"{name}.tex").write_text(tex(figure, name), encoding="utf-8")
    for file, content in picture_files(figure, name).items():
        (folder / file).write_bytes(content)


def compiled_log(name, folder, *options):
    command = ["pdflatex", "-no-shell-escape", "-interaction=batchmode", "-halt-on-error", "-file-line-error", *options]
    result = subprocess.run([*command, f"{name}.tex"], cwd=folder, env=ENVIRONMENT, capture_output=True, check=False)
    log = (folder / f"{name}.log").read_text(errors="replace")
    assert result.returncode == 0, log[-3000:]
    return log


@pytest.fixture(scope="module")
def format_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("format")
    write(SAMPLES["line"], "first", folder)
    command = ["pdflatex", "-ini", "-interaction=batchmode", "-jobname=figure", "&pdflatex", "mylatexformat.ltx"]
    subprocess.run([*command, "first.tex"], cwd=folder, env=ENVIRONMENT, capture_output=True, check=True)
    return folder


@pytest.mark.parametrize("name", [*SAMPLES, "dense"])
def test_each_kind_compiles_at_its_width(name, format_folder):
    figure = SAMPLES.get(name, DENSE)
    write(figure, name, format_folder)
    log = compiled_log(name, format_folder, "-fmt=figure")
    assert "Missing character" not in log
    assert "Overfull" not in log
    page = PdfReader(format_folder / f"{name}.pdf").pages[0]
    assert float(page.mediabox.width) * 25.4 / 72 == pytest.approx(figure.width, abs=0.1)
    fonts = page["/Resources"]["/Font"].values()
    assert {font.get_object()["/Subtype"] for font in fonts} == {"/Type1"}


def test_figure_holds_its_text_and_error_bars_that_end_in_a_cap(format_folder):
    write(SAMPLES["bars"], "words", format_folder)
    compiled_log("words", format_folder, "-fmt=figure")
    page = PdfReader(format_folder / "words.pdf").pages[0]
    text, content = page.extract_text(), page.get_contents()
    for word in ("base", "zeroed", "perplexity", "1,500", "5.2", "Beans", "Peas", "reported"):
        assert word in text
    assert content is not None
    segment = r"([\d.]+) ([\d.]+) m \n([\d.]+) ([\d.]+) l \n"
    paths = re.findall(f"{segment}{segment}S ", content.get_data().decode("latin-1"))
    assert len(paths) == 5, "four bars and the grid lines"
    for path in paths[1:]:
        x, _, end_x, end_y, left, low, right, high = map(float, path)
        assert (x, low, high, left + right) == (end_x, end_y, end_y, pytest.approx(2 * x, abs=0.001))


def test_figure_compiles_without_precompiled_format_and_reproducibly(tmp_path):
    contents = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        folder.mkdir()
        write(SAMPLES["points"], "points", folder)
        compiled_log("points", folder)
        contents.append((folder / "points.pdf").read_bytes())
    assert contents[0] == contents[1]


def test_a_converted_drawing_compiles_at_its_width(format_folder):
    drawing = Drawing()
    axes = drawing.subplots()
    axes.errorbar([1, 2], [1, 2], yerr=0.1, marker="P", label="50% & more")
    axes.bar([1, 2], [1, 2], alpha=0.5)
    axes.legend()
    figure = from_matplotlib(drawing, caption="c", width=120)
    assert figure.conversion_note == "converted to PGFPlots"
    write(figure, "converted", format_folder)
    log = compiled_log("converted", format_folder, "-fmt=figure")
    assert "Missing character" not in log
    page = PdfReader(format_folder / "converted.pdf").pages[0]
    assert float(page.mediabox.width) * 25.4 / 72 == pytest.approx(120, abs=0.1)
    assert "50% & more" in page.extract_text()


def test_figure_drawn_by_matplotlib_compiles_with_its_picture_and_document_fonts(format_folder):
    drawing = Drawing()
    axes = drawing.subplots()
    axes.imshow([[0, 1], [2, 3]])
    axes.set_title("50% & a_b")
    figure = from_matplotlib(drawing, caption="c", width=120)
    assert "drawn by matplotlib itself" in figure.conversion_note
    write(figure, "under_score", format_folder)
    log = compiled_log("under_score", format_folder, "-fmt=figure")
    assert "Missing character" not in log
    page = PdfReader(format_folder / "under_score.pdf").pages[0]
    assert float(page.mediabox.width) * 25.4 / 72 == pytest.approx(120, abs=0.1)
    assert "50% & a_b" in page.extract_text()
    assert len(page.images) == 1
    fonts = [font.get_object() for font in page["/Resources"]["/Font"].values()]
    names = {font["/BaseFont"].partition("+")[2] for font in fonts}
    assert names == {"TeXGyrePagella-Regular", "CMSY10"}, "the text font, and the math minus sign"


@pytest.mark.parametrize("style", ["usetex", "xkcd"])
def test_figures_drawn_by_matplotlib_with_usetex_or_another_style_compile(style, format_folder, caplog):
    settings = (
        {"text.usetex": True} if style == "usetex" else {"font.family": ["No Such Face"], "path.sketch": (1, 100, 2)}
    )
    with matplotlib.rc_context(settings):
        drawing = Drawing()
        drawing.subplots().plot([1, 2], [1, 2])
        drawing.suptitle(r"\textbf{half}: 50\%" if style == "usetex" else "50%")
    figure = from_matplotlib(drawing, caption="c")
    write(figure, style, format_folder)
    compiled_log(style, format_folder, "-fmt=figure")
    assert "findfont" not in caplog.text
