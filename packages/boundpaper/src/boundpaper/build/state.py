"""Keep the build state between runs: the inputs from which each step was built."""

import time
from pathlib import Path
from typing import Any

from boundpaper.store.cached_files import keep_value, read_kept

_FORMAT = 2
WRITABLE = ("out/", "artifacts/results/")


class State:
    """The last build of each step: the hashes of its inputs and outputs, and its duration in seconds."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._changed, self._next_save = False, 0.0
        try:
            record = read_kept(path)
            steps = _restore_entries(record["steps"], record["files"]) if record["format"] == _FORMAT else {}
            self.steps: dict[str, Any] = steps if _is_state(steps) else {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
            self.steps = {}  # unreadable or damaged state: build everything

    def record(self, key: str, entry: dict[str, Any] | None) -> None:
        """Set a step's entry, or remove it if `entry` is None; save the state unless saving would slow the build."""
        if entry is None:
            del self.steps[key]
        else:
            self.steps[key] = entry
        self._changed = True
        if time.monotonic() > self._next_save:
            self.save()

    def save(self) -> None:
        """Write the state atomically if it changed."""
        if self._changed:
            start = time.monotonic()
            keep_steps(self.path, self.steps)
            end = time.monotonic()
            self._changed, self._next_save = False, end + max(1.0, 30 * (end - start))


def keep_steps(path: Path, steps: dict[str, Any]) -> None:
    """Save the entries of steps, writing each shared file name and hash only once."""
    numbers: dict[tuple[str, str], int] = {}
    compact_steps = {
        key: {**entry, "inputs": [numbers.setdefault(file, len(numbers)) for file in entry["inputs"].items()]}
        for key, entry in steps.items()
    }
    keep_value(path, {"format": _FORMAT, "files": list(numbers), "steps": compact_steps})


def is_writable(path: str) -> bool:
    """Return whether a step may write `path`: only a plain relative path below `out/` or in the results."""
    return path.startswith(WRITABLE) and not {"..", "."} & set(path.split("/")) and "\\" not in path


def _restore_entries(steps: dict[str, Any], files: list[list[str]]) -> dict[str, Any]:
    """Return the entries from the compact form that `keep_steps` writes."""
    return {key: {**entry, "inputs": dict(files[number] for number in entry["inputs"])} for key, entry in steps.items()}


def _is_state(steps: object) -> bool:
    """Return whether entries have the form that `record` writes, and steps may write all their output paths."""
    if not isinstance(steps, dict):
        return False
    for entry in steps.values():
        if not isinstance(entry, dict) or not isinstance(entry.get("seconds"), (int, float)):
            return False
        for field in ("inputs", "outputs"):
            hashes = entry.get(field)
            if not isinstance(hashes, dict) or not set(map(type, hashes.values())) <= {str}:
                return False
        if not all(is_writable(path) for path in entry["outputs"]):
            return False
    return True
