"""Possible denominators of a share equal those found by brute force over fractions, and fit stored shares."""

from fractions import Fraction

import pytest

from boundpaper.statistics.denominators import Unread, possible_counts


@pytest.mark.parametrize("items", [1, 2, 7, 20, 97, 100, 200])
def test_denominators_finds_every_fraction_with_all_multiples_and_no_other(items: int) -> None:
    pairs = [(right, n) for n in range(1, items + 1) for right in range(n + 1)]
    shares = sorted({Fraction(*pair) for pair in pairs})
    for share in shares[:: max(1, len(shares) // 25)]:
        expected = [(right, n) for right, n in pairs if right * share.denominator == n * share.numerator]
        counts = possible_counts(share.numerator / share.denominator, items)
        assert list(counts.pairs) == expected
        assert counts.answered == (expected[0][1], expected[-1][1])
        assert counts.right == (expected[0][0], expected[-1][0])
        assert counts.known == (expected[0] if len(expected) == 1 else None)


@pytest.mark.parametrize("items", [3, 20, 97])
@pytest.mark.parametrize("thousandths", [0, 1, 67, 333, 500, 575, 895, 1000])
def test_denominators_of_a_rounded_share_allow_all_fractions_that_round_to_it(thousandths: int, items: int) -> None:
    gaps = {
        (right, n): abs(2 * (1000 * right - thousandths * n)) - n for n in range(1, items + 1) for right in range(n + 1)
    }
    inside, edge = ({pair for pair, gap in gaps.items() if test(gap)} for test in (lambda g: g < 0, lambda g: g == 0))
    if not inside | edge:
        with pytest.raises(ValueError, match="no counts"):
            possible_counts(thousandths / 1000, items, half_unit=0.0005)
        return
    assert inside <= set(possible_counts(thousandths / 1000, items, half_unit=0.0005).pairs) <= inside | edge


@pytest.mark.parametrize(
    ("share", "items", "answered"),
    [
        (0.5989583333333334, 200, [192]), (0.7010309278350515, 100, [97]), (0.4895833333333333, 200, [96, 192]),
        (0.6229508196721312, 200, [61, 122, 183]), (0.885, 200, [200]), (0.99, 200, [100, 200]),
    ],
)  # fmt: skip
def test_stored_share_gives_possible_counts(share: float, items: int, answered: list[int]) -> None:
    assert [n for _, n in possible_counts(share, items).pairs] == answered


def test_a_zero_may_be_of_no_answer() -> None:
    possible = possible_counts(0.0, 3, unread="possible")
    assert possible.pairs == ((0, 0), (0, 1), (0, 2), (0, 3))
    assert possible.unread
    assert possible.known is None
    certain = possible_counts(0.0, 3, unread="certain")
    assert certain.pairs == ((0, 0),)
    assert certain.known is None
    assert not possible_counts(0.0, 3).unread


@pytest.mark.parametrize(
    ("share", "items", "half", "unread", "match"),
    [
        (1.2, 10, 0.0, "no", "from 0 to 1"), (float("nan"), 10, 0.0, "no", "from 0 to 1"),
        (0.5, 0, 0.0, "no", "items"), (0.5, 10, -1.0, "no", "half_unit=-1.0"),
        (0.3, 3, 0.0, "no", "no counts of up to 3"), (0.5, 10, 0.0, "possible", "at least one answer"),
    ],
)  # fmt: skip
def test_denominators_refuses_invalid_shares(share: float, items: int, half: float, unread: Unread, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        possible_counts(share, items, half_unit=half, unread=unread)
