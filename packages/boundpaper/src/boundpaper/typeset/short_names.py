"""Shorten long names to fit labels, by omitting parts in their middle."""

import re
from collections.abc import Iterable

LABEL_LENGTH = 24  # characters that fit a label


def short_names(names: Iterable[str], longest: int = LABEL_LENGTH) -> dict[str, str]:
    """Return a distinct label for each name: the name shortened, unless two names would get the same label.

    `longest` is the largest number of characters in a shortened name.

    Examples
    --------
    >>> from boundpaper.typeset.short_names import short_names
    >>> short_names(["reader2-135m-instruct.q4_1-b179c952"])
    {'reader2-135m-instruct.q4_1-b179c952': 'reader2-135m-b179c952'}
    """
    shortened = {name: _shortened(name, longest) for name in names}
    labels = list(shortened.values())
    return {name: name if labels.count(short) > 1 else short for name, short in shortened.items()}


def _shortened(name: str, longest: int) -> str:
    """Return as many first parts of a name as fit, then its last part; if no first part fits, omit the middle."""
    if len(name) <= longest:
        return name
    *parts, last_part = re.split(r"(?<=[-._/])", name)
    while parts and len("".join(parts)) + len(last_part) > longest:
        parts.pop()
    if parts:
        return "".join(parts) + last_part
    half = (longest - 3) // 2
    return f"{name[: longest - 3 - half]}...{name[-half:]}"
