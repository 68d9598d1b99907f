"""Noise of a metric is written as 0, so measurements on another processor do not change the table."""

import pandas as pd

from keyquery.measure.measurements import floor_noise, save
from keyquery.measure.rows import frame, row


def table(norm, share, deviation):
    rows = [row("norm", 4096.0, 1), row("norm", norm, 1), row("share", 2e-4, 1), row("share", share, 1)]
    return frame(
        [*rows, row("sd", 0.07, 1), row("sd", deviation, 1), row("none", None, 0, reason="absent")], "", "fp32"
    )


def test_values_below_the_noise_of_their_own_metric_are_zero():
    values = floor_noise(table(1e-3, 1e-6, 3e-9))["value"].tolist()
    assert values[:6] == [4096.0, 0.0, 2e-4, 1e-6, 0.07, 0.0]
    assert pd.isna(values[6])
    plain = pd.DataFrame({"model": ["a"], "score": [1e-20]})
    assert floor_noise(plain) is plain


def test_remeasuring_on_another_processor_keeps_the_table(tmp_path):
    def measured(values):
        [path] = save(tmp_path, {"layer_content": values}, "m", {"seconds": 1})
        return path.read_bytes()

    first = measured(table(17.0, 1e-6, 1.2e-7))
    # extreme float32 noise: 1e-5 relative, and 8e-8 where a deviation of 0.07 may be written or zero
    assert measured(table(17.0001, 1e-6, 0.6e-7)) == first
    assert measured(table(17.0001, 1.00001e-6, 2.1e-7)) == first
    # small, but not on this metric's scale
    assert measured(table(17.0, 1.2e-6, 1.2e-7)) != first
