"""Decide from time stamps and sizes, as git's index does, whether files changed since steps were last up to date.

Otherwise, a build with nothing to do would read and hash some five thousand files. It reads none if the times, sizes
and inodes of all files and folders of the project and of all outputs are unchanged; folders change when files are
added. A file that changes just after its time is read could get the same time again and look unchanged. Therefore
stamps are saved only if every file is older than a mark file just written. In all other cases, such as a copied
project, hashes decide.
"""

import hashlib
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from boundpaper.store.cached_files import keep_value, read_kept
from boundpaper.store.files import Stamp, digest, status_stamp

FILE = "out/state/unchanged.json"
STATE = "out/state/state.json"
PROJECT_FOLDERS = ("artifacts", "analysis", "tables", "figures", "paper", "packages")
RESULTS = "artifacts/results"  # not searched: its files are outputs of steps
_FORMAT = 1
_TICK = 0.02  # s, more than the time resolution of a file system
_TRIES = 5


def are_unchanged(root: Path, keys: Iterable[str]) -> bool:
    """Return whether the saved record lists the steps `keys` as up to date, and no file changed since the record."""
    record = _read_kept_stamps(root)
    return record is not None and set(keys) <= set(record["steps"]) and _is_unchanged(root, record)


class FileStamps:
    """The time stamps and sizes of a project's files before a build, to be saved after it.

    `mark` is a file just written in the same file system: files with older times were not touched since.
    """

    def __init__(self, root: Path, mark: Path) -> None:
        self.root, self.mark = root, mark
        self._mark_time = mark.stat().st_mtime_ns
        self._stamps_before = _stamps_of(root, _project_paths(root))

    def keep(self, steps: Iterable[str], entries: Iterable[Mapping[str, Any]]) -> bool:
        """Save that `steps`, with the state `entries`, are up to date; return False if time stamps cannot prove this.

        A valid record of these steps and others stays as it is.
        """
        names = set(steps)
        hashes: dict[str, str] = {}
        for entry in entries:
            hashes |= entry["inputs"] | entry["outputs"]
        hashes[STATE] = digest(self.root / STATE)  # removing it is a request to build again
        outside_paths = sorted(path for path in hashes if path not in self._stamps_before)
        if not all(stamp and max(stamp[:2]) < self._mark_time for stamp in self._stamps_before.values()):
            return False
        if _stamps_of(self.root, _project_paths(self.root)) != self._stamps_before:
            return False
        stamps = self._stamps_after_build(outside_paths, hashes)
        if stamps is None:
            return False
        record = _read_kept_stamps(self.root)
        if record is not None and names < set(record["steps"]) and _is_unchanged(self.root, record):
            return True
        stamps_hash = _stamps_hash({**self._stamps_before, **stamps})
        paths = [*self._stamps_before, *outside_paths]
        keep_value(self.root / FILE, {"format": _FORMAT, "steps": sorted(names), "paths": paths, "stamps": stamps_hash})
        return True

    def _stamps_after_build(self, paths: list[str], hashes: Mapping[str, str]) -> dict[str, Stamp | None] | None:
        """Return the stamps of the files `paths`, which the build wrote or read; None if a file changed meanwhile."""
        mark_time, stamps = self._mark_time, _stamps_of(self.root, paths)
        for _ in range(_TRIES):
            if all(stamp is None or max(stamp[:2]) < mark_time for stamp in stamps.values()):
                recent_paths = [path for path, stamp in stamps.items() if stamp and max(stamp[:2]) >= self._mark_time]
                return stamps if all(digest(self.root / path) == hashes.get(path) for path in recent_paths) else None
            time.sleep(_TICK)
            os.utime(self.mark)
            mark_time, stamps = self.mark.stat().st_mtime_ns, _stamps_of(self.root, paths)
        return None


def _project_paths(root: Path) -> Iterator[str]:
    """Yield the project's top folders and all files and folders below, without results and compiled modules."""
    queue = [folder for folder in PROJECT_FOLDERS if (root / folder).is_dir()]
    while queue:
        folder = queue.pop()
        yield folder
        with os.scandir(root / folder) as entries:
            for entry in entries:
                path = f"{folder}/{entry.name}"
                if path == RESULTS or entry.name == "__pycache__":
                    continue
                if entry.is_dir(follow_symlinks=False):
                    queue.append(path)
                else:
                    yield path


def _stamps_of(root: Path, paths: Iterable[str]) -> dict[str, Stamp | None]:
    folder, join = str(root), os.path.join
    return {path: status_stamp(join(folder, path)) for path in paths}


def _stamps_hash(stamps: Mapping[str, Stamp | None]) -> str:
    return hashlib.blake2b(repr(list(stamps.items())).encode(), digest_size=16).hexdigest()


def _is_unchanged(root: Path, record: Mapping[str, Any]) -> bool:
    stamps: str = record["stamps"]
    return _stamps_hash(_stamps_of(root, record["paths"])) == stamps


def _read_kept_stamps(root: Path) -> dict[str, Any] | None:
    try:
        record: dict[str, Any] = read_kept(root / FILE)
        steps, paths = record["steps"], record["paths"]
        is_valid = record["format"] == _FORMAT and isinstance(record["stamps"], str)
        is_valid = is_valid and isinstance(steps, list) and isinstance(paths, list)
        return record if is_valid and set(map(type, [*steps, *paths])) <= {str} else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
