"""Styles of the thesis' entities: no two in one figure look alike, even in grey, and model names are free."""

import pytest

from boundpaper.figures.style import display, style, styles

SIZED = tuple(key for key, look in styles().items() if look.label.endswith("B") or "v0.2" in key)
GROUPS = [
    ("rope", "drope"),
    ("ministral3", "qwen3", "llama3", "mistral", "smollm3"),
    ("query", "key", "value"),
    ("attention", "mlp"),
    ("smollm2-135m", "gemma3-270m", "smollm3", "ministral3"),
    SIZED,
]


@pytest.mark.parametrize("group", GROUPS)
def test_no_two_entities_look_alike_even_in_grey(group):
    looks = [styles()[key] for key in group]
    assert len(looks) > 1
    assert len({look.color for look in looks}) == len(looks)
    assert len({(look.mark, look.dash) for look in looks}) == len(looks)


def test_entity_style_is_found_by_key_or_label():
    assert style("Ministral-3-8B", {}, "") is styles()["ministral3-8b"]
    assert style("RoPE", {}, "") is styles()["rope"]
    assert display("qwen3-0.6b") == "Qwen3-0.6B"
