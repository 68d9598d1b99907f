"""Matplotlib drawings converted for a document, and native figures, keep all their values and texts."""

import datetime as dt
import re

import numpy as np
import pandas as pd
import pytest

from boundpaper.errors import SpecError
from boundpaper.figures import Axis, Bars, Figure, Line, Panel, from_matplotlib
from boundpaper.figures.render import picture_files, tex

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib.figure import Figure as Drawing  # noqa: E402
from matplotlib.ticker import EngFormatter, FuncFormatter, PercentFormatter  # noqa: E402

pytestmark = pytest.mark.latex


def drawing_of(draw, **options):
    """Return a new drawing and its axes, on which `draw` was called."""
    drawing = Drawing(**options)
    axes = drawing.subplots()
    draw(axes)
    return drawing, axes


def conversion(draw, **options):
    """Return the note that says whether a drawing was converted or drawn by matplotlib, and the LaTeX of its body."""
    drawing, _ = drawing_of(draw, **options)
    figure = from_matplotlib(drawing, caption="c")
    return figure.conversion_note, figure.body


def points_of(body):
    """Return the points in the tables of a converted drawing."""
    return {tuple(map(float, row.split())) for row in re.findall(r"(?m)^[-\d.e+]+ [-\d.e+]+$", body)}


def has_point(drawing, axes, body, x, y):
    """Return whether matplotlib's PGF code has a point within 0.01 inches of the data position (x, y)."""
    pairs = re.findall(r"(?:qpoint|transformshift)\{([-\d.]+)in\}\{([-\d.]+)in\}", body)
    drawing.draw_without_rendering()
    inches = axes.transData.transform((x, y)) / drawing.dpi
    return any(np.hypot(float(left) - inches[0], float(up) - inches[1]) < 0.01 for left, up in pairs)


def all_in_place(draw, points):
    """Return whether matplotlib's PGF code of a drawing has each of the points at its position."""
    drawing, axes = drawing_of(draw)
    figure = from_matplotlib(drawing, caption="c")
    assert "drawn by matplotlib itself, because of" in figure.conversion_note
    return all(has_point(drawing, axes, figure.body, x, y) for x, y in points)


@pytest.fixture(scope="module")
def compile_pdf(tmp_path_factory):
    """Return a function that compiles a figure as the build does, and returns the path of its PDF."""
    from boundpaper.paper.tex.figure_pdf import compile_figure

    out = tmp_path_factory.mktemp("out")

    def compile_(figure, name):
        (out / "figures").mkdir(exist_ok=True)
        (out / f"figures/{name}.tex").write_text(tex(figure, name), encoding="utf-8")
        for file, content in picture_files(figure, name).items():
            (out / "figures" / file).write_bytes(content)
        path = out / f"{name}.pdf"
        path.write_bytes(compile_figure(out, name))
        return path

    return compile_


def picture_sizes(pdf):
    """Return the sizes in pixels of the pictures in a PDF."""
    from pypdf import PdfReader

    return [image.image.size for page in PdfReader(pdf).pages for image in page.images if image.image]


def printed_text(pdf):
    """Return the words of a PDF."""
    from pypdf import PdfReader

    return PdfReader(pdf).pages[0].extract_text()


@pytest.mark.reported("tikzplotlib#294", "pfmc-assessments/sa4ss#25", outcome="right")
@pytest.mark.parametrize("name", ["heat", "picture_heat"])
def test_image_is_in_the_pdf_for_any_figure_name(name, compile_pdf):
    """Compile an image plot in a figure whose name has an underscore, and in one without."""
    drawing, _ = drawing_of(lambda a: a.imshow(np.arange(6).reshape(2, 3)))
    assert len(picture_sizes(compile_pdf(from_matplotlib(drawing, caption="c"), name))) == 1


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize(
    ("draw", "count"),
    [
        (lambda a: a.matshow(np.eye(5)), 1), (lambda a: a.pcolormesh(np.eye(80)), 1),
        (lambda a: a.plot([1, 2], [1, 2], rasterized=True), 1),
        (lambda a: (a.imshow(np.eye(3), interpolation="none"), a.set_title("no_smoothing")), 1),
        (lambda a: a.pcolormesh(np.eye(5), shading="gouraud"), 1), (lambda a: a.pcolormesh(np.eye(5)), 0),
        (lambda a: a.hexbin(*np.random.default_rng(0).normal(size=(2, 200)), gridsize=8), 0),
    ],
)  # fmt: skip
def test_matrices_meshes_and_rasterized_lines_are_in_the_pdf(draw, count, compile_pdf):
    """Compile matrices, meshes and rasterized lines; small meshes of plain cells become paths, all others pictures."""
    drawing, _ = drawing_of(draw)
    figure = from_matplotlib(drawing, caption="c")
    assert len(picture_sizes(compile_pdf(figure, f"map_{count}"))) == count
    assert count or figure.body.count("pgfusepath{fill}") + figure.body.count("pgfusepath{stroke,fill}") >= 25


@pytest.mark.reported("cmbant/getdist#24", "nexpy#54", "matlab2tikz#131", outcome="right")
def test_a_multiplier_beside_the_axis_is_written():
    """Convert values of one to three million, which matplotlib writes as 1 to 3 with 1e6 beside the axis."""
    note, body = conversion(lambda a: a.plot([1, 2, 3], [1e6, 2e6, 3e6], "o-"))
    assert "because of the offset or multiplier (1e6) of the y axis" in note
    assert "selectfont 1e6}" in body


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize(
    ("y", "label"),
    [([1e-5, 2e-5, 3e-5], "1e{-}5"), ([10000.1, 10000.2, 10000.3], "+1e4"), ([-2e7, -1e7], "1e7"), ([5e9, 6e9], "1e9")],
)
def test_other_multipliers_and_offsets_are_written(y, label):
    """Convert small, negative and large values, and values far from zero with small differences."""
    _, body = conversion(lambda a: a.plot(range(len(y)), y))
    assert label.replace("{-}", "$-$") in body


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize(
    ("formatter", "label"),
    [
        (EngFormatter(unit="B"), "2.5 MB"),
        (FuncFormatter(lambda v, _: f"{v / 1e6:g} million"), "2.5 million"),
        ("{x:,.0f}", "2,500,000"),
    ],
)
def test_multiplier_of_a_custom_formatter_is_in_each_tick_label(formatter, label):
    """Convert axes whose formatter writes each value in full, with a unit, or with a word such as million."""
    note, body = conversion(lambda a: (a.plot([1, 2], [1e6, 3e6]), a.yaxis.set_major_formatter(formatter)))
    assert note == "converted to PGFPlots"
    assert f"{{{label}}}" in body


DRAW_BARS = lambda a: (a.bar([1, 2, 3], [10, 100, 1000]), a.set_yscale("log"))  # noqa: E731


@pytest.mark.reported("matplot2tikz#25", "tikzplotlib#191", outcome="right")
def test_bars_on_a_logarithmic_axis_have_their_heights():
    """Convert bars from zero on a logarithmic axis."""
    assert all_in_place(DRAW_BARS, [(0.6, 10), (1.4, 10), (1.6, 100), (2.6, 1000), (3.4, 1000)])


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize(
    ("draw", "points"),
    [
        (lambda a: a.hist([1, 1, 1, 2, 3, 3], bins=[0.5, 1.5, 2.5, 3.5], log=True), [(0.5, 3), (2.5, 1), (3.5, 2)]),
        (lambda a: a.hist([1, 1, 2], bins=[0.5, 1.5, 2.5], log=True, histtype="step"), [(0.5, 2), (2.5, 1)]),
        (lambda a: (a.barh([1, 2], [1, 50]), a.set_xscale("log")), [(50, 1.6), (50, 2.4)]),
        (lambda a: (a.stairs([5, 50]), a.set_yscale("log")), [(0, 5), (2, 50)]),
        (lambda a: (a.stem([1, 2], [3, 300]), a.set_yscale("log")), [(1, 3), (2, 300)]),
    ],
)
def test_histograms_and_horizontal_bars_on_logarithmic_axes_have_their_heights(draw, points):
    """Convert filled and step histograms, horizontal bars, stairs and stems that start at zero."""
    assert all_in_place(draw, points)


@pytest.mark.reported(outcome="right")
def test_bars_with_a_positive_bottom_on_a_logarithmic_axis_are_converted():
    """Convert bars with a given positive bottom on a logarithmic axis."""
    note, body = conversion(lambda a: (a.bar([1, 2], [9.9, 99.9], bottom=0.1), a.set_yscale("log")))
    assert note == "converted to PGFPlots"
    assert points_of(body) >= {(0.6, 0.1), (1.4, 10), (1.6, 0.1), (2.4, 100)}


@pytest.mark.reported("tikzplotlib#371", outcome="right")
def test_an_area_from_zero_on_a_logarithmic_axis_ends_at_the_curve():
    """Convert an area filled from zero to a curve on a logarithmic axis."""
    draw = lambda a: (a.fill_between([1, 2, 3], 0, [1, 10, 100]), a.plot([1, 3], [1, 100]), a.set_yscale("log"))  # noqa: E731
    assert all_in_place(draw, [(1, 1), (2, 10), (3, 100)])


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize(
    ("draw", "points"),
    [
        (lambda a: (a.stackplot([1, 2, 3], [1, 10, 100], [1, 1, 1]), a.set_yscale("log")), [(1, 1), (2, 11), (3, 101)]),
        (lambda a: (a.fill_betweenx([1, 2], 0, [5, 50]), a.set_xscale("log")), [(5, 1), (50, 2)]),
        (lambda a: (a.fill([1, 2, 3], [0, 10, 1]), a.set_yscale("log")), [(2, 10), (3, 1)]),
        (lambda a: (a.axhspan(-1, 5), a.plot([1, 2], [1, 10]), a.set_yscale("log")), [(2, 10)]),
    ],
)
def test_other_areas_over_zero_on_a_logarithmic_axis_keep_their_corners(draw, points):
    """Convert stacks, polygons and spans that reach zero or below on a logarithmic axis."""
    assert all_in_place(draw, points)


def _draw_bars_across_zero(a):
    a.errorbar([1, 10, 100], [1, 10, 100], yerr=[[0.5, 9, 150], [1, 10, 100]], fmt="s", capsize=3)
    a.set_xscale("log")
    a.set_yscale("log")


@pytest.mark.reported("matplotlib#163", "matplotlib#9149", "Plots.jl#1959", outcome="right")
def test_error_bar_across_zero_on_a_logarithmic_axis_extends_to_the_edge():
    """Convert an error bar whose lower end is below zero on a logarithmic axis."""
    drawing, axes = drawing_of(_draw_bars_across_zero)
    body = from_matplotlib(drawing, caption="c").body
    assert has_point(drawing, axes, body, 100, 200)
    assert has_point(drawing, axes, body, 1, 0.5)
    assert not has_point(drawing, axes, body, 100, 75), "the bar does not end in its middle"


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize(
    "draw",
    [
        lambda a: (a.errorbar([1, 10], [1, 2], xerr=[[2, 5], [1, 1]], fmt="o"), a.set_xscale("log")),
        lambda a: (a.vlines([1, 2], [-1, 1], [5, 10]), a.set_yscale("log")),
        lambda a: (a.errorbar([1, 2], [1, 10], yerr=[5, 1]), a.semilogy([1, 2], [1, 10])),
    ],
)
def test_horizontal_bars_and_lines_across_zero_on_log_axes_are_not_converted(draw):
    """Refuse horizontal bars and lines that reach zero or less on a logarithmic axis; PGFPlots would omit a part."""
    note, _ = conversion(draw)
    assert re.search("because of a LineCollection with values on the logarithmic [xy] axis", note)


@pytest.mark.reported(outcome="right")
def test_error_bars_above_zero_are_converted_with_both_ends():
    """Convert asymmetric error bars that stay above zero on a logarithmic axis."""
    note, body = conversion(
        lambda a: (a.errorbar([1, 2], [1, 10], yerr=[[0.5, 9], [4, 90]], capsize=2), a.set_yscale("log"))
    )
    assert note == "converted to PGFPlots"
    assert points_of(body) >= {(1, 0.5), (1, 5), (2, 1), (2, 100), (1, 1), (2, 10)}


SHAPES = ["o", "s", "^", "v", "x", "+", "P", "X"]


def _draw_marks(a):
    for i, shape in enumerate(SHAPES):
        a.plot([1, 2], [i, i], marker=shape, ls="none", label=f"run {i}")
    a.fill_between([1, 2], [0, 0], [1, 1], alpha=0.2, color="red", label="band")


@pytest.mark.reported("tikzplotlib#556", "tikzplotlib#218", "tikzplotlib#401", "tikzplotlib#87", outcome="right")
def test_a_legend_shows_the_marks_of_the_plot_and_its_title(compile_pdf):
    """Convert a legend of eight marks and a pale band, with and without a title."""
    note, body = conversion(lambda a: (_draw_marks(a), a.legend()))
    assert note == "converted to PGFPlots"
    plot = re.findall(r"addplot\[forget plot, only marks, mark=([\w-]+)", body)
    legend = re.findall(r"addlegendimage\{only marks, mark=([\w-]+)", body)
    assert plot == legend
    assert len(set(plot)) == len(SHAPES)
    assert body.count("fill opacity=0.2") == 2
    drawing, _ = drawing_of(lambda a: (_draw_marks(a), a.legend(title="Method")))
    figure = from_matplotlib(drawing, caption="c")
    assert "the title of a legend ('Method')" in figure.conversion_note
    assert "Method" in printed_text(compile_pdf(figure, "titled"))


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize(
    ("draw", "reason"),
    [
        (lambda a: (a.plot([1], [1], "*", label="n"), a.legend(loc="lower left")), "converted"),
        (lambda a: (a.plot([1], [1], marker="$m$", label="n"), a.legend(loc="center right")), "converted"),
        (
            lambda a: (a.scatter([1], [1], marker="h", facecolors="none", edgecolors="g", label="n"), a.legend()),
            "converted",
        ),
        (lambda a: (a.plot([1], [1], marker="o", fillstyle="left", label="n"), a.legend()), "fillstyle"),
        (lambda a: (a.stem([1], [1], label="n"), a.legend()), "the picture of the legend's 'n'"),
        (lambda a: (a.plot([1], [1], label="n"), a.legend(bbox_to_anchor=(1, 1))), "the place of a legend"),
        (lambda a: (a.plot([1], [1], label="n"), a.figure.legend()), "a Legend of the whole figure"),
        (lambda a: (a.scatter([1, 2], [1, 2], c=[1, 2], label="n"), a.legend()), "colours by value"),
    ],
)
def test_other_legends_are_converted_completely_or_drawn_by_matplotlib(draw, reason):
    """Convert stars, letters, hollow and half-filled marks, stems, figure legends, and legend positions."""
    note, body = conversion(draw)
    assert reason in note
    assert "n}" in body


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize("options", [{"ncols": 3}, {"ncols": 11}, {}, {"loc": "upper right"}])
def test_legend_of_many_long_names_keeps_the_figure_width(options, compile_pdf):
    """Convert eleven legend entries in one, three and eleven columns."""
    from pypdf import PdfReader

    drawing, axes = drawing_of(lambda a: [a.plot([0, 1], [i, i], label=f"a long name of run {i}") for i in range(11)])
    axes.legend(**options)
    pdf = compile_pdf(from_matplotlib(drawing, caption="c"), "wide_legend")
    assert float(PdfReader(pdf).pages[0].mediabox.width) * 25.4 / 72 == pytest.approx(150, abs=0.2)
    assert all(f"a long name of run {i}" in printed_text(pdf) for i in range(11))


@pytest.mark.reported("ipypublish#66", "tikzplotlib#573", "tikzplotlib#538", outcome="right")
@pytest.mark.parametrize("colour_bar", [False, True])
def test_special_characters_in_tick_labels_and_colour_bar_are_printed(colour_bar, compile_pdf):
    """Convert percent, underscore, hash, circumflex and Greek below bars and beside a colour bar."""
    drawing = Drawing()
    axes = drawing.subplots()
    if colour_bar:
        drawing.colorbar(axes.scatter([1, 2], [1, 2], c=[0.1, 0.9]), label="score_1 %")
        assert "score_1 %" in printed_text(compile_pdf(from_matplotlib(drawing, caption="c"), "bar"))
    else:
        axes.bar(["50%", "a_b", "#1", "x^2", "α"], [1, 2, 3, 4, 5])
        printed = printed_text(compile_pdf(from_matplotlib(drawing, caption="c"), "ticks"))
        assert all(word in printed for word in ("50%", "a_b", "#1", "x^2", "α"))


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize(
    "draw",
    [
        lambda a, t: a.set_xticks([0, 1], [t, "b"]),
        lambda a, t: a.set_title(t),
        lambda a, t: a.set_title(t, loc="right"),
        lambda a, t: a.text(0.5, 0.5, t),
        lambda a, t: a.text(0.5, 0.5, t, rotation=30),
        lambda a, t: (a.plot([0, 1], [0, 1], label=t), a.legend(title=t)),
        lambda a, t: a.figure.suptitle(t),
        lambda a, t: a.annotate(t, (0, 0), (0.5, 0.5), arrowprops={"arrowstyle": "->"}),
        lambda a, t: a.table([[t]]),
    ],
)
def test_special_characters_are_printed_in_every_text(draw, compile_pdf):
    """Convert a text of special characters as tick label, title, text, legend, note and cell."""
    text = "5% of {a_b} & #1 ~ x^2 *y*"
    drawing, axes = drawing_of(lambda a: a.plot([0, 1], [0, 1]))
    draw(axes, text)
    printed = printed_text(compile_pdf(from_matplotlib(drawing, caption="c"), "texts"))
    assert text.replace(" ", "") in printed.replace(" ", "")


@pytest.mark.reported(outcome="refused")
def test_unsupported_character_is_named():
    """Convert a Chinese title, which pdfLaTeX cannot print."""
    with pytest.raises(SpecError, match=r"the text '.*' of the drawing: .*U\+4E2D"):
        conversion(lambda a: a.set_title("中文"))


@pytest.mark.reported("tikzplotlib#38", "matplot2tikz#30", outcome="right")
def test_symlog_axis_places_points_correctly():
    """Convert points from -100 to 100 on a symmetric logarithmic axis."""
    draw = lambda a: (a.plot([-100, -1, 0, 1, 100], [1, 2, 3, 4, 5], "o-"), a.set_xscale("symlog"))  # noqa: E731
    assert all_in_place(draw, [(-100, 1), (-1, 2), (0, 3), (1, 4), (100, 5)])


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize(
    ("scale", "options"),
    [
        ("logit", {}), ("asinh", {}), ("function", {"functions": (np.sqrt, np.square)}),
        ("symlog", {"linthresh": 0.2}), ("log", {"base": 2}),
    ],
)  # fmt: skip
def test_other_axis_scales_place_points_correctly(scale, options):
    """Convert axes whose scale is neither linear nor decimal logarithmic."""
    draw = lambda a: (a.plot([1, 2, 3], [0.1, 0.5, 0.9], "o-"), a.set_yscale(scale, **options))  # noqa: E731
    assert all_in_place(draw, [(1, 0.1), (2, 0.5), (3, 0.9)])


QUARTERS = [dt.datetime(2024, 3, 1, 10) + dt.timedelta(minutes=15 * i) for i in range(6)]


@pytest.mark.reported("tikzplotlib#149", "tikzplotlib#328", outcome="right")
def test_times_are_placed_correctly_and_labelled_as_times():
    """Convert an axis with times 15 minutes apart."""
    days = matplotlib.dates.date2num(QUARTERS)
    draw = lambda a: a.plot(QUARTERS, [1, 2, 3, 2, 1, 2], "o-")  # noqa: E731
    assert all_in_place(draw, list(zip(days, [1, 2, 3, 2, 1, 2], strict=True)))
    assert "01 10:30" in conversion(draw)[1]


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize(
    ("draw", "label"),
    [
        (lambda a: a.plot(pd.date_range("2024-01-01", periods=3, freq="YS"), [1, 2, 3]), "2025"),
        (lambda a: a.fill_between(QUARTERS, 0, 1), "01 10:30"),
        (lambda a: pd.Series([1, 2, 3], pd.date_range("2024-01-01", periods=3, freq="MS")).plot(ax=a), "Feb"),
        (lambda a: a.bar([dt.date(2024, 1, 1), dt.date(2024, 1, 2)], [1, 2]), "01-02 00"),
        (
            lambda a: (a.plot(QUARTERS, range(6)), a.xaxis.set_major_formatter(matplotlib.dates.DateFormatter("%H h"))),
            "10 h",
        ),
    ],
)
def test_other_dates_are_labelled_as_dates(draw, label):
    """Convert years, areas over times, a pandas series, bars over days, and a custom formatter."""
    note, body = conversion(draw)
    assert label in body
    assert "Error" not in note


@pytest.mark.reported("tikzplotlib#257", "tikzplotlib#405", "tikzplotlib#11", "tikzplotlib#119", outcome="right")
@pytest.mark.parametrize("kind", ["hatch", "polar", "3d"])
def test_hatches_polar_and_3d_axes_are_drawn_by_matplotlib(kind, compile_pdf):
    """Draw hatched bars with a legend, a polar plot and a three-dimensional plot."""
    drawing = Drawing()
    if kind == "hatch":
        axes = drawing.subplots()
        axes.barh(["a", "b"], [1, 2], label="x", hatch="//", color="white", edgecolor="k")
        axes.legend()
    else:
        drawing.add_subplot(projection=kind).plot(*[[1, 2, 3]] * (3 if kind == "3d" else 2))
    figure = from_matplotlib(drawing, caption="c")
    reasons = {"hatch": "the hatch (//) of a Rectangle", "polar": "polar axes", "3d": "3d axes"}
    assert reasons[kind] in figure.conversion_note
    compile_pdf(figure, f"kind_{kind}")


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize(
    ("draw", "reason"),
    [
        (lambda a: a.quiver([0, 1], [0, 1], [1, 0], [0, 1]), "a Quiver"),
        (
            lambda a: a.streamplot(*np.meshgrid([0, 1, 2], [0, 1, 2]), np.ones((3, 3)), np.ones((3, 3))),
            "FancyArrowPatch",
        ),
        (lambda a: a.secondary_xaxis("top", functions=(lambda x: 2 * x, lambda x: x / 2)), "a secondary axis"),
        (lambda a: a.inset_axes([0.5, 0.5, 0.4, 0.4]).plot([1, 2]), "axes within axes"),
        (lambda a: a.twinx().plot([1, 2], [10, 20]), "axes over each other"),
        (lambda a: a.pie([1, 2, 3], labels=["a", "b", "c"]), "the aspect (1.0) of the axes"),
        (lambda a: a.contour(np.arange(9).reshape(3, 3)), "QuadContourSet"),
        (lambda a: a.barbs([0], [0], [10], [10]), "a Barbs"),
        (lambda a: a.set_title("x", path_effects=[matplotlib.patheffects.withStroke(linewidth=3)]), "path effects"),
        (lambda a: a.spines.left.set_position("zero"), "the left spine"),
        (lambda a: a.tick_params(rotation=45), "rotation"),
        (lambda a: a.invert_yaxis(), "is reversed"),
        (lambda a: a.eventplot([1, 2, 3]), "EventCollection"),
    ],
)
def test_other_artists_and_axes_are_named_and_drawn_by_matplotlib(draw, reason, compile_pdf):
    """Draw arrows, flows, second axes, insets, pies, contours, barbs, effects, moved spines, rotated labels."""
    import matplotlib.patheffects  # noqa: F401

    drawing, _ = drawing_of(lambda a: (a.plot([0, 1], [0, 1]), draw(a)))
    figure = from_matplotlib(drawing, caption="c")
    assert reason in figure.conversion_note
    assert figure.conversion_note.startswith("drawn by matplotlib itself, because of")
    compile_pdf(figure, "other")


def _x_steps(figure):
    """Return the differences between successive x values in the tables of a figure."""
    body = tex(figure, "n").split("endofdump")[1]
    xs = [float(row.split()[0]) for row in re.findall(r"(?m)^[-\d.e+]+ [-\d.e+]+$", body)]
    return np.diff(xs)


@pytest.mark.reported("novus/nvd3#249", "MPAndroidChart#3630", "matlab2tikz#970", outcome="right")
def test_time_stamps_a_minute_apart_keep_their_distances():
    """Plot six time stamps (seconds since 1970), one minute apart, with matplotlib and natively."""
    x, y = [1700000000 + 60 * i for i in range(6)], [1, 2, 3, 2, 1, 2]
    assert all_in_place(lambda a: a.plot(x, y, "o-"), list(zip(x, y, strict=True)))
    native = Figure(panels=[Panel(series=[Line(x=x, y=y)])], caption="c")
    assert _x_steps(native) == pytest.approx([60] * 5)


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize(
    "x", [[2_617_550.0, 2_617_551.0, 2_617_552.0], [19783.4166, 19783.4270, 19783.4374], [-1e12, -1e12 + 1, -1e12 + 2]]
)
def test_large_or_close_values_keep_their_distances(x):
    """Plot integers, fractions of days and large negative values that differ after the sixth digit."""
    y = [1, 3, 2]
    assert all_in_place(lambda a: a.plot(x, y, "o-"), list(zip(x, y, strict=True)))
    native = Figure(panels=[Panel(series=[Line(x=x, y=y)])], caption="c")
    assert _x_steps(native) == pytest.approx(np.diff(x), rel=1e-3)


def _tick_labels(figure):
    """Return the texts below the x axis of a figure."""
    body = tex(figure, "n").split("endofdump")[1]
    line = re.search(r"xticklabels=\{(.*)\},\n", body)[1]
    return re.sub(r"\\vphantom\{Ag\}|[{}$]", "", line).split(",")


@pytest.mark.reported("tikzplotlib#585", outcome="right")
@pytest.mark.parametrize("native", [True, False])
def test_years_on_an_axis_have_no_comma(native):
    """Plot four years along an axis, with matplotlib and natively."""
    x, y = [2018, 2019, 2020, 2021], [1, 2, 3, 2]
    figure = Figure(panels=[Panel(series=[Line(x=x, y=y)])], caption="c")
    if not native:
        figure = from_matplotlib(drawing_of(lambda a: a.plot(x, y))[0], caption="c")
    assert _tick_labels(figure) == ["2018", "2019", "2020", "2021"]


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize(
    ("figure", "labels"),
    [
        (Figure(panels=[Panel(series=[Bars(x=["1999", "2000"], y=[1, 2])])], caption="c"), ["1999", "2000"]),
        (Figure(panels=[Panel(series=[Bars(x=["a"], y=[1])], x=Axis())], caption="c"), ["a"]),
        (
            Figure(panels=[Panel(series=[Line(x=[1999, 2001], y=[1, 2])], x=Axis(ticks=[1999, 2000]))], caption="c"),
            ["1999", "2000"],
        ),
    ],
)
def test_years_as_categories_or_given_ticks_have_no_comma(figure, labels):
    """Plot years as names of bars, and as given ticks."""
    assert _tick_labels(figure) == labels


@pytest.mark.reported(outcome="right")
def test_years_under_matplotlib_bars_have_no_comma():
    """Plot bars over whole years."""
    note, body = conversion(lambda a: (a.bar([2019, 2020, 2021], [1, 2, 3]), a.set_xticks([2019, 2020, 2021])))
    assert note == "converted to PGFPlots"
    assert r"xticklabels={{\vphantom{Ag}2019},{\vphantom{Ag}2020},{\vphantom{Ag}2021}}" in body


def _draw_titles(a):
    a.plot([1, 2, 3], [1, 2, 3], label="a")
    a.legend()
    a.set_title("left title", loc="left")
    a.figure.suptitle("Whole title")


def _text_position(body, text):
    """Return the position of a text, in inches, in a drawing made by matplotlib."""
    match = re.search(r"pgftext\[x=([-\d.]+)in,y=([-\d.]+)in[^\]]*\]\{[^\n]*" + re.escape(text), body)
    return float(match[1]), float(match[2])


@pytest.mark.reported("tikzplotlib#547", "tikzplotlib#64", outcome="right")
def test_titles_are_placed_above_axes_and_figure():
    """Draw a title at the left of the axes and a title of the whole figure, with a legend."""
    drawing, axes = drawing_of(_draw_titles)
    body = from_matplotlib(drawing, caption="c").body
    box = axes.get_window_extent().transformed(drawing.dpi_scale_trans.inverted())
    left, whole = _text_position(body, "left title"), _text_position(body, "Whole title")
    assert left[0] == pytest.approx(box.x0, abs=0.01)
    assert box.y1 < left[1] < whole[1] < drawing.get_figheight()


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize(
    "draw",
    [
        lambda a: a.set_title("word", loc="right"),
        lambda a: a.figure.supxlabel("word"),
        lambda a: a.figure.supylabel("word"),
        lambda a: a.figure.text(0.9, 0.5, "word"),
        lambda a: a.text(0.5, 1.1, "word", transform=a.transAxes),
        lambda a: a.annotate("word", (0.5, 0.5), xycoords="figure fraction"),
    ],
)
def test_texts_in_axes_or_figure_coordinates_are_placed_as_in_matplotlib(draw):
    """Draw titles at the right, labels of the whole figure, and texts in axes and figure coordinates."""
    drawing, axes = drawing_of(lambda a: a.plot([1, 2], [1, 2]))
    draw(axes)
    figure = from_matplotlib(drawing, caption="c")
    assert "drawn by matplotlib itself" in figure.conversion_note
    x, y = _text_position(figure.body, "word")
    assert 0 <= x <= drawing.get_figwidth()
    assert 0 <= y <= drawing.get_figheight()


@pytest.mark.reported("matplotlib gallery errorbar_limits", outcome="right")
def test_upper_limits_have_arrows():
    """Draw upper limits at two of three points."""
    note, body = conversion(lambda a: a.errorbar([1, 2, 3], [1, 2, 3], yerr=0.3, uplims=[True, False, True], fmt="o"))
    assert note == "converted to PGFPlots"
    arrows = re.findall(r"only marks, mark=(drawn-\d+)[^\n]*table \{\n1 0.7\n3 2.7\n\}", body)
    assert len(arrows) == 1
    assert (2, 2.3) in points_of(body)


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize("limit", ["lolims", "xuplims", "xlolims"])
def test_limits_in_every_direction_have_arrows(limit):
    """Draw lower limits, and limits to the left and right."""
    error = {"xerr" if limit[0] == "x" else "yerr": 0.3}
    note, body = conversion(lambda a: a.errorbar([1, 2], [1, 2], **error, **{limit: True}, fmt="o"))
    assert note == "converted to PGFPlots"
    sign = -0.3 if limit.endswith("uplims") else 0.3
    interval = [(v + sign, v) if limit[0] == "x" else (v, v + sign) for v in (1, 2)]
    assert all(any(np.allclose(end, row) for row in points_of(body)) for end in interval)
    assert body.count("pgfdeclareplotmark") == 2


@pytest.mark.reported(outcome="right")
def test_percent_sign_of_a_formatter_is_written():
    """Convert a formatter that writes a percent sign."""
    note, body = conversion(lambda a: (a.plot([0, 1], [0, 1]), a.yaxis.set_major_formatter(PercentFormatter(1))))
    assert note == "converted to PGFPlots"
    assert r"{20\%}" in body
