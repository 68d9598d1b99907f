"""Holm's correction, alone and over families of rows."""

import gc

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from boundpaper.statistics import Estimate, holm, holm_p


def row(p, study="s", test="pearson"):
    return Estimate(study=study, comparison="c", test=test, unit="model", n=5, p_value=p, note="made up")


def test_holm_equals_a_calculation_by_hand():
    assert holm_p([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm_p([]) == []
    assert holm_p([0.7]) == [0.7]


@pytest.mark.parametrize("size", [1, 7, 400])
def test_holm_agrees_with_statsmodels(size):
    p_values = (np.random.default_rng(size).beta(0.3, 1, size).round(3)).tolist()  # some are equal
    assert holm_p(p_values) == pytest.approx(multipletests(p_values, method="holm")[1].tolist(), rel=1e-14)


def test_holm_does_not_trigger_garbage_collection():
    collected = []
    gc.disable()  # with collection disabled, only an explicit call collects
    gc.callbacks.append(lambda phase, found: collected.append(phase))
    try:
        holm_p([0.1, 0.02])
    finally:
        gc.callbacks.pop()
        gc.enable()
    assert not collected


def test_holm_families_are_corrected_separately_and_named():
    rows = holm([row(0.01), row(0.02, "t"), row(0.03), row(None)])
    assert [estimate.p_adjusted for estimate in rows] == [0.02, 0.02, 0.03, None]
    assert rows[0].adjustment == "Holm over 2 tests of s"
    assert rows[1].adjustment == "Holm over 1 test of t"
    assert rows[3].adjustment == "none"
    assert "not in the Holm family, no p" in rows[3].note
    assert [estimate.p_value for estimate in rows] == [0.01, 0.02, 0.03, None]


def test_holm_family_can_be_given_per_row():
    rows = holm([row(0.01), row(0.02, test="kendall"), row(0.5), row(None)], ["one", "one", "", ""])
    assert [estimate.p_adjusted for estimate in rows] == [0.02, 0.02, None, None]
    assert rows[1].adjustment == "Holm over 2 tests of one"
    assert rows[2].adjustment == "none"
    assert "not in the Holm family" not in rows[3].note


def test_holm_refuses_faulty_input():
    with pytest.raises(ValueError, match="already adjusted"):
        holm(holm([row(0.1)]))
    with pytest.raises(ValueError, match="2 rows but 1 families"):
        holm([row(0.1), row(0.2)], ["one"])
    with pytest.raises(ValueError, match="every p must be between 0 and 1"):
        holm_p([0.1, 1.1])
