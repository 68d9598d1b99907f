"""Ctrl-C: a command ends within a second of it, also while code that is no Python's runs on or a thread does not end.

Python hears of a signal between two of its own instructions only; the main thread may be in a library for a minute. The
system's handler writes to a pipe at once, and a thread that reads it gives the command its second to end by itself.
What is finished is on the disk, and programs that were started end with this process.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

WORDS = "interrupted; what was finished is kept, and the same command goes on from there"
SECONDS = 0.8
CODE = 130

_said = threading.Lock()
_patient = threading.Event()


def begin() -> None:
    """Begin a command, which says of itself that it was interrupted, whatever an earlier one of this process said."""
    if _said.locked():
        _said.release()


def say() -> None:
    """Say on the standard error stream that the command was interrupted, once for each command."""
    if _said.acquire(blocking=False):
        print(WORDS, file=sys.stderr, flush=True)


def end_promptly(seconds: float = SECONDS) -> None:
    """End this process `seconds` after a Ctrl-C, with the exit status 130, where it has not ended by itself.

    To be called by the main thread of a program, once.
    """
    heard, written = os.pipe()
    os.set_blocking(written, False)
    signal.set_wakeup_fd(written, warn_on_full_buffer=False)
    threading.Thread(target=_end_after, args=(heard, seconds), name="interrupt", daemon=True).start()


@contextmanager
def patience() -> Iterator[None]:
    """Let the block take its time after a Ctrl-C: what it takes back lies on other machines."""
    _patient.set()
    try:
        yield
    finally:
        _patient.clear()


def _end_after(heard: int, seconds: float) -> None:
    while signal.SIGINT not in os.read(heard, 1):
        pass
    time.sleep(seconds)
    while _patient.is_set():
        time.sleep(seconds)
    say()
    os._exit(CODE)
