"""Cache what steps print and which numbers files have, so that the next trace reads only what has changed."""

from base64 import b64decode, b64encode
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from boundpaper.errors import ThesisError
from boundpaper.paper.trace.numeral import SearchedNumber, number_in
from boundpaper.store.cached_files import keep_value, read_kept
from boundpaper.store.table_file import numbers_in

FILE = "out/state/traced.json"
NUMBERS = "out/state/numbers.json"
_FORMAT = 1


class StepCache:
    """A file of JSON values, one for each step or file, with a stamp of the content on which the value depends."""

    def __init__(self, root: Path, file: str = FILE) -> None:
        self.path = root / file
        self.changed = False
        self.values: dict[str, tuple[str, Any]] = {}
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            content = read_kept(self.path)
            if content["format"] == _FORMAT:
                self.values = {key: (stamp, value) for key, (stamp, value) in content["values"].items()}

    def value(self, key: str, stamp: str, make: Callable[[], Any]) -> Any:
        """Return the cached value of a step or file if its stamp is the same, else cache and return `make()`."""
        if key not in self.values or self.values[key][0] != stamp:
            self.values[key] = stamp, make()
            self.changed = True
        return self.values[key][1]

    def save(self) -> None:
        """Save the values; if the file cannot be written, they are computed again the next time."""
        if self.changed:
            with suppress(ThesisError):
                keep_value(self.path, {"format": _FORMAT, "values": self.values})
            self.changed = False

    def may_match(self, root: Path, file: str, stamp: str, numeral: SearchedNumber) -> bool:
        """Return whether a file has a number that may match `numeral`; cache the file's distinct numbers by `stamp`."""
        text = self.value(file, stamp, lambda: b64encode(numbers_in(root / file, number_in).tobytes()).decode())
        return bool(numeral.may_equal(np.frombuffer(b64decode(text))).any())
