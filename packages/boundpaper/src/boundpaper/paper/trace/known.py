"""Cache printed contents of steps between traces: a step runs again only if something it depends on has changed."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from boundpaper.errors import ThesisError
from boundpaper.store.cached_files import keep_value, read_kept

FILE = "out/state/traced.json"
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
