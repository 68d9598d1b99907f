"""Run many small calls in a pool of processes, which end with this process however it ends.

It imports the standard library and the watchman only, so that a worker follows its parent before it imports more.
"""

import gc
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from multiprocessing import active_children, parent_process
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from boundpaper.build import watchman
from boundpaper.errors import ThesisError

SELDOM = 1_000_000
"""Threshold of garbage collection in a build, which makes few cycles of objects and holds much to search for them."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


Result = TypeVar("Result")


class _WatchedProcess(SpawnProcess):
    """A Python process that the watchman can end, since a process that is importing a library cannot end itself."""

    def start(self) -> None:
        """Start, and put the process on the watchman's list at once."""
        super().start()
        if self.pid is not None:
            watchman.watch_process(self.pid)

    def join(self, timeout: float | None = None) -> None:
        """Wait for the process to end; then the watchman forgets its id, which another process may get."""
        super().join(timeout)
        if self.pid is not None and self.exitcode is not None:
            watchman.forget_process(self.pid)


class _WatchedContext(SpawnContext):
    Process = _WatchedProcess


def process_pool(workers: int, seldom: int = 0) -> ProcessPoolExecutor:
    """Return a pool of worker processes that ignore Ctrl-C; `seldom` is their collection threshold, 0 for Python's."""
    return ProcessPoolExecutor(workers, _WatchedContext(), _begin_worker, (seldom,))


class ProcessWorkers:
    """Processes that a build starts at most once, for steps that need nothing but their arguments."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.begun = self.broken = False
        self._stack = ExitStack()

    def begin(self) -> None:
        """Accept calls; processes start only when there is a call for them."""
        self._stack.enter_context(limit_to_one_thread())
        self._pool = process_pool(self.number, SELDOM)
        self.begun = True

    def submit(self, call: Callable[..., Result], *arguments: Any) -> Future[Result] | None:
        """Submit a call; None if a process was killed from outside, which ends the whole pool."""
        try:
            return self._pool.submit(call, *arguments)
        except BrokenProcessPool:
            self.give_up()
            return None

    def result(self, call: Future[Result]) -> Result:
        """What a call returned.

        Raises ThesisError when its process was ended from outside.
        """
        try:
            return call.result()
        except BrokenProcessPool:
            self.give_up()
            raise ThesisError(
                "a process of the build was ended from outside (out of memory?); what is finished is kept; run the "
                "command again, with `--jobs 1` where memory is short"
            ) from None

    def give_up(self) -> None:
        """End the processes at once, as on Ctrl-C, and start no more."""
        if self.begun:
            end_pool(self._pool)
        self.begun, self.broken = False, True
        self._stack.close()

    def close(self) -> None:
        """End the processes once their calls have ended."""
        if self.begun:
            self._pool.shutdown(cancel_futures=True)
        self.begun = False
        self._stack.close()


def end_pool(pool: ProcessPoolExecutor) -> None:
    """End the workers of a pool in the middle of their work, as on Ctrl-C."""
    pool.shutdown(wait=False, cancel_futures=True)
    for worker in active_children():
        if isinstance(worker, _WatchedProcess):
            worker.kill()


@contextmanager
def limit_to_one_thread() -> Iterator[None]:
    """Limit each process started in the block to one thread, since the processes share the cores."""
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


@contextmanager
def collect_seldom() -> Iterator[None]:
    """In the block, look for cycles of objects only after every `SELDOM` new ones."""
    before = gc.get_threshold()
    gc.set_threshold(SELDOM, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _begin_worker(seldom: int) -> None:
    """Set up a new process: it leaves Ctrl-C to the command, and ends when the command ends."""
    if seldom:
        gc.set_threshold(seldom, *gc.get_threshold()[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_with_parent, args=(parent,), daemon=True).start()


def _end_with_parent(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)
