"""Styles of the thesis' entities: no two in one figure look alike, even in grey, and model names are free."""

import pytest

from boundpaper.figures.series import Series
from boundpaper.figures.style import PALETTE, display, look, style, styles
from figures.population._arms import LOOKS

SIZED = tuple(key for key, look in styles().items() if look.label.endswith("B") or "v0.2" in key)
ALIKE = "ministral3 qwen3 llama3 mistral smollm3,query key value,smollm2-135m gemma3-270m smollm3 ministral3"
GROUPS = [*(group.split() for group in f"rope drope,attention mlp,{ALIKE}".split(",")), SIZED]


@pytest.mark.parametrize("group", GROUPS)
def test_no_two_entities_look_alike_even_in_grey(group):
    looks = [styles()[key] for key in group]
    assert len(looks) > 1
    assert len({each.color for each in looks}) == len({look(each, Series()).text_color for each in looks}) == len(looks)
    assert len({(each.mark, each.dash) for each in looks}) == len(looks)


def test_entity_style_is_found_by_key_or_label():
    assert style("Ministral-3-8B", {}, "") is styles()["ministral3-8b"]
    assert style("RoPE", {}, "") is styles()["rope"]
    assert display("qwen3-0.6b") == "Qwen3-0.6B"


def contrast(color):
    """Return the WCAG contrast on white of a colour of the palette, plain or mixed with black."""
    hue, share, other = (color + "!100!black").split("!")[:3]
    assert other == "black", "a mix with white is paler than its hue"
    parts = [int(PALETTE[hue][at : at + 2], 16) / 255 * float(share) / 100 for at in (0, 2, 4)]
    red, green, blue = (((part + 0.055) / 1.055) ** 2.4 if part > 0.04 else part / 12.92 for part in parts)
    return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)


def test_looks_are_seen_on_white_and_rotation_is_solid_with_circles_its_absence_broken():
    looks = {**styles(), **LOOKS}
    assert min(contrast(each.color) for each in looks.values()) >= 3
    assert min(contrast(look(each, Series()).text_color) for each in looks.values()) >= 4.5
    code = {key: (each.dash == "solid", each.mark == "*") for key, each in looks.items()}
    assert all(code[key] == (True, True) for key in ("rope", "A", "B"))
    assert all(code[key] == (False, False) for key in ("drope", "C", "D", "E"))
