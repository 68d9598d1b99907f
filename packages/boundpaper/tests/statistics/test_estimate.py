"""The row that each test returns: its columns, fields and notes."""

import math
from dataclasses import replace

import numpy as np
import pytest

from boundpaper.statistics import COLUMNS, Estimate, finite, frame, no, with_note
from boundpaper.statistics.estimate import join_notes
from boundpaper.statistics.sample import distinct_count, is_constant, matched, sample

ROW = {"study": "s", "comparison": "c", "test": "t", "unit": "model", "n": 3, "note": "no p: none wanted"}


def test_estimate_columns_are_the_schema_in_order():
    assert ",".join(COLUMNS) == (
        "study,comparison,test,unit,n,estimate,ci_low,ci_high,statistic,df,p_value,p_adjusted,adjustment,"
        "effect_name,effect,effect_ci_low,effect_ci_high,note"
    )


def test_frame_keeps_order_and_leaves_undefined_numbers_missing():
    table = frame([Estimate(**ROW, estimate=np.float64(1.5), p_value=0.2), Estimate(**{**ROW, "test": "u"})])
    assert list(table.columns) == list(COLUMNS)
    assert list(table["test"]) == ["t", "u"]
    assert table["n"].dtype == "int64"
    assert table["estimate"].dtype == "float64"
    assert table.loc[0, "estimate"] == 1.5
    assert table["df"].isna().all()
    assert math.isnan(table.loc[1, "p_value"])
    assert not np.isinf(table.select_dtypes("number").to_numpy()).any()


def test_frame_of_no_rows_has_columns_and_types():
    table = frame([])
    assert list(table.columns) == list(COLUMNS)
    assert len(table) == 0
    assert table["p_value"].dtype == "float64"


def test_frame_refuses_items_that_are_no_estimate():
    with pytest.raises(ValueError, match=r"item 1 is a tuple.*unpack"):
        frame([Estimate(**ROW), (Estimate(**ROW),)])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"estimate": math.nan}, "estimate is nan"), ({"ci_high": math.inf}, "ci_high is inf"),
        ({"p_value": 1.01}, "p must be between 0 and 1"), ({"p_adjusted": -0.1}, "p must be between 0 and 1"),
        ({"ci_low": 2.0, "ci_high": 1.0}, "above ci_high"),
        ({"effect_ci_low": 2.0, "effect_ci_high": 1.0}, "above effect_ci_high"), ({"n": -1}, "n is -1"),
        ({"unit": ""}, "unit is empty"), ({"note": ""}, "without a reason"),
    ],
)  # fmt: skip
def test_estimate_refuses_faulty_fields(change, message):
    with pytest.raises(ValueError, match=message):
        Estimate(**{**ROW, **change})


def test_a_full_row_needs_no_note():
    numbers = dict.fromkeys(
        ("estimate", "ci_low", "ci_high", "statistic", "df", "p_value", "effect", "effect_ci_low", "effect_ci_high"),
        0.5,
    )
    assert Estimate(**{**ROW, "note": ""}, **numbers).note == ""
    with pytest.raises(ValueError, match="df empty"):
        Estimate(**{**ROW, "note": ""}, **{**numbers, "df": None})


def test_numpy_numbers_become_python_numbers():
    row = Estimate(**{**ROW, "n": np.int64(4)}, estimate=np.float32(0.5))
    assert type(row.estimate) is float
    assert type(row.n) is int


def test_notes_join_without_repetition():
    row = with_note(Estimate(**ROW), "a", "b; a", "")
    assert row.note == "no p: none wanted; a; b"
    assert with_note(row, "b") == row
    assert join_notes("", "x;y") == "x; y"
    assert no("p", "df", because="n = 1") == "no p, df: n = 1"


def test_replace_checks_fields_again():
    with pytest.raises(ValueError, match="p_value is 2"):
        replace(Estimate(**ROW), p_value=2.0)


def test_finite_turns_nan_and_infinity_into_none():
    assert finite(None) is None
    assert finite(np.nan) is None
    assert finite(-np.inf) is None
    assert finite(np.float64(2)) == 2.0


def test_faulty_samples_are_refused():
    with pytest.raises(ValueError, match=r"x: 1 of 3 values are missing"):
        sample([1, np.nan, 2], "x")
    with pytest.raises(ValueError, match=r"x has shape \(1, 2\)"):
        sample([[1, 2]], "x")
    with pytest.raises(ValueError, match="x has 2 values and y has 1"):
        matched([1, 2], [1], ("x", "y"))


def test_floating_point_noise_is_no_variance():
    noisy = np.array([0.3, 0.1 + 0.2, 0.3])
    assert noisy[0] != noisy[1]
    assert is_constant(noisy)
    assert distinct_count(noisy) == 1
    assert not is_constant(np.array([1e-9, 2e-9]))
    assert distinct_count(np.array([1.0, 2.0, 2.0])) == 2
