"""Handle Ctrl-C: a command ends within a second, even if native code or a thread keeps running.

Python handles a signal only between two bytecode instructions, but the main thread may be in a library for a minute. So
the signal is also written to a pipe, and a thread that reads the pipe ends the process after a second. Finished outputs
are on disk, and started programs end with this process.
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

WORDS = "interrupted; finished work is kept, and the same command continues from there"
SECONDS = 0.4
CODE = 130

_said = threading.Lock()
_patient = threading.Event()
_heard = threading.Event()
_prompt = threading.Event()


def reset() -> None:
    """Mark the command as not interrupted, even if an earlier command in this process was."""
    if _said.locked():
        _said.release()


def say() -> None:
    """Print to standard error, once per command, that the command was interrupted."""
    if _said.acquire(blocking=False):
        print(WORDS, file=sys.stderr, flush=True)


def was_interrupted() -> bool:
    """Return whether Ctrl-C was pressed; later errors from libraries may result from it."""
    return _heard.is_set()


def exit_now() -> None:
    """End an interrupted program at once; return if another program runs the command as a function.

    A normal exit would unload the modules of libraries such as torch, which is slow, and would wait for every thread.
    """
    say()
    if _prompt.is_set():
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(CODE)


def end_promptly(seconds: float = SECONDS) -> None:
    """Make Ctrl-C end this process with status 130 after `seconds`, unless the process ends earlier by itself.

    Call this once, from the main thread.
    """
    read, written = os.pipe()
    os.set_blocking(written, False)
    signal.set_wakeup_fd(written, warn_on_full_buffer=False)
    threading.Thread(target=_end_after, args=(read, seconds), name="interrupt", daemon=True).start()
    signal.signal(signal.SIGINT, _interrupt)
    _prompt.set()


@contextmanager
def delay_exit() -> Iterator[None]:
    """Let the block finish after Ctrl-C, since it cleans up on other machines."""
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
