"""Trailing zeros common to a column are not digits: decimals to which a column was rounded before printing."""

import pytest

from boundpaper.statistics.rounding import shared_decimals


@pytest.mark.parametrize(
    ("values", "printed", "found"),
    [
        ([3e-4, 3e-4, 6e-4, 9e-4, 1.4e-3], 6, 4),
        ([3.0, 6.0, 14.0, 8.0, 10.0], 2, 0),
        ([30.0, 60.0, 140.0, 80.0, 10.0], 1, -1),
        ([3.0, 6.0, 14.0, 8.0, 10.5], 2, 1),
        ([3.01, 6.0, 14.0, 8.0, 10.0], 2, 2),
        ([3.0, 6.0, 14.0, 8.0], 2, 2),  # too few values: zeros may be chance
        ([], 3, 3),
        ([0.0] * 5, 2, 2),
    ],
)
def test_shared_decimals_is_the_last_place_that_any_value_needs(values: list[float], printed: int, found: int) -> None:
    assert shared_decimals(values, printed) == found
