"""Define the looks that all figures share: a palette in which each entity always has the same colour.

The colours are by Okabe and Ito (https://jfly.uni-koeln.de/color/), distinct under all common types of colour vision;
orange, sky blue and purple are darker here, so that lines have a contrast of 3:1 on white.
An entity also has a mark, a dash and a hatch, so that entities remain distinct in grey prints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from boundpaper.errors import SpecError
from boundpaper.places import project_or_none
from boundpaper.store.families import Family, Stamp, families, vocabulary_stamps
from boundpaper.store.paper_vocabulary import EMPTY, Vocabulary, read
from boundpaper.store.paths import VOCABULARY
from boundpaper.suggestions import similar_names

if TYPE_CHECKING:
    from boundpaper.figures.series import Series

TEXT_WIDTH_MM = 150.0
"""Width of a full figure in mm, slightly less than the text width of 152.7 mm."""

PALETTE: Mapping[str, str] = {
    "okblack": "000000",
    "okorange": "BF7D00",
    "oksky": "3A8FC7",
    "okgreen": "009E73",
    "okyellow": "F0E442",
    "okblue": "0072B2",
    "okvermillion": "D55E00",
    "okpurple": "BB6495",
    "okgrey": "767676",
}
"""Colour names in LaTeX with hexadecimal RGB; `templates/preamble.tex` defines the same colours."""

VIRIDIS: tuple[tuple[int, int, int], ...] = (
    (68, 1, 84), (72, 26, 108), (71, 47, 125), (65, 68, 135), (57, 86, 140), (49, 104, 142),
    (42, 120, 142), (35, 136, 142), (31, 152, 139), (34, 168, 132), (53, 183, 121), (84, 197, 104),
    (122, 209, 81), (165, 219, 54), (210, 226, 27), (253, 231, 37),
)  # fmt: skip
"""Viridis at sixteen equal steps; LaTeX and the PNG writer interpolate between them."""

SIGNED: tuple[tuple[int, int, int], ...] = (
    (5, 48, 97), (33, 102, 172), (67, 147, 195), (146, 197, 222), (209, 229, 240), (255, 255, 255),
    (253, 219, 199), (244, 165, 130), (214, 96, 77), (178, 24, 43), (103, 0, 31),
)  # fmt: skip
"""Blue, white, red at eleven equal steps; white is zero."""


@dataclass(frozen=True, kw_only=True)
class Style:
    """The look of an entity.

    Attributes
    ----------
    color : str
        A colour of `PALETTE`, or an xcolor mix of them such as `okgreen!75!black`.
    mark : str
        A PGFPlots mark.
    dash : str
        A PGF dash style.
    hatch : str
        A PGF pattern drawn over bars in white; empty for plain bars.
    label : str
        The displayed name; by default the entity's key.

    Examples
    --------
    >>> import boundpaper as bp
    >>> bean = bp.Style(color="okgreen", mark="square*", label="Bean")
    >>> growth = bp.Panel(series=[bp.Line(x=[1, 7], y=[0.5, 8.1], entity="bean")])
    >>> bp.Figure(panels=[growth], caption="Growth.", entities={"bean": bean}).save("bean.tex").name
    'bean.tex'
    """

    color: str
    mark: str = "*"
    dash: str = "solid"
    hatch: str = ""
    label: str = ""


_DASHES = ("solid", "dashed", "dash dot", "densely dotted", "dash dot dot")
_HATCHES = ("", "north east lines", "north west lines", "crosshatch", "dots")
_SHADES = ("", "!75!black", "!55!black", "!38!black", "!22!black")


def family_looks(family: Family, declared_looks: Mapping[str, Style]) -> dict[str, Style]:
    """Return the looks of a family and its members, which share hue and mark.

    Later members are darker, and differ in dash and hatch; a single member has the family's dash. `declared_looks` has
    the looks of other entities, which a member copies if its `like` names one.
    """
    members = family.members
    styles = {
        family.entity: Style(
            color=family.color, mark=family.mark, dash=family.dash, hatch=family.hatch, label=family.name
        )
    }
    for i, member in enumerate(members):
        label = member.label or member.name
        if member.like:
            styles[member.key] = replace(declared_looks[member.like], label=label)
        elif len(members) == 1:
            styles[member.key] = Style(color=family.color, mark=family.mark, dash=family.dash, label=label)
        else:
            styles[member.key] = Style(
                color=family.color + _SHADES[i % len(_SHADES)],
                mark=family.mark,
                dash=_DASHES[i % len(_DASHES)],
                hatch=_HATCHES[i % len(_HATCHES)],
                label=label,
            )
    return styles


FIXED_LOOKS: Mapping[str, Style] = {
    "reported": Style(color="okgrey", mark="o", dash="densely dotted", hatch="north east lines", label="reported"),
    "recomputed": Style(
        color="oksky!75!black", mark="square*", dash="dashed", hatch="north west lines", label="recomputed"
    ),
    "measured": Style(color="okblack", mark="*", label="measured"),
    "holds": Style(color="okgreen", mark="*", label="holds"),
    "holds after rounding": Style(
        color="okgreen!75!black", mark="o", dash="dashed", hatch="dots", label="holds after rounding"
    ),
    "not significant": Style(
        color="okorange", mark="triangle*", dash="dash dot", hatch="north west lines", label="not significant"
    ),
    "not supported": Style(
        color="okpurple", mark="diamond*", dash="densely dotted", hatch="crosshatch", label="not supported"
    ),
    "contradicted": Style(
        color="okvermillion", mark="square*", dash="dash dot dot", hatch="north east lines", label="contradicted"
    ),
    "not testable": Style(color="okgrey", mark="pentagon*", dash="densely dotted", hatch="dots", label="not testable"),
    "neutral": Style(color="okgrey", label="all"),
    "total": Style(color="okblack", label="total"),
    "series-1": Style(color="okblue"),
    "series-2": Style(color="okorange", mark="square*", dash="dashed", hatch="north east lines"),
    "series-3": Style(color="okgreen", mark="triangle*", dash="dash dot", hatch="north west lines"),
    "series-4": Style(color="okpurple", mark="diamond*", dash="densely dotted", hatch="crosshatch"),
    "series-5": Style(color="oksky", mark="pentagon*", dash="dash dot dot", hatch="dots"),
    "series-6": Style(color="okvermillion", mark="o", dash="solid"),
    "series-7": Style(color="okblack", mark="square", dash="dashed", hatch="north east lines"),
    "series-8": Style(color="okgrey", mark="triangle", dash="dash dot", hatch="north west lines"),
}
"""Entities with a fixed look; `series-1` to `series-8` are for series without a named entity."""


def styles() -> Mapping[str, Style]:
    """Return the looks of all entities: fixed ones, those of the paper's vocabulary, and those of its families."""
    return _known_looks()[0]


def _known_looks() -> tuple[Mapping[str, Style], Mapping[str, str]]:
    """Return looks by entity, and entities by their names and labels in the form that `_normalised` returns."""
    root = project_or_none()
    if root is None:
        return _looks_of(None, EMPTY, ())
    vocabulary = read(root)
    return _looks_of(root, vocabulary, vocabulary_stamps(root) if vocabulary.families else ())


@lru_cache(maxsize=8)
def _looks_of(
    root: Path | None, vocabulary: Vocabulary, stamps: tuple[Stamp, ...]
) -> tuple[Mapping[str, Style], Mapping[str, str]]:
    # `stamps` is part of the cache key: a changed file is read again
    entity_looks = {entity: Style(**fields) for entity, fields in vocabulary.entities.items()}
    all_looks: dict[str, Style] = {}
    for family in families(root) if root else ():
        all_looks |= family_looks(family, entity_looks)
    all_looks |= {**FIXED_LOOKS, **entity_looks}
    by_name = {_normalised(key): key for key in all_looks}
    return all_looks, by_name | {_normalised(style.label): key for key, style in all_looks.items() if style.label}


@dataclass(frozen=True, kw_only=True)
class Look:
    """The style of a series as it is drawn; `mark` is a filled mark, whose fill is white if `hollow`."""

    color: str
    mark: str
    dash: str
    hatch: str
    hollow: bool
    label: str

    @property
    def text_color(self) -> str:
        """Return the colour of names: the colour of the series, darker by a quarter."""
        base, percent, mixed = (f"{self.color}!100!black").split("!")[:3]
        return base if base == "okblack" else f"{base}!{0.75 * (100 if mixed == 'white' else float(percent)):g}!black"


def look(style: Style, series: Series) -> Look:
    """Return the look of a series: dash and label of the series override the style, and reported marks are hollow."""
    mark = style.mark if style.mark.endswith("*") else "*" if style.mark == "o" else f"{style.mark}*"
    return Look(
        color=style.color,
        mark=mark,
        dash=getattr(series, "dash", "") or style.dash,
        hatch=style.hatch,
        hollow=series.origin == "reported" or not style.mark.endswith("*"),
        label=series.label or style.label,
    )


def _normalised(name: str) -> str:
    return "".join(c for c in name.casefold() if c not in " _-")


def style(entity: str, figure_entities: Mapping[str, Style | str], location: str) -> Style:
    """Return the style of an entity, from the figure's entities, else from `styles()`.

    `entity` is a key of `styles()` or its label, ignoring case, spaces, hyphens and underscores. `figure_entities` maps
    the figure's entities to a style, or to the palette entity whose look they copy. Raises SpecError for an unknown
    entity; the message begins with `location` and suggests the nearest name.
    """
    if entity in figure_entities:
        declared = figure_entities[entity]
        return declared if isinstance(declared, Style) else replace(style(declared, {}, location), label=entity)
    all_looks, by_name = _known_looks()
    key = by_name.get(_normalised(entity))
    if key is not None:
        return all_looks[key]
    nearest = similar_names(entity, [*figure_entities, *all_looks], most=1, cutoff=0.0)[0]
    raise SpecError(
        f"{location}: unknown entity '{entity}'; the nearest is '{nearest}'. "
        f"Use an entity of boundpaper/figures/style.py, or define its look in {VOCABULARY} or in the figure with "
        "entities=."
    )


def display(entity: str) -> str:
    """Return the displayed name of an entity, such as "Not supported"; unknown names are returned unchanged.

    Parameters
    ----------
    entity : str
        The entity's name in the data.

    Examples
    --------
    >>> from boundpaper.figures import display
    >>> display("runner beans")
    'runner beans'
    """
    all_looks, by_name = _known_looks()
    key = by_name.get(_normalised(entity))
    return (all_looks[key].label or entity) if key is not None else entity
