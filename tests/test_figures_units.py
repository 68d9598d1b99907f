"""Units of a figure's axes agree with the units in the data package."""

import copy
from dataclasses import replace

import pandas as pd
import pytest

from boundpaper.figures import Axis, Bars, Figure, Forest, Line, Panel, Points
from boundpaper.figures.units import contradicted_unit

PACKAGE = """
name: test
resources:
- name: runs
  origin: []
  fields: [{run*: Run}, {loss: Loss, type: number, unit: nats}, {time: Time, type: number, unit: ms},
    {correct: Correct, type: number, unit: percent}, {rate: Rate, type: number, unit: ms per token},
    {part: Part, type: number, unit: "1"},
    {value: Value, type: number, unit: as the metric says}, {wait: Wait, type: number, unit: milliseconds}]
"""
RUNS = pd.DataFrame(
    {
        "run": ["a", "b", "c"],
        "loss": [3.0, 2.0, 1.5],
        "time": [100.0, 200.0, 350.0],
        "wait": [110.0, 210.0, 300.0],
        "correct": [40.0, 55.0, 61.0],
        "rate": [0.2, 0.3, 0.35],
        "part": [0.4, 0.5, 0.9],
        "value": [1.0, 2.0, 3.0],
    }
)


@pytest.fixture
def fault(tmp_path):
    """Return a function that checks the units of a panel with the given series and axes, and returns the fault."""
    (tmp_path / "artifacts").mkdir()
    (tmp_path / "artifacts/datapackage.yaml").write_text(PACKAGE)

    def panel_fault(*series, x=None, y=None):
        figure = Figure(panels=[Panel(series=series, x=x or Axis(), y=y or Axis())], caption="A.")
        return contradicted_unit(tmp_path, {"runs": ""}, lambda: {"runs": RUNS}, figure)

    return panel_fault


def line(y, x=RUNS["value"]):
    return Line(x=x, y=y, label="run")


def test_two_units_on_one_axis_are_refused(fault):
    message = fault(line(RUNS["loss"]), line(RUNS["time"]))
    assert message.startswith("panel 1, axis y: 'loss' of runs (nats) and 'time' of runs (ms) have different units in ")
    assert fault(Points(x=RUNS["loss"], y=[1, 2, 3]), line([1, 2, 3], x=RUNS["correct"])).startswith("panel 1, axis x:")
    assert "panel 1, axis x" in fault(Bars(x=RUNS["loss"], y=RUNS["run"], horizontal=True, reported=RUNS["time"]))
    assert fault(line(RUNS["loss"]), line(RUNS["time"][:2], x=[1, 2]))


def test_equal_units_under_two_names_are_accepted(fault):
    assert fault(line(RUNS["time"]), line(RUNS["wait"])) == ""


@pytest.mark.parametrize(
    ("column", "axis"),
    [
        ("time", Axis(label="time (s)")), ("time", Axis(label="time [s]")), ("time", Axis(label="time in seconds")),
        ("time", Axis(label="time, s")), ("time", Axis(label="time (furlongs)")),
        ("time", Axis(label="time [mean run]")), ("rate", Axis(label="rate (ms per word)")),
        ("rate", Axis(label="rate (s/token)")), ("time", Axis(label="time (s, log scale)", scale="log")),
        ("loss", Axis(label="loss (bits)")), ("correct", Axis(label="correct (points)")),
        ("loss", Axis(label="loss", percent=True)),
    ],
)  # fmt: skip
def test_a_label_with_another_unit_is_refused(fault, column, axis):
    assert fault(line(RUNS[column]), y=axis).startswith(f"panel 1, axis y: the label {axis.label!r} says ")
    assert f"for {column!r} of runs; correct one of them" in fault(line(RUNS[column]), y=axis)


@pytest.mark.parametrize(
    ("column", "axis"),
    [
        ("time", Axis(label="time (ms)")), ("time", Axis(label="time in milliseconds")),
        ("time", Axis(label="time of a run, sorted")), ("time", Axis(label="time")),
        ("time", Axis(label="time (mean of 5 runs)")), ("time", Axis(label="time (log)", scale="log")),
        ("rate", Axis(label="rate (milliseconds/token)")), ("rate", Axis(label="rate, ms per token")),
        ("loss", Axis(label="loss (nat)")), ("correct", Axis(label="correct (%)")),
        ("correct", Axis(label="correct", percent=True)), ("part", Axis(label="part (whatever)")),
        ("value", Axis(label="value (cm)")),
    ],
)  # fmt: skip
def test_label_with_a_matching_or_unknown_unit_is_accepted(fault, column, axis):
    assert fault(line(RUNS[column]), y=axis) == ""


def test_a_column_that_is_converted_has_no_unit(fault):
    assert fault(line(RUNS["time"] / 1000), y=Axis(label="time (s)")) == ""
    assert fault(line(RUNS["loss"]), line(RUNS["time"] / 1000)) == ""
    assert fault(line(list(RUNS["time"])), y=Axis(label="time (s)")) == ""


def test_forest_estimates_are_checked_on_the_x_axis(fault):
    forest = Forest(rows=RUNS["run"], estimate=RUNS["loss"], low=RUNS["loss"], high=RUNS["loss"])
    assert fault(forest, x=Axis(label="loss (nats)")) == ""
    assert fault(forest, x=Axis(label="loss (bits)"))
    assert fault(replace(forest, legend=False), x=Axis(label="loss (bits)")), "the column keeps its name"


def test_column_is_a_tuple_with_a_field_name():
    column = line(RUNS["loss"]).y
    assert column == (3.0, 2.0, 1.5)
    assert copy.copy(column).field == column.field == "loss"
