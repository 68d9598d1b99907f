"""Claims judged by p alone are refused, since a claim with p = .10 would be called contradicted."""

import pytest

from boundpaper.claims.by_p import refuse_by_p
from boundpaper.errors import SpecError

CLAIM = '''"""A claim."""


def taller(heights):
    """Beans are taller."""
    test = heights
    return judge({arguments})
'''


def check_claim(folder, arguments):
    refuse_by_p.__globals__["_p_judgements"].cache_clear()
    (folder / "claim.py").write_text(CLAIM.format(arguments=arguments))
    refuse_by_p(folder, "claim.py", "taller")


@pytest.mark.parametrize(
    "arguments",
    [
        'p < .05, "because"', 'test.p_value <= 0.01, "because", n=3', 'bool(test["p_adjusted"] < ALPHA), "because"',
        'ALPHA > float(test["p_holm"]), "because", p_value=0.1', '0.05 >= pvalue, "because"',
    ],
)  # fmt: skip
def test_claim_judged_by_a_p_value_alone_is_refused(tmp_path, arguments):
    message = r"claim\.py:7: judge\(p < \.\.\.\) says `contradicted`.* use directed\("
    with pytest.raises(SpecError, match=message) as caught:
        check_claim(tmp_path, arguments)
    assert "otherwise='not supported'" in str(caught.value)


@pytest.mark.parametrize(
    "arguments",
    [
        'p < .05, "because", otherwise="not supported"', 'p < .05 and estimate > 0, "because"', 'p > .05, "because"',
        'parts < 3, "because"', 'share < .05, "because"', 'height < .05, "because"', 'True, "because"',
        '"p < .05", **more',
    ],
)  # fmt: skip
def test_claim_judged_by_more_than_a_p_value_is_accepted(tmp_path, arguments):
    check_claim(tmp_path, arguments)
