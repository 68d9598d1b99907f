"""Lock a project, so that two builds never run at once."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from boundpaper.build import process
from boundpaper.errors import ThesisError
from boundpaper.store.files import unwritable_message


@contextmanager
def lock(path: Path, waiting: Callable[[str], None]) -> Iterator[None]:
    """Hold an exclusive lock on `path`; if another process holds it, call `waiting` once with its id, and wait.

    Programs that `boundpaper.build.process` starts inherit the lock, which lasts until all of them have ended.
    """
    descriptor = _open_locked(path, waiting)
    try:
        try:
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"process {os.getpid()}\n".encode())
        except OSError as error:
            raise ThesisError(unwritable_message(path, error)) from error
        with process.inherited(descriptor):
            yield
        fcntl.flock(descriptor, fcntl.LOCK_UN)  # releases every copy of the descriptor
    finally:
        os.close(descriptor)


def _open_locked(path: Path, waiting: Callable[[str], None]) -> int:
    """Open and lock the file at `path`; repeat if the file was removed while waiting."""
    is_announced = False
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise ThesisError(unwritable_message(path, error)) from error
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if not is_announced:
                    waiting(os.pread(descriptor, 100, 0).decode(errors="replace").strip() or "unknown")
                is_announced = True
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), os.stat(path)):
                    return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
