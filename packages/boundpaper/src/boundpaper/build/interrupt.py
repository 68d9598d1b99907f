"""Handle Ctrl-C: a command ends within a second, even if native code runs on or a thread does not end.

Python handles a signal only between two of its own instructions, and the main thread may be in a library for a minute.
So the signal is written to a pipe at once, and a thread that reads the pipe gives the command its second to end by
itself. Finished outputs are on disk, and programs that were started end with this process.
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
    """Begin a command as not interrupted, even if an earlier command in this process was."""
    if _said.locked():
        _said.release()


def say() -> None:
    """Print once per command, on the standard error stream, that the command was interrupted."""
    if _said.acquire(blocking=False):
        print(WORDS, file=sys.stderr, flush=True)


def was_interrupted() -> bool:
    """Return whether Ctrl-C was pressed; later errors from libraries may be a consequence."""
    return _heard.is_set()


def leave() -> None:
    """End an interrupted program at once; return only if another program runs the command.

    A normal exit would unload the modules of a library such as torch one by one, which takes as long again, and would
    wait for every thread that still waits for something.
    """
    say()
    if _prompt.is_set():
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(CODE)


def end_promptly(seconds: float = SECONDS) -> None:
    """End this process `seconds` after a Ctrl-C with exit status 130, unless it ends by itself before.

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
    """Let the block finish after a Ctrl-C, because it cleans up on other machines."""
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
