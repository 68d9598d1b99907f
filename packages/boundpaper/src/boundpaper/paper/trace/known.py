"""Printed contents of steps, kept between traces: a step runs again only if something it depends on has changed."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from boundpaper.errors import ThesisError
from boundpaper.store.cached_files import keep_value, read_kept

FILE = "out/state/traced.json"
_FORMAT = 1


class StepCache:
    """A JSON value for each step, with the stamp of its inputs; one file holds all of them."""

    def __init__(self, root: Path) -> None:
        self.path = root / FILE
        self.changed = False
        self.values: dict[str, tuple[str, Any]] = {}
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            found = read_kept(self.path)
            if found["format"] == _FORMAT:
                self.values = {key: (stamp, value) for key, (stamp, value) in found["values"].items()}

    def value(self, key: str, stamp: str, make: Callable[[], Any]) -> Any:
        """Return the value of a step: the value kept with the same stamp, else the value that `make` returns."""
        if key not in self.values or self.values[key][0] != stamp:
            self.values[key] = stamp, make()
            self.changed = True
        return self.values[key][1]

    def save(self) -> None:
        """Save the values; if nothing can be written, they are made again the next time."""
        if self.changed:
            with suppress(ThesisError):
                keep_value(self.path, {"format": _FORMAT, "values": self.values})
