"""Axes: limits, ticks and scaling."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundpaper.errors import SpecError
from boundpaper.figures import Axis, Bars, Figure, Heatmap, Line, Panel
from boundpaper.figures.metrics import width, wrap, wrap_evenly
from boundpaper.figures.render import tex
from boundpaper.figures.scale import Scale, number, range_scale
from boundpaper.figures.ticks import group_thousands, linear_ticks, log_ticks, symlog_ticks, tick_texts, with_ticks


@pytest.mark.parametrize(
    ("value", "text"), [(0.1 + 0.2, "0.3"), (-0.0, "0"), (1234567.0, "1.23457e+06"), (1e-7, "1e-07"), (2, "2")]
)
def test_numbers_have_six_significant_digits(value, text):
    assert number(value) == text


def test_limits_leave_a_margin_and_bars_stand_on_zero():
    free = range_scale(Axis(), [2.0, 4.0], length=50, pad=0.05)
    assert (free.low, free.high) == (1.9, 4.1)
    bars = range_scale(Axis(), [2.0, 4.0], length=50, pad=0.05, from_zero=True)
    assert (bars.low, bars.high) == (0.0, 4.2)
    log = range_scale(Axis(scale="log"), [5.0, 50.0], length=50, pad=0.05, from_zero=True)
    assert 4.0 < log.low < 5.0, "a log axis has no zero from which to draw bars"
    assert range_scale(Axis(low=-1, high=9), [2.0, 4.0], length=50, pad=0.05).low == -1
    assert range_scale(Axis(), [3.0, 3.0], length=50, pad=0.1).low < 3.0


@pytest.mark.parametrize(("kind", "reverse"), [("linear", False), ("linear", True), ("log", False), ("symlog", True)])
def test_axis_ends_are_its_limits(kind, reverse):
    scale = Scale(kind=kind, low=1.0, high=100.0, length=60.0, reverse=reverse)
    assert scale.mm(1.0) == pytest.approx(60.0 if reverse else 0.0)
    assert scale.mm(100.0) == pytest.approx(0.0 if reverse else 60.0)
    assert scale.limits[0] < scale.limits[1]


def test_log_and_symlog_scales_place_values():
    assert Scale(kind="log", low=1, high=100, length=60).mm(10) == pytest.approx(30)
    even = Scale(kind="symlog", low=-99, high=99, length=60)
    assert even.mm(0) == pytest.approx(30)
    assert even.mm(9) == pytest.approx(45)


def test_cells_of_a_heat_map_are_equally_wide():
    scale = Scale(kind="edges", low=1, high=1000, length=30, edges=(1, 10, 100, 1000))
    assert [scale.mm(v) for v in (1, 10, 100, 1000)] == pytest.approx([0, 10, 20, 30])
    assert scale.coordinate(math.sqrt(10)) == pytest.approx(0.5)
    assert Scale(kind="edges", low=0, high=4, edges=(0, 2, 4)).coordinate(3) == pytest.approx(1.5)


def test_scale_is_extended_to_make_room_for_a_label():
    scale = Scale(kind="linear", low=0, high=10, length=50).extended(10, 5.0, upper=True)
    assert scale.length - scale.mm(10) == pytest.approx(5.0)
    log = Scale(kind="log", low=1, high=10, length=50).extended(10, 5.0, upper=True)
    assert log.length - log.mm(10) == pytest.approx(5.0)
    assert Scale(kind="linear", low=0, high=10, length=50).extended(5, 5.0, upper=True).high == 10


def test_ticks_are_round_numbers():
    assert linear_ticks(-0.04, 1.04, 5) == [0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert linear_ticks(0, 31, 4) == [0, 10, 20, 30]
    assert log_ticks(1, 1e4, 5, 10) == [1, 10, 100, 1000, 10000]
    assert log_ticks(2, 60, 5, 10) == [3, 10, 30]
    assert log_ticks(1024, 262144, 9, 2) == [2.0**p for p in range(10, 19)]
    assert symlog_ticks(-150, 20, 1.0) == [-100, -10, -1, 0, 1, 10]


@given(st.floats(-1e6, 1e6, allow_nan=False), st.floats(1e-3, 1e6, allow_nan=False), st.integers(2, 9))
def test_linear_ticks_are_within_limits_and_even(low, span, count):
    ticks = linear_ticks(low, low + span, count)
    assert 1 <= len(ticks) <= 2 * count + 2
    assert all(low - span * 1e-6 <= t <= low + span * (1 + 1e-6) for t in ticks)
    steps = [b - a for a, b in itertools.pairwise(ticks)]
    assert all(s == pytest.approx(steps[0], rel=1e-3, abs=1e-6) for s in steps)


def test_tick_texts_have_equal_decimals_and_separators():
    assert tick_texts([0, 0.5, 1.0]) == ["$0.0$", "$0.5$", "$1.0$"]
    assert tick_texts([1, 10, 0.5], equal_decimals=False) == ["$1$", "$10$", "$0.5$"]
    assert tick_texts([-20000]) == ["$-20{,}000$"]
    assert tick_texts([0, 2e6]) == ["$0$", r"$2\cdot 10^{6}$"]
    assert group_thousands("1234") == "1{,}234"
    assert group_thousands("-1234567.25") == "-1{,}234{,}567.25"
    scale = Scale(kind="linear", low=0, high=2)
    assert with_ticks(scale, Axis(ticks={1: "one & only"}), every=10).ticks == ((1.0, r"one \& only"),)
    assert with_ticks(scale, Axis(ticks=[0, 2], percent=True), every=9).ticks[1][1] == r"$2$\%"


def test_widths_match_those_that_latex_measured():
    # \settowidth with class option 11pt, tgpagella and mathpazo, in TeX points.
    measured = {"Ministral 3 14B": 59.57, "$-0.25$": 23.26, "$r_q = 0.25$": 35.82}
    for text, points in measured.items():
        assert width(text) * 72.27 / 25.4 == pytest.approx(points, rel=0.08)
    assert width("Ministral 3 14B", "scriptsize") * 72.27 / 25.4 == pytest.approx(52.95, rel=0.02)


def test_text_is_broken_into_even_lines():
    assert wrap("massive values zeroed", 25) == ["massive values", "zeroed"]
    assert wrap("unbreakable", 5) is None
    assert wrap_evenly("reported by Jin et al.", 24, "scriptsize") == ["reported", "by Jin et al."]
    assert wrap_evenly("unbreakable", 5) == ["unbreakable"]


def test_reversed_axis_keeps_cell_positions():
    scale = Scale(kind="edges", low=0.0, high=6.0, length=30.0, edges=(0.0, 1.0, 2.0, 6.0), reverse=True)
    assert scale.limits == (0.0, 3.0)  # where the cells are drawn
    assert [scale.coordinate(value) for value in (0.0, 1.0, 4.0, 6.0)] == [3.0, 2.0, 0.5, 0.0]
    assert scale.mm(1.0) == pytest.approx(20.0)


def coordinates(series, **axes):
    """Return the rows of numbers that PGFPlots gets for one series."""
    text = tex(Figure(panels=[Panel(series=[series], **axes)], caption="c"), "n").split("endofdump")[1]
    lines = [line.split() for line in text.splitlines()]
    return [tuple(map(float, line)) for line in lines if line and all(word[0] in "-0123456789n" for word in line)]


def tick_labels(axis, series, **axes):
    """Return the tick label texts of an axis."""
    text = tex(Figure(panels=[Panel(series=[series], **axes)], caption="c"), "n").split("endofdump")[1]
    line = next(line for line in text.splitlines() if line.startswith(f"  {axis}ticklabels="))
    return [label.strip("{}$") for label in line.split("={", 1)[1].rstrip(",").rstrip("}").split("},{")]


@pytest.mark.parametrize("start", [1_700_000_000, -1_700_000_000, 19_783.4, 1e12])
def test_close_values_far_from_zero_keep_their_distances(start):
    x = [start + 60 * i for i in range(6)] if abs(start) > 1e6 else [start + i / 1440 for i in range(6)]
    positions = [row[0] for row in coordinates(Line(x=x, y=[1, 2, 3, 2, 1, 2]))]
    steps = [b - a for a, b in itertools.pairwise(positions)]
    assert steps == pytest.approx([x[1] - x[0]] * 5, rel=1e-3)
    assert len(set(tick_labels("x", Line(x=x, y=[1, 2, 3, 2, 1, 2])))) > 2


def test_values_close_together_keep_their_distances_on_a_symlog_axis_and_are_refused_on_a_log_axis():
    x = [1e9, 1.00001e9, 1.00002e9]
    positions = [row[0] for row in coordinates(Line(x=x, y=[1, 2, 3]), x=Axis(scale="symlog"))]
    assert positions[1] - positions[0] == pytest.approx(positions[2] - positions[1], rel=1e-2)
    assert positions[0] != positions[1]
    with pytest.raises(SpecError, match="too narrow for a log axis"):
        coordinates(Line(x=x, y=[1, 2, 3]), x=Axis(scale="log"))


def test_cells_of_a_heat_map_with_close_values_keep_their_colours():
    cells = [row[2] for row in coordinates(Heatmap(values=[[100000.1, 100000.2], [100000.3, 100000.4]]))]
    assert sorted(cells) == pytest.approx([0, 0.1, 0.2, 0.3], abs=1e-6)


def test_bars_below_zero_start_at_the_nearest_limit():
    bars = Bars(x=["a", "b"], y=[-1000.5, -1000.7])
    assert [row[1] for row in coordinates(bars, y=Axis(low=-1001, high=-1000))] == pytest.approx([-0.5, -0.7])


@pytest.mark.parametrize(
    ("years", "labels"),
    [
        ([2018, 2019, 2020, 2021], ["2018", "2019", "2020", "2021"]),
        ([1999, 2000, 2001], ["1999", "2000", "2001"]),
        ([1850, 1900, 1950, 2000], None),
    ],
)
def test_year_ticks_are_whole_and_have_no_comma(years, labels):
    texts = tick_labels("x", Line(x=years, y=range(len(years))))
    assert labels is None or texts == labels
    assert all(text.isdigit() and len(text) == 4 for text in texts)


def test_years_as_categories_or_given_ticks_have_no_comma():
    assert [t[-4:] for t in tick_labels("x", Bars(x=["1999", "2000"], y=[1, 2]))] == ["1999", "2000"]
    years = Line(x=[1999, 2001], y=[1, 2])
    assert tick_labels("x", years, x=Axis(ticks=[1999, 2000, 2001])) == ["1999", "2000", "2001"]


def test_numbers_that_are_no_years_keep_their_comma():
    assert "2{,}000" in tick_labels("x", Line(x=[512, 1024, 2048, 4096], y=[1, 2, 3, 4]))
    assert "2{,}000.0" in tick_labels("x", Line(x=[1999.5, 2000.5], y=[1, 2]))
