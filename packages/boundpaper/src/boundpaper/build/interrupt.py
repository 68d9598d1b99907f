"""Handle Ctrl-C: a command ends within a second, even if native code or a thread keeps running.

Python handles a signal only between two bytecode instructions, but the main thread may be in a library for a minute.
Therefore the signal is also written to a pipe, and a thread that reads the pipe ends the process soon after. Finished
outputs are on disk, and started programs end with this process.
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

MESSAGE = "interrupted; finished work is kept, and the same command continues from there"
SECONDS = 0.4  # between Ctrl-C and the end of a process that does not end by itself
CODE = 130

_is_announced = threading.Lock()  # locked once the message is printed
_is_delayed = threading.Event()
_is_interrupted = threading.Event()
_is_program = threading.Event()


def reset() -> None:
    """Mark the interruption as not announced, even if an earlier command in this process announced one."""
    if _is_announced.locked():
        _is_announced.release()


def announce() -> None:
    """Print to standard error, once per command, that the command was interrupted."""
    if _is_announced.acquire(blocking=False):
        print(MESSAGE, file=sys.stderr, flush=True)


def was_interrupted() -> bool:
    """Return whether Ctrl-C was pressed; later errors from libraries may result from it."""
    return _is_interrupted.is_set()


def exit_now() -> None:
    """End the interrupted process at once; only return if another program called the command as a function.

    A normal exit would wait for every thread, and for libraries such as torch to unload their modules.
    """
    announce()
    if _is_program.is_set():
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(CODE)


def end_promptly(seconds: float = SECONDS) -> None:
    """Make Ctrl-C end this process with status 130 after `seconds`, unless the process ends earlier by itself.

    Call this once, from the main thread.
    """
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    threading.Thread(target=_end_after_signal, args=(read_end, seconds), name="interrupt", daemon=True).start()
    signal.signal(signal.SIGINT, _interrupt)
    _is_program.set()


@contextmanager
def delay_exit() -> Iterator[None]:
    """Let the `with` block finish after Ctrl-C, because the block cleans up on other machines."""
    _is_delayed.set()
    try:
        yield
    finally:
        _is_delayed.clear()


def _interrupt(number: int, frame: FrameType | None) -> None:
    _is_interrupted.set()
    raise KeyboardInterrupt


def _end_after_signal(read_end: int, seconds: float) -> None:
    while signal.SIGINT not in os.read(read_end, 1):
        pass
    time.sleep(seconds)
    while _is_delayed.is_set():
        time.sleep(seconds)
    announce()
    os._exit(CODE)
