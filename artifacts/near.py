"""Did you mean: the nearest of known names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, names: Iterable[str]) -> str:
    """`did you mean ...? ` for the closest of `names`, or nothing."""
    close = difflib.get_close_matches(name, sorted(set(names)), n=3, cutoff=0.6)
    return f"did you mean {', '.join(close)}? " if close else ""
