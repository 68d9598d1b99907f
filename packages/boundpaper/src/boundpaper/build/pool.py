"""Run many small calls in a pool of processes, which end when this process ends or is killed.

This module imports little besides the standard library, so that a worker watches its parent before it imports more.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from functools import partial
from multiprocessing import active_children, parent_process
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from boundpaper.build import watchman
from boundpaper.errors import ThesisError

GC_THRESHOLD = 1_000_000
"""New objects after which a build collects garbage; builds have many objects but few reference cycles."""
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

Result = TypeVar("Result")


class _WatchedProcess(SpawnProcess):
    """A Python process that the watchman can end even while the process imports a library and cannot end itself."""

    def start(self) -> None:
        """Start the process, and add it to the watchman's list at once."""
        super().start()
        if self.pid is not None:
            watchman.watch_process(self.pid)

    def join(self, timeout: float | None = None) -> None:
        """Wait for the process to end; then remove its id, which may be reused, from the watchman's list."""
        super().join(timeout)
        if self.pid is not None and self.exitcode is not None:
            watchman.forget_process(self.pid)


class _WatchedContext(SpawnContext):
    Process = _WatchedProcess


def process_pool(workers: int, gc_threshold: int = 0) -> ProcessPoolExecutor:
    """Return a pool of workers that ignore Ctrl-C; a `gc_threshold` of 0 keeps Python's threshold."""
    return ProcessPoolExecutor(workers, _WatchedContext(), _begin_worker, (gc_threshold,))


class ProcessWorkers:
    """Worker processes, started when they are first needed, for calls that depend only on their arguments.

    As a context, they end after the block: once their calls have ended or, after an exception, at once.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.begun = self.broken = False
        self._stack = ExitStack()

    def __enter__(self) -> ProcessWorkers:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.kill_all() if kind else self.close()

    def begin(self) -> None:
        """Accept calls; processes start at the first call."""
        self._stack.enter_context(limit_to_one_thread())
        self._pool = process_pool(self.number, GC_THRESHOLD)
        self.begun = True

    def submit(self, call: Callable[..., Result], *arguments: Any) -> Future[Result] | None:
        """Submit a call; return None if a worker was killed, which ends the whole pool."""
        try:
            return self._pool.submit(call, *arguments)
        except BrokenProcessPool:
            self.kill_all()
            return None

    def result(self, future: Future[Result]) -> Result:
        """Return what a call returned; raise ThesisError if its process was killed from outside."""
        try:
            return future.result()
        except BrokenProcessPool:
            self.kill_all()
            raise ThesisError(
                "a build process was killed from outside (out of memory?); finished work is kept; run the command "
                "again, with `--jobs 1` if memory is short"
            ) from None

    def call(self, call: Callable[..., Result], *arguments: Any) -> Callable[[], Result]:
        """Begin a call; return a function that waits for its result or, without workers, makes the call itself."""
        if self.number and not (self.begun or self.broken):
            self.begin()
        future = self.submit(call, *arguments) if self.begun else None
        return partial(self.result, future) if future else partial(call, *arguments)

    def kill_all(self) -> None:
        """End the processes at once, as after Ctrl-C, and start no more."""
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
    """End the workers of a pool at once, as after Ctrl-C."""
    pool.shutdown(wait=False, cancel_futures=True)
    for worker in active_children():
        if isinstance(worker, _WatchedProcess):
            worker.kill()


@contextmanager
def limit_to_one_thread() -> Iterator[None]:
    """Limit each process started in the block to one thread, since the processes share the cores."""
    before = {name: os.environ.get(name) for name in (*THREAD_VARIABLES, "PYTHONDONTWRITEBYTECODE")}
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
def rare_collection() -> Iterator[None]:
    """In the block, collect garbage only after each `GC_THRESHOLD` new objects."""
    before = gc.get_threshold()
    gc.set_threshold(GC_THRESHOLD, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _begin_worker(gc_threshold: int) -> None:
    """Set up a worker process: it ignores Ctrl-C, and ends when its parent ends, without freeing its memory first."""
    atexit.register(os._exit, 0)
    if gc_threshold:
        gc.set_threshold(gc_threshold, *gc.get_threshold()[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_with_parent, args=(parent,), daemon=True).start()


def _end_with_parent(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)
