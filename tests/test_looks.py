"""Styles of the thesis' entities: no two in one figure look alike, even in grey."""

import pytest

from boundpaper.figures.series import Series
from boundpaper.figures.style import PALETTE, display, look, style, styles
from figures.population._arms import LOOKS

MODELS_WITH_SIZES = tuple(key for key, look in styles().items() if look.label.endswith("B") or "v0.2" in key)
LISTED_GROUPS = "ministral3 qwen3 llama3 mistral smollm3,query key value,smollm2-135m gemma3-270m smollm3 ministral3"
GROUPS = [*(group.split() for group in f"rope drope,attention mlp,{LISTED_GROUPS}".split(",")), MODELS_WITH_SIZES]


@pytest.mark.parametrize("group", GROUPS)
def test_no_two_entities_look_alike_even_in_grey(group):
    looks = [styles()[key] for key in group]
    assert len(looks) > 1
    assert (
        len({entry.color for entry in looks})
        == len({look(entry, Series()).text_color for entry in looks})
        == len(looks)
    )
    assert len({(entry.mark, entry.dash) for entry in looks}) == len(looks)


def test_entity_style_is_found_by_key_or_label():
    assert style("Ministral-3-8B", {}, "") is styles()["ministral3-8b"]
    assert style("RoPE", {}, "") is styles()["rope"]
    assert display("qwen3-0.6b") == "Qwen3-0.6B"


def contrast(color):
    """Return the WCAG contrast against white of a colour of the palette, pure or mixed with black."""
    hue, share, mixed_with = (color + "!100!black").split("!")[:3]
    assert mixed_with == "black", "a mix with white is paler than its hue"
    channels = [int(PALETTE[hue][start : start + 2], 16) / 255 * float(share) / 100 for start in (0, 2, 4)]
    red, green, blue = (
        ((channel + 0.055) / 1.055) ** 2.4 if channel > 0.04 else channel / 12.92 for channel in channels
    )
    return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)


def test_looks_are_seen_on_white_and_rotation_is_solid_with_circles_its_absence_broken():
    looks = {**styles(), **LOOKS}
    assert min(contrast(entry.color) for entry in looks.values()) >= 3
    assert min(contrast(look(entry, Series()).text_color) for entry in looks.values()) >= 4.5
    solid_and_circle = {key: (entry.dash == "solid", entry.mark == "*") for key, entry in looks.items()}
    assert all(solid_and_circle[key] == (True, True) for key in ("rope", "A", "B"))
    assert all(solid_and_circle[key] == (False, False) for key in ("drope", "C", "D", "E"))
