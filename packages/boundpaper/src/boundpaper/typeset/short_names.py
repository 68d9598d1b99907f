"""Shorten names to fit labels: omit parts in the middle of long names."""

import re
from collections.abc import Iterable

FITS = 24  # letters


def short_names(names: Iterable[str], most: int = FITS) -> dict[str, str]:
    """Return a distinct label for each name; if two would be shortened to the same label, both stay unchanged.

    `most` is the largest number of letters.

    Examples
    --------
    >>> from boundpaper.typeset.short_names import short_names
    >>> short_names(["smollm2-135m-instruct.q4_1-b179c952"])
    {'smollm2-135m-instruct.q4_1-b179c952': 'smollm2-135m-b179c952'}
    """
    made = {name: _shortened(name, most) for name in names}
    labels = list(made.values())
    return {name: name if labels.count(short) > 1 else short for name, short in made.items()}


def _shortened(name: str, most: int) -> str:
    """Return the first parts that fit, and the last part; a name with only one part loses its middle."""
    if len(name) <= most:
        return name
    front = [*re.split(r"(?<=[-._/])", name)]
    last = front.pop()
    while front and len("".join(front)) + len(last) > most:
        front.pop()
    if front and len(last) <= most:
        return "".join(front) + last
    half = (most - 3) // 2
    return f"{name[: most - 3 - half]}...{name[-half:]}"
