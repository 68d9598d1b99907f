"""The state: what every step was built from, kept between runs."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from artifacts.files import write

_FORMAT = 1


class State:
    """What was built from what: for each step the hashes of its inputs and outputs, and its seconds."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._changed, self._saved = False, 0.0
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
            self.steps: dict[str, Any] = kept["steps"] if kept["format"] == _FORMAT else {}
        except (OSError, ValueError, KeyError, TypeError):
            self.steps = {}  # unreadable: build all

    def record(self, key: str, entry: dict[str, Any] | None) -> None:
        """Keep (or with None drop) a step's entry, and save at most once a second."""
        if entry is None:
            del self.steps[key]
        else:
            self.steps[key] = entry
        self._changed = True
        if time.monotonic() - self._saved > 1:
            self.save()

    def save(self) -> None:
        """Write the state atomically, when it changed."""
        if self._changed:
            write(self.path, json.dumps({"format": _FORMAT, "steps": self.steps}).encode())
            self._changed, self._saved = False, time.monotonic()
