"""Shorten names to fit labels: omit parts in the middle of long names."""

import re
from collections.abc import Iterable

FITS = 24  # letters


def short_names(names: Iterable[str], longest: int = FITS) -> dict[str, str]:
    """Return a distinct label for each name; if two would be shortened to the same label, both stay unchanged.

    `longest` is the largest number of letters.

    Examples
    --------
    >>> from boundpaper.typeset.short_names import short_names
    >>> short_names(["smollm2-135m-instruct.q4_1-b179c952"])
    {'smollm2-135m-instruct.q4_1-b179c952': 'smollm2-135m-b179c952'}
    """
    shortened = {name: _shortened(name, longest) for name in names}
    labels = list(shortened.values())
    return {name: name if labels.count(short) > 1 else short for name, short in shortened.items()}


def _shortened(name: str, longest: int) -> str:
    """Return the first parts that fit, and the last part; a name with only one part loses its middle."""
    if len(name) <= longest:
        return name
    front = [*re.split(r"(?<=[-._/])", name)]
    last_part = front.pop()
    while front and len("".join(front)) + len(last_part) > longest:
        front.pop()
    if front and len(last_part) <= longest:
        return "".join(front) + last_part
    half = (longest - 3) // 2
    return f"{name[: longest - 3 - half]}...{name[-half:]}"
