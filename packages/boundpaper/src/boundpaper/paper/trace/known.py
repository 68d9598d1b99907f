"""Cache between traces what steps print and which numbers files have; what has changed since is read again."""

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
    """A file with a JSON value for each step and the stamp of the step's inputs."""

    def __init__(self, root: Path) -> None:
        self.path = root / FILE
        self.changed = False
        self.values: dict[str, tuple[str, Any]] = {}
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            found = read_kept(self.path)
            if found["format"] == _FORMAT:
                self.values = {key: (stamp, value) for key, (stamp, value) in found["values"].items()}

    def value(self, key: str, stamp: str, make: Callable[[], Any]) -> Any:
        """Return the cached value of a step if the stamp is the same, else the value that `make` returns."""
        if key not in self.values or self.values[key][0] != stamp:
            self.values[key] = stamp, make()
            self.changed = True
        return self.values[key][1]

    def save(self) -> None:
        """Save the values; if the file cannot be written, they are computed again the next time."""
        if self.changed:
            with suppress(ThesisError):
                keep_value(self.path, {"format": _FORMAT, "values": self.values})


class FileNumbers:
    """The distinct numbers of artifact files, each cached with the hash of its file, in `out/state/numbers.json`.

    `digest` returns the hash of a file by its path below `root`.
    """

    def __init__(self, root: Path, digest: Callable[[str], str]) -> None:
        self.root, self._digest = root, digest
        self._known: dict[str, tuple[str, str]] = {}
        self.changed = False
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            found = read_kept(root / NUMBERS)
            if found["format"] == _FORMAT:
                self._known = {file: (str(stamp), str(text)) for file, (stamp, text) in found["numbers"].items()}

    def may_match(self, file: str, numeral: SearchedNumber) -> bool:
        """Return whether a file has a cell that may match a numeral; read the file if it has changed."""
        stamp = self._digest(file)
        if self._known.get(file, ("",))[0] != stamp:
            numbers = numbers_in(self.root / file, number_in)
            self._known[file] = stamp, b64encode(numbers.tobytes()).decode()
            self.changed = True
        return bool(numeral.near(np.frombuffer(b64decode(self._known[file][1]))).any())

    def save(self) -> None:
        """Save the numbers; if the file cannot be written, they are read again the next time."""
        if self.changed:
            with suppress(ThesisError):
                keep_value(self.root / NUMBERS, {"format": _FORMAT, "numbers": self._known})
            self.changed = False
