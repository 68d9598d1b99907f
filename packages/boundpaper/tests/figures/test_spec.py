"""Valid contents of a figure, and the message for each fault."""

import subprocess
import sys
from dataclasses import FrozenInstanceError

import pytest

from boundpaper.errors import DataError, SpecError
from boundpaper.figures import (
    Axis,
    Bars,
    Bundle,
    Figure,
    Fit,
    Forest,
    Heatmap,
    Line,
    Panel,
    Points,
    Rule,
    Stacked,
    Style,
    display,
)
from boundpaper.figures.check import check
from boundpaper.figures.render import tex
from boundpaper.figures.style import style, styles

NAN = float("nan")


def figure(*series, **panel):
    return Figure(panels=[Panel(series=series, **panel)], caption="A caption.")


def refusal(error, *series, **panel):
    with pytest.raises(error) as caught:
        tex(figure(*series, **panel), "sample")
    assert str(caught.value).startswith("figure sample")
    return str(caught.value)


def test_importing_figures_loads_no_heavy_library():
    heavy = "{'pandas', 'numpy', 'jinja2', 'matplotlib', 'yaml'}"
    code = f"import sys, boundpaper.figures; print(sorted({heavy} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_figure_specs_are_frozen_and_accept_columns():
    import numpy as np
    import pandas as pd

    frame = pd.DataFrame({"x": [1, 2], "y": [0.5, 0.25]})
    line = Line(x=frame["x"], y=np.array([0.5, 0.25]))
    assert line.x == (1, 2)
    assert line.y == (0.5, 0.25)
    assert Heatmap(values=pd.DataFrame([[1, 2], [3, 4]])).values == ((1, 2), (3, 4))
    with pytest.raises(FrozenInstanceError):
        line.x = ()  # type: ignore[misc]
    with pytest.raises(SpecError, match=r"Line\.y is a float"):
        Line(x=[1], y=2.0)


def test_faulty_columns_name_figure_and_series():
    assert "Line 'beans': x has 2 values, but y has 1" in refusal(DataError, Line(x=[1, 2], y=[1], entity="beans"))
    assert "Line 'Beans': y[1] is nan" in refusal(DataError, Line(x=[1, 2], y=[1, NAN], label="Beans"))
    assert "y[0] is None, not a number" in refusal(DataError, Line(x=[1], y=[None]))
    assert "column x is empty" in refusal(DataError, Points(x=[], y=[]))
    assert "labels has 1; give equally many" in refusal(DataError, Points(x=[1, 2], y=[1, 2], labels=["a"]))
    assert "give both low and high" in refusal(SpecError, Bars(x=["a"], y=[1], low=[0]))
    assert "x must increase" in refusal(DataError, Fit(x=[2, 1], y=[1, 2]))
    assert "cannot have negative" in refusal(DataError, Stacked(x=["a"], y=[-1]))
    assert "values[0] has 2 values, but values[1] has 1" in refusal(DataError, Heatmap(values=[[1, 2], [3]]))
    assert "values[0][1] is nan" in refusal(DataError, Heatmap(values=[[1, NAN]]))
    assert "all cells of `values` are None" in refusal(DataError, Heatmap(values=[[None, None]]))
    assert "2 cells need 3 borders" in refusal(DataError, Heatmap(values=[[1, 2]], x_edges=[0, 1]))
    assert "lines[1] contains no value" in refusal(DataError, Bundle(x=[1, 2], lines=[[1, NAN], [NAN, NAN]]))
    assert "x has 2 values, but each line 3" in refusal(DataError, Bundle(x=[1, 2], lines=[[1, 2, 3]]))


def test_panels_are_named_by_number_and_title():
    good, bad = Panel(series=[Line(x=[1], y=[1])]), Panel(series=[Line(x=[1], y=[NAN])], title="Late")
    with pytest.raises(DataError, match=r"^figure two, panel 2 'Late', Line"):
        check(Figure(panels=[good, bad], caption="c"), "two")


def test_faulty_axes_are_refused():
    line = Line(x=[1, 2], y=[0, 5])
    assert "0 cannot be drawn on a log axis (y); use scale='symlog'" in refusal(DataError, line, y=Axis(scale="log"))
    assert "9 is outside the given limits of axis y" in refusal(DataError, Bars(x=["a"], y=[9]), y=Axis(high=5))
    assert "low must be less than high" in refusal(SpecError, line, x=Axis(low=3, high=1))
    assert "a log axis cannot be reversed" in refusal(SpecError, line, x=Axis(scale="log", reverse=True))
    message = refusal(DataError, Line(x=["8k", "9k"], y=[1, 2]), x=Axis(categories=["8k", "16k"]))
    assert "'9k' is not a category of axis x; known are 8k, 16k" in message
    assert "'a' is not among the categories of axis x: " in refusal(DataError, line, rules=[Rule(at="a", axis="x")])


def test_lines_may_exceed_given_axis_limits():
    assert "ymax=2" in tex(figure(Line(x=[1, 2], y=[0, 5]), y=Axis(high=2)), "cut")


def test_faulty_figures_are_refused():
    assert "no series" in refusal(SpecError)
    assert "must be alone" in refusal(SpecError, Heatmap(values=[[1]]), Line(x=[1], y=[1]))
    assert "horizontal in one" in refusal(SpecError, Bars(x=["a"], y=[1]), Bars(x=[1], y=["a"], horizontal=True))
    with pytest.raises(SpecError, match="exactly one of"):
        check(Figure(caption="c"), "none")
    with pytest.raises(SpecError, match="no caption"):
        check(Figure(panels=[Panel(series=[Line(x=[1], y=[1])])], caption=" "), "mute")
    with pytest.raises(SpecError, match="10 panels in a row leave"):
        tex(Figure(panels=[Panel(series=[Line(x=[1], y=[1])])] * 10, columns=10, caption="c"), "crowd")


def test_unknown_entities_name_the_nearest():
    message = refusal(SpecError, Line(x=[1], y=[1], entity="bean"))
    assert "unknown entity 'bean'; the nearest is 'beans'" in message
    assert "unknown entity 'peass'" in refusal(SpecError, Points(x=[1], y=[1], entities=["peass"]))
    assert "unknown entity" in refusal(SpecError, Forest(rows=["a"], estimate=[1], low=[0], high=[2], entity="who"))


def test_entity_style_is_found_by_key_or_label_or_given_explicitly():
    assert style("Beans", {}, "") is styles()["beans"]
    own = {"ours": Style(color="okblack", label="Ours"), "theirs": "peas"}
    assert style("ours", own, "").label == "Ours"
    assert (style("theirs", own, "").color, style("theirs", own, "").label) == ("okvermillion", "theirs")
    assert display("peas") == "Peas"
    assert display("something") == "something"


@pytest.mark.parametrize(
    "group",
    [
        ("reported", "recomputed", "measured"),
        ("holds", "holds after rounding", "not significant", "not supported", "contradicted", "not testable"),
        tuple(f"series-{i}" for i in range(1, 9)),
    ],
)
def test_no_two_entities_look_alike_even_in_grey(group):
    looks = [styles()[key] for key in group]
    assert len({s.color for s in looks}) == len(looks)
    assert len({(s.mark, s.dash) for s in looks}) == len(looks)
