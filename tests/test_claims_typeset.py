"""Reasons and statements in print: names replace keys, and typographic signs replace keyboard characters."""

import pytest

from boundpaper.claims.typeset import typeset
from boundpaper.store.paper_vocabulary import read
from conftest import ROOT


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ap_drop at rho = -0.49 [-0.95, 0.3]", "the plasticity drop at ρ = −0.49 [−0.95, 0.3]"),
        (
            "The ap_drop of 4K. ap_drop is an ap_drop",
            "The plasticity drop of 4K. The plasticity drop is a plasticity drop",
        ),
        ("The key slope alpha_K: alpha_k", "The key slope: the key slope"),
        ("1.9e-02 and 6.0e-04, p < 10^-47, 2e+0", "1.9 × 10⁻² and 6.0 × 10⁻⁴, p < 10⁻⁴⁷, 2 × 10⁰"),
        (
            "at 16k, nonthinking, of lc-4k-to-32k-step-4000 0-1K",
            "at 16K, without thinking, of lc-4k-to-32k-step-4000 0-1K",
        ),
        ("0.161 - 0.058, +0.00, -0.0, +0.001, Ministral-3-3B", "0.161 − 0.058, 0.00, 0.0, +0.001, Ministral-3-3B"),
    ],
)
def test_typeset_replaces_keys_by_names_and_keyboard_signs_by_typographic_ones(text: str, shown: str) -> None:
    assert typeset(text, read(ROOT).ledger) == shown


def test_typeset_without_a_vocabulary_changes_signs_only():
    """A key of the thesis may be an ordinary word in another paper."""
    text = "The beans (thinking) of ap_drop at 16k, rho = -0.4"
    assert typeset(text) == "The beans (thinking) of ap_drop at 16k, ρ = −0.4"
