"""Short names for labels."""

import pytest

from boundpaper.typeset.short_names import LABEL_LENGTH, short_names


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("smollm2-135m", "smollm2-135m"), ("smollm2-135m-instruct.q4_1-b179c952", "smollm2-135m-b179c952"),
        ("llama-2-7b-hf-drope-revision-main", "llama-2-7b-hf-drope-main"), ("a" * 40, "a" * 11 + "..." + "a" * 10),
        ("a-" + "b" * 40, "a-bbbbbbbbb...bbbbbbbbbb"),
    ],
)  # fmt: skip
def test_a_long_name_loses_its_middle(name: str, short: str) -> None:
    assert short_names([name]) == {name: short}
    assert len(short) <= LABEL_LENGTH


def test_names_that_would_become_equal_are_not_shortened() -> None:
    names = ["one-of-many-long-names-first-end", "one-of-many-long-names-second-end", "short"]
    assert short_names(names) == {name: name for name in names}
