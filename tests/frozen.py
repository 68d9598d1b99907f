"""What a golden file keeps of a rendered text: the rendering whole, long rows of data by their ends and their hash.

A figure's source begins with a preamble that all figures share and that is compared with its own file; a plot of
hundreds of points shows in the first and the last of them how a point is written. What lies between is a count and a
hash: a changed cell is noticed, and its numbers, which are those of a committed result, are not stated again.
"""

import hashlib
import itertools
import re
from pathlib import Path

PREAMBLE = Path(__file__).resolve().parent.parent / "packages/boundpaper/src/boundpaper/figures/templates/preamble.tex"
MOST = 4  # lines of one form in a row that stand whole
_NUMBER = re.compile(r"-?\d[\d.]*(?:e[-+]?\d+)?")


def frozen(text: str) -> str:
    """A figure's source as its golden file has it: without the preamble, runs of lines of one form cut."""
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
        told = hashlib.blake2b("\n".join(lines[:-1]).encode(), digest_size=4).hexdigest()
        kept += [first, f"% {len(lines) - 1} more of this form: {told}", lines[-1]]
    return "\n".join(kept) + "\n"
