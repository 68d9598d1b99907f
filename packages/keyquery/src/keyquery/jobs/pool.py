"""A pool of processes that take many small calls each, and that end with this process however it ends.

It imports the standard library and the watchman only, so that a worker follows its parent before it imports more.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import parent_process
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.process import BaseProcess

from boundpaper.build import watchman

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class _Worker(SpawnProcess):
    """A fresh interpreter on the watchman's list: while it imports a library, it hears of nothing itself."""

    def start(self) -> None:
        """Begin, and tell the watchman at once."""
        super().start()
        if self.pid is not None:
            watchman.watch_process(self.pid)

    def join(self, timeout: float | None = None) -> None:
        """Wait for its end, and take it off the watchman's list, since its number may be reused."""
        super().join(timeout)
        if self.pid is not None and self.exitcode is not None:
            watchman.forget_process(self.pid)


class _Context(SpawnContext):
    Process = _Worker


def process_pool(workers: int) -> ProcessPoolExecutor:
    """A pool of so many processes, which ignore Ctrl-C and leave it to this one."""
    return ProcessPoolExecutor(workers, _Context(), _begin)


@contextmanager
def single_threads() -> Iterator[None]:
    """Give each process that begins in the block one thread: they run beside each other and share the cores."""
    before = {name: os.environ.get(name) for name in (*THREADS, "PYTHONDONTWRITEBYTECODE")}
    os.environ.update(dict.fromkeys(before, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _begin() -> None:
    """In a new process: leave Ctrl-C to the command, and end with it however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent,), daemon=True).start()


def _follow(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)
