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
    """Hold an exclusive lock on `path`; if another build has the lock, call `waiting` once with its holder.

    Programs that `boundpaper.build.process` starts inherit the lock, which lasts until all of them have ended.
    """
    stream = _open_locked(path, waiting)
    try:
        try:
            os.ftruncate(stream, 0)
            os.write(stream, f"process {os.getpid()}\n".encode())
        except OSError as error:
            raise ThesisError(unwritable_message(path, error)) from error
        with process.inherited(stream):
            yield
        fcntl.flock(stream, fcntl.LOCK_UN)  # releases every copy of the descriptor
    finally:
        os.close(stream)


def _open_locked(path: Path, waiting: Callable[[str], None]) -> int:
    """Open and lock the file at `path`; repeat if the file was removed while waiting."""
    is_announced = False
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            stream = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise ThesisError(unwritable_message(path, error)) from error
        try:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if not is_announced:
                    waiting(os.pread(stream, 100, 0).decode(errors="replace").strip() or "unknown")
                is_announced = True
                fcntl.flock(stream, fcntl.LOCK_EX)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(stream), os.stat(path)):
                    return stream
        except BaseException:
            os.close(stream)
            raise
        os.close(stream)
