"""LaTeX of figures: exact text for a small figure of every kind, floats, pictures, template faults."""

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from boundpaper.build.job import Job
from boundpaper.errors import DataError, SpecError
from boundpaper.figures import Axis, Bars, Figure, Heatmap, Line, Panel, Points, Shade
from boundpaper.figures.build import build
from boundpaper.figures.layout import lay_out
from boundpaper.figures.metrics import width
from boundpaper.figures.render import TEMPLATES, float_tex, picture_files, tex
from boundpaper.figures.style import PALETTE, SIGNED, VIRIDIS
from figure_samples import SAMPLES, panel


def after_preamble(text):
    return text.split("\\csname endofdump\\endcsname\n")[1]


@pytest.mark.parametrize("name", SAMPLES)
def test_each_kind_of_figure_matches_the_golden_file(name, golden):
    golden(f"kinds/{name}.tex", after_preamble(tex(SAMPLES[name], name)))


def test_document_begins_with_the_shared_preamble_and_repeats_its_first_line():
    text = tex(SAMPLES["line"], "line")
    repeatable = "\\pdftrailerid{}\\pdfsuppressptexinfo=-1\\pdfinfoomitdate=1\n"
    preamble = (TEMPLATES / "preamble.tex").read_text()
    assert text.startswith(preamble)
    assert preamble.startswith(repeatable)
    assert preamble.endswith("\n\\csname endofdump\\endcsname\n")
    assert after_preamble(text).startswith(repeatable + "% Generated from figure:line")


def test_the_preamble_has_the_palette():
    text = (TEMPLATES / "preamble.tex").read_text()
    assert dict(re.findall(r"\\definecolor\{(\w+)\}\{HTML\}\{(\w+)\}", text)) == dict(PALETTE)
    maps = re.findall(r"colormap=\{(\w+)\}\{(.*?)\}", text, flags=re.DOTALL)
    printed = {
        name: tuple(tuple(map(int, c)) for c in re.findall(r"\((\d+),(\d+),(\d+)\)", body)) for name, body in maps
    }
    assert printed == {"okviridis": VIRIDIS, "oksigned": SIGNED}


def test_float_has_caption_and_note():
    figure = Figure(
        panels=SAMPLES["line"].panels, caption="Share of *sinks* [@luo2026]. n = 3 & more.", note="Bars: 95% CI."
    )
    assert float_tex(figure, "sinks") == (
        "% Generated from figure:sinks through boundpaper/figures/templates/float.tex.j2; edits are "
        "lost.\n\\begin{figure}[tbp]\n  \\centering\n  \\includegraphics{figures/sinks.pdf}\n  \\caption[Share of "
        "\\emph{sinks}]{Share of \\emph{sinks} \\citep{luo2026}. n = 3 \\& more.}\n  \\label{fig:sinks}\n  "
        "\\par\\smallskip\\parbox{\\linewidth}{\\footnotesize Bars: 95\\% CI.}\n\\end{figure}\n"
    )
    assert "\\par" not in float_tex(SAMPLES["line"], "line")


def test_dense_heat_maps_become_pictures_of_the_same_colours():
    values = [[r * 32 + c for c in range(32)] for r in range(32)]
    figure = Figure(panels=[Panel(series=[Heatmap(values=values)])], caption="c")
    assert "graphics[xmin=0, xmax=32, ymin=0, ymax=32] {dense-1.png}" in tex(figure, "dense")
    (content,) = picture_files(figure, "dense").values()
    assert content == picture_files(figure, "dense")["dense-1.png"]
    picture = Image.open(io.BytesIO(content))
    assert (picture.mode, picture.size, picture.info) == ("RGB", (256, 256), {})
    assert picture.getpixel((0, 255)) == VIRIDIS[0]  # row 0 is at the bottom
    assert picture.getpixel((255, 0)) == VIRIDIS[-1]
    figure = Figure(panels=[Panel(series=[Heatmap(values=values)], y=Axis(reverse=True))], caption="c")
    (content,) = picture_files(figure, "dense").values()
    assert Image.open(io.BytesIO(content)).getpixel((0, 0)) == VIRIDIS[0]
    assert "xmin=0, xmax=32, ymin=0, ymax=32,\n" in tex(figure, "dense")  # the axis covers the picture
    assert "graphics[xmin=0, xmax=32, ymin=0, ymax=32] {dense-1.png}" in tex(figure, "dense")
    assert picture_files(SAMPLES["heatmap"], "heatmap") == {}


def test_masked_heat_map_cells_stay_white():
    text = tex(panel(Heatmap(values=[[1, None], [3, 5]])), "holes")
    assert "0.5 0.5 1\n1.5 0.5 nan\n0.5 1.5 3\n1.5 1.5 5\n" in text
    assert "point meta min=1, point meta max=5" in text
    values = [[None if c > r else c for c in range(32)] for r in range(32)]
    (content,) = picture_files(panel(Heatmap(values=values)), "dense").values()
    picture = Image.open(io.BytesIO(content))
    assert picture.getpixel((255, 255)) == (255, 255, 255)  # row 0 is at the bottom, with only its first cell
    assert picture.getpixel((0, 255)) == VIRIDIS[0]
    assert picture.getpixel((255, 0)) == VIRIDIS[-1]


def test_signed_maps_are_symmetric_and_vector_cells_keep_their_rows():
    text = tex(SAMPLES["heatmap"], "heatmap")
    assert "point meta min=-2, point meta max=2" in text
    assert "0.5 0.5 -1\n1.5 0.5 0\n0.5 1.5 0.5\n1.5 1.5 2\n" in text


def test_reported_values_have_hollow_marks():
    text = tex(panel(Line(x=[0, 1], y=[0, 1], entity="beans", origin="reported")), "hollow")
    assert "mark options={solid, line width=0.7pt, draw=okblue, fill=white}" in text


def test_shared_axes_have_one_set_of_labels():
    series = [Line(x=[0, 10], y=[0, 1])], [Line(x=[5, 20], y=[2, 3])]
    panels = [Panel(series=s, x=Axis(label="layer"), y=Axis(label="norm")) for s in series]
    text = tex(Figure(panels=panels, caption="c", share_x=True, share_y=True, columns=2), "shared")
    assert text.count("\\strut norm") == 1
    assert text.count("\\strut layer") == 2
    assert len(set(re.findall(r"xmin=\S+ xmax=\S+ ymin=\S+ ymax=\S+", text))) == 1


def test_legends_list_each_name_once_and_lone_names_not():
    lines = [Line(x=[0, 1], y=[0, i], entity=f"series-{i}", label=f"a rather long name {i}") for i in range(1, 7)]
    text = tex(Figure(panels=[Panel(series=lines), Panel(series=lines)], caption="c"), "many")
    assert text.count("{a rather long name 3}") == 1
    assert "{Beans}" not in tex(panel(Line(x=[0, 1], y=[0, 1], entity="beans")), "lone")
    rows = set(re.findall(r"anchor=mid west\] at \(\S+?mm,(\S+?)mm\)", text))
    assert len(rows) == 2


def test_figure_text_does_not_depend_on_the_hash_seed():
    code = (
        "from boundpaper.figures.render import tex\nfrom figure_samples import SAMPLES\n"
        "print(*(tex(figure, name) for name, figure in SAMPLES.items()))"
    )
    support = Path(__file__).parent.parent / "support"
    environment = {**os.environ, "PYTHONHASHSEED": "1"}  # that of this process is random
    text = subprocess.check_output([sys.executable, "-c", code], cwd=support, env=environment, text=True)
    assert text.rstrip("\n") == " ".join(tex(figure, name) for name, figure in SAMPLES.items()).rstrip("\n")


def test_own_templates_are_used_and_their_faults_reported(tmp_path, monkeypatch):
    monkeypatch.setenv("BOUNDPAPER_ROOT", str(tmp_path))
    folder = tmp_path / "figures"
    folder.mkdir()
    (folder / "special.tex.j2").write_text("\\tikz\\draw (0,0) -- (<< reach >>,1); % << name >>\n")
    (folder / "bad.tex.j2").write_text("first\n<% for x in %>\n")
    (folder / "missing.tex.j2").write_text("first\nsecond << nowhere.at_all >>\n")
    text = tex(Figure(template="special.tex.j2", values={"reach": 2}, caption="c"), "special")
    assert "\\tikz\\draw (0,0) -- (2,1); % special\n\\end{document}" in text
    with pytest.raises(SpecError, match=r"^figures/bad\.tex\.j2:2: "):
        tex(Figure(template="bad.tex.j2", caption="c"), "bad")
    with pytest.raises(SpecError, match=r"^figures/missing\.tex\.j2:2: 'nowhere' is undefined"):
        tex(Figure(template="missing.tex.j2", caption="c"), "missing")
    with pytest.raises(SpecError, match=r"no template 'absent\.tex\.j2'"):
        tex(Figure(template="absent.tex.j2", caption="c"), "absent")


def job(tmp_path, monkeypatch, body):
    (tmp_path / "sample_figures.py").write_text(f"from boundpaper.figures import *\ndef figure():\n    {body}\n")
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("sample_figures", None)
    return Job(tmp_path, "figure", "sample", "sample_figures.py", "figure")


def test_build_of_a_heat_map_returns_its_files(tmp_path, monkeypatch):
    body = "return Figure(panels=[Panel(series=[Heatmap(values=[[0, 1] * 16] * 2)])], caption='c')"
    files = build(job(tmp_path, monkeypatch, body))
    assert sorted(files) == ["out/figures/sample-1.png", "out/figures/sample.float.tex", "out/figures/sample.tex"]
    assert isinstance(files["out/figures/sample-1.png"], bytes)


def test_build_errors_name_the_figure_file(tmp_path, monkeypatch):
    with pytest.raises(SpecError, match=r"^sample_figures\.py: figure\(\) returned a list"):
        build(job(tmp_path, monkeypatch, "return []"))
    body = "return Figure(panels=[Panel(series=[Line(x=[], y=[])])], caption='c')"
    with pytest.raises(DataError, match=r"^sample_figures\.py: figure sample, Line"):
        build(job(tmp_path, monkeypatch, body))


def test_printed_values_add_room_above_the_bars_and_none_below_zero():
    text = tex(panel(Bars(x=["a", "b", "c"], y=[1, 50, 100], values=True)), "room")
    low, high = map(float, re.findall(r"ymin=(\S+), ymax=(\S+),", text)[0])
    assert low == 0
    assert 105 < high < 130
    assert re.findall(r"\{\$(\d+)\$\};", text) == ["1", "50", "100"]


def test_no_marker_is_drawn_on_the_frame_of_a_narrow_panel():
    """The margin is wider than half a mark, which a fixed share of the range may not be in a narrow panel."""
    points = Points(x=[1.0, 2.0], y=[0.0, 1.0], entity="neutral")
    figure = Figure(panels=[Panel(series=[points])] * 3, columns=3, height=30, caption="x")
    for placed in lay_out(figure, "narrow", 0.0).panels:
        for value, scale in ((1.0, placed.x), (2.0, placed.x), (0.0, placed.y), (1.0, placed.y)):
            assert 1.5 < scale.mm(value) < scale.length - 1.5


def test_labels_above_the_axes_do_not_overlap():
    shades = [
        Shade(low=0, high=9, label="long stage"),
        Shade(low=9, high=9.5, label="mid"),
        Shade(low=9.5, high=10, label="end"),
    ]
    text = tex(panel(Line(x=[0, 10], y=[0, 1]), shades=shades), "tops")
    length = float(re.findall(r"width=(\S+)mm", text)[0])
    printed = {w: float(x) * length for x, w in re.findall(r"axis description cs:(\S+?),\S+\) \{([a-z ]+)\}", text)}
    assert printed["end"] - printed["mid"] >= (width("end", "scriptsize") + width("mid", "scriptsize")) / 2
