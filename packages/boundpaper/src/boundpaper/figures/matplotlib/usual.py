"""Check that a drawing's properties have matplotlib's default values, except those that are converted.

Each artist is compared with a new artist of its class, made with matplotlib's default settings. Thus no property is
lost, not even one that a later version of matplotlib adds.
"""

import logging
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, cast

import matplotlib
import numpy as np
from matplotlib.artist import Artist, ArtistInspector

# Properties without effect on the look: containers, identifiers, and values derived from other properties.
_INVISIBLE = frozenset({
    *("animated", "axes", "clip_box", "data_interval", "figure", "gid", "in_layout", "label", "mouseover", "path"),
    *("paths", "picker", "pickradius", "snap", "transform", "url", "urls", "visible", "zorder"),
})  # fmt: skip


class NotConverted(Exception):
    """A part of a drawing cannot be converted exactly to PGFPlots; the message names this part."""


def require(condition: Any, reason: str) -> None:
    """Raise NotConverted with the reason unless the condition holds."""
    if not condition:
        raise NotConverted(reason)


def require_default(artist: Artist, default: Artist, converted: Collection[str], artist_name: str) -> None:
    """Raise NotConverted if an artist differs from `default` in a property that is not converted.

    `converted` are the properties that are converted or that the project's style sets. The reason names the artist, the
    property and its value.
    """
    for name in _getter_names(cast(Any, type(artist))):
        if name in converted:
            continue
        value = getattr(artist, f"get_{name}")()
        if not _values_equal(value, getattr(default, f"get_{name}")()):
            value_note = f" ({value})" if isinstance(value, str | float | int | bool) else ""
            raise NotConverted(f"the {name.replace('_', ' ')}{value_note} of {artist_name}")


@cache
def _getter_names(kind: type[Artist]) -> tuple[str, ...]:
    settable = ArtistInspector(kind).get_setters()
    return tuple(sorted(name for name in settable if name not in _INVISIBLE and hasattr(kind, f"get_{name}")))


@contextmanager
def quiet_fonts() -> Iterator[None]:
    """Silence, within the block, the warnings of matplotlib's font manager, since the document sets the fonts."""
    logger = logging.getLogger("matplotlib.font_manager")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def make_default(make: Any) -> Any:
    """Return the artist that the function `make` makes with matplotlib's default settings."""
    with matplotlib.rc_context({k: v for k, v in matplotlib.rcParamsDefault.items() if "backend" not in k}):
        return make()


def _values_equal(first: Any, second: Any) -> bool:
    if first is second:
        return True
    if first is None or second is None:
        return not first and not second
    try:
        return bool(np.array_equal(np.asarray(first), np.asarray(second)) or first == second)
    except (TypeError, ValueError):
        return False
