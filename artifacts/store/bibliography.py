"""Bibliography: the keys of the works in `paper/references.bib`, for the tables that cite them."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from artifacts.store.text_file import text_of

FILE = "paper/references.bib"
_ENTRY = re.compile(r"@\s*(?!comment|string|preamble)\w+\s*[{(]\s*([^,\s}]+)", re.IGNORECASE)


def keys(root: Path) -> frozenset[str] | None:
    """The keys of the entries; None where there is no bibliography.

    Raises
    ------
    DataError
        It is no text in UTF-8.
    """
    try:
        status = (root / FILE).stat()
    except FileNotFoundError:
        return None
    return _keys(root, (status.st_mtime_ns, status.st_size))


@functools.lru_cache(maxsize=4)
def _keys(root: Path, stamp: tuple[int, int]) -> frozenset[str]:
    return frozenset(_ENTRY.findall(text_of(root, FILE)))
