"""Matplotlib figures: a converted drawing keeps all contents, and other drawings are left to matplotlib."""

import io
import re
import subprocess
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure as Drawing
from matplotlib.lines import Line2D
from matplotlib.markers import MarkerStyle
from matplotlib.patches import Circle
from matplotlib.patheffects import withStroke
from PIL import Image

from boundpaper.errors import MissingDependency, SpecError
from boundpaper.figures import from_matplotlib, matplotlib_style
from boundpaper.figures.matplotlib import convert
from boundpaper.figures.matplotlib.convert import pgfplots
from boundpaper.figures.matplotlib.usual import NotConverted
from boundpaper.figures.render import picture_files, tex


def body(drawing, **fields):
    """Return the figure's LaTeX after the preamble."""
    return tex(from_matplotlib(drawing, caption="c", **fields), "d").split("endofdump\\endcsname\n")[1]


def axes_of(**options):
    """Return an empty drawing and its only pair of axes."""
    drawing = Drawing(**options)
    return drawing, drawing.subplots()


def rows(text):
    """Return all numeric rows of the tables in a text."""
    return [
        tuple(map(float, line.split()))
        for line in text.splitlines()
        if re.fullmatch(r"[-\d.e+nan]+ [-\d.e+nan]+", line)
    ]


@pytest.fixture
def drawing():
    drawing = Drawing(figsize=(6, 2.6))
    left, right = drawing.subplots(1, 2)
    left.errorbar(
        [1, 2, 3],
        [1, 2, 1.5],
        yerr=[0.1, 0.2, 0.3],
        xerr=0.05,
        capsize=2,
        label="with_error 100%",
        **matplotlib_style("beans"),
    )
    left.plot([1, 2, 3], [0.5, 0.6, 0.7], "--", label="plain")
    left.set(title="A & B", xlabel="$a$ (x_1)", ylabel="value #1")
    left.legend()
    right.fill_between([0, 1, 2], [0, 1, 0.5], [1, 2, 1.5], alpha=0.3, label="band")
    right.bar([0.5, 1.5], [1, 1.5], width=0.4, yerr=[0.2, 0.1], label="bars", color="white")
    right.scatter([0.2], [0.4], label="dots", marker="D")
    right.annotate("50% off", (1, 0.2))
    right.legend(loc="upper left")
    return drawing


def test_drawing_is_converted_as_the_golden_file(drawing, golden):
    golden("kinds/matplotlib.tex", body(drawing))


def test_every_value_and_text_is_in_the_converted_drawing(drawing):
    text = body(drawing)
    points = set(rows(text))
    assert points >= {(1, 1), (2, 2), (3, 1.5), (1, 0.5), (2, 0.6), (3, 0.7)}  # lines
    assert points >= {(1, 0.9), (1, 1.1), (0.95, 1), (1.05, 1), (3, 1.2), (3, 1.8)}  # ends of error bars
    assert points >= {(0.3, 0), (0.7, 0), (0.7, 1), (1.3, 0), (1.7, 1.5), (0.5, 0.8), (0.5, 1.2)}  # bars and theirs
    assert points >= {(0, 1), (1, 2), (2, 0.5), (0.2, 0.4)}  # the band, the point
    for expected in (r"title={A \& B}", r"xlabel={$a$ (x\_1)}", r"ylabel={value \#1}", r"{50\% off}"):
        assert expected in text
    entries = [line for line in text.splitlines() if line.startswith("\\addlegendentry")]
    names = ("plain", r"with\_error 100\%", "band", "dots", "bars")
    assert entries == [f"\\addlegendentry{{\\vphantom{{Ag}}{t}}}" for t in names]


def test_marks_have_the_shape_of_matplotlib_in_plot_and_legend():
    drawing, axes = axes_of()
    for i, shape in enumerate(MarkerStyle.filled_markers):
        axes.plot([1, 2], [i, i], marker=shape, ls="none", label=f"m{i}")
    axes.legend()
    text = body(drawing)
    plots = re.findall(r"only marks, mark=(drawn-\d+)", text.split("\\end{axis}")[0].split("addlegendentry")[-1])
    legend = re.findall(r"addlegendimage\{only marks, mark=(drawn-\d+)", text)
    assert len(set(plots)) == len(MarkerStyle.filled_markers)
    assert plots == legend


@pytest.mark.parametrize(
    ("draw", "style"),
    [
        (
            lambda a: a.plot([1, 2], [1, 2], color="#123456", alpha=0.5, lw=2),
            "draw={rgb,255:red,18;green,52;blue,86}, line width=2bp, solid, draw opacity=0.5",
        ),
        (lambda a: a.plot([1, 2], [1, 2], "k--"), "dash pattern=on 5.55bp off 2.4bp"),
        (lambda a: a.bar([1], [1], color="none", edgecolor="k"), "fill=none"),
        (lambda a: a.axvspan(0, 1, color="r", alpha=0.25), "fill opacity=0.25"),
    ],
)
def test_line_and_marker_styles_are_converted(draw, style):
    drawing, axes = axes_of()
    draw(axes)
    assert style in body(drawing)


def test_lines_break_at_missing_values():
    drawing, axes = axes_of()
    axes.plot([1, 2, 3, 4], [1, np.nan, 3, 4])
    axes.plot([1, 2, 3, 4], np.ma.masked_greater([1.0, 2, 3, 4], 3))
    assert "1 1\nnan nan\n3 3\n4 4\n" in body(drawing)
    assert "1 1\n2 2\n3 3\nnan nan\n" in body(drawing)


def test_ticks_match_those_of_matplotlib():
    drawing, axes = axes_of()
    axes.plot([0, 1], [0, 1])
    axes.set_xticks([0, 0.5, 1], ["none", "half, of it", "50% & more"])
    text = body(drawing)
    assert "xtick={0,0.5,1}" in text
    assert r"{\vphantom{Ag}half, of it},{\vphantom{Ag}50\% \& more}" in text


def test_hollow_marks_are_hollow_in_the_legend_too():
    drawing, axes = axes_of(figsize=(3, 2))
    axes.plot([1, 2], [1, 2], **{**matplotlib_style("leaf"), "markerfacecolor": "white"}, label="hollow")
    axes.plot([1, 2], [2, 3], **matplotlib_style("stem"), label="filled")
    axes.legend()
    hollow, filled = (line for line in body(drawing).splitlines() if line.startswith("\\addlegendimage"))
    assert "fill={rgb,255:red,255;green,255;blue,255}" in hollow
    assert "fill={rgb,255:red,255;green,255;blue,255}" not in filled


def test_conversion_leaves_the_drawing_unchanged(drawing):
    before = [len(a.get_children()) for a in drawing.axes]
    size = tuple(drawing.get_size_inches())
    canvas = drawing.canvas
    from_matplotlib(drawing, caption="c", height=30)
    assert [len(a.get_children()) for a in drawing.axes] == before
    assert drawing.axes[0].get_legend() is not None
    assert tuple(drawing.get_size_inches()) == size
    assert drawing.canvas is canvas


@pytest.mark.latex
def test_drawing_rendered_by_matplotlib_is_left_unchanged():
    drawing, axes = axes_of()
    mesh = axes.pcolormesh(np.arange(4000).reshape(40, 100))
    canvas, size = drawing.canvas, tuple(drawing.get_size_inches())
    assert "drawn by matplotlib itself" in from_matplotlib(drawing, caption="c", height=30).conversion_note
    assert (drawing.canvas, tuple(drawing.get_size_inches())) == (canvas, size)
    assert not mesh.get_rasterized()


@pytest.mark.latex
def test_small_cells_of_a_picture_are_enlarged_and_opaque():
    drawing, axes = axes_of()
    axes.imshow(np.arange(16).reshape(4, 4), interpolation="none")
    figure = from_matplotlib(drawing, caption="c")
    ((name, content),) = picture_files(figure, "my_map").items()
    assert f"{{{name}}}" in tex(figure, "my_map")
    picture = Image.open(io.BytesIO(content))
    assert (picture.mode, picture.size, picture.info) == ("RGB", (32, 32), {})
    assert len(picture.getcolors()) == 16
    assert {picture.getpixel((x, y)) for x in range(8) for y in range(24, 32)} == {(68, 1, 84)}  # set upside down


@pytest.mark.latex
def test_conversion_of_the_same_drawing_is_reproducible():
    def converted():
        drawing, axes = axes_of()
        axes.scatter([1, 2], [1, 2], c=[1, 2], rasterized=True)
        figure = from_matplotlib(drawing, caption="c")
        return figure.body, figure.files

    assert converted() == converted()


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda a: a.set_title("\u4e2d"), "U\\+4E2D"),
        (lambda a: a.set_title(r"$\mathcircled{a}$"), "mathcircled"),
        (lambda a: a.text(90, 1, "far"), "but its parts take"),
    ],
)
@pytest.mark.latex
def test_unsupported_drawing_is_refused_with_its_part_in_at_most_two_lines(draw, words):
    drawing, axes = axes_of()
    axes.plot([1, 2], [1, 2])
    draw(axes)
    with pytest.raises(SpecError, match=words) as raised:
        from_matplotlib(drawing, caption="c")
    assert len(str(raised.value).splitlines()) <= 2


def test_an_empty_drawing_is_refused():
    with pytest.raises(SpecError, match="is empty"):
        from_matplotlib(Drawing(), caption="c")


@pytest.mark.latex
def test_failure_of_the_conversion_is_reported_and_matplotlib_renders_the_figure(monkeypatch):
    def broken(*_):
        raise StopIteration("midway")

    monkeypatch.setattr(convert, "lay_out_page", broken)
    drawing, axes = axes_of()
    axes.plot([1, 2], [1, 2])
    assert (
        "because of StopIteration during conversion (midway)" in from_matplotlib(drawing, caption="c").conversion_note
    )


def test_without_latex_the_program_is_named(monkeypatch):
    monkeypatch.setenv("PATH", "")
    drawing, axes = axes_of()
    axes.set_yscale("symlog")
    with pytest.raises(MissingDependency, match="pdflatex"):
        from_matplotlib(drawing, caption="c")


def test_unknown_artist_property_prevents_conversion_and_is_named():
    for change, words in (
        ({"markevery": 2}, "markevery"),
        ({"drawstyle": "steps-mid"}, "drawstyle"),
        ({"fillstyle": "left"}, "fillstyle"),
        ({"gapcolor": "r"}, "gapcolor"),
        ({"rasterized": True}, "rasterized"),
        ({"clip_on": False}, "clip on"),
        ({"path_effects": [withStroke()]}, "path effects"),
    ):
        drawing, axes = axes_of()
        axes.plot([1, 2, 3], [1, 2, 3], "o-", **change)
        with pytest.raises(NotConverted, match=words):
            pgfplots(drawing, 150, None)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a: a.axis("off"), "switched off"),
        (lambda a: a.spines.left.set_visible(False), "the left spine, which is hidden"),
        (lambda a: a.spines.bottom.set_bounds(1, 2), "bounds"),
        (lambda a: a.set_ylabel("y", rotation=0), "the rotation"),
        (lambda a: a.set_xlabel("x", loc="left"), "the place of the text 'x'"),
        (lambda a: a.yaxis.set_label_coords(-0.3, 0.9), "the place of the text 'word'"),
        (lambda a: a.set_title("t", y=0.8), "the place of the text 't'"),
        (lambda a: a.set_title("t", backgroundcolor="red"), "the box of the text 't'"),
        (lambda a: a.set_title("t", color="red"), "the color"),
        (lambda a: a.text(1, 1, "t", bbox={"fc": "red"}), "the box of the text 't'"),
        (lambda a: a.set_facecolor("0.9"), "facecolor"), (lambda a: a.figure.set_facecolor("0.9"), "facecolor"),
        (lambda a: a.patch.set_alpha(0.5), "facecolor"), (lambda a: a.xaxis.tick_top(), "x axis"),
        (lambda a: a.tick_params(labelcolor="red"), "labelcolor"),
        (lambda a: a.get_xticklabels()[1].set_color("red"), "the color"),
        (lambda a: a.set_xlim(3, 1), "is reversed"),
        (lambda a: a.set_axisbelow(True) or a.set_frame_on(False), "frame on"),
        (lambda a: a.plot([1], [1], label="l") and a.legend(labelcolor="red"), "the color"),
        (lambda a: a.plot([1], [1], label="l") and a.legend(title="t"), "the title of a legend"),
        (lambda a: a.figure.text(0.5, 0.5, "t"), "a Text of the whole figure"),
        (lambda a: a.bar_label(a.bar([1, 2], [1, 2])), "coordinates"),
        (lambda a: a.lines[0].set_clip_path(Circle((0, 0), 1, transform=a.transAxes)), "clip path"),
        (lambda a: a.add_line(Line2D([0, 1], [0, 1], transform=a.transAxes)), "coordinates"),
        (lambda a: a.minorticks_on() or a.grid(which="minor"), "gridOn"), (lambda a: a.grid(color="red"), "grid"),
    ],
)  # fmt: skip
def test_unsupported_style_prevents_conversion_and_is_named(change, words):
    drawing, axes = axes_of()
    axes.plot([1, 2, 3], [1, 2, 3])
    axes.set_ylabel("word")
    change(axes)
    with pytest.raises(NotConverted, match=words):
        pgfplots(drawing, 150, None)


def test_matplotlib_style_matches_the_entity_style():
    assert matplotlib_style("peas") == {
        "color": pytest.approx((213 / 255, 94 / 255, 0)),
        "marker": "s",
        "linestyle": "--",
    }
    assert matplotlib_style("reported")["markerfacecolor"] == "white"


def test_native_figures_do_not_load_matplotlib():
    code = (
        "import sys; from boundpaper.figures import *; from boundpaper.figures.render import tex;"
        "tex(Figure(panels=[Panel(series=[Line(x=[1, 2], y=[1, 2])])], caption='c'), 'n');"
        "assert not any(m.startswith('matplotlib') for m in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
