"""Shortened form of rendered text for golden files: long runs of data rows are cut to their ends and a hash.

A figure's source begins with a common preamble, which is compared with the preamble's file. In a plot of
hundreds of points, the first and last points show the format. The points between are replaced by a count and a
hash: a changed cell is noticed, but numbers of a committed result are not repeated.
"""

import hashlib
import itertools
import re
from pathlib import Path

PREAMBLE = Path(__file__).resolve().parent.parent / "packages/boundpaper/src/boundpaper/figures/templates/preamble.tex"
MOST = 4  # similar consecutive lines that are kept in full
_NUMBER = re.compile(r"-?\d[\d.]*(?:e[-+]?\d+)?")


def frozen(text: str) -> str:
    """Return a figure's source as in its golden file: without the preamble, and with long runs of similar lines cut."""
    preamble = PREAMBLE.read_text()
    assert text.startswith(preamble), (
        "the figure does not begin with packages/boundpaper/src/boundpaper/figures/templates/preamble.tex"
    )
    kept = []
    for _, run in itertools.groupby(text.removeprefix(preamble).splitlines(), key=lambda line: _NUMBER.sub("#", line)):
        first, *lines = run
        if len(lines) < MOST:
            kept += [first, *lines]
            continue
        digest = hashlib.blake2b("\n".join(lines[:-1]).encode(), digest_size=4).hexdigest()
        kept += [first, f"% {len(lines) - 1} more of this form: {digest}", lines[-1]]
    return "\n".join(kept) + "\n"
