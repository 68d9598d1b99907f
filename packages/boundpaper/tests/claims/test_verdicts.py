"""Verdicts: how judges choose them from numbers, and which numbers contradict a verdict."""

import pytest

from boundpaper.claims import FAILURES, MEANINGS, VERDICTS, Verdict, directed, equivalent, judge, untestable
from boundpaper.claims.build import severity


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"verdict": "not significant"}, "needs estimate, sign and interval"),
        ({"verdict": "not significant", "sign": 1, "estimate": 2.0}, "give ci_low and ci_high"),
        (
            {"verdict": "not significant", "sign": 1, "estimate": 2.0, "ci_low": 1.0, "ci_high": 3.0},
            "the interval 1 to 3 excludes 0",
        ),
        (
            {"verdict": "not significant", "sign": -1, "estimate": 2.0, "ci_low": -1.0, "ci_high": 5.0},
            "does not have the asserted sign",
        ),
        ({"verdict": "holds", "sign": 1, "estimate": 2.0, "ci_low": -1.0, "ci_high": 5.0}, "'holds', but the estimate"),
        ({"verdict": "holds", "sign": 1, "ci_low": 1.0, "ci_high": 5.0}, "needs an estimate"),
        ({"verdict": "holds", "margin": 10.0, "ci_low": -11.6, "ci_high": 13.6}, "within 10 of 0"),
        ({"verdict": "holds", "margin": 10.0}, "give ci_low and ci_high"),
        ({"verdict": "holds", "ci_low": 1.0}, "an interval has two ends"),
        ({"verdict": "holds", "ci_low": 2.0, "ci_high": 1.0}, "has its ends in the wrong order"),
        ({"verdict": "holds", "p_value": 0.04, "p_adjusted": 0.02}, "below p_value"),
        ({"verdict": "holds", "p_adjusted": 1.5}, "not a probability"),
        ({"verdict": "holds", "failure": "unit"}, "is not a failure"),
        ({"verdict": "contradicted", "failure": "fate"}, "use one of number"),
    ],
)
def test_verdict_with_numbers_that_contradict_it_is_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        Verdict(**{"reason": "so", **fields})


@pytest.mark.parametrize(
    ("estimate", "ci", "sign", "p_adjusted", "verdict"),
    [
        (2.0, (1.0, 3.0), 1, None, "holds"),
        (2.0, (1.0, 3.0), 1, 0.2, "not supported"),  # significant alone, but not in its family
        (2.0, (-1.0, 5.0), 1, None, "not significant"),
        (-2.0, (-5.0, 1.0), 1, None, "not supported"),  # the other sign
        (-2.0, (-3.0, -1.0), 1, None, "contradicted"),
        (-2.0, (-3.0, -1.0), -1, 0.01, "holds"),
        (-2.0, (-3.0, -1.0), 0, None, "holds"),
        (-2.0, (-5.0, 1.0), 0, None, "not significant"),
    ],
)
def test_a_directed_statement_is_judged_by_its_interval_and_the_corrected_p(estimate, ci, sign, p_adjusted, verdict):
    result = directed(estimate, ci, sign, "A difference", p_adjusted=p_adjusted)
    assert result.verdict == verdict
    assert (result.ci_low, result.ci_high) == ci
    assert result.reason.startswith("A difference")


def test_directed_claim_compares_with_a_null_value_other_than_zero():
    assert directed(30.0, (26.0, 40.0), 1, "Above chance.", null=25.0).verdict == "holds"
    assert directed(30.0, (20.0, 40.0), 1, "Above chance.", null=25.0).verdict == "not significant"


@pytest.mark.parametrize(
    ("ci", "verdict", "word"),
    [
        ((-3.0, 4.0), "holds", "lies within 10"),
        ((-11.6, 13.6), "not supported", "leaves more open than 10"),
        ((-46.0, -32.0), "contradicted", "lies beyond 10"),
    ],
)
def test_claim_of_no_difference_holds_only_within_a_margin(ci, verdict, word):
    """A large p is no evidence of no difference: the verdict does not depend on p."""
    for p_value in (None, 1.0):
        result = equivalent(ci, 10.0, "The change", p_value=p_value)
        assert result.verdict == verdict
        assert word in result.reason


def test_failing_verdicts_carry_a_failure_kind_and_holding_ones_none():
    assert judge(True, "yes", failure="unit").failure == ""
    assert judge(False, "no").failure == "reading"
    assert judge(False, "no", otherwise="not supported").failure == "overreach"
    assert judge(False, "no", otherwise="not supported", failure="control").failure == "control"
    assert untestable("a run would tell").failure == "untestable"
    assert len(FAILURES) == 6
    assert tuple(MEANINGS) == VERDICTS


def test_reason_of_a_judged_claim_may_depend_on_the_outcome():
    words = ("each of them has a window", "none has a window")
    assert judge(True, words).reason == words[0]
    assert judge(False, words).reason == words[1]


def test_severity_is_declared_or_derived_from_kind_and_section():
    statement, cell = (Verdict(verdict="holds", reason="so", kind=kind) for kind in ("statement", "cell check"))
    assert severity(cell, "Conclusion", "headline") == "detail"
    assert severity(statement, "Conclusion", "") == "headline"
    assert severity(statement, "4.4 Key Findings", "") == "headline"
    assert severity(statement, "2.1 Method", "") == "supporting"
    assert severity(statement, "Conclusion", "detail") == "detail"
    assert severity(statement, "2 Beans against peas", "", ("beans AGAINST peas",)) == "headline"
    assert severity(statement, "2 Beans", "", ("beans against peas",)) == "supporting"
