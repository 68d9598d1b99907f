"""Ctrl-C: a command ends within a second, even if native code runs on or a thread does not end.

Python hears of a signal between two of its own instructions only; the main thread may be in a library for a minute. The
system's handler writes to a pipe at once, and a thread that reads it gives the command its second to end by itself.
What is finished is on the disk, and programs that were started end with this process.
"""

import atexit
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

WORDS = "interrupted; what was finished is kept, and the same command goes on from there"
SECONDS = 0.4
CODE = 130

_said = threading.Lock()
_patient = threading.Event()
_heard = threading.Event()
_prompt = threading.Event()


def begin() -> None:
    """Begin a command that has not been interrupted yet, whatever an earlier one in this process did."""
    if _said.locked():
        _said.release()


def say() -> None:
    """Say on the standard error stream that the command was interrupted, once for each command."""
    if _said.acquire(blocking=False):
        print(WORDS, file=sys.stderr, flush=True)


def was_interrupted() -> bool:
    """Whether Ctrl-C was pressed; later errors from libraries may be a consequence."""
    return _heard.is_set()


def leave() -> None:
    """End an interrupted program at once; return only if another program runs the command.

    Taking apart the modules of a library such as torch, one by one, would take as long again, and a thread that
    waits for something would be waited for.
    """
    say()
    if _prompt.is_set():
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(CODE)


def end_promptly(seconds: float = SECONDS) -> None:
    """End this process `seconds` after a Ctrl-C, with the exit status 130, where it has not ended by itself.

    To be called by the main thread of a program, once.
    """
    read, written = os.pipe()
    os.set_blocking(written, False)
    signal.set_wakeup_fd(written, warn_on_full_buffer=False)
    threading.Thread(target=_end_after, args=(read, seconds), name="interrupt", daemon=True).start()
    signal.signal(signal.SIGINT, _interrupt)
    _prompt.set()


@contextmanager
def patience() -> Iterator[None]:
    """Let the block finish after a Ctrl-C: it undoes things on other machines."""
    _patient.set()
    try:
        yield
    finally:
        _patient.clear()


def _interrupt(number: int, frame: FrameType | None) -> None:
    _heard.set()
    raise KeyboardInterrupt


def _end_after(read: int, seconds: float) -> None:
    while signal.SIGINT not in os.read(read, 1):
        pass
    time.sleep(seconds)
    while _patient.is_set():
        time.sleep(seconds)
    say()
    os._exit(CODE)
