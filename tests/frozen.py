"""Shorten a figure's source for its golden file.

The preamble, which all figures share, is cut. Of a long run of data rows the first and last are kept; a count and a
hash replace the others. A changed row thus changes the golden file, which need not repeat a committed result.
"""

import hashlib
import itertools
import re
from pathlib import Path

PREAMBLE = Path(__file__).resolve().parent.parent / "packages/boundpaper/src/boundpaper/figures/templates/preamble.tex"
MIN_RUN = 5  # similar consecutive lines, from which on a run is shortened
_NUMBER = re.compile(r"-?\d[\d.]*(?:e[-+]?\d+)?")


def frozen(text: str) -> str:
    """Return a figure's source without the preamble, and with long runs of similar lines shortened."""
    preamble = PREAMBLE.read_text()
    assert text.startswith(preamble), (
        "the figure does not begin with packages/boundpaper/src/boundpaper/figures/templates/preamble.tex"
    )
    kept = []
    for _, run in itertools.groupby(text.removeprefix(preamble).splitlines(), key=lambda line: _NUMBER.sub("#", line)):
        first, *lines = run
        if len(lines) < MIN_RUN - 1:
            kept += [first, *lines]
            continue
        digest = hashlib.blake2b("\n".join(lines[:-1]).encode(), digest_size=4).hexdigest()
        kept += [first, f"% {len(lines) - 1} more of this form: {digest}", lines[-1]]
    return "\n".join(kept) + "\n"
