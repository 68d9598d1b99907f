"""Define rules for the looks in a paper's vocabulary and in its table of families: colours, marks, dashes, hatches."""

from collections.abc import Mapping

from boundpaper.store.rules import Rule, matching, one_of, text

COLORS = ("okblack", "okorange", "oksky", "okgreen", "okyellow", "okblue", "okvermillion", "okpurple", "okgrey")
"""Colour names of the palette, whose values are in `boundpaper.figures.style`."""
_SHAPES = ("square", "triangle", "diamond", "pentagon", "otimes", "oplus")
MARKS = ("*", "o", *_SHAPES, *(f"{shape}*" for shape in _SHAPES))  # marks of PGFPlots that have a filled form
_BROKEN = ("dotted", "dashed", "dash dot", "dash dot dot")
DASHES = ("solid", *_BROKEN, *(f"{density} {dash}" for density in ("densely", "loosely") for dash in _BROKEN))
HATCHES = (
    *("", "north east lines", "north west lines", "horizontal lines", "vertical lines", "grid", "crosshatch"),
    *("dots", "crosshatch dots", "bricks", "checkerboard"),
)
_MIX = rf"({'|'.join(COLORS)})(!\d+(\.\d+)?!(black|white))?"
LOOK: Mapping[str, Rule] = {
    "color": matching(_MIX, f"is not a colour of the palette ({', '.join(COLORS)}) or a mix such as okblue!60!white"),
    "mark": one_of(*MARKS),
    "dash": one_of(*DASHES),
    "hatch": one_of(*HATCHES),
    "label": text,
}
