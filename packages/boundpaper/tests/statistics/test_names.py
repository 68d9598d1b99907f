"""Names of the statistics: each name in `__all__` has a module, loaded only when used."""

import subprocess
import sys

import pytest

import boundpaper.statistics as statistics


def test_every_public_name_exists_and_others_raise_attribute_error():
    for name in statistics.__all__:
        assert callable(getattr(statistics, name)) or name == "COLUMNS", name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        getattr(statistics, "nothing")  # noqa: B009


def test_rounding_needs_no_scipy():
    code = "import sys, boundpaper.statistics.rounding; print('scipy' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"
